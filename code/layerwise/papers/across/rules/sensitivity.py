"""The result file of a reader's model under choices that the papers did not make.

r within the categories, the last layer before the final norm, all tokens, all layers at once; and
`rows`: every question, by the reading that decides and by every other one.
"""

from collections.abc import Callable, Mapping
from functools import partial

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, by_layer
from layerwise.engine.published import pointer
from layerwise.files import JsonObject
from layerwise.papers.across.questions import rows
from layerwise.papers.shared.names import READER_ENTRY, Choice
from layerwise.papers.shared.result_files import CHOICES_FILE
from layerwise.papers.shared.rules import n_categories, p_over_categories
from layerwise.statistics import curves
from layerwise.statistics.by_category import (
    Correlations,
    interval_of_r,
    jackknife_r,
    r_by_category,
)
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.samples import holm


def statistics_under_choices(model: Entry) -> Rules:
    """The statistics of a reader's model under each choice."""
    return {
        "within_categories": partial(r_within_categories, model),
        "before_norm": partial(r_before_norm, model),
        "all_tokens": partial(r_of_all_tokens, model),
        "holm": partial(p_by_holm, model),
        "anisotropy_before_norm": partial(bell_before_norm, model),
        "rows": Rule(
            lambda: rows(model.evidence),
            "the answers to the papers' questions, one row per choice",
        ),
    }


def r_within_categories(model: Entry) -> dict[str, JsonObject] | None:
    """Return r over the pairs by layer, over all of them, in each category and in the mean
    category, with 95% intervals; None without three sampled layers, the last among them.
    """
    if "curves" not in model:
        return None
    sizes = {name: len(pairs.ua_without_pair) for name, pairs in model.by_pair.items()}
    return {
        str(layer): _r_by_category(at, sizes)
        for layer, at in by_layer(model.curves[Choice.PUBLISHED]).items()
    }


def r_before_norm(model: Entry) -> dict[str, float] | None:
    """Return r over the categories before and after the final norm; None where states before the
    norm were not given.
    """
    if Choice.BEFORE_NORM not in model:
        return None
    r = model[Choice.BEFORE_NORM].r
    p = p_over_categories(model, r)
    return {"r": r, "p_value": p, "r_after_norm": model.categories[Choice.PUBLISHED].r}


def r_of_all_tokens(model: Entry) -> dict[str, dict[str, float]] | None:
    """Return r over the categories by layer, with all tokens and without the first; None where
    means over all tokens were not given.
    """
    if Choice.ALL_TOKENS not in model:
        return None
    return _tests_by_layer(
        model, Choice.ALL_TOKENS, lambda layer: {"r_without_first": model.by_layer[layer].r}
    )


def p_by_holm(model: Entry) -> dict[str, dict[str, float]]:
    """Return p over the categories by layer, adjusted for the number of layers by Holm."""
    r = {layer: test.r for layer, test in by_layer(model.by_layer).items()}
    p_values = [float(pearson_p(value, n_categories(model))) for value in r.values()]
    adjusted = dict(zip(r, holm(p_values), strict=True))
    return _tests_by_layer(model, "by_layer", lambda layer: {"p_holm": adjusted[layer]})


def bell_before_norm(model: Entry) -> dict[str, float | int] | None:
    """Return the bell test with the last layer before the final norm; None without prompts."""
    if "profile" not in model:
        return None
    last = model.profile.last_before_norm
    bell = curves.bell_test([*model.profile.shares[:-1], last])
    return {
        "L_star_anisotropy": bell.l_star,
        "is_bell_curve": bell.is_bell_curve,
        "phase2_slope": bell.phase2_slope,
        "phase2_r": bell.phase2_r,
        "last_share": last,
    }


def _tests_by_layer(
    model: Entry, group: str, more: Callable[[int], Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Return r over the categories by layer, its p, and what `more` adds."""
    return {
        str(layer): {"r": test.r, "p_value": p_over_categories(model, test.r), **more(layer)}
        for layer, test in by_layer(model[group]).items()
    }


def _r_by_category(at: Entry, sizes: Mapping[str, int]) -> JsonObject:
    """Return r at a layer: over all pairs, in each category, and in the mean category."""
    inside = {name: at.by_category[name] for name in at.by_category}
    without = {name: at.without[name] for name in at.without}
    mean = r_by_category([Correlations(inside, sizes, at.r, without)])
    over_all = jackknife_r(at.r, [*without.values()])
    return {
        "r": at.r,
        "interval": [over_all.low, over_all.high] if over_all.has_interval else None,
        "by_category": {
            name: {"r": r, "n": sizes[name], "interval": [*interval_of_r(r, sizes[name])]}
            for name, r in inside.items()
        },
        "mean": None
        if mean.uncategorised
        else {"r": mean.value, "n": mean.n, "interval": [mean.low, mean.high]},
    }


SHOWN = ("model", "model_display")
READER = Document(
    f"{CHOICES_FILE}#{pointer(READER_ENTRY)}",
    {"": statistics_under_choices},
    places={pointer(part): (CHOICES_FILE, pointer(READER_ENTRY, part)) for part in SHOWN},
)
