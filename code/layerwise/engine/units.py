"""What so few units can tell, and what has no answer: sentences on the questions of a claim."""

from collections.abc import Mapping, Sequence
from typing import Any

from layerwise.engine.marks import answers
from layerwise.engine.published import OVER_MODELS, answers_by_model, pointer
from layerwise.engine.questions.words import NO_SPREAD, PUBLISHED, TOO_FEW, YES
from layerwise.engine.verdicts import statistic_value

WIDER = 1.05  # times an interval's width, from which it is worth a word


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


def power_sentence(asks: Sequence[Mapping[str, Any]], documents: Mapping[str, Any]) -> str:
    """Say which effects the units can tell, for every question without the claimed answer.

    Models with equally many units share one range.
    """
    sizes: dict[str, list[float]] = {}
    times_wider = []
    for ask in asks:
        if answers(ask, documents).get(PUBLISHED) == YES:
            continue
        models = answers_by_model(documents, ask["question"])
        for model in ask.get("of", models):
            cell = models.get(model, {}).get(PUBLISHED)
            power = statistic_value(
                documents, f"power:{ask['question']}:{pointer('models', model, PUBLISHED)}"
            )
            if cell is None or power is None or power["smallest"] is None:
                continue
            if cell["word"] not in (ask.get("answer", YES), NO_SPREAD, TOO_FEW):
                sizes.setdefault(power["told"], []).append(power["smallest"])
                times_wider += [power["wider"]] if "taken as independent" in power["told"] else []
    clauses = [f"{units}{_smallest_effects(smallest)}" for units, smallest in sizes.items()]
    wider = _wider_clause(times_wider)
    return f"With 80% power at 5%, {'; '.join(clauses)}{wider}." if clauses else ""


def _wider_clause(times: Sequence[float]) -> str:
    """Say how many times wider resampled intervals are than those of independent units."""
    if not times or max(times) < WIDER:
        return ""
    low, high = (f"{size:.1f}" for size in (min(times), max(times)))
    factor = low if low == high else f"{low} to {high}"
    return f" (the resampled intervals are {factor} times as wide as independence gives)"


def too_few_sentences(
    asks: Sequence[Mapping[str, Any]], documents: Mapping[str, Any], says: Mapping[str, str]
) -> str:
    """Say for every question that its units could not answer how many units it takes."""
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
    return " ".join(sentences.values())


def _smallest_effects(sizes: Sequence[float]) -> str:
    """Say the smallest effects of several models: that of the best and that of the worst."""
    low, high = (f"{size:.2g}" for size in (min(sizes), max(sizes)))
    return f"{low} or more" if low == high else f"{low} to {high} or more, depending on the model"
