"""How often is an answer wrong? Data whose truth is known, through the questions' own functions.

    python benchmarks/calibration.py [RESULT...] [--quick] [--write]

A row is a question and a kind of data: 2,000 sets (--quick: 400), of which slow methods take half.
Each gives an estimate by the function that answers the question, and a word by the question as it
is asked of one model. Where the truth lies on the border of what is claimed, yes and no are both
wrong, at most 2.5% each; where it lies beyond, one of them is, and the share of the other is the
power. The interval should cover the truth in 93% or more. 50 sets go the whole way too, from values
of pairs to answers, and must give the same words.

RESULT is a folder of `layerwise analyze --pairs papers --keep-states`: rates on its numbers, with
preferences permuted over the pairs, or exchanged between whole categories, the sides of pairs
exchanged, and pairs assigned to random categories.

--write records the table as code/layerwise/present/calibration.json, which pages show and
`docs/calibration.py` renders. Rows of a trained model that is not given stay as they were recorded.
"""

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import typer

from layerwise.engine.answer_words import NO, YES
from layerwise.engine.answers import Answer, read_answers
from layerwise.engine.derivation import derive
from layerwise.engine.evidence import Evidence
from layerwise.engine.measured import measured
from layerwise.engine.published import DATASET, DECIDES, Published
from layerwise.engine.question import Question, documents_of_questions
from layerwise.measures.uniformity import (
    asymmetry_without_each_pair,
    mean_pairwise_cosine_by_group,
    unit_rows,
)
from layerwise.measures.values import Output, Values
from layerwise.models.store import open_states
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.experiments.choices import curves_of_pairs
from layerwise.papers.paper1 import questions as paper1
from layerwise.papers.paper2.questions import categories, curves
from layerwise.papers.paper3.questions import gains, samples, weights
from layerwise.papers.paper3.rules.gain_files import gain
from layerwise.papers.paper3.rules.lab_heritage import models_by_lab
from layerwise.papers.paper3.rules.prompts import prompts_estimate
from layerwise.papers.paper3.rules.spectral_norms import models_with_gains, value_over_output
from layerwise.papers.shared.names import EXTRACTIONS, FACTS, NUMERIC
from layerwise.papers.shared.published import read_published
from layerwise.papers.shared.result_files import CHOICES_FILE, CROSS, CURVES, HUNT
from layerwise.papers.shared.terms import ELEUTHER
from layerwise.present.error_rates import RECORD, Row, read_error_rates
from layerwise.statistics.bootstrap import Draws, correlation_interval
from layerwise.statistics.by_category import (
    Correlations,
    jackknife_r,
    r_by_category,
    z_difference_by_category,
)
from layerwise.statistics.correlation import pearson_p
from layerwise.statistics.estimates import (
    LEVEL,
    Estimate,
    correlation_difference_estimate,
    mean_estimate,
    mean_estimate_from_moments,
    pearson_estimate,
    published_correlation,
)
from layerwise.statistics.extremes import crossing_distance, highest, least_clear, lowest
from layerwise.statistics.profiles import rise_and_fall

ROOT = Path(__file__).resolve().parent.parent
SEED = 0
PAPERS = (30, 20, 50, 50, 50, 30)  # pairs in the categories of Papers 1 and 2
N_LAYERS = 9  # sampled; the last but one stands for the printed layer
BUSINESS, OTHERS = "business", ("lifestyle", "cultural", "tech")
NAMES = (NUMERIC, FACTS, BUSINESS, *OTHERS)  # of categories
BORDER = "border"  # the truth lies on it
READING = "all_pairs"  # a reading of Paper 2's questions, as it is asked of one layer
Rng = np.random.Generator
Rows = Iterator[Row]


def question_of(name: str) -> Question:
    """Return a question as it is asked of one model."""
    return QUESTIONS["early" if name == READING else name].alone()


def tally(
    name: str,
    data: str,
    estimates: Iterable[Estimate],
    truth: float | None,
    *,
    side: str = "",
    why: str = "",
    model: str = "",
) -> Row:
    """Count the words of estimates, and the intervals that hold the truth.

    Arguments:
        truth: the true number; None where there is none.
        side: what the truth makes right, where the number does not say: BORDER, YES or NO.
        why: why the aim may be out of reach here; `model`: the trained one whose numbers these are.
    """
    asked = question_of(name)
    found = list(estimates)
    words = [asked.word(estimate) for estimate in found]
    covered = None
    if truth is not None:
        ends = [estimate.ends(LEVEL) for estimate in found]
        covered = int(sum(low <= truth + 1e-9 and truth - 1e-9 <= high for low, high in ends))
        borders = (asked.within.above, asked.within.below)
        is_border = any(math.isclose(truth, border, abs_tol=1e-9) for border in borders)
        side = side or (BORDER if is_border else YES if truth in asked.within else NO)
    return Row(name, data, len(found), side, words.count(YES), words.count(NO), covered, why, model)


# --- r of pairs in categories ---------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """How pairs are made: r by layer, and what else holds.

    Attributes:
        z: Fisher's z by layer in the mean category.
        sd: of z between categories; `skewed`: whether it is far from normal.
        icc: the part of the variance of both series that lies between the categories; `between`:
            their r there.
        outlier: by how many SDs one category lies out in both series.
    """

    z: Sequence[float]
    sd: float = 0.0
    sizes: Sequence[int] = PAPERS
    icc: tuple[float, float] = (0.0, 0.0)
    between: float = 0.0
    outlier: float = 0.0
    skewed: bool = False


def persistent(rng: Rng, shape: tuple[int, ...], r: float = 0.9) -> np.ndarray:
    """Return normal numbers, [set, layer, ...], whose neighbours in depth correlate."""
    noise = rng.normal(size=shape)
    for layer in range(1, shape[1]):
        noise[:, layer] = r * noise[:, layer - 1] + math.sqrt(1 - r**2) * noise[:, layer]
    return noise


def skewed(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """Return lognormal numbers of skewness 3.7, with mean 0 and SD 1."""
    width = 0.8**2
    sd = math.sqrt((math.exp(width) - 1) * math.exp(width))
    return (rng.lognormal(0, 0.8, shape) - math.exp(width / 2)) / sd


def make_pairs(rng: Rng, rows: int, kind: Kind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, [set, layer, pair], y, [set, pair], and the number of each pair's category."""
    labels = np.repeat(np.arange(len(kind.sizes)), kind.sizes)
    shape = rows, len(kind.z), len(kind.sizes)
    apart = skewed(rng, shape[::2])[:, None] if kind.skewed else persistent(rng, shape)
    r = np.tanh(np.array(kind.z)[:, None] + kind.sd * apart)[..., labels]
    y = rng.normal(size=(rows, 1, len(labels)))
    x = r * y + np.sqrt(1 - r**2) * persistent(rng, r.shape)
    between_y = rng.normal(size=(rows, 1, len(kind.sizes)))
    own = rng.normal(size=(rows, 1, len(kind.sizes)))
    between_x = kind.between * between_y + math.sqrt(1 - kind.between**2) * own
    for series, means, icc in ((x, between_x, kind.icc[0]), (y, between_y, kind.icc[1])):
        series *= math.sqrt(1 - icc)
        series += math.sqrt(icc) * means[..., labels]
        series += kind.outlier * (labels == 0) * rng.choice([-1, 1], size=(rows, 1, 1))
    return x, y[:, 0], labels


def correlations(x: np.ndarray, y: np.ndarray, labels: np.ndarray) -> list[list[Correlations]]:
    """Return what the rules read of pairs, by set and layer."""
    names = [str(number) for number in range(labels.max() + 1)]
    sizes = dict(zip(names, np.bincount(labels).tolist(), strict=True))

    def r_of(kept: np.ndarray) -> np.ndarray:
        a, b = x[..., kept], y[:, None, kept]
        a, b = a - a.mean(axis=-1, keepdims=True), b - b.mean(axis=-1, keepdims=True)
        return (a * b).sum(-1) / np.sqrt((a**2).sum(-1) * (b**2).sum(-1))

    inside = np.stack([r_of(labels == number) for number in range(len(names))], axis=-1)
    without = np.stack([r_of(labels != number) for number in range(len(names))], axis=-1)
    over_all = r_of(labels >= 0)
    return [
        [
            Correlations(
                dict(zip(names, inside[row, layer].tolist(), strict=True)),
                sizes,
                float(over_all[row, layer]),
                dict(zip(names, without[row, layer].tolist(), strict=True)),
            )
            for layer in range(over_all.shape[1])
        ]
        for row in range(len(over_all))
    ]


def over_all_pairs(at: Correlations) -> Estimate:
    """Return r over all pairs, as the reading of Paper 2's questions has it."""
    return jackknife_r(at.over_all, list(at.without.values()))


def each_r(at: Sequence[Correlations]) -> list[Estimate]:
    return [r_by_category([one]) for one in at]


def named_less_others(at: Sequence[Correlations]) -> Estimate:
    *before, named, last = at
    return highest([z_difference_by_category([named], [one]) for one in (*before, last)])


def distance(first: Sequence[Correlations], second: Sequence[Correlations]) -> Estimate:
    """Return the layers between the turns of two curves."""
    return crossing_distance(*(dict(enumerate(each_r(at))) for at in (first, second)))


# Of Paper 2's questions on one curve the estimate, and the true number by Fisher's z.
RULES: dict[str, tuple[Callable[..., Estimate], Callable[..., float]]] = {
    "early": (lambda at: r_by_category(at[:3]), lambda z: np.tanh(np.mean(z[:3]))),
    "late": (lambda at: r_by_category(at[-3:]), lambda z: np.tanh(np.mean(z[-3:]))),
    "sign_change": (
        lambda at: z_difference_by_category(at[-3:], at[:3]),
        lambda z: np.mean(z[-3:]) - np.mean(z[:3]),
    ),
    "late_inversion": (lambda at: lowest(each_r(at[-3:])), lambda z: np.tanh(min(z[-3:]))),
    "no_inversion": (lambda at: lowest(each_r(at[-3:])), lambda z: np.tanh(min(z[-3:]))),
    "everywhere_negative": (lambda at: highest(each_r(at)), lambda z: np.tanh(max(z))),
    "turns": (
        lambda at: curves.turn(*each_r([at[0], at[-1]])),
        lambda z: np.tanh(min(z[0], -z[-1])),
    ),
    "below_others": (named_less_others, lambda z: z[-2] - min(*z[:-2], z[-1])),
}
FLAT, CURVE = (0.0,) * N_LAYERS, tuple(RULES)
FALLS = ("early", "late", "sign_change", "late_inversion", "turns", "everywhere_negative")
FEW = (2, 3, 4, 10)  # categories of twenty pairs
SKEWED = "few categories of a skewed law: Student's t takes a normal one"


def flat(r: float, **at: float) -> tuple[float, ...]:
    """Return Fisher's z of a curve of one r, apart from layers `_0` to `_8`."""
    z = [math.atanh(r)] * N_LAYERS
    for layer, value in at.items():
        z[int(layer[1:])] = math.atanh(value)
    return tuple(z)


def falling(r: float, turn: int = 4) -> tuple[float, ...]:
    """Return a curve that is positive before a layer and negative from it on."""
    return flat(r)[:turn] + flat(-r)[turn:]


def kinds_of_curves() -> Iterator[tuple[str, Kind, Sequence[str]]]:
    """Yield what the pairs are, and which questions are asked of them."""
    for sd in (0.0, 0.2, 0.4):
        yield f"r 0, SD {sd} between categories", Kind(FLAT, sd), CURVE
    for sizes in ((4, 4, 5, 6, 8, 100), (4, 5, 6, 8, 50, 50), (100, 5, 5)):
        told = ", ".join(map(str, sizes))
        sd = 0.4 if len(sizes) == 3 else 0.2
        yield f"r 0, SD {sd}; {told} pairs", Kind(FLAT, sd, sizes), CURVE
    for n in FEW:
        yield f"r 0, SD 0.2; {n} categories of 20", Kind(FLAT, 0.2, (20,) * n), CURVE
    for icc in (0.3, 0.8):
        kind = Kind(FLAT, 0.2, icc=(icc, icc))
        yield f"r 0, SD 0.2; both series apart by category (ICC {icc})", kind, CURVE
    yield "r 0, SD 0.2, skewed", Kind(FLAT, 0.2, skewed=True), ("early", "late")
    weakest = -curves.WEAKEST_INVERSION
    for data, z, name in (
        ("r 0 at one late layer, 0.5 elsewhere", flat(0.5, _8=0), "late_inversion"),
        ("r -0.32 at one late layer, 0 elsewhere", flat(0, _8=weakest), "no_inversion"),
        ("r 0 at one layer, -0.5 elsewhere", flat(-0.5, _0=0), "everywhere_negative"),
        ("r 0 at the first layer, -0.5 elsewhere", flat(-0.5, _0=0), "turns"),
        ("r -0.5 at the named layer and another", flat(0, _6=-0.5, _7=-0.5), "below_others"),
    ):
        yield data, Kind(z, 0.1), (name,)
    for r, sd in ((0.3, 0.1), (0.5, 0.3)):
        yield f"r falls from {r} to -{r} (SD {sd})", Kind(falling(r), sd), FALLS
        alone = Kind(flat(0, _7=-r), sd)
        yield f"r -{r} at the named layer alone (SD {sd})", alone, ("below_others",)
        every = ("everywhere_negative", "no_inversion")
        yield f"r -{r} in every layer (SD {sd})", Kind(flat(-r), sd), every
        every = ("late_inversion", "no_inversion")
        yield f"r {r} in every layer (SD {sd})", Kind(flat(r), sd), every
    for n in FEW:
        kind = Kind(falling(0.3), 0.1, (20,) * n)
        yield f"r falls from 0.3 to -0.3 (SD 0.1); {n} categories of 20", kind, FALLS[:3]
    kind = Kind(flat(0.44)[:4] + flat(-0.3)[4:], 0.1)
    yield "r falls from 0.44 to -0.30, as printed (SD 0.1)", kind, FALLS[:5]


def rows_of_curves(rng: Rng, rows: int) -> Rows:
    for data, kind, asked in kinds_of_curves():
        sets = correlations(*make_pairs(rng, rows, kind))
        for name in asked:
            rule, true = RULES[name]
            why = SKEWED if kind.skewed else ""
            yield tally(name, data, map(rule, sets), float(true(kind.z)), why=why)
    for data, sd, r, turns, side in (
        ("neither turns, r 0", 0.2, 0, (4, 4), BORDER),
        ("both turn at one layer, r 0.3 to -0.3", 0.1, 0.3, (4, 4), NO),
        ("both turn at one layer, r 0.5 to -0.5", 0.1, 0.5, (4, 4), NO),
        ("they turn one layer apart, r 0.5 to -0.5", 0.1, 0.5, (4, 5), YES),
        ("they turn four layers apart, r 0.3 to -0.3", 0.1, 0.3, (3, 7), YES),
        ("they turn four layers apart, r 0.5 to -0.5", 0.3, 0.5, (3, 7), YES),
    ):
        kinds = [Kind(falling(r, turn), sd) for turn in turns]
        both = [correlations(*make_pairs(rng, rows, kind)) for kind in kinds]
        true = float(turns[1] - turns[0]) if r else None
        yield tally("turn_apart", data, map(distance, *both), true, side=side)
    for n in FEW:
        kind = Kind(falling(0.5), 0.1, (20,) * n)
        sets = correlations(*make_pairs(rng, rows, kind))
        for name in FALLS[:3]:
            rule, true_number = RULES[name]
            data = f"r falls from 0.5 to -0.5 (SD 0.1); {n} categories of 20"
            yield tally(name, data, map(rule, sets), float(true_number(kind.z)))


def rows_of_all_pairs(rng: Rng, rows: int) -> Rows:
    def icc(share: float, between: float = 0.0) -> dict[str, Any]:
        return {"icc": (share, share), "between": between}

    opposite = "the categories correlate with the opposite sign, and there are six of them"
    for data, r, more, why in (
        ("r 0", 0.0, {}, ""),
        ("r 0, ICC 0.3", 0.0, icc(0.3), ""),
        ("r 0, ICC 0.8", 0.0, icc(0.8), ""),
        ("r 0, ICC 0.3, one category 6 SD out in both", 0.0, {**icc(0.3), "outlier": 6}, ""),
        ("r -0.8 between categories, 0.3 within", 0.3, icc(0.4, -0.8), opposite),
        ("r 0.3", 0.3, {}, ""),
        ("r 0.3, ICC 0.3", 0.3, icc(0.3, 0.3), ""),
        ("r 0.5, ICC 0.3", 0.5, icc(0.3, 0.5), ""),
    ):
        sets = correlations(*make_pairs(rng, rows, Kind(flat(r)[:1], **more)))
        true = 0.4 * -0.8 + 0.6 * 0.3 if why else r
        yield tally(READING, data, (over_all_pairs(at) for (at,) in sets), true, why=why)


# --- r over categories, over bins, and of models --------------------------------------------------


def correlated(
    rng: Rng, rows: int, n: int, r: float, outlier: float = 0.0
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for _ in range(rows):
        x, noise = rng.normal(size=(2, n))
        y = r * x + math.sqrt(1 - r**2) * noise
        for side in (x, y):
            side[0] += outlier * rng.choice([-1, 1])
        yield x, y


def rows_over_categories(rng: Rng, rows: int) -> Rows:
    for data, r, outlier in (
        ("six categories, r 0", 0.0, 0.0),
        ("six categories, r 0, one 6 SD out in both", 0.0, 6.0),
        ("six categories, r -0.8", -0.8, 0.0),
        ("six categories, r -0.87, as printed", -0.87, 0.0),
    ):
        sets = list(correlated(rng, rows, 6, r, outlier))
        found = (categories.jackknife_of_series(*one) for one in sets)
        yield tally("category_inversion", data, found, r)
        middle = (
            highest(
                [
                    categories.jackknife_of_series(-x, y),
                    categories.jackknife_of_series(-0.9 * x - 0.4 * rng.normal(size=6), y),
                ]
            )
            for x, y in sets
        )
        turned = data.replace("r -", "r +")
        yield tally("category_mid", turned, middle, -r)
    for data, both in (
        ("20 bins, r 0 at both layers", (0.0, 0.0)),
        ("20 bins, r 0 and 0.7", (0.0, 0.7)),
        ("20 bins, r 0.5 at both, about as printed", (0.5, 0.5)),
        ("20 bins, r 0.7 at both", (0.7, 0.7)),
    ):
        bins = (lowest_over_bins(rng, both) for _ in range(rows // 2))
        yield tally("mid_bins", data, bins, min(both))


def lowest_over_bins(rng: Rng, r: Sequence[float], n: int = 20) -> Estimate:
    """Return the lower r of two layers by the notebook's bootstrap, of 1,000 resamples."""
    y, shared = rng.normal(size=(2, n))
    each = []
    for one in r:
        noise = 0.9 * shared + math.sqrt(1 - 0.9**2) * rng.normal(size=n)
        x = one * y + math.sqrt(1 - one**2) * noise
        found = correlation_interval(x, y, np.random.RandomState(rng.integers(1 << 31)), 1000)
        p = float(pearson_p(found.r, n))
        each.append(published_correlation(found.r, (found.low, found.high), n, "bins", p=p))
    return lowest(each)


def rows_of_models(rng: Rng, rows: int) -> Rows:
    """Yield the rows of Paper 3's questions over models, with the printed depths and numbers."""
    few = rows // 2  # the exact law of r takes milliseconds
    print_ = Evidence(read_published(ROOT / "published"), Draws(10, LEVEL, 42))
    swept, surveyed = samples.sweep_models(print_), samples.hunt_models(print_)
    norms = models_with_gains(print_).values()
    for name, points, r in (
        ("depth_gain", depths_and_gains(swept), -0.88),
        ("depth_gain_of_survey", depths_and_gains(surveyed), -0.8),
        ("spectral_predicts", [(value_over_output(one), gain(of)) for one, of in norms], -0.8),
    ):
        x, y = np.array(points, dtype=float).T
        n = len(x)
        normal = rng.normal(size=(few, n))
        effect = r * (x - x.mean()) / x.std() + math.sqrt(1 - r**2) * normal
        as_printed = ", as printed" if name == "depth_gain" else ""
        for data, sets, true in (
            (f"gains permuted over the {n} models", [rng.permutation(y) for _ in normal], 0.0),
            (f"{n} models, normal gains, r 0", normal, 0.0),
            (f"{n} models, r {r}{as_printed}", effect, r),
        ):
            found = (pearson_estimate(x, one, "models") for one in sets)
            yield tally(name, data, found, true, why="" if sets is normal else NOT_NORMAL)
    for name, split in (("heritage", samples.split_by_lab), ("crowding", samples.split_by_density)):
        groups = [samples.count_sides(group) for group in split(surveyed)]
        found = (exchanged_models(rng, groups) for _ in range(few))
        yield tally(name, "models exchanged between the groups", found, 0.0)
        n, m = (group.n for group in groups)
        for share, other in ((0.5, 0.5), (0.2, 0.2), (0.8, 0.2), (0.95, 0.05)):
            found = (difference_of_groups(rng, (n, m), (share, other)) for _ in range(few))
            data = f"{n} and {m} models, of which {share:.0%} and {other:.0%} damp"
            yield tally(name, data, found, share - other)
    labs_alike = "all labs alike, gains of one lab hang together (ICC 0.5)"
    of_labs = "one lab against four: what is said of the named lab's models says nothing of labs"
    by_lab = models_by_lab(print_[HUNT])
    sizes = [len(by_lab.pop(ELEUTHER)), *map(len, by_lab.values())]
    found = (difference_of_labs(rng, sizes) for _ in range(few))
    yield tally("heritage", labs_alike, found, 0.0, why=of_labs)
    differences = np.array([weights.formula_against_half([m]).value for m in print_[CROSS].results])
    n, sd = len(differences), float(differences.std(ddof=1))
    noise, signs = rng.normal(size=(rows, n)), rng.choice([-1, 1], size=(rows, n))
    for data, sets, true in (
        (f"{n} models, normal differences", sd * noise, 0.0),
        ("the printed differences with random signs", signs * differences, 0.0),
        (f"{n} models, the formula 1 SD better", sd * (noise - 1), -sd),
    ):
        yield tally("lstar", data, (mean_estimate(one, "models") for one in sets), true)
    for name, lab in (("heritage_over_geometry", True), ("geometry_over_scale", False)):
        for first, second in ((0, 0), (0.5, 0.5), (0.8, 0.2)):
            made = (two_r(rng, first, second, lab=lab) for _ in range(few))
            yield tally(name, f"16 models, |r| {first} and {second}", made, first - second)
    found = (r_of_labs(rng, sizes) for _ in range(few))
    yield tally("heritage_over_geometry", labs_alike, found, 0.0, why=of_labs)


def depths_and_gains(models: samples.GainModels) -> list[tuple[int, float]]:
    return [(model.depth, samples.mean_gain(model)) for model in models.values()]


NOT_NORMAL = "few models far from normal in both: the exact law of r takes one of them to be normal"


def exchanged_models(rng: Rng, groups: Sequence[samples.Sides]) -> Estimate:
    """Return the difference of shares with the models exchanged between the groups."""
    chances = rng.permutation(np.concatenate([group.chances for group in groups]))
    parts = np.split(chances, [groups[0].n])
    return samples.difference_of_shares(
        *(samples.Sides(tuple(part.tolist()), int(np.sum(part > 0.5))) for part in parts)
    )


def sides_of_gains(rng: Rng, true: np.ndarray) -> samples.Sides:
    """Return the sides of models, each of whose gains is a mean over five prompts."""
    found = []
    for mean in true:
        prompts = mean + 0.05 * rng.normal(size=5)
        found.append(mean_estimate_from_moments(prompts.mean(), prompts.std(), 5, "prompts"))
    return samples.sides_of(found)


def difference_of_groups(rng: Rng, n: Sequence[int], shares: Sequence[float]) -> Estimate:
    sides = []
    for size, share in zip(n, shares, strict=True):
        damps = rng.random(size) < share
        far = np.abs(0.15 * rng.normal(size=size))
        sides.append(sides_of_gains(rng, np.where(damps, 1 - far, 1 + far)))
    return samples.difference_of_shares(*sides)


def gains_of_labs(rng: Rng, sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return which models are of the first lab, and gains, half of whose variance is the labs'."""
    labs = np.repeat(np.arange(len(sizes)), sizes)
    parts = rng.normal(size=len(sizes))[labs] + rng.normal(size=len(labs))
    return labs == 0, 1 + 0.15 * math.sqrt(0.5) * parts


def difference_of_labs(rng: Rng, sizes: Sequence[int]) -> Estimate:
    is_first, true = gains_of_labs(rng, sizes)
    return samples.difference_of_shares(
        sides_of_gains(rng, true[is_first]), sides_of_gains(rng, true[~is_first])
    )


def r_of_labs(rng: Rng, sizes: Sequence[int]) -> Estimate:
    is_first, gains = gains_of_labs(rng, sizes)
    density = rng.normal(size=len(gains))
    return correlation_difference_estimate(gains, is_first.astype(float), density, "models")


def two_r(rng: Rng, first: float, second: float, *, lab: bool, n: int = 16) -> Estimate:
    """Return the difference of |r| of the gain and two numbers; the first may be a lab."""
    x, other, noise = rng.normal(size=(3, n))
    if lab:
        x = np.where(rng.permutation(n) < 5, 1.483, -0.674)  # five of 16, of mean 0 and SD 1
    y = first * x + second * other + math.sqrt(1 - first**2 - second**2) * noise
    return correlation_difference_estimate(y, x, other, "models")


# --- asymmetry of categories ----------------------------------------------------------------------


@dataclass(frozen=True)
class Made(paper1.Categories):
    """A model of which the asymmetries are given, with those without each pair."""

    ua: Mapping[str, float]
    without: Mapping[str, np.ndarray]

    def names(self) -> list[str]:
        return list(self.ua)

    def asymmetry(self, name: str) -> float:
        return self.ua[name]

    def without_each_pair(self, name: str) -> np.ndarray:
        return self.without[name]


def model_of(sides: Sequence[np.ndarray], labels: np.ndarray, names: Sequence[str]) -> Made:
    """Return the asymmetries of states of both sides of pairs."""
    n = len(names)
    means = [mean_pairwise_cosine_by_group(side, labels, n) for side in sides]
    ua = dict(zip(names, (means[0] - means[1]).tolist(), strict=True))
    without = asymmetry_without_each_pair(*sides, labels, n)
    return Made("", None, ua, {name: without[labels == k] for k, name in enumerate(names)})  # type: ignore[arg-type]


def make_model(rng: Rng, ratio: Mapping[str, float]) -> Made:
    """Return a model of states about a shared direction, with heavy-tailed scatter.

    Numeric facts scatter most, as in trained models.

    Arguments:
        ratio: how much more the first side of a category scatters than the second.
    """
    labels = np.repeat(np.arange(len(NAMES)), PAPERS)
    scatter = np.where(labels == 0, 1.2, 0.6)
    first = np.array([ratio.get(name, 1.0) for name in NAMES])[labels]
    scales = np.stack([scatter * first, scatter])[..., None]
    scales = scales * rng.lognormal(0, 0.4, size=(2, len(labels), 1))
    return model_of(1.0 + scales * rng.normal(size=(2, len(labels), 32)), labels, NAMES)


OF_ONE: dict[str, Callable[[Made], Estimate]] = {
    "calibration": paper1.neutral_mean,
    "positive_on_neutral": paper1.neutral_mean,
    "numeric": paper1.numeric_less_others,
    "facts_largest": paper1.facts_less_largest,
    "business": paper1.business_estimate,
}


def less_lowest(last: Made, others: list[Made]) -> Estimate:
    return highest([paper1.less_models(last, [other], BUSINESS) for other in others])


OF_FOUR: dict[str, Callable[[Made, list[Made]], Estimate]] = {
    "facts_above_models": lambda last, others: paper1.less_models(last, others, FACTS),
    "business_lowest": less_lowest,
}


def rows_of_asymmetry(rng: Rng, rows: int) -> Rows:
    """Yield the rows of single categories; of an effect the truth is the mean over all sets."""
    both = {FACTS: 0.8, BUSINESS: 0.8}
    for data, ratio, asked in (
        ("framing without effect", {}, ("numeric", "facts_largest", "business")),
        ("numeric facts scatter 1.5 times as much on side A", {NUMERIC: 1.5}, ("numeric",)),
        ("facts and business scatter 0.8 times as much on side A", both, ("business",)),
        ("facts scatter half as much on side A", {FACTS: 0.5}, ("facts_largest",)),
    ):
        models = [make_model(rng, ratio) for _ in range(rows)]
        for name in asked:
            found = list(map(OF_ONE[name], models))
            yield tally(name, *with_truth(data, found, bool(ratio)))
    alone = {FACTS: 0.6, BUSINESS: 1.3}
    for data, ratio in (("four models alike", {}), ("the model's scatter is not theirs", alone)):
        fours = [
            (make_model(rng, ratio), [make_model(rng, {}) for _ in range(3)])
            for _ in range(rows // 2)
        ]
        for name, rule in OF_FOUR.items():
            found = [rule(*four) for four in fours]
            yield tally(name, *with_truth(data, found, bool(ratio)))
    yield from rows_of_means(rng, rows)


def with_truth(
    data: str, found: Sequence[Estimate], effect: bool
) -> tuple[str, Sequence[Estimate], float]:
    """Return the data in words, the estimates, and the true number."""
    true = float(np.mean([estimate.value for estimate in found])) if effect else 0.0
    return f"{data}: {true:+.2f}" if effect else data, found, true


def rows_of_means(rng: Rng, rows: int) -> Rows:
    """Yield the rows of means over five categories, and over four models."""
    normal, unequal = rng.normal(size=(rows, 5)), np.array([0.3, 0.6, 1, 1, 2])
    both = ("calibration", "positive_on_neutral")
    for data, mean, values, asked, why in (
        ("five categories alike, SD 0.03, mean 0", 0.0, 0.03 * normal, both, ""),
        ("SD 0.01 to 0.06, mean 0", 0.0, 0.03 * unequal * normal, both, ""),
        ("SD 0.03, skewed, mean 0", 0.0, 0.03 * skewed(rng, (rows, 5)), both[1:], SKEWED),
        ("SD 0.01, mean 0.015, on the border of the zone", 0.015, 0.01 * normal, both, ""),
        ("SD 0.003, mean 0", 0.0, 0.003 * normal, both[:1], ""),
        ("SD 0.010, mean 0.022, as printed of Gemma", 0.022, 0.0105 * normal, both, ""),
        ("SD 0.044, mean 0.062, as printed of Apertus", 0.062, 0.044 * normal, both, ""),
    ):
        for name in asked:
            found = (mean_estimate(mean + one, "categories") for one in values)
            yield tally(name, data, found, mean, why=why)
    alike = 0.009 * rng.normal(size=(rows, 4))
    shared = math.sqrt(0.7) * alike + 0.009 * math.sqrt(0.3) * rng.normal(size=(rows, 1))
    why = "the models read the same pairs: what they have in common is no spread between them"
    for data, mean, values, reason in (
        ("four models alike, mean 0", 0.0, alike, ""),
        ("four models that share 30% of their variance, mean 0", 0.0, shared, why),
        ("SD 0.009, mean 0.028, as printed", 0.028, alike, ""),
    ):
        found = (mean_estimate(mean + one, "models") for one in values)
        yield tally("business_mean", data, found, mean, why=reason)


# --- gains over prompts ---------------------------------------------------------------------------

PROMPTS = np.repeat(np.arange(5), 5)  # the category of each of 25
PROMPT_NAMES = [str(number) for number in PROMPTS]


def make_prompts(rng: Rng, shape: tuple[int, ...], icc: float, skew: bool = False) -> np.ndarray:
    """Return numbers of 25 prompts of SD 1, which hang together within five categories."""
    between = (skewed(rng, (*shape, 5)) if skew else rng.normal(size=(*shape, 5)))[..., PROMPTS]
    inside = rng.normal(size=(*shape, len(PROMPTS)))
    return math.sqrt(icc) * between + math.sqrt(1 - icc) * inside


def over_prompts(values: np.ndarray) -> Estimate:
    return prompts_estimate(values, PROMPT_NAMES)


def rows_of_gains(rng: Rng, rows: int) -> Rows:
    for data, icc, size in (
        ("25 prompts, ICC 0", 0.0, 0),
        ("25 prompts, ICC 0.3", 0.3, 0),
        ("25 prompts, ICC 0.8", 0.8, 0),
        ("25 prompts, ICC 0.5, categories skewed", 0.5, 0),
        ("1 SD beyond, ICC 0.3", 0.3, 1),
        ("1 SD beyond, ICC 0.8", 0.8, 1),
        ("2 SD beyond, ICC 0.8", 0.8, 2),
    ):
        why = SKEWED if data.endswith("skewed") else ""
        noise = 0.1 * make_prompts(rng, (rows,), icc, skew=bool(why))
        for name, sign in (("damping", -1), ("bound", -1), ("last_damping", -1), ("expansion", 1)):
            true = 1 + sign * 0.1 * size
            found = (over_prompts(true + one) for one in noise)
            yield tally(name, data, found, true, why=why)
    bound = QUESTIONS["bound"]  # in its family: the claim is that no model exceeds it
    claims = [
        [bound.word(over_prompts(1 + 0.1 * one)) for one in make_prompts(rng, (23,), 0.3)]
        for _ in range(rows // 4)
    ]
    yes, no = sum({*words} == {YES} for words in claims), sum(NO in words for words in claims)
    data = "the claim on 23 models, all at the bound"
    yield Row("bound", data, len(claims), BORDER, yes, no, None)
    for data, steps, icc in (
        ("all four alike, ICC 0.3", (0, 0, 0), 0.3),
        ("the last two alike, ICC 0.3", (5, 5, 0), 0.3),
        ("the last two alike, ICC 0.8", (5, 5, 0), 0.8),
        ("each 2 SD above the one before, ICC 0.3", (2, 2, 2), 0.3),
        ("each 2 SD above the one before, ICC 0.8", (2, 2, 2), 0.8),
    ):
        made = make_prompts(rng, (rows, 4), icc) + np.cumsum([0, *steps])[:, None]
        why = "" if sum(steps) else SEARCHED
        yield tally("gain_order", data, map(least_step, made), float(min(steps)), why=why)
    for data, tuned, icc in (
        ("all three tuned models at 1, ICC 0.3", (1, 1, 1), 0.3),
        ("one tuned model at 1, ICC 0.3", (1, 1.5, 1.5), 0.3),
        ("one tuned model at 1, ICC 0.8", (1, 1.5, 1.5), 0.8),
        ("all keep their side by 3 SD, ICC 0.3", (1.3, 1.3, 1.3), 0.3),
        ("all keep their side by 3 SD, ICC 0.8", (1.3, 1.3, 1.3), 0.8),
    ):
        noise = 0.1 * make_prompts(rng, (rows, 3, 2), icc)
        sets = (least_side(1.3 + one[:, 0], np.array(tuned)[:, None] + one[:, 1]) for one in noise)
        why = SEARCHED if tuned == (1, 1, 1) else ""
        yield tally("sides_kept", data, sets, float(min(tuned) - 1), why=why)
    yield from rows_of_profiles(rng, rows // 2)


SEARCHED = "the least clear of three is found by a search: a no pays for it in its family alone"


def least_side(bases: np.ndarray, tuned: np.ndarray) -> Estimate:
    return least_clear(
        {
            str(number): gains.distance_from_one(*map(over_prompts, both))
            for number, both in enumerate(zip(bases, tuned, strict=True))
        }
    )


def least_step(values: np.ndarray) -> Estimate:
    models = {
        name: SimpleNamespace(categories=PROMPT_NAMES, gains=one)
        for name, one in zip(gains.ORDER, values, strict=True)
    }
    return gains.least_clear_step(models, lambda model: model.gains)  # type: ignore[arg-type]


def rows_of_profiles(rng: Rng, rows: int) -> Rows:
    hill = np.concatenate([np.linspace(-1, 1, 7), np.linspace(1, -1, 7)[1:]])
    for data, shape, r, side in (
        ("flat profiles, no two layers alike", 0 * hill, 0.0, BORDER),
        ("flat profiles, neighbouring layers alike (0.9)", 0 * hill, 0.9, BORDER),
        ("profiles that only rise", np.linspace(-1, 1, 13), 0.5, NO),
        ("a hill of 2 SD", hill, 0.5, YES),
        ("a hill of 4 SD", 2 * hill, 0.5, YES),
    ):
        noise = persistent(rng, (rows, 13, 25), r)
        between = persistent(rng, (rows, 13, 5), r)[..., PROMPTS]
        sets = shape[:, None] + math.sqrt(0.7) * noise + math.sqrt(0.3) * between
        found = (bell_of(one.T) for one in sets)
        yield tally("bell", data, found, None, side=side)


def bell_of(profiles: np.ndarray) -> Estimate:
    slopes = rise_and_fall(profiles)
    return least_clear(
        {"rise": over_prompts(np.array(slopes.rises)), "fall": over_prompts(np.array(slopes.falls))}
    )


# --- a trained model ------------------------------------------------------------------------------


def rows_of_trained(folder: Path, rng: Rng, rows: int) -> Rows:
    """Yield rates on a trained model's own numbers, by its result folder."""
    states = open_states(folder / "hidden_states")
    display = str(states.index["display"])
    with (folder / "tables" / "by-pair.csv").open(encoding="utf-8") as file:
        pairs = list(csv.DictReader(file))
    of_layer = {
        int(name.split("layer ")[1].rstrip(")")): name
        for name in pairs[0]
        if name.startswith("centroid asymmetry")
    }
    x = np.array([[float(row[of_layer[layer]]) for row in pairs] for layer in sorted(of_layer)])
    y = np.array([float(row["preference (nats)"]) for row in pairs])
    names, labels = np.unique([row["category"] for row in pairs], return_inverse=True)
    permuted = rng.permuted(np.tile(y, (rows, 1)), axis=1)
    whole, by_category = np.empty_like(permuted), np.empty((rows, len(names)))
    means = np.array([y[labels == number].mean() for number in range(len(names))])
    for row in range(rows):
        order = rng.permutation(len(names))
        by_category[row] = means[order]
        for number in range(len(names)):
            inside = labels == number
            whole[row, inside] = rng.choice(y[labels == order[number]], inside.sum())
    for what, drawn in (
        ("preferences permuted over the pairs", permuted),
        ("preferences of whole categories exchanged", whole),
    ):
        sets = [correlations(x[None], one[None], labels)[0] for one in drawn]
        for name, (rule, true) in RULES.items():
            yield tally(name, what, map(rule, sets), float(true(FLAT)), model=display)
        yield tally(READING, what, (over_all_pairs(at[-1]) for at in sets), 0.0, model=display)
    sides = np.stack(np.split(unit_rows(states.pooled(states.n_layers)), 2))
    ua = np.array(list(model_of(sides, labels, names).ua.values()))
    found = (categories.jackknife_of_series(ua, one) for one in by_category)
    yield tally("category_inversion", what, found, 0.0, model=display)
    exchanged, assigned = [], []
    for _ in range(rows // 2):
        stays = rng.integers(0, 2, size=(len(labels), 1)) == 1
        exchanged.append(model_of(np.where(stays, sides, sides[::-1]), labels, names))
        assigned.append(model_of(sides, rng.permutation(labels), names))
    for name, rule in OF_ONE.items():
        what = "sides of pairs exchanged"
        yield tally(name, what, map(rule, exchanged), 0.0, why=HEAVY, model=display)
        if name in ("numeric", "facts_largest"):
            what = "pairs assigned to random categories"
            yield tally(name, what, map(rule, assigned), 0.0, why=HEAVY, model=display)


HEAVY = (
    "a category of few pairs with a heavy tail: leaving out one in turn shows too small an error"
)


# --- the whole path -------------------------------------------------------------------------------


def check_path(sets: int, seed: int = SEED) -> int:
    """Ask sets of pairs by way of the stages, too, and return the number of words that agree.

    Raises:
        SystemExit: if a word or a number is another one.
    """
    print_, rng = read_published(ROOT / "published"), np.random.default_rng([seed, 99])
    # none of these curves is the one that is said not to invert
    asked = {one.name: one for one in curves.QUESTIONS if one.models is not curves.exception_curve}
    zs = falling(0.5), falling(0.4, 6), flat(0, _7=-0.6)
    made = [make_pairs(rng, sets, Kind(z, 0.3)) for z in zs]
    n_words = 0
    for row in range(sets):
        pairs = {
            slug: (x[row], y[row], labels) for slug, (x, y, labels) in zip(SLUGS, made, strict=True)
        }
        at = {slug: correlations(x[None], y[None], k)[0] for slug, (x, y, k) in pairs.items()}
        ours = {(name, slug): rule(at[slug]) for name, (rule, _) in RULES.items() for slug in at}
        for both in combinations(SLUGS, 2):
            ours["turn_apart", " and ".join(both)] = distance(*(at[slug] for slug in both))
        answers = answers_by_stages(print_, asked, pairs)
        if {name for name, _ in answers} != set(asked):
            raise SystemExit(f"set {row}: the stages answer {len(answers)} questions of the models")
        for (name, model), answer in answers.items():
            here = asked[name].answer(ours[name, model])
            if here.word != answer.word or not math.isclose(here.value, answer.value, abs_tol=1e-9):
                raise SystemExit(f"set {row}: {name} of {model} is {answer} by way of the stages")
            n_words += 1
    return n_words


SLUGS = curves.INVERTING


def values_of_pairs(
    layers: Sequence[int], x: np.ndarray, y: np.ndarray, labels: np.ndarray, names: Sequence[str]
) -> Values:
    """Return measured values that hold pairs and nothing else."""
    metrics, none = np.repeat(x[:, None], 5, axis=1), np.empty((0, 0))
    return Values(
        model="made",
        display="made",
        n_layers=max(layers),
        hidden_size=1,
        n_prompts=0,
        seed=0,
        n_permutations=1,
        k_stable=1,
        layers=tuple(layers),
        k_values=(),
        categories=tuple(names),
        neutral=(),
        readings=(),
        category_of_pair=labels,
        uniformity=np.empty((0, len(names), 2)),
        pair_metrics=metrics,
        pair_metrics_before_norm=None,
        pair_metrics_all_tokens=None,
        asymmetry_without=y,
        exchange_terms=y,
        bin_asymmetry={},
        stable_asymmetry=np.empty((len(layers), 0)),
        anisotropy=none,
        shares_by_prompt=none,
        eigenvalues=none,
        output=Output(y, np.stack([y, y]), {}, np.empty(0)),
    )


def sampled_layers(print_: Published, slug: str) -> list[int]:
    """Return the layers at which print has r over the pairs of a model."""
    place = CURVES[slug]
    start = f"/{place.group}/"
    cells = {key for file, key in print_.cells if file == place.file and key.startswith(start)}
    return sorted({int(key.removeprefix(start).split("/")[0]) for key in cells})


def evidence_of_values(print_: Published, by_model: Mapping[str, Values]) -> Evidence:
    """Return what the questions read where these values of models were measured, by slug."""
    fragments: dict[str, Any] = {CHOICES_FILE: {}}
    for slug, values in by_model.items():
        counts = np.bincount(values.category_of_pair).tolist()
        sizes = zip(values.categories, counts, strict=True)
        fragments[DATASET] = {"": {name: {"n_pairs": n} for name, n in sizes}}
        measurement = {"curves": curves_of_pairs(values)}
        fragments[CHOICES_FILE][f"/{EXTRACTIONS.get(slug, slug)}"] = measurement
        place = CURVES[slug]
        test = dict(zip(("r", *place.names), (0.0, -0.1, 0.1), strict=True))
        tests = {str(n): {place.metric: test} if place.metric else test for n in values.layers}
        fragments.setdefault(place.file, {})[f"/{place.group}"] = tests
    return Evidence(measured(print_, fragments), Draws(10, LEVEL, 42))


def answers_by_stages(
    print_: Published,
    asked: Mapping[str, Question],
    pairs: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> dict[tuple[str, str], Answer]:
    """Return the answers of pairs by the stages' code: measured values and documents."""
    names = [f"category {number}" for number in range(len(PAPERS))]
    by_model = {
        slug: values_of_pairs(sampled_layers(print_, slug), x, y, labels, names)
        for slug, (x, y, labels) in pairs.items()
    }
    evidence = evidence_of_values(print_, by_model)
    derived = derive(lambda read: documents_of_questions(asked, read), evidence)
    return {
        (name, model): readings[DECIDES]
        for name, by_model in read_answers({"questions": derived.documents}).items()
        for model, readings in by_model.items()
    }


PARTS: Sequence[Callable[[Rng, int], Rows]] = (
    rows_of_curves,
    rows_of_all_pairs,
    rows_over_categories,
    rows_of_models,
    rows_of_asymmetry,
    rows_of_gains,
)


def main(
    results: Annotated[list[Path] | None, typer.Argument(metavar="[RESULT]...")] = None,
    quick: Annotated[bool, typer.Option()] = False,
    write: Annotated[bool, typer.Option()] = False,
) -> None:
    """Print a row per question and kind of data, and record them."""
    n = 400 if quick else 2000
    rows: list[Row] = []
    print(f"{'question':24}{'model':13}{'data':62}{'sets':>6}{'yes':>7}{'no':>7}{'covers':>8}")

    def tell(found: Rows) -> None:
        for row in found:
            rows.append(replace(row, why="") if row.is_met else row)
            shares = [100 * part / row.sets for part in (row.yes, row.no)]
            covered = "" if row.covered is None else f"{100 * row.covered / row.sets:.1f}"
            mark = "" if row.is_met else "  listed" if row.why else "  NOT MET"
            numbers = f"{row.sets:6}{shares[0]:7.1f}{shares[1]:7.1f}{covered:>8}"
            print(
                f"{row.question:24}{row.model[:12]:13}{row.data:62}{numbers} {row.truth}{mark}",
                flush=True,
            )

    for number, part in enumerate(PARTS):
        tell(part(np.random.default_rng([SEED, number]), n))
    for folder in results or []:
        tell(rows_of_trained(folder, np.random.default_rng([SEED, len(PARTS)]), n))
    sets = 10 if quick else 50
    n_words = check_path(sets)
    print(f"{n_words} words of {sets} sets are the same by way of the stages")
    if write:
        write_record(rows, {"sets": sets, "words": n_words})


def write_record(rows: Sequence[Row], path: Mapping[str, int]) -> None:
    """Write the recorded table; a trained model that was not given keeps its rows."""
    given = {row.model for row in rows}
    kept = [row for row in read_error_rates() if row.model not in given] if RECORD.exists() else []
    place = [*QUESTIONS, READING]
    ordered = sorted([*rows, *kept], key=lambda row: (place.index(row.question), row.model))
    lines = ",\n".join(json.dumps(asdict(row)) for row in ordered)
    RECORD.write_text(
        f'{{"seed": {SEED}, "path": {json.dumps(path)}, "rows": [\n{lines}\n]}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    typer.run(main)
