"""All questions, their documents, and the answers of one source as rows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from layerwise.analyses.derivation import Document, Rule, derive
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.questions import of_gains, of_pairs, of_weights
from layerwise.analyses.questions.question import PUBLISHED, Question

QUESTIONS: dict[str, Question] = {
    one.name: one for one in (*of_pairs.QUESTIONS, *of_gains.QUESTIONS, *of_weights.QUESTIONS)
}
Row = dict[str, Any]


def documents(evidence: Evidence) -> dict[str, Document]:
    """A document per question: `models/MODEL/CHOICE` is an answer, or `.../CHOICE/PART`."""
    return {name: document(question, evidence) for name, question in QUESTIONS.items()}


def document(question: Question, evidence: Evidence) -> Document:
    rules: dict[str, Rule] = {
        f"models/{model}/{choice}": asked
        for model, entry in question.models(evidence).items()
        for choice, asked in question.rules(entry).items()
    }
    return Document(None, {"": rules})


def cells(question: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Model, choice and answer of a question's document; without a part it is `choice/part`."""
    for model, choices in question.get("models", {}).items():
        for choice, found in choices.items():
            if "word" in found:
                yield model, choice, found
            else:
                yield from ((model, f"{choice}/{part}", of) for part, of in found.items())


def rows(evidence: Evidence, names: Iterable[str] = tuple(QUESTIONS)) -> list[Row]:
    """The cells of the questions' documents, as a reader's result file holds them."""
    asked = {name: document(QUESTIONS[name], evidence) for name in names}
    return [
        {"question": name, "choice": choice, **answer}
        for name, answers in derive(asked, evidence).documents.items()
        for _, choice, answer in cells(answers)
    ]


DOCUMENTS = documents
__all__ = ["DOCUMENTS", "PUBLISHED", "QUESTIONS", "cells", "rows"]
