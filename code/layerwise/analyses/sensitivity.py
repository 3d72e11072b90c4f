"""Which headline claims survive choices that the papers did not make, by model and over all models.

Kept apart from the published analyses. Published numbers allow two choices, measured ones all.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from layerwise.analyses import survival, weight_survival
from layerwise.analyses.categories import OVER_PAIRS, n_categories
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry, Evidence, by_layer
from layerwise.analyses.pair_curves import CURVES
from layerwise.analyses.survival import (
    CHOICES,
    CHOICES_FILE,
    CLAIMS,
    STATISTICS,
    Row,
    adjusted_p,
    rows,
    rows_in_print,
)
from layerwise.inputs.published import pointer
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.survival import over_models


def p_value(test: Entry) -> float:
    """Two-sided p of r over the categories."""
    return float(pearson_p(test.r, n_categories(test)))


def before_norm(m: Entry) -> dict[str, float]:
    """r over the categories at the last layer, before the final norm and behind it."""
    test = m.before_norm
    return {"r": test.r, "p_value": p_value(test), "r_after_norm": m.categories.published.r}


def all_tokens(m: Entry) -> dict[str, dict[str, float]]:
    """r over the categories by layer, of all tokens and without the first."""
    return {
        layer: {"r": test.r, "p_value": p_value(test), "r_without_first": m.by_layer[layer].r}
        for layer, test in m.all_tokens.items()
    }


def holm(m: Entry) -> dict[str, dict[str, float]]:
    """p over the categories by layer, adjusted for the number of layers."""
    tests = by_layer(m.by_layer)
    adjusted = adjusted_p({layer: test.r for layer, test in tests.items()}, n_categories(m))
    return {
        str(layer): {"r": test.r, "p_value": p_value(test), "p_holm": adjusted[layer]}
        for layer, test in tests.items()
    }


def bell_before_norm(m: Entry) -> dict[str, Any] | None:
    """The bell test with the last layer taken before the final norm; None without prompts."""
    if "profile" not in m:
        return None
    last = m.profile.last_before_norm
    bell = curves.bell_test([*m.profile.shares[:-1], last])
    return {
        "L_star_anisotropy": bell.l_star,
        "is_bell_curve": bell.is_bell_curve,
        "phase2_slope": bell.phase2_slope,
        "phase2_r": bell.phase2_r,
        "last_share": last,
    }


OF_MODEL: Rules = {
    "before_norm": before_norm,
    "all_tokens": all_tokens,
    "holm": holm,
    "anisotropy_before_norm": bell_before_norm,
    "rows": rows,
}


def of_model(name: str, further: Rules, *shown: str) -> Document:
    """The document of a model that was measured under the choices.

    Arguments:
        name: of its entry in the file of the choices.
        further: rules that go before the usual ones.
        shown: names of the entry that are shown as they stand.
    """
    return Document(
        f"{CHOICES_FILE}#{pointer(name)}",
        {"": {**OF_MODEL, **further}, "pairs_by_category/*/*": OVER_PAIRS},
        places={
            pointer(part): (CHOICES_FILE, pointer(name, part))
            for part in ("pairs_by_category", *shown)
        },
    )


def of_both(slug: str, m: Entry) -> list[Row]:
    """What the weights say too; a claim and choice that the states answer stays theirs."""
    found = rows(m)
    taken = {(row["claim"], row["choice"]) for row in found}
    more = weight_survival.rows(m.evidence).get(slug, [])
    return found + [row for row in more if (row["claim"], row["choice"]) not in taken]


def of_weights(slug: str, evidence: Evidence) -> list[Row]:
    """What the weights alone say."""
    return weight_survival.rows(evidence)[slug]


def by_model(evidence: Evidence) -> dict[str, Document]:
    """A document for every model that the source has something of."""
    if not evidence.measured:
        return {
            slug: Document(None, {"": {"rows": partial(rows_in_print, slug, curve)}})
            for slug, curve in CURVES.items()
        }
    measured = list(evidence[CHOICES_FILE]) if evidence.cells.keys(CHOICES_FILE) else []
    found = {name: of_model(name, {"rows": partial(of_both, name)}) for name in measured}
    for slug in weight_survival.rows(evidence):
        found.setdefault(slug, Document(None, {"": {"rows": partial(of_weights, slug)}}))
    return found


def summary(evidence: Evidence, part: str) -> list[Row]:
    """`rows`, one per claim and choice, or `models`, every model's own; with their words."""
    found = {
        name: document.rules[""]["rows"](document.source(evidence))
        for name, document in by_model(evidence).items()
    }
    if part == "models":
        singles = [{"model": name, **row} for name, of_one in found.items() for row in of_one]
        return [_worded(row) for row in singles]
    claims, choices = list(CLAIMS), list(CHOICES)

    def place(row: Row) -> tuple[int, int]:
        return claims.index(row["claim"]), choices.index(row["choice"])

    return [_worded(row) for row in sorted(over_models(found), key=place)]


def _worded(row: Mapping[str, Any]) -> Row:
    return {
        **row,
        "claim_text": CLAIMS[row["claim"]],
        "statistic_text": STATISTICS[row["claim"]],
        "choice_text": CHOICES[row["choice"]],
    }


def documents(evidence: Evidence) -> dict[str, Document]:
    """Every model's document, and the summary over them."""
    parts: Rules = {part: partial(summary, part=part) for part in ("rows", "models")}
    return {**by_model(evidence), "summary": Document(None, {"": parts})}


DOCUMENTS = documents
READER = of_model(survival.READER, {}, "model", "model_display")
