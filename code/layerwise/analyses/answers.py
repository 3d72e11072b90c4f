"""Which of the papers' claims a reader's own model shows, and under which choices.

A claim says where a number lies: above a limit, below one, between two. It is asked of the result
documents of one model, as the papers asked it and under every other choice that was computed, and
one rule (`Question.word`) turns each estimate into a word. Beside it stands the same number of the
papers' own models, from the numbers published with them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from layerwise.analyses import calibration, spectral_norms
from layerwise.analyses.depth_gain import correlation
from layerwise.analyses.evidence import Evidence, by_layer
from layerwise.analyses.gain_files import depth_bound, gain, models
from layerwise.analyses.pair_curves import CURVES
from layerwise.analyses.survival import AT_ONCE, CHOICES, PUBLISHED
from layerwise.places.categories import NUMERIC
from layerwise.places.curves import METRIC
from layerwise.places.models import NAMES
from layerwise.places.result_files import PROFILES, SCALING, SPECTRAL, SWEEP
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import (
    MIN_POINTS,
    Correlation,
    pearson,
    pearson_p,
    without_one,
)

Results = Mapping[str, Mapping[str, Any]]  # the result documents of one model, by analysis
LEVEL = 0.05
EVERYTHING = -math.inf, math.inf  # the ends where there is no interval
FEWEST = 5  # points: resamples of fewer hold at most two different ones in a tenth of the draws
WORDS = SHOWN, OPPOSITE, UNCLEAR, TOO_FEW = "shown", "opposite", "unclear", "too few"
MEANINGS = {
    SHOWN: "the 95% interval lies where the claim says; of r over few points, p < 0.05 as well",
    OPPOSITE: "it lies wholly where the claim says that it does not",
    UNCLEAR: "neither: these data cannot tell",
    TOO_FEW: f"fewer than {FEWEST} points",
}
READINGS = {
    "penultimate": "second-last block, last token (the papers' gain without the final norm)",
    "final_norm": "last block and final norm, last token (the papers' gain with it)",
    "last_block": "last block, last token, before the final norm",
    "last_block_rounded": "last block, last token, norms rounded to the model's dtype",
    "sequence": "last block, all tokens together, before the final norm",
    "sequence_final_norm": "last block, all tokens together, behind the final norm",
    "token": "last block, mean over the tokens' norms, before the final norm",
    "token_final_norm": "last block, mean over the tokens' norms, behind the final norm",
    "total_amplification": "last block against the first, last token, before the final norm",
}
OTHERS = {  # choices that are made here, of what was computed for other ends
    "left_out": "any one category left out",
    "random_bins": "random bins of pairs instead of categories",
    "frobenius": "Frobenius norms",
    "by_block": "each block's own ratio, and of these the geometric mean",
    "largest_block": "the block of the largest gain",
    "without_last": "without the last layer",
}
CHOICE_TEXTS = CHOICES | READINGS | OTHERS


@dataclass(frozen=True)
class Estimate:
    """A number with the ends of its 95% interval, the points it rests on, and perhaps a p."""

    value: float
    low: float
    high: float
    n: int
    p: float | None = None
    where: str = ""  # the layers or categories that it is about


@dataclass(frozen=True)
class Question:
    """A claim in words, the number it is about, and where that lies if the claim is right."""

    name: str
    paper: int
    says: str
    number: str
    unit: str  # of what n counts
    needs: tuple[str, ...]  # result documents
    own: Callable[[Any], Mapping[str, Estimate]]  # by choice, of the results of one model or all
    published: Callable[[Evidence], Mapping[str, float]]  # by model
    above: float = -math.inf
    below: float = math.inf

    def word(self, estimate: Estimate) -> str:
        """One of `WORDS`: an interval that lies in the range shows the claim, a value never."""
        if estimate.n < FEWEST:
            return TOO_FEW
        if estimate.p is not None and estimate.p >= LEVEL:
            return UNCLEAR
        if self.above < estimate.low and estimate.high < self.below:
            return SHOWN
        outside = estimate.high <= self.above or estimate.low >= self.below
        return OPPOSITE if outside else UNCLEAR


@dataclass(frozen=True)
class Answer:
    """A claim on one model: the papers' way, the other choices, the papers' models."""

    question: Question
    estimate: Estimate
    others: Mapping[str, Estimate]
    published: Mapping[str, float]

    @property
    def word(self) -> str:
        """Of the papers' way."""
        return self.question.word(self.estimate)

    @property
    def words(self) -> dict[str, str]:
        """Of the other choices."""
        return {choice: self.question.word(one) for choice, one in self.others.items()}


def answers(results: Results, evidence: Evidence) -> list[Answer]:
    """Every claim that these documents can answer, in the papers' order.

    Arguments:
        evidence: the published numbers.
    """
    asked = [one for one in QUESTIONS if set(one.needs) <= set(results)]
    return [found for one in asked for found in _answered(one, results, evidence)]


def over_models(models: Mapping[str, Results], evidence: Evidence) -> list[Answer]:
    """Every claim that needs several models, of those that have what it is about."""
    found = []
    for question in OVER_MODELS:
        there = {name: of for name, of in models.items() if set(question.needs) <= set(of)}
        found += _answered(question, there, evidence)
    return found


def _answered(question: Question, results: Any, evidence: Evidence) -> list[Answer]:
    """One answer, or none where the papers' way gives no number."""
    own = dict(question.own(results))
    asked = own.pop(PUBLISHED, None)
    return [Answer(question, asked, own, question.published(evidence))] if asked else []


# --- estimates of one model ---------------------------------------------------------------------


def of_rows(
    results: Results, claim: str, n: int, p: Callable[[str, float], float] | None = None
) -> dict[str, Estimate]:
    """The findings of `sensitivity` on a claim.

    Arguments:
        n: points, but under the choice of categories as units.
        p: of a choice and its value.
    """
    found = {}
    for row in results["sensitivity"]["rows"]:
        if row["claim"] == claim:
            for choice, of in ((PUBLISHED, row["published"]), (row["choice"], row["other"])):
                points = n_categories(results) if choice == "clusters" else n
                ends = of["value"], of["low"], of["high"]
                where = f"layer {of['label'][1:]}" if claim == "late_inversion" else ""
                found[choice] = Estimate(*ends, points, p and p(choice, of["value"]), where)
    return found


def over_pairs(results: Results, claim: str) -> dict[str, Estimate]:
    """Findings on the curve of r over the pairs."""
    return of_rows(results, claim, int(results["pairs"]["n_pairs"]))


def n_categories(results: Results) -> int:
    return int(results["category_bootstrap"]["n_categories"])


def mean_of(results: Results, phase: str) -> dict[str, Estimate]:
    """Mean r of a phase; its ends are the means of the layers' ends, no nearer than its own."""
    by_layers = {
        PUBLISHED: (results["pairs"]["results"], results["pairs"]["n_pairs"]),
        "clusters": (results["sensitivity"]["pairs_by_category"], n_categories(results)),
    }
    if len(results["pairs"]["results"]) < len(phases.PHASES):
        return {}
    layers = phases.thirds_of_list(sorted(map(int, results["pairs"]["results"])))[phase]
    where = f"layer{'s' if len(layers) > 1 else ''} {', '.join(map(str, layers))}"
    found = {}
    for choice, (tests, n) in by_layers.items():
        of = [tests[str(layer)][METRIC] for layer in layers]
        r, low, high = (
            float(np.mean([test[key] for test in of])) for key in ("r", "ci_lower", "ci_upper")
        )
        found[choice] = Estimate(r, low, high, n, where=where)
    return found


def inversion(results: Results) -> dict[str, Estimate]:
    """r over the categories at the last layer; without a category, the r that is left least."""
    n, last = n_categories(results), max(map(int, results["category_bootstrap"]["layer_results"]))
    adjusted = results["sensitivity"]["holm"][str(last)]["p_holm"]

    def p_value(choice: str, r: float) -> float:
        return adjusted if choice == AT_ONCE else float(pearson_p(r, n))

    found = of_rows(results, "category_inversion", n, p_value)
    left = without_a_category(results["validation"])
    if (deciding := decisive_category(results["validation"])) and PUBLISHED in found:
        without = f"{left[deciding].r:.3f} without {deciding.replace('_', ' ')}"
        found[PUBLISHED] = replace(found[PUBLISHED], where=without)
    if n > FEWEST and left:
        name = min(left, key=lambda one: abs(left[one].r))
        where = f"without {name.replace('_', ' ')}"
        found["left_out"] = of_r(left[name].r, n - 1, left[name].p, where)
    bins = results["bins"]["bootstrap_results"][str(last)]
    ends = bins["ci_lower"], bins["ci_upper"]
    found["random_bins"] = Estimate(bins["r"], *ends, bins["n_bins"], bins["p_value"])
    return found


def without_a_category(validation: Mapping[str, Any]) -> dict[str, Correlation]:
    """r of UA and preference over the other categories at the last layer, by the one left out.

    Arguments:
        validation: the result document; none of fewer than four categories.
    """
    of = {name: one for name, one in validation.items() if not name.startswith("_")}
    return without_one(
        {name: (one["asymmetry"], one["output_preference"]) for name, one in of.items()}
    )


def decisive_category(validation: Mapping[str, Any]) -> str | None:
    """The category without which r over the categories has another sign, or under half its size."""
    r, left = validation["_global_stats"]["ua_output_correlation"], without_a_category(validation)
    makes = [name for name, one in left.items() if one.r * r < 0.5 * r**2]
    return min(makes, key=lambda name: left[name].r * r, default=None)


def of_r(r: float, n: int, p: float, where: str = "") -> Estimate:
    """With Fisher's interval, which takes four points."""
    known = n > MIN_POINTS and abs(r) < 1
    ends = phases.fisher_interval(r, n) if known else EVERYTHING
    return Estimate(r, *ends, n, p, where)


def calibrated(results: Results) -> dict[str, Estimate]:
    """Mean UA of the neutral categories."""
    names = [one for one in results["validation"] if not one.startswith("_") and one != NUMERIC]
    return of_rows(results, "calibration", len(names))


def slope(shares: Sequence[float], *, rise: bool) -> Estimate:
    """Of the line up to the peak, or from the peak on, by Student's t."""
    peak = int(np.argmax(shares))
    part = shares[:peak] if rise else shares[peak:]
    value, r = curves.line_fit(part)
    freedom = len(part) - 2
    if freedom < 1 or r == 0:
        return Estimate(value, *EVERYTHING, len(part), where=f"peak at layer {peak}")
    error = abs(value) * math.sqrt((1 / r**2 - 1) / freedom)
    half = float(stats.t.isf(LEVEL / 2, freedom)) * error
    return Estimate(value, value - half, value + half, len(part), where=f"peak at layer {peak}")


def bell(results: Results, *, rise: bool) -> dict[str, Estimate]:
    """Slope of the first component's share before its peak, or from it on."""
    shares = results["anisotropy"]["intrinsic_dim_ratio"]
    before = results["sensitivity"].get("anisotropy_before_norm")
    series = {PUBLISHED: shares, "without_last": shares[:-1]}
    if before:
        series["before_norm"] = [*shares[:-1], before["last_share"]]
    return {choice: slope(of, rise=rise) for choice, of in series.items()}


def mean(values: Sequence[float], where: str = "") -> Estimate:
    """With its interval by Student's t."""
    return of_moments(float(np.mean(values)), float(np.std(values)), len(values), where)


def of_moments(value: float, spread: float, n: int, where: str = "") -> Estimate:
    """A mean from the population deviation of its n values."""
    half = float(stats.t.isf(LEVEL / 2, n - 1)) * spread / math.sqrt(n - 1) if n > 1 else math.inf
    return Estimate(value, value - half, value + half, n, where=where)


def gains(results: Results, *, bounded: bool) -> dict[str, Estimate]:
    """The last gain over the prompts, in every definition; over 10^(1/L) where bounded."""
    document = results["gains"]
    by = depth_bound(document["n_layers"]) if bounded else 1.0
    found = {
        PUBLISHED if name == "penultimate" else name: mean([one / by for one in of["all"]])
        for name, of in document["readings"].items()
        if not (bounded and name == "total_amplification")
    }
    if bounded:
        block = int(np.argmax(document["all_layer_gains"]))
        value, spread = (
            document[key][block] / by for key in ("all_layer_gains", "all_layer_gains_std")
        )
        found["largest_block"] = of_moments(value, spread, document["n_prompts"], f"block {block}")
    return found


def of_means(over: Sequence[float], under: Sequence[float]) -> Estimate:
    """Mean over mean, the blocks being the points.

    The interval is Student's on the logarithm, whose error is that of the mean of over/mean(over) -
    under/mean(under) (the delta method).
    """
    apart = mean((np.array(over) / np.mean(over) - np.array(under) / np.mean(under)).tolist())
    value = spectral_norms.mean_over_mean(over, under)
    low, high = value * np.exp([apart.low, apart.high])
    return Estimate(value, float(low), float(high), len(over))


def by_block(over: Sequence[float], under: Sequence[float]) -> Estimate:
    """Geometric mean of the blocks' own ratios."""
    one = mean((np.log(over) - np.log(under)).tolist())
    value, low, high = np.exp([one.value, one.low, one.high]).tolist()
    return Estimate(value, low, high, one.n)


def norms(results: Results) -> dict[str, Estimate]:
    """W_V over W_O: mean norm over mean norm, as in the paper."""
    m = results["spectral"]
    norm, frobenius = ([m[f"{of}_{kind}_norm"] for of in ("W_V", "W_O")]
                       for kind in ("spectral", "frobenius"))  # fmt: skip
    return {
        PUBLISHED: of_means(*norm),
        "by_block": by_block(*norm),
        "frobenius": of_means(*frobenius),
    }


# --- the same of the papers' models -------------------------------------------------------------


def in_print(of_curve: Callable[[Any], float]) -> Callable[[Evidence], dict[str, float]]:
    """A number of every published curve of r over the pairs."""
    return lambda e: {NAMES[slug]: of_curve(CURVES[slug].of(e)) for slug in NAMES}


def last_r(e: Evidence) -> dict[str, float]:
    """r over the categories at the last layer of the Pythia sizes."""
    sizes = e[SCALING].models.items()
    return {name: list(by_layer(of.layer_results).values())[-1].correlation for name, of in sizes}


def slopes_in_print(e: Evidence, *, rise: bool) -> dict[str, float]:
    """Slopes of the two published profiles."""
    return {
        NAMES[slug]: slope(e[file].intrinsic_dim_ratio[:].tolist(), rise=rise).value
        for slug, file in PROFILES.items()
    }


# --- over several models ------------------------------------------------------------------------


def depth_gain(models: Mapping[str, Results]) -> dict[str, Estimate]:
    """r of depth and mean gain; of fewer than three models there is none."""
    of = [results["gains"] for results in models.values()]
    depth = np.array([one["n_layers"] for one in of], dtype=float)
    found = {}
    for choice, key in ((PUBLISHED, "residual_gain_mean"), ("final_norm", "gain_with_ln_mean")):
        gain_of = np.array([one[key] for one in of], dtype=float)
        if len(of) >= MIN_POINTS and np.ptp(depth) and np.ptp(gain_of):
            r, p = pearson(depth, gain_of)
            found[choice] = of_r(r, len(of), p)
    return found


OF_PAIRS = ("pairs", "sensitivity", "category_bootstrap")
OF_CATEGORIES = ("validation", "sensitivity", "category_bootstrap")
OVER_MODELS = (
    Question(
        "depth_gain", 3, "The deeper a model, the smaller its gain.", "r of depth and mean gain",
        "models", ("gains",), depth_gain,
        lambda e: {"the eight Pythia sizes": correlation(e[SWEEP].models, float)["r"]}, below=0.0,
    ),
)  # fmt: skip
QUESTIONS = (
    Question(
        "calibration", 1, "On neutral statements the asymmetry is near zero, within ±0.015.",
        "mean UA of the neutral categories", "categories", OF_CATEGORIES, calibrated,
        lambda e: {
            e[file]._metadata.model_display: float(calibration.asymmetries(e[file]).mean())
            for file in calibration.MODELS.values()
        },
        above=-calibration.BAND, below=calibration.BAND,
    ),
    Question(
        "early", 2, "In early layers a pair's asymmetry and preference correlate positively.",
        "mean r of the early third", "pairs", OF_PAIRS, partial(mean_of, phase="early"),
        in_print(lambda curve: curve.mean("early")), above=0.0,
    ),
    Question(
        "late", 2, "In late layers they correlate negatively.",
        "mean r of the late third", "pairs", OF_PAIRS, partial(mean_of, phase="late"),
        in_print(lambda curve: curve.mean("late")), below=0.0,
    ),
    Question(
        "sign_change", 2, "From early to late layers r falls.",
        "late minus early mean r", "pairs", OF_PAIRS, partial(over_pairs, claim="sign_change"),
        in_print(lambda curve: curve.mean("late") - curve.mean("early")), below=0.0,
    ),
    Question(
        "late_inversion", 2, "Some late layer has a negative r.",
        "r of the lowest late layer", "pairs", OF_PAIRS,
        partial(over_pairs, claim="late_inversion"),
        in_print(lambda curve: min(curve.r(curve.phase("late")).values())), below=0.0,
    ),
    Question(
        "category_inversion", 2, "Over the categories asymmetry and preference are opposed at the "
        "last layer.", "r over the categories", "categories", (*OF_CATEGORIES, "bins"), inversion,
        last_r, below=0.0,
    ),
    Question(
        "damping", 3, "The second-last block damps: its gain is below 1. Claimed of EleutherAI's "
        "models; those of other labs are said to expand.",
        "mean gain of that block", "prompts", ("gains",), partial(gains, bounded=False),
        lambda e: {name: gain(m) for name, m in models(e[SWEEP]).items()}, below=1.0,
    ),
    Question(
        "bound", 3, "No gain exceeds 10^(1/L), with L blocks.",
        "mean gain of the second-last block over that bound", "prompts", ("gains",),
        partial(gains, bounded=True),
        lambda e: {
            name: gain(m) / depth_bound(len(m.all_layer_gains))
            for name, m in models(e[SWEEP]).items()
        },
        below=1.0,
    ),
    Question(
        "rise", 3, "Up to the layer of its peak, L*, anisotropy rises.",
        "slope of the first component's share", "layers before L*",
        ("anisotropy", "sensitivity"), partial(bell, rise=True),
        partial(slopes_in_print, rise=True), above=0.0,
    ),
    Question(
        "fall", 3, "From L* on anisotropy falls.",
        "slope of the first component's share", "layers from L* on",
        ("anisotropy", "sensitivity"), partial(bell, rise=False),
        partial(slopes_in_print, rise=False), below=0.0,
    ),
    Question(
        "spectral_norms", 3, "W_V stretches more than W_O.",
        "mean spectral norm of W_V over that of W_O", "blocks", ("spectral",), norms,
        lambda e: {
            m.model.rpartition("/")[2]: spectral_norms.ratio(m) for m in e[SPECTRAL].results
        },
        above=1.0,
    ),
)  # fmt: skip
