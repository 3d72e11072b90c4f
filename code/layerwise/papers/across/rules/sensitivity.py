"""The result file of a reader's model under choices that the papers did not make.

Pairs in whole categories, the last layer before the final norm, all tokens, all layers at once; and
`rows`: every question, as the papers asked it and under every other choice.
"""

from collections.abc import Callable, Mapping
from typing import Any

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry, by_layer
from layerwise.engine.published import pointer
from layerwise.papers.across.questions import rows
from layerwise.papers.shared.names import models
from layerwise.papers.shared.names.choices import Choice
from layerwise.papers.shared.names.result_files import CHOICES_FILE
from layerwise.papers.shared.rules.categories import PAIR_TESTS, n_categories, p_over_categories
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.samples import holm


def tests_by_layer(
    model: Entry, tests: Entry, more: Callable[[int], Mapping[str, float]]
) -> dict[str, Any]:
    """Return r over the categories by layer, its p, and what `more` adds."""
    return {
        str(layer): {"r": test.r, "p_value": p_over_categories(model, test.r)} | dict(more(layer))
        for layer, test in by_layer(tests).items()
    }


def holm_by_layer(model: Entry) -> dict[str, Any]:
    """Return p over the categories by layer, adjusted for the number of layers by Holm."""
    r = {layer: test.r for layer, test in by_layer(model.by_layer).items()}
    p_values = [float(pearson_p(value, n_categories(model))) for value in r.values()]
    adjusted = dict(zip(r, holm(p_values), strict=True))
    return tests_by_layer(model, model.by_layer, lambda layer: {"p_holm": adjusted[layer]})


def bell_before_norm(model: Entry) -> dict[str, Any] | None:
    """Return the bell test with the last layer before the final norm; None without prompts."""
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


def before_norm(model: Entry) -> dict[str, float] | None:
    """Return r over the categories before and behind the final norm.

    None where states before the final norm were not given.
    """
    if Choice.BEFORE_NORM not in model:
        return None
    r = model[Choice.BEFORE_NORM].r
    p = p_over_categories(model, r)
    return {"r": r, "p_value": p, "r_after_norm": model.categories[Choice.PUBLISHED].r}


def all_tokens(model: Entry) -> dict[str, Any] | None:
    """Return r over the categories by layer, with all tokens and without the first.

    None where means over all tokens were not given.
    """
    if Choice.ALL_TOKENS not in model:
        return None
    return tests_by_layer(
        model,
        model[Choice.ALL_TOKENS],
        lambda layer: {"r_without_first": model.by_layer[layer].r},
    )


MODEL_RULES: Rules = {
    "before_norm": before_norm,
    "all_tokens": all_tokens,
    "holm": holm_by_layer,
    "anisotropy_before_norm": bell_before_norm,
    "rows": Rule(
        lambda model: rows(model.evidence),
        "the answers to the papers' questions, one row per choice",
    ),
}
SHOWN = ("pairs_by_category", "model", "model_display")
READER = Document(
    f"{CHOICES_FILE}#{pointer(models.READER)}",
    {"": MODEL_RULES, "pairs_by_category/*/*": PAIR_TESTS},
    places={pointer(part): (CHOICES_FILE, pointer(models.READER, part)) for part in SHOWN},
)
