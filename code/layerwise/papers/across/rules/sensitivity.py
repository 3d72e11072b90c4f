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
from layerwise.papers.shared.names.result_files import CHOICES_FILE
from layerwise.papers.shared.rules.categories import PAIR_TESTS, n_categories, p_over_categories
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.samples import holm


def tested(m: Entry, tests: Entry, more: Callable[[int], Mapping[str, float]]) -> dict[str, Any]:
    """r over the categories by layer, its p, and what there is beside them."""
    return {
        str(layer): {"r": test.r, "p_value": p_over_categories(m, test.r)} | dict(more(layer))
        for layer, test in by_layer(tests).items()
    }


def at_once(m: Entry) -> dict[str, Any]:
    """p over the categories by layer, adjusted for the number of layers by Holm."""
    r = {layer: test.r for layer, test in by_layer(m.by_layer).items()}
    p_values = [float(pearson_p(one, n_categories(m))) for one in r.values()]
    adjusted = dict(zip(r, holm(p_values), strict=True))
    return tested(m, m.by_layer, lambda layer: {"p_holm": adjusted[layer]})


def bell_before_norm(m: Entry) -> dict[str, Any] | None:
    """The bell test with the last layer taken before the final norm; None without prompts."""
    if "profile" not in m:
        return None
    last = m.profile.last_before_norm
    bell = curves.bell_test([*m.profile.shares[:-1], last])._asdict()
    shown = ("is_bell_curve", "phase2_slope", "phase2_r")
    return {
        "L_star_anisotropy": bell["l_star"],
        **{name: bell[name] for name in shown},
        "last_share": last,
    }


def before_norm(m: Entry) -> dict[str, float] | None:
    """r over the categories at the last layer, before the final norm and behind it; None where
    states before it were not given.
    """
    if "before_norm" not in m:
        return None
    r = m.before_norm.r
    p = p_over_categories(m, r)
    return {"r": r, "p_value": p, "r_after_norm": m.categories.published.r}


def all_tokens(m: Entry) -> dict[str, Any] | None:
    """r over the categories by layer, of all tokens and without the first; None where means over
    all were not given.
    """
    if "all_tokens" not in m:
        return None
    return tested(m, m.all_tokens, lambda layer: {"r_without_first": m.by_layer[layer].r})


OF_MODEL: Rules = {
    "before_norm": before_norm,
    "all_tokens": all_tokens,
    "holm": at_once,
    "anisotropy_before_norm": bell_before_norm,
    "rows": Rule(
        lambda m: rows(m.evidence), "the answers to the papers' questions, one row per choice"
    ),
}
SHOWN = ("pairs_by_category", "model", "model_display")
READER = Document(
    f"{CHOICES_FILE}#{pointer(models.READER)}",
    {"": OF_MODEL, "pairs_by_category/*/*": PAIR_TESTS},
    places={pointer(part): (CHOICES_FILE, pointer(models.READER, part)) for part in SHOWN},
)
