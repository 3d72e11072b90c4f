"""The answers to questions as documents, cells and counts."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from layerwise.engine.derivation import Document, Function
from layerwise.engine.evidence import Evidence
from layerwise.engine.questions.question import Question

Row = dict[str, Any]


def documents_of_questions(
    questions: Mapping[str, Question], evidence: Evidence
) -> dict[str, Document]:
    """Return a document per question: `models/MODEL/CHOICE` is an answer, or `.../CHOICE/PART`."""
    return {name: document(question, evidence) for name, question in questions.items()}


def document(question: Question, evidence: Evidence) -> Document:
    """Return the document of one question's answers."""
    rules: dict[str, Function] = {
        f"models/{model}/{choice}": asked
        for model, entry in question.models(evidence).items()
        for choice, asked in question.rules(entry).items()
    }
    return Document(None, {"": rules})


def cells(question: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield model, choice and answer of a question's document; `choice/part` without a part."""
    for model, choices in question.get("models", {}).items():
        for choice, answer in choices.items():
            if "word" in answer:
                yield model, choice, answer
            else:
                yield from (
                    (model, f"{choice}/{part}", part_answer) for part, part_answer in answer.items()
                )


def count_words(question: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """Count the words that answer a question's document, by choice, whatever part is left out."""
    counts: dict[str, Counter[str]] = {}
    for _, choice, answer in cells(question):
        counts.setdefault(base(choice), Counter())[answer["word"]] += 1
    return counts


def base(choice: str) -> str:
    """Return the choice without the part that is left out."""
    return choice.partition("/")[0]
