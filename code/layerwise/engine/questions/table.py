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
    """Model, choice and answer of a question's document; without a part it is `choice/part`."""
    for model, choices in question.get("models", {}).items():
        for choice, found in choices.items():
            if "word" in found:
                yield model, choice, found
            else:
                yield from ((model, f"{choice}/{part}", of) for part, of in found.items())


def words(question: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """How often each word answers a question's document, by choice, whatever part is left out."""
    found: dict[str, Counter[str]] = {}
    for _, choice, answer in cells(question):
        found.setdefault(base(choice), Counter())[answer["word"]] += 1
    return found


def words_of_others(question: Mapping[str, Any]) -> Counter[str]:
    """The same under all choices that the papers did not make."""
    others = [of for choice, of in words(question).items() if choice != PUBLISHED]
    return sum(others, Counter())


def by_choice(
    question: Mapping[str, Any], in_words: Callable[[str], str]
) -> dict[str, dict[str, list[str]]]:
    """By choice in words, the models of every answer; without a part it is one more answer."""
    found: dict[str, dict[str, list[str]]] = {}
    for model, choice, answer in cells(question):
        part = choice.partition("/")[2]
        name = f"{model} without {part.replace('_', ' ')}" if part else model
        found.setdefault(in_words(base(choice)), {}).setdefault(answer["word"], []).append(name)
    return found


def as_many_by_chance(
    question: Mapping[str, Any],
    control: Sequence[Mapping[str, Any]],
    in_words: Callable[[str], str],
) -> dict[str, dict[str, int]]:
    """By choice in words, how many draws of random weights there are, and how many of them answer
    yes in as many models as the weights do.

    Nothing of a choice without a draw, or to which no model answers yes.

    Arguments:
        control: the question's document of every draw.
    """
    found = {}
    drawn = [by_choice(draw, in_words) for draw in control]
    for choice, answers in by_choice(question, in_words).items():
        n = len(answers.get(YES, ()))
        counts = [len(draw.get(choice, {}).get(YES, ())) for draw in drawn]
        if n and counts:
            found[choice] = {"draws": len(counts), "yes": sum(count >= n for count in counts)}
    return found


def base(choice: str) -> str:
    """The choice without the part that is left out."""
    return choice.partition("/")[0]
