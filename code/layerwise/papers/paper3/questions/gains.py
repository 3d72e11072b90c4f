"""The questions of Paper 3 on gains: does a model damp, and what do depth, lab and density say?

Of a model the gain is a mean over prompts. Over models its side of 1 is a word like any other, and
what counts sides counts the undecided either way.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from layerwise.engine.derivation import Function, all_of
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import OVER_MODELS, NotMeasured
from layerwise.engine.questions.question import (
    ALPHA,
    NO,
    OF_MEAN,
    OF_R,
    PUBLISHED,
    YES,
    Question,
    Range,
    word,
)
from layerwise.papers.paper3.rules.crowding import LIMIT
from layerwise.papers.paper3.rules.gain_files import (
    Rows,
    dampens,
    density,
    final_gain,
    gain,
    models,
)
from layerwise.papers.paper3.rules.lab_heritage import ELEUTHER, fisher_p
from layerwise.papers.paper3.rules.twins import base as tuned_base
from layerwise.papers.paper3.rules.twins import same_side
from layerwise.papers.shared.names.result_files import (
    GPT2,
    HUNT,
    SWEEP,
)
from layerwise.papers.shared.questions.choices import (
    READINGS,
    experiment_file,
    measured_entry,
)
from layerwise.papers.shared.terms import depth_bound
from layerwise.statistics.estimates import (
    Estimate,
    correlation_difference_estimate,
    difference_estimate,
    estimate_from_counts,
    family_level,
    logarithms,
    mean_estimate,
    mean_estimate_from_moments,
    pearson_estimate,
    share_estimate,
    spearman_estimate,
    widened,
    without_interval,
)
from layerwise.statistics.power import units_all_alike

BELOW_ONE = Range(below=1.0)
HUNT_PROMPTS = 5  # of the notebook; its file has mean and deviation alone
N_LAWS = 3
MAJORITY = 0.5
FOR_MAJORITY = units_all_alike(MAJORITY)  # models which, all alike, show that most are so


@dataclass(frozen=True)
class Model:
    """A model of the sweep or the hunt, or the reader's.

    Attributes:
        experiment: where its gains by prompt are, if they were measured: of `sweep` or `hunt`.
    """

    name: str
    entry: Entry
    experiment: str

    @property
    def depth(self) -> int:
        return len(self.entry.all_layer_gains)

    @property
    def slug(self) -> str:
        return self.name.lower().replace(".", "p")

    def reading(self, name: str) -> Estimate:
        """The last gain in one definition, over the prompts."""
        if name == "penultimate" and "residual_gain_all" in self.entry:
            return mean_estimate(self.entry.residual_gain_all[:], "prompts")
        if "readings" in self.entry:  # a reader's
            return mean_estimate(self.entry.readings[name].all[:], "prompts")
        try:
            file = experiment_file(self.experiment)
            gains = measured_entry(self.entry.evidence, file, self.slug, "gains", name)
            return mean_estimate(gains[:], "prompts")
        except NotMeasured:
            return self.moments(name)

    def moments(self, name: str) -> Estimate:
        """The same from the mean and deviation in print."""
        if name not in IN_PRINT:
            raise NotMeasured(f"the gain {name!r} of {self.name} was not measured")
        block, key = IN_PRINT[name]
        mean, spread = self.entry.all_layer_gains[block], self.entry[key]
        swept = "residual_gain_all" in self.entry
        n = len(self.entry.residual_gain_all) if swept else HUNT_PROMPTS
        return mean_estimate_from_moments(mean, spread, n, "prompts")


# The definitions in print: the block, and the deviation over the prompts.
IN_PRINT = {"penultimate": (-2, "gain_no_ln_std"), "final_norm": (-1, "gain_with_ln_std")}
NO_SPREAD = "no spread over prompts was published"


def swept(e: Evidence) -> dict[str, Model]:
    """The eight Pythia sizes."""
    return {name: Model(name, m, "sweep") for name, m in models(e[SWEEP]).items()}


def hunted(e: Evidence) -> dict[str, Model]:
    return {name: Model(name, m, "hunt") for name, m in models(e[HUNT]).items()}


def pooled(e: Evidence) -> dict[str, Model]:
    """Of a model in both, the sweep's, which has more prompts."""
    return hunted(e) | swept(e)


def single_models(e: Evidence) -> dict[str, Model]:
    """Every model with gains, or the reader's."""
    own = {name: Model(name, entry, name) for name, entry in e.role("gains").items()}
    return (pooled(e) if e.role("sample") else {}) | own


# --- of one model ---------------------------------------------------------------------------------


def relative_to(bound: float, found: Estimate) -> Estimate:
    """An estimate as a multiple of a bound."""
    ends = found.low / bound, found.high / bound
    return Estimate(found.value / bound, *ends, found.n, found.unit, where=found.where)


def of_block(m: Model, block: int, where: str) -> Estimate:
    """The mean gain of a block; few files have its spread over the prompts."""
    mean = m.entry.all_layer_gains[block]
    if "all_layer_gains_std" not in m.entry:
        return without_interval(mean, 1, "prompts", f"{where}; {NO_SPREAD}")
    n = len(m.entry.residual_gain_all)
    return mean_estimate_from_moments(
        mean, m.entry.all_layer_gains_std[block], n, "prompts", where=where
    )


def of_largest_block(m: Model) -> Estimate:
    block = int(np.argmax(m.entry.all_layer_gains[:]))
    return of_block(m, block, f"block {block}")


def inner_mean(m: Model) -> float:
    """Geometric mean of the gains between the first block and the last."""
    return math.exp(np.mean(logarithms(m.entry.all_layer_gains[1:-1])))


def of_inner_blocks(m: Model) -> Estimate:
    """Over the blocks: does a typical inner one damp?"""
    logs = logarithms(m.entry.all_layer_gains[1:-1])
    found = mean_estimate(logs, "blocks")
    low, high = math.exp(found.low), math.exp(found.high)
    return Estimate(inner_mean(m), low, high, found.n, "blocks")


def by_reading(transform: Callable[[Model, Estimate], Estimate]) -> dict[str, Function]:
    """A rule per definition of the last gain, besides the published one."""

    def rule(name: str, m: Model) -> Estimate:
        return transform(m, m.reading(name))

    return {name: partial(rule, name) for name in READINGS if name != "penultimate"}


def at_all_models(m: Model) -> Estimate:
    """With an interval that holds for all models of the pool together."""
    if not m.entry.evidence.role("sample"):
        raise NotMeasured("one model is no family of tests")
    return widened(m.reading("penultimate"), len(pooled(m.entry.evidence)))


DAMPING = Question(
    "damping",
    3,
    "The second-last block damps the residual stream: its gain is below 1.",
    "mean gain",
    "prompts",
    single_models,
    {
        PUBLISHED: lambda m: m.reading("penultimate"),
        "models_at_once": at_all_models,
        "inner_blocks": of_inner_blocks,
        **by_reading(lambda _, found: found),
    },
    BELOW_ONE,
)
WITHOUT_PRODUCT = {
    name: rule
    for name, rule in by_reading(lambda m, found: relative_to(depth_bound(m.depth), found)).items()
    if name != "total_amplification"  # a product of all blocks is no gain of one
}
BOUND = Question(
    "bound",
    3,
    "No gain exceeds 10^(1/L), with L blocks.",
    "mean gain over that bound",
    "prompts",
    single_models,
    {
        PUBLISHED: lambda m: relative_to(depth_bound(m.depth), m.reading("penultimate")),
        "models_at_once": lambda m: relative_to(depth_bound(m.depth), at_all_models(m)),
        "largest_block": lambda m: relative_to(depth_bound(m.depth), of_largest_block(m)),
        "inner_blocks": lambda m: relative_to(depth_bound(m.depth), of_inner_blocks(m)),
        **WITHOUT_PRODUCT,
    },
    BELOW_ONE,
)


# --- the benchmark: does the last block expand? ---------------------------------------------------


@dataclass(frozen=True)
class Benchmarked:
    """Rows of the benchmark, or of the tuned models beside their bases."""

    name: str
    rows: Rows


def benchmarked(e: Evidence) -> dict[str, Benchmarked]:
    """The four models by name, the families of the tuned ones by name and variant."""
    rows_by_name: dict[str, Rows] = {}
    for table in e.role("benchmark").values():
        rows_by_name |= Rows(table).by("Model")
    for family, twins in families(e).items():
        for variant, rows in twins.by("Variant").items():
            rows_by_name[f"{family} {variant}"] = rows
    return {name: Benchmarked(name, rows) for name, rows in rows_by_name.items()}


EXPANSION = Question(
    "expansion",
    3,
    "The last block, before the final norm, expands the residual stream.",
    "mean last gain",
    "prompts",
    benchmarked,
    {
        PUBLISHED: lambda m: mean_estimate(m.rows["Last_Gain"], "prompts"),
        "models_at_once": lambda m: mean_estimate(
            m.rows["Last_Gain"], "prompts", family_level(len(benchmarked(m.rows.table.evidence)))
        ),
    },
    Range(above=1.0),
)


# --- the benchmark's order, and tuned models beside their bases -----------------------------------

# Neighbours in the abstract's order, and the name of each comparison.
ORDER = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")


@dataclass(frozen=True)
class Neighbours:
    """Two models of the benchmark, of which the second is said to have the larger gain."""

    first: Benchmarked
    second: Benchmarked


def neighbours(e: Evidence) -> dict[str, Neighbours]:
    by_name = benchmarked(e)
    pairs = pairwise(ORDER) if by_name else ()
    return {f"{a} < {b}": Neighbours(by_name[a], by_name[b]) for a, b in pairs}


def rise_of(neighbours: Neighbours, n_tests: int = 1) -> Estimate:
    """Mean gain of the second less that of the first, prompt by prompt: both saw the same ones."""
    second, first = (
        np.asarray(model.rows["Last_Gain"], dtype=float)
        for model in (neighbours.second, neighbours.first)
    )
    return mean_estimate(second - first, "prompts", family_level(n_tests))


GAIN_ORDER = Question(
    "gain_order",
    3,
    "The last gains of the four benchmarked models stand in the printed order.",
    "the larger mean last gain less the next smaller",
    "prompts",
    neighbours,
    {
        PUBLISHED: rise_of,
        "models_at_once": lambda m: rise_of(m, len(ORDER) - 1),
    },
    Range(above=0.0),
    OF_MEAN,
)


def families(e: Evidence) -> dict[str, Rows]:
    """A base model and its tuned twin, by family."""
    by_family: dict[str, Rows] = {}
    for table in e.role("tuned").values():
        by_family |= Rows(table).by("Family")
    return by_family


def beyond_one(family: Rows, n_tests: int = 1) -> Estimate:
    """How far the tuned model's gain lies beyond 1, counted towards its base's side."""
    side = math.copysign(1.0, tuned_base(family) - 1)
    tuned = np.asarray(family.where(Variant="instruct")["Last_Gain"], dtype=np.float64)
    return mean_estimate(side * (tuned - 1), "prompts", family_level(n_tests))


def n_families(family: Rows) -> int:
    return len(families(family.table.evidence))


def families_that_keep(e: Evidence) -> Estimate:
    """Of the families: a claim on what tuning can do is about models, not about prompts."""
    kept = {name: same_side(family) for name, family in families(e).items()}
    return share_estimate(list(kept.values()), "families")


def over_models(e: Evidence) -> dict[str, Evidence]:
    """The evidence itself, of several models at once; a reader's single model has none."""
    return {OVER_MODELS: e} if e.role("sample") else {}


TUNING = (
    Question(
        "tuning",
        3,
        "The gain of a tuned model stays on its base's side of 1.",
        "distance of the tuned mean gain from 1, on the base's side",
        "prompts",
        families,
        {
            PUBLISHED: beyond_one,
            "models_at_once": lambda family: beyond_one(family, n_families(family)),
        },
        Range(above=0.0),
        OF_MEAN,
    ),
    Question(
        "tuned_families",
        3,
        "In most families of models tuning keeps the gain on its side of 1.",
        "share of the families that do",
        "families",
        over_models,
        {PUBLISHED: families_that_keep},
        Range(above=MAJORITY),
        fewest=FOR_MAJORITY,
    ),
)


# --- over models ----------------------------------------------------------------------------------

Models = Mapping[str, Model]
Number = Callable[[Model], float]


Select = Callable[[Evidence], Models]
LEAVE_OUT: Mapping[str, Any] = {"leave_out": True}


def rules_over(
    estimate: Callable[..., Estimate], models: Select, choices: Mapping[str, Mapping[str, Any]]
) -> dict[str, Function]:
    """A rule per choice, from one estimate over models.

    Arguments:
        estimate: of models by name, with options.
        models: which models, where a choice names no others.
        choices: {choice: options of the estimate}; the option `models` selects other models, and
            `LEAVE_OUT` leaves each of them out in turn.
    """

    def rule(options: Mapping[str, Any], evidence: Evidence) -> Any:
        given = {name: value for name, value in options.items() if name != "models"}
        chosen = options.get("models", models)(evidence)
        if given.pop("leave_out", False):
            return without_each(chosen, partial(estimate, **given))
        return estimate(chosen, **given)

    return {choice: partial(rule, options) for choice, options in choices.items()}


def without_each(models: Models, estimate: Callable[[Models], Estimate]) -> dict[str, Function]:
    """An estimate without each model in turn."""

    def without(left_out: str) -> Estimate:
        return estimate({name: model for name, model in models.items() if name != left_out})

    return {name: partial(without, name) for name in models}


def mean_gain(m: Model) -> float:
    return gain(m.entry)


def mean_final_gain(model: Model) -> float:
    """The mean gain after the final norm."""
    return final_gain(model.entry)


def r_of_depth(
    models: Models, *, gain_of: Number = mean_gain, n_tests: int = 1, ranks: bool = False
) -> Estimate:
    """r of depth and gain over models, or Spearman's."""
    depths = np.array([float(model.depth) for model in models.values()])
    gains = np.array([gain_of(model) for model in models.values()])
    if ranks:
        return spearman_estimate(depths, gains, "models")
    return pearson_estimate(depths, gains, "models", family_level(n_tests))


DEPTH_GAIN = Question(
    "depth_gain",
    3,
    "The deeper a model, the smaller its gain.",
    "r of depth and mean gain",
    "models",
    over_models,
    rules_over(
        r_of_depth,
        swept,
        {
            PUBLISHED: {},
            "model_out": LEAVE_OUT,
            "spearman": {"ranks": True},
            "laws_at_once": {"n_tests": N_LAWS},
            "final_norm": {"gain_of": mean_final_gain},
            "inner_blocks": {"gain_of": inner_mean},
        },
    ),
    Range(below=0.0),
    OF_R,
)
DEPTH_GAIN_OF_SURVEY = Question(
    "depth_gain_of_survey",
    3,
    "In the survey too, the deeper a model, the smaller its gain.",
    "r of depth and mean gain",
    "models",
    over_models,
    rules_over(r_of_depth, hunted, {PUBLISHED: {}, "pooled": {"models": pooled}}),
    Range(below=0.0),
    OF_R,
)


# --- sides of 1, and tests that count them --------------------------------------------------------


@dataclass(frozen=True)
class Sides:
    """How many models of a group damp for sure, how many are undecided, and how many by value."""

    sure: int
    undecided: int
    by_value: int
    n: int


def sides(found: Iterable[Model], reading: str = "penultimate") -> Sides:
    """The words of a group on damping, and the sides that the values alone take."""
    estimates = [model.reading(reading) for model in found]
    words = [word(estimate, BELOW_ONE) for estimate in estimates]
    return Sides(
        sum(given == YES for given in words),
        sum(given not in (YES, NO) for given in words),
        sum(dampens(estimate.value) for estimate in estimates),
        len(estimates),
    )


def split(found: Models) -> tuple[list[Model], list[Model]]:
    """EleutherAI's models and all others; the sweep's are EleutherAI's and name no lab."""
    eleuther = [m for m in found.values() if m.experiment == "sweep" or m.entry.lab == ELEUTHER]
    return eleuther, [m for m in found.values() if m not in eleuther]


def fisher(found: Models, reading: str = "penultimate", n_tests: int = 1) -> Estimate:
    """Fisher's p, EleutherAI against the others: see `of_sides`."""
    groups = [sides(group, reading) for group in split(found)]
    return of_sides(groups, n_tests)


def of_sides(groups: Sequence[Sides], n_tests: int = 1) -> Estimate:
    """Fisher's p that the first of two groups damps more often, and its range.

    The range is that of all ways to count the undecided. A table that leans the other way gives
    two less its p: no evidence for the claim, and against it where that p is small. Of several
    tests the p is that of Bonferroni.
    """
    if not all_of(group.n for group in groups):
        raise NotMeasured("a group is left without models")

    total = sum(group.n for group in groups)

    def p(first: int, second: int) -> Estimate:
        table = np.array(
            [[n, group.n - n] for n, group in zip((first, second), groups, strict=True)]
        )
        both_ways = min(1.0, n_tests * fisher_p(table))
        leans = first / groups[0].n >= second / groups[1].n
        towards = both_ways if leans else 2.0 - both_ways
        return Estimate(towards, towards, towards, total, "models")

    return estimate_from_counts(
        p,
        [(of.sure, of.undecided) for of in groups],
        [of.by_value for of in groups],
        total,
    )


def with_gpt2(e: Evidence) -> Estimate:
    """Hunt, sweep, and the three GPT-2 sizes by their last gain."""
    eleuther, others = (sides(group) for group in split(pooled(e)))
    tests = [
        mean_estimate(rows["Last_Gain"], "prompts") for rows in Rows(e[GPT2]).by("Model").values()
    ]
    words = [word(one, BELOW_ONE) for one in tests]
    joined = Sides(
        others.sure + sum(given == YES for given in words),
        others.undecided + sum(given not in (YES, NO) for given in words),
        others.by_value + sum(dampens(one.value) for one in tests),
        others.n + len(tests),
    )
    return of_sides([eleuther, joined])


def difference(found: Models, n_tests: int = 1) -> Estimate:
    """Mean gain of EleutherAI's models less that of the others."""
    first, second = (np.array([mean_gain(m) for m in group]) for group in split(found))
    return difference_estimate(first, second, "models", family_level(n_tests))


def share(found: Iterable[Model], *, damping: bool, reading: str = "penultimate") -> Estimate:
    """Share of a group that damps, or expands, however the undecided are counted."""
    of = sides(found, reading)

    def of_group(n_damping: int) -> Estimate:
        return share_estimate([(one < n_damping) == damping for one in range(of.n)], "models")

    return estimate_from_counts(of_group, [(of.sure, of.undecided)], [of.by_value], of.n)


def share_that_damps(models: Models, reading: str = "penultimate") -> Estimate:
    """Share of EleutherAI's models that damp."""
    return share(split(models)[0], damping=True, reading=reading)


def share_that_expands(models: Models, reading: str = "penultimate") -> Estimate:
    """Share of the other labs' models that expand."""
    return share(split(models)[1], damping=False, reading=reading)


HERITAGE = (
    Question(
        "heritage",
        3,
        "EleutherAI's models damp and the others expand: Fisher's p is below 0.05.",
        "Fisher's p (2 less p, where it leans the other way)",
        "models",
        over_models,
        {
            **rules_over(fisher, hunted, {PUBLISHED: {}, "pooled": {"models": pooled}}),
            "with_gpt2": with_gpt2,
            **rules_over(
                fisher,
                hunted,
                {
                    "final_norm": {"reading": "final_norm"},
                    "laws_at_once": {"n_tests": N_LAWS},
                    "model_out": LEAVE_OUT,
                },
            ),
        },
        Range(below=ALPHA),
        against=Range(above=2 - ALPHA),
    ),
    Question(
        "lab_difference",
        3,
        "EleutherAI's mean gain lies below that of the others.",
        "difference of the mean gains",
        "models",
        over_models,
        rules_over(
            difference,
            hunted,
            {
                PUBLISHED: {},
                "pooled": {"models": pooled},
                "laws_at_once": {"n_tests": N_LAWS},
                "model_out": LEAVE_OUT,
            },
        ),
        Range(below=0.0),
        OF_MEAN,
    ),
    Question(
        "eleuther_damps",
        3,
        "Most of EleutherAI's models damp.",
        "share of EleutherAI's models that damp",
        "models",
        over_models,
        rules_over(
            share_that_damps,
            hunted,
            {
                PUBLISHED: {},
                "family": {"models": swept},
                "pooled": {"models": pooled},
                "final_norm": {"reading": "final_norm"},
            },
        ),
        Range(above=MAJORITY),
        fewest=FOR_MAJORITY,
    ),
    Question(
        "others_expand",
        3,
        "Most models of the other labs expand.",
        "share of the others that expand",
        "models",
        over_models,
        rules_over(
            share_that_expands,
            hunted,
            {PUBLISHED: {}, "final_norm": {"reading": "final_norm"}},
        ),
        Range(above=MAJORITY),
        fewest=FOR_MAJORITY,
    ),
)


# --- does the density of heads predict damping? ---------------------------------------------------


def by_density(found: Models, reading: str = "penultimate") -> Estimate:
    """Fisher's p that models with dense heads damp more often: see `of_sides`."""
    dense = [m for m in found.values() if density(m.entry) >= LIMIT]
    sparse = [m for m in found.values() if density(m.entry) < LIMIT]
    return of_sides([sides(group, reading) for group in (dense, sparse)])


def r_of_density(found: Models) -> Estimate:
    x = np.array([density(m.entry) for m in found.values()])
    return pearson_estimate(x, np.array([mean_gain(m) for m in found.values()]), "models")


CROWDING = (
    Question(
        "crowding",
        3,
        "Models with dense heads damp and the others expand: Fisher's p is below 0.05.",
        "Fisher's p (2 less p, where it leans the other way)",
        "models",
        over_models,
        rules_over(
            by_density,
            hunted,
            {
                PUBLISHED: {},
                "family": {"models": swept},
                "pooled": {"models": pooled},
                "final_norm": {"reading": "final_norm"},
                "model_out": LEAVE_OUT,
            },
        ),
        Range(below=ALPHA),
        against=Range(above=2 - ALPHA),
    ),
    Question(
        "density_gain",
        3,
        "The denser the heads, the smaller the gain.",
        "r of head density and mean gain",
        "models",
        over_models,
        rules_over(
            r_of_density,
            swept,
            {
                PUBLISHED: {},
                "hunt": {"models": hunted},
                "pooled": {"models": pooled},
                "model_out": LEAVE_OUT,
            },
        ),
        Range(below=0.0),
        OF_R,
    ),
)


# --- which of them explains more? -----------------------------------------------------------------


def is_other(m: Model) -> float:
    """1 of a lab that is not EleutherAI."""
    return float(m.experiment != "sweep" and m.entry.lab != ELEUTHER)


def log_size(m: Model) -> float:
    """Logarithm of the parameters of the blocks, 12 per block and square of the width."""
    return math.log(12 * m.depth * m.entry.d_model**2)


def stronger(found: Models, first: Number, second: Number) -> Estimate:
    """|r| of the gain and one number of the models, less that of the gain and another."""
    gains, one, other = (
        np.array([of(m) for m in found.values()]) for of in (mean_gain, first, second)
    )
    return correlation_difference_estimate(gains, one, other, "models")


def dense(m: Model) -> float:
    return density(m.entry)


def hierarchy(name: str, says: str, number: str, first: Number, second: Number) -> Question:
    return Question(
        name,
        3,
        says,
        number,
        "models",
        over_models,
        rules_over(
            partial(stronger, first=first, second=second),
            hunted,
            {PUBLISHED: {}, "pooled": {"models": pooled}, "model_out": LEAVE_OUT},
        ),
        Range(above=0.0),
    )


HIERARCHY = (
    hierarchy(
        "heritage_over_geometry",
        "The gain correlates more closely with the lab than with the density of heads.",
        "|r| of lab and gain less |r| of density and gain",
        is_other,
        dense,
    ),
    hierarchy(
        "geometry_over_scale",
        "The gain correlates more closely with the density of heads than with the size.",
        "|r| of density and gain less |r| of size and gain",
        dense,
        log_size,
    ),
)
QUESTIONS = (
    DAMPING,
    BOUND,
    EXPANSION,
    GAIN_ORDER,
    *TUNING,
    DEPTH_GAIN,
    DEPTH_GAIN_OF_SURVEY,
    *HERITAGE,
    *CROWDING,
    *HIERARCHY,
)
