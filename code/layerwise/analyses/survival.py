"""The headline claims of Papers 1 and 2 on one model, under choices that the papers did not make.

A claim is a rule on a statistic. Under every choice the same rule is asked of another statistic
and its interval. On published numbers two choices can be made: to test all layers at once, and to
leave a category out.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from layerwise.analyses.calibration import paper_status
from layerwise.analyses.categories import ends, n_categories, total_pairs
from layerwise.analyses.evidence import Entry, Evidence, by_layer
from layerwise.analyses.pair_curves import PairCurve
from layerwise.analyses.validation import weakest
from layerwise.places.models import SLUG
from layerwise.places.result_files import BOOTSTRAP, UA_FILES
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.samples import holm

PUBLISHED, AT_ONCE, CATEGORY_OUT = "published", "multiplicity", "category_out"
CLAIMS = {
    "sign_change": "r over the pairs falls from positive in early layers to negative in late ones",
    "late_inversion": "some late layer has a negative r over the pairs",
    "category_inversion": "UA and preference are opposed over the categories at the last layer",
    "calibration": "UA is near zero over the neutral categories",
    "bell": "anisotropy rises to one layer and falls from there on",
    "spectral_norms": "the mean spectral norm of W_V lies above that of W_O",
    "critical_layer": "every definition of the critical layer gives the published reading's layer",
    "damping": "the mean last gain lies on the published side of 1: the model damps or expands",
}
STATISTICS = {
    "sign_change": "late minus early mean r",
    "late_inversion": "r of the lowest late layer",
    "category_inversion": "r over the categories",
    "calibration": "mean UA",
    "bell": "slope after the peak",
    "spectral_norms": "W_V over W_O",
    "critical_layer": "definitions that agree",
    "damping": "definitions on that side",
}
CHOICES = {
    "before_norm": "last layer before the final norm",
    "all_tokens": "all tokens pooled",
    "last_token": "last token instead of the mean",
    "first_token": "first token instead of the mean",
    "clusters": "categories as resampling units",
    AT_ONCE: "all layers tested at once",
    CATEGORY_OUT: "any one category left out",
    "correct_slices": "correct slices of the weights",
    "without_nan": "layers without a number left out",
    "gain_definition": "the last gain in the papers' other definitions",
}
WORDS = SURVIVES, LOST, APPEARS, ABSENT = "survives", "lost", "appears", "absent"
SURVIVING = {  # the sentence on one model's row; what is lost can have turned its sign
    SURVIVES: "The claim does not rest on this choice.",
    APPEARS: "The claim holds under this choice only, not as published.",
    ABSENT: "The claim holds neither as published nor under this choice.",
}
SIGNED = {"sign_change", "late_inversion", "category_inversion", "bell"}  # about a sign
Row = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """A claim's statistic under one choice, and whether the claim holds there by its own rule."""

    value: float
    holds: bool
    label: str
    low: float | None = None
    high: float | None = None


def compare(claim: str, choice: str, published: Finding, other: Finding) -> Row:
    """Both findings, the outcome (a word of `WORDS`) and what a reader concludes."""
    held, missing = (SURVIVES, LOST) if published.holds else (APPEARS, ABSENT)
    outcome = held if other.holds else missing
    if claim not in SIGNED:
        said = "under the other it does not hold."
    elif published.value * other.value < 0:
        said = "the other one turns its sign."
    else:
        said = "the direction stays, the evidence does not."
    return {
        "claim": claim,
        "choice": choice,
        "published": asdict(published),
        "other": asdict(other),
        "outcome": outcome,
        "conclusion": SURVIVING.get(outcome, f"The claim rests on this choice: {said}"),
    }


Findings = dict[tuple[str, str], tuple[Finding, Finding]]  # claim, choice: as published, and under


def rows(findings: Findings) -> list[Row]:
    """A row per claim and choice."""
    return [compare(*at, *both) for at, both in findings.items()]


def against_published(claim: str, found: Mapping[str, Finding]) -> Findings:
    """The findings of a claim under every choice, each beside the published one."""
    others = [choice for choice in found if choice != PUBLISHED]
    return {(claim, choice): (found[PUBLISHED], found[choice]) for choice in others}


# --- the claims' rules --------------------------------------------------------------------------


def inversion(r: float, interval: curves.Ends, label: str) -> Finding:
    return Finding(r, r < 0 and interval[1] < 0, label, *interval)


def lowest_late(r: Mapping[int, float], late: Mapping[int, curves.Ends]) -> Finding:
    """The late layer whose interval lies lowest."""
    layer = min(late, key=lambda layer: late[layer][1])
    return inversion(r[layer], late[layer], f"L{layer}")


def adjusted_p(r: Mapping[int, float], n: int) -> dict[int, float]:
    """Holm's p over all layers, of r over n points."""
    return dict(zip(r, holm([float(pearson_p(one, n)) for one in r.values()]), strict=True))


def at_once(
    r: Mapping[int, float], layer: int, n: int, level: float, interval: curves.Ends, label: str
) -> Finding:
    """By Holm's p over all layers; the interval holds for all of them."""
    return Finding(r[layer], r[layer] < 0 and adjusted_p(r, n)[layer] < 1 - level, label, *interval)


def sign_change(curve: Entry) -> Finding:
    """Early mean positive, late mean negative, and their difference beyond doubt."""
    r, parts = by_layer(curve.r), phases.thirds_of_list(list(by_layer(curve.r)))
    early, late = (float(np.mean([r[layer] for layer in parts[p]])) for p in ("early", "late"))
    low, high = ends(curve.fall)
    label = " to ".join("+" if mean > 0 else "-" for mean in (early, late))
    return Finding(late - early, early > 0 > late and high < 0, label, low, high)


def over_categories(test: Entry) -> Finding:
    return inversion(test.r, ends(test), f"{test.r:+.2f}")


def category_out(ua: Entry) -> Finding:
    """Without the category whose loss leaves the least of r; by the p over the others."""
    left = weakest(ua)
    holds = bool(left["r"] < 0 and left["significant"])
    return Finding(left["r"], holds, f"without {left['category'].replace('_', ' ')}")


def calibrated(test: Entry) -> Finding:
    """Paper 1's rule for a mean UA near zero."""
    label = paper_status(ends(test), test.cohens_d)
    return Finding(test.mean, label == "Pass", label, *ends(test))


def bell_shaped(shares: list[float]) -> Finding:
    """The profile rises to its peak and falls from there on."""
    bell = curves.bell_test(shares)
    return Finding(bell.phase2_slope, bell.is_bell_curve, f"L{bell.l_star}")


# --- one model ----------------------------------------------------------------------------------


def of_states(m: Entry) -> Findings:
    """Every claim under every choice that was measured of this model's states."""
    found = _of_curves(m) if "curves" in m else {}
    over = {choice: over_categories(test) for choice, test in m.categories.items()}
    if AT_ONCE in over:
        r = {layer: test.r for layer, test in by_layer(m.by_layer).items()}
        wide, label = ends(m.categories[AT_ONCE]), over[AT_ONCE].label
        over[AT_ONCE] = at_once(r, max(r), n_categories(m), m.draws.level, wide, label)
    if m.called in UA_FILES and m.evidence.cells.keys(UA_FILES[m.called]):
        over[CATEGORY_OUT] = category_out(m.of(UA_FILES[m.called]))
    found |= against_published("category_inversion", over)
    near_zero = {choice: calibrated(test) for choice, test in m.calibration.items()}
    found |= against_published("calibration", near_zero)
    if "profile" in m:
        found |= bell(m.profile.shares[:].tolist(), m.profile.last_before_norm)
    return found


def _of_curves(m: Entry) -> Findings:
    r = {choice: by_layer(curve.r) for choice, curve in m.curves.items() if "r" in curve}
    late = {
        choice: {layer: ends(interval) for layer, interval in by_layer(curve.late).items()}
        for choice, curve in m.curves.items()
    }
    lowest = {choice: lowest_late(r[choice], late[choice]) for choice in r}
    layer = min(late[AT_ONCE], key=lambda layer: r[PUBLISHED][layer])
    lowest[AT_ONCE] = at_once(
        *(r[PUBLISHED], layer, total_pairs(m), m.draws.level, late[AT_ONCE][layer], f"L{layer}")
    )
    changes = {choice: sign_change(m.curves[choice]) for choice in r}
    return {
        **against_published("sign_change", changes),
        **against_published("late_inversion", lowest),
    }


def bell(shares: list[float], last_before_norm: float) -> Findings:
    """The bell with the last layer behind the final norm, as published, and before it."""
    before = bell_shaped([*shares[:-1], last_before_norm])
    return {("bell", "before_norm"): (bell_shaped(shares), before)}


def in_print(slug: str, curve: PairCurve, evidence: Evidence) -> Findings:
    """Of a published curve, and of the intervals over categories where they are its."""
    of, level = curve.of(evidence), evidence.draws.level
    r, late = of.r(), of.ends(of.phase("late"))
    layer = min(late, key=lambda layer: r[layer])
    wide = _wide(r, layer, total_pairs(evidence), level, f"L{layer}")
    found = {("late_inversion", AT_ONCE): (lowest_late(r, late), wide)}
    if slug == SLUG:
        tests = by_layer(evidence[BOOTSTRAP].layer_results)
        r, last = {layer: test.r for layer, test in tests.items()}, max(tests)
        over = {PUBLISHED: over_categories(tests[last])}
        over[AT_ONCE] = _wide(r, last, n_categories(evidence), level, over[PUBLISHED].label)
        over[CATEGORY_OUT] = category_out(evidence[UA_FILES[slug]])
        found |= against_published("category_inversion", over)
    return found


def _wide(r: Mapping[int, float], layer: int, n: int, level: float, label: str) -> Finding:
    """One layer with Fisher's interval, wide enough to hold for all of them."""
    quantile = float(stats.norm.isf((1 - level) / len(r) / 2))
    return at_once(r, layer, n, level, phases.fisher_interval(r[layer], n, quantile), label)
