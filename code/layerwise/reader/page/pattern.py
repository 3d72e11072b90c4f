"""Which pattern a reader's model shows, in the first sentences of its page."""

from collections.abc import Mapping, Sequence

from layerwise.engine.answer_words import NO, NO_CATEGORIES, YES
from layerwise.engine.answers import Answer
from layerwise.engine.question import ModelAnswers, Results
from layerwise.engine.seen import listed
from layerwise.engine.words import category_labels
from layerwise.papers.shared.rules import decisive_category, r_without_each_category
from layerwise.present.tables import interval_decimals
from layerwise.present.values import rounded
from layerwise.reader.page.figures import display_name

NAMED = 4  # models of the papers that a sentence names; of more it counts
# What the correlation does with depth, by the words on early and late layers; None is open. A sign
# that is not the papers' is enough to say that it does not turn as they say.
TURNS: Mapping[tuple[str | None, ...], str] = {
    (YES, YES): "turns with depth as the papers say, from positive to negative",
    (NO, NO): "turns with depth the other way than the papers say, from negative to positive",
    (YES, NO): "does not turn with depth as the papers say: it is positive throughout",
    (NO, YES): "does not turn with depth as the papers say: it is negative throughout",
    (
        NO,
        None,
    ): "does not turn as the papers say: it is negative in early layers, with an open sign "
    "in late ones",
    (None, NO): "does not turn as the papers say: it is positive in late layers, with an open sign "
    "in early ones",
    (
        YES,
        None,
    ): "is positive in early layers, as the papers say; whether it turns negative in late "
    "ones cannot be told",
    (
        None,
        YES,
    ): "is negative in late layers, as the papers say; whether it turns, from positive in "
    "early ones, cannot be told",
    (None, None): "has no clear sign in early or late layers; whether it turns cannot be told",
}


def describe_pattern(answers: Sequence[ModelAnswers], documents: Results) -> list[str]:
    """Return what the model shows, a sentence each; each names value, interval and n."""
    by_name = {answer.question.name: answer for answer in answers}
    sentences = []
    if "early" in by_name and "late" in by_name:
        sentences += _describe_curve(by_name["early"], by_name["late"])
        sentences += _describe_all_pairs(documents)
    if "category_bootstrap" in documents:
        sentences.append(_describe_categories(documents))
    if "numeric" in by_name:
        sentences.append(_describe_numeric(by_name["numeric"]))
    if "damping" in by_name:
        sentences.append(_describe_gain(by_name["damping"]))
    return sentences


def with_interval(answer: Answer, *, sign: bool = True) -> str:
    """Return a number with the interval that decides: `-0.16 (-0.30 to -0.02)`."""
    ends = answer.deciding
    if ends is None:
        return rounded(answer.value, 2, sign=sign)
    places = interval_decimals(ends.low, ends.high)
    numbers = (answer.value, ends.low, ends.high)
    value, low, high = (rounded(number, places, sign=sign) for number in numbers)
    return f"{value} ({low} to {high})"


def _describe_curve(early: ModelAnswers, late: ModelAnswers) -> list[str]:
    """Return what r within the categories does with depth, and which printed models do the same."""
    first, last = early.asked, late.asked
    if NO_CATEGORIES in (first.word, last.word):
        return [
            f"Over your {first.n} pairs asymmetry and preference correlate by "
            f"{with_interval(first)} in early layers and {with_interval(last)} in late ones. "
            "No two categories of four pairs stand behind them, so whether other kinds of "
            "statements would say the same cannot be told."
        ]
    words = tuple(word if word in (YES, NO) else None for word in (first.word, last.word))
    sentences = [
        f"The correlation of asymmetry and preference {TURNS[words]}. Within the categories "
        f"(n = {first.n}) it is {with_interval(first)} in early layers and {with_interval(last)} "
        "in late ones."
    ]
    alike = _alike(late) if words[1] else ""
    if alike:
        sentences.append(
            f"In late layers r has the same sign as published, over all pairs, in {alike}."
        )
    return sentences


def _alike(answer: ModelAnswers) -> str:
    """Return the papers' models that answer with the same word, in words; empty without any."""
    same = [
        _as_one(display_name(model))
        for model, printed in answer.printed.items()
        if printed.word == answer.asked.word
    ]
    n = len(answer.printed)
    if not same:
        return f"none of the papers' {n} models" if n else ""
    return listed(same) if len(same) <= NAMED else f"{len(same)} of the papers' {n} models"


def _as_one(name: str) -> str:
    """Return a name that a list with commas can hold: `Llama (template)`."""
    first, comma, rest = name.partition(", ")
    return f"{first} ({rest})" if comma else name


def _describe_all_pairs(documents: Results) -> list[str]:
    """Say where all pairs together have another sign than the categories are shown to have."""
    within = documents.get("sensitivity", {}).get("within_categories") or {}
    apart = {}
    for layer, row in within.items():
        if (mean := row["mean"]) is not None:
            low, high = mean["interval"]
            if low > 0 > row["r"] or high < 0 < row["r"]:
                apart[int(layer)] = row["r"], f"{mean['r']:+.2f} ({low:+.2f} to {high:+.2f})"
    if not apart:
        return []
    layer = max(apart)
    r, by_category = apart[layer]
    more = f" So it is at {len(apart)} of {len(within)} layers." if len(apart) > 1 else ""
    return [
        f"At layer {layer} all pairs together say the opposite, {r:+.2f} where the categories "
        f"give {by_category}: a difference between categories.{more}"
    ]


def _describe_categories(documents: Results) -> str:
    """Return r over the categories at the last layer, and which of them it rests on."""
    validation = documents["validation"]
    r = f"{validation['_global_stats']['ua_output_correlation']:+.3f}"
    left_out = r_without_each_category(validation)
    text = f"Over the categories, a point each, r at the last layer is {r}"
    if (deciding := decisive_category(validation)) is not None:
        label = category_labels(left_out)[deciding]
        text += f", which rests on one of them: without {label} it is {left_out[deciding].r:+.3f}."
    elif left_out:
        text += ", and no single category decides it."
    else:
        text += f", over {documents['category_bootstrap']['n_categories']} of them."
    return text


def _describe_numeric(answer: ModelAnswers) -> str:
    """Return where the numeric facts lie, and on which side they are printed of other models."""
    printed = [theirs.value for theirs in answer.printed.values()]
    lower = f"{sum(value < 0 for value in printed)} of the papers' {len(printed)} models"
    which = {YES: f"lower, as it is printed of {lower}", NO: "not lower"}
    return (
        "The asymmetry of the numeric facts less that of the other categories is "
        f"{with_interval(answer.asked)}: "
        f"{which.get(answer.asked.word, 'on which side it lies cannot be told')}."
    )


def _describe_gain(answer: ModelAnswers) -> str:
    """Return the gain, and how many printed models damp or expand as it does."""
    asked = answer.asked
    gain = with_interval(asked, sign=False)
    text = f"The second-last block's gain is {gain}, over {asked.n} {asked.unit}"
    if asked.word == NO_CATEGORIES:
        return f"{text} that come in no categories: what other kinds of prompts give is not known."
    sides = {YES: "it damps", NO: "it expands"}
    if asked.word not in sides:
        return f"{text}: whether it damps cannot be told."
    return f"{text}: {sides[asked.word]}, as {_alike(answer)}."
