"""Sentences on the questions of a claim that have no answer, or too few units for one."""

from collections.abc import Mapping, Sequence
from typing import Any

from layerwise.engine.published import OVER_MODELS, PUBLISHED, answers_by_model
from layerwise.engine.questions.words import TOO_FEW


def unanswered_sentences(
    asks: Sequence[Mapping[str, Any]], undefined: Mapping[str, str], says: Mapping[str, str]
) -> list[str]:
    """Return a sentence for each answer, as the papers asked, that the numbers do not give.

    Arguments:
        undefined: {statistic: reason}, of the statistics that have no value.
        says: what each question says, by name.
    """
    sentences = []
    for ask in asks:
        start, end = f"questions:{ask['question']}:/models/", f"/{PUBLISHED}"
        for place, why in undefined.items():
            model = place.removeprefix(start).removesuffix(end)
            is_whole = place == f"{start}{model}{end}"
            if is_whole and model in ask.get("of", [model]):
                of_model = "" if model == OVER_MODELS else f" of {model}"
                said = says[ask["question"]].removesuffix(".")
                sentences.append(f"The question{of_model} '{said}' has no answer: {why}.")
    return sentences


def too_few_sentences(
    asks: Sequence[Mapping[str, Any]], documents: Mapping[str, Any], says: Mapping[str, str]
) -> list[str]:
    """Return a sentence for each question that its units could not answer: how many it takes."""
    sentences = {}
    for ask in asks:
        models = answers_by_model(documents, ask["question"])
        for model in ask.get("of", models):
            cell = models.get(model, {}).get(PUBLISHED)
            if cell is not None and cell["word"] == TOO_FEW:
                said = says[ask["question"]].removesuffix(".")
                sentences[said] = (
                    f"{cell['n']} {cell['unit']} are too few to answer '{said}', whatever they "
                    f"show; it takes {cell['fewest']}."
                )
    return [*sentences.values()]
