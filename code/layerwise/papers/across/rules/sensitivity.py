"""The result file of a reader's model under choices that the papers did not make.

r within the categories, the last layer before the final norm, all tokens, all layers at once; and
`rows`: every question, by the reading that decides and by every other one.
"""

from collections.abc import Callable, Mapping
from typing import Any

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, by_layer
from layerwise.engine.published import pointer
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
    """What the file says of a reader's model under each choice."""

    def tests_by_layer(
        tests: Entry, more: Callable[[int], Mapping[str, float]]
    ) -> dict[str, dict[str, float]]:
        """Return r over the categories by layer, its p, and what `more` adds."""
        return {
            str(layer): {"r": test.r, "p_value": p_over_categories(model, test.r), **more(layer)}
            for layer, test in by_layer(tests).items()
        }

    def before_norm() -> dict[str, float] | None:
        if Choice.BEFORE_NORM not in model:
            return None
        r = model[Choice.BEFORE_NORM].r
        p = p_over_categories(model, r)
        return {"r": r, "p_value": p, "r_after_norm": model.categories[Choice.PUBLISHED].r}

    def all_tokens() -> dict[str, dict[str, float]] | None:
        if Choice.ALL_TOKENS not in model:
            return None
        return tests_by_layer(
            model[Choice.ALL_TOKENS], lambda layer: {"r_without_first": model.by_layer[layer].r}
        )

    def holm_by_layer() -> dict[str, dict[str, float]]:
        r = {layer: test.r for layer, test in by_layer(model.by_layer).items()}
        p_values = [float(pearson_p(value, n_categories(model))) for value in r.values()]
        adjusted = dict(zip(r, holm(p_values), strict=True))
        return tests_by_layer(model.by_layer, lambda layer: {"p_holm": adjusted[layer]})

    def bell_before_norm() -> dict[str, Any] | None:
        if "profile" not in model:
            return None
        last = model.profile.last_before_norm
        bell = curves.bell_test([*model.profile.shares[:-1], last])._asdict()
        shown = ("is_bell_curve", "phase2_slope", "phase2_r")
        return {
            "L_star_anisotropy": bell["l_star"],
            **{name: bell[name] for name in shown},
            "last_share": last,
        }

    def within_categories() -> dict[str, Any] | None:
        if "curves" not in model:
            return None
        sizes = {name: len(pairs.ua_without_pair) for name, pairs in model.by_pair.items()}
        return {
            str(layer): _r_by_category(at, sizes)
            for layer, at in by_layer(model.curves[Choice.PUBLISHED]).items()
        }

    return {
        "within_categories": Rule(
            within_categories,
            "r over the pairs by layer, over all of them, in each category and in the mean "
            "category, with 95% intervals; None without three sampled layers, the last among them",
        ),
        "before_norm": Rule(
            before_norm,
            "r over the categories before and behind the final norm; None where states before the "
            "norm were not given",
        ),
        "all_tokens": Rule(
            all_tokens,
            "r over the categories by layer, with all tokens and without the first; None where "
            "means over all tokens were not given",
        ),
        "holm": Rule(
            holm_by_layer,
            "p over the categories by layer, adjusted for the number of layers by Holm",
        ),
        "anisotropy_before_norm": Rule(
            bell_before_norm,
            "the bell test with the last layer before the final norm; None without prompts",
        ),
        "rows": Rule(
            lambda: rows(model.evidence),
            "the answers to the papers' questions, one row per choice",
        ),
    }


def _r_by_category(at: Entry, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return r at a layer: over all pairs, in each category, and in the mean category."""
    inside = {name: at.by_category[name] for name in at.by_category}
    without = {name: at.without[name] for name in at.without}
    mean = r_by_category([Correlations(inside, sizes, at.r, without)])
    over_all = jackknife_r(at.r, [*without.values()])
    return {
        "r": at.r,
        "interval": [over_all.low, over_all.high] if over_all.has_interval else None,
        "by_category": {
            name: {
                "r": r,
                "n": sizes[name],
                "interval": [*interval_of_r(r, sizes[name])],
            }
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
