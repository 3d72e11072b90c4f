"""The answers to questions as documents, cells and counts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from layerwise.engine.derivation import Document, Function
from layerwise.engine.evidence import Evidence
from layerwise.engine.questions.question import PUBLISHED, YES, Question

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


def count_words_of_others(question: Mapping[str, Any]) -> Counter[str]:
    """Count the words under all choices that the papers did not make."""
    others = [counts for choice, counts in count_words(question).items() if choice != PUBLISHED]
    return sum(others, Counter())


def models_by_word(
    question: Mapping[str, Any], in_words: Callable[[str], str]
) -> dict[str, dict[str, list[str]]]:
    """Return the models of every answer, by choice in words; a part left out is one more model."""
    models: dict[str, dict[str, list[str]]] = {}
    for model, choice, answer in cells(question):
        part = choice.partition("/")[2]
        name = f"{model} without {part.replace('_', ' ')}" if part else model
        models.setdefault(in_words(base(choice)), {}).setdefault(answer["word"], []).append(name)
    return models


def as_many_by_chance(
    question: Mapping[str, Any],
    control: Sequence[Mapping[str, Any]],
    in_words: Callable[[str], str],
) -> dict[str, dict[str, int]]:
    """Count the draws of random weights that say yes in as many models as the weights do.

    The counts are by choice in words: `draws` in all, and `yes`. A choice without a draw, or to
    which no model answers yes, has none.

    Arguments:
        control: the question's document of every draw.
    """
    counts_by_choice = {}
    drawn = [models_by_word(draw, in_words) for draw in control]
    for choice, answers in models_by_word(question, in_words).items():
        n = len(answers.get(YES, ()))
        counts = [len(draw.get(choice, {}).get(YES, ())) for draw in drawn]
        if n and counts:
            counts_by_choice[choice] = {
                "draws": len(counts),
                "yes": sum(count >= n for count in counts),
            }
    return counts_by_choice


def base(choice: str) -> str:
    """The choice without the part that is left out."""
    return choice.partition("/")[0]
