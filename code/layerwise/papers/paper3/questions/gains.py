"""The questions of Paper 3 on gains: whether a model damps, and what depth, lab and density say.

The gain of a model is a mean over prompts. Over models, the side of 1 on which a gain lies is an
answer like any other, so what counts sides counts the undecided either way.
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
    models_by_name,
)
from layerwise.papers.paper3.rules.lab_heritage import ELEUTHER, fisher_p
from layerwise.papers.paper3.rules.twins import base_gain as tuned_base
from layerwise.papers.paper3.rules.twins import keeps_side
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
FEWEST_FOR_MAJORITY = units_all_alike(MAJORITY)  # models which, all alike, show that most are so


@dataclass(frozen=True)
class Model:
    """A model of the sweep or the hunt, or the reader's.

    Attributes:
        experiment: the one that measures its gains by prompt, `sweep` or `hunt`.
    """

    name: str
    entry: Entry
    experiment: str

    @property
    def depth(self) -> int:
        """Return the number of blocks."""
        return len(self.entry.all_layer_gains)

    @property
    def slug(self) -> str:
        """Return the name of the model in our files."""
        return self.name.lower().replace(".", "p")

    def reading(self, name: str) -> Estimate:
        """Return the last gain in one definition, a mean over the prompts."""
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
        """Return the last gain in one definition from the printed mean and deviation.

        Raises:
            NotMeasured: for a definition that is not in print.
        """
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


def sweep_models(evidence: Evidence) -> dict[str, Model]:
    """Return the eight Pythia sizes of the sweep."""
    return {
        name: Model(name, model, "sweep") for name, model in models_by_name(evidence[SWEEP]).items()
    }


def hunt_models(evidence: Evidence) -> dict[str, Model]:
    """Return the models of the survey."""
    return {
        name: Model(name, model, "hunt") for name, model in models_by_name(evidence[HUNT]).items()
    }


def pooled_models(evidence: Evidence) -> dict[str, Model]:
    """Return the models of survey and sweep; a model in both is the sweep's, with more prompts."""
    return hunt_models(evidence) | sweep_models(evidence)


def single_models(evidence: Evidence) -> dict[str, Model]:
    """Return every model with gains, or the reader's."""
    own = {name: Model(name, entry, name) for name, entry in evidence.role("gains").items()}
    return (pooled_models(evidence) if evidence.role("sample") else {}) | own


# --- of one model ---------------------------------------------------------------------------------


def relative_to_bound(model: Model, estimate: Estimate) -> Estimate:
    """Return a gain as a multiple of equation 3's bound at the model's depth."""
    bound = depth_bound(model.depth)
    ends = estimate.low / bound, estimate.high / bound
    return Estimate(estimate.value / bound, *ends, estimate.n, estimate.unit, where=estimate.where)


def block_gain(model: Model, block: int, where: str) -> Estimate:
    """Return the mean gain of a block; few files have its spread over the prompts."""
    mean = model.entry.all_layer_gains[block]
    if "all_layer_gains_std" not in model.entry:
        return without_interval(mean, 1, "prompts", f"{where}; {NO_SPREAD}")
    n = len(model.entry.residual_gain_all)
    return mean_estimate_from_moments(
        mean, model.entry.all_layer_gains_std[block], n, "prompts", where=where
    )


def largest_block_gain(model: Model) -> Estimate:
    """Return the largest mean gain of a block."""
    block = int(np.argmax(model.entry.all_layer_gains[:]))
    return block_gain(model, block, f"block {block}")


def inner_mean(model: Model) -> float:
    """Return the geometric mean of the gains between the first block and the last."""
    return math.exp(np.mean(logarithms(model.entry.all_layer_gains[1:-1])))


def inner_blocks_gain(model: Model) -> Estimate:
    """Return the geometric mean of the inner blocks' gains with its interval over the blocks."""
    logs = logarithms(model.entry.all_layer_gains[1:-1])
    estimate = mean_estimate(logs, "blocks")
    low, high = math.exp(estimate.low), math.exp(estimate.high)
    return Estimate(inner_mean(model), low, high, estimate.n, "blocks")


def rules_by_reading(transform: Callable[[Model, Estimate], Estimate]) -> dict[str, Function]:
    """Return a rule per definition of the last gain besides the published one."""

    def rule(name: str, model: Model) -> Estimate:
        return transform(model, model.reading(name))

    return {name: partial(rule, name) for name in READINGS if name != "penultimate"}


def gain_at_once(model: Model) -> Estimate:
    """Return the gain with an interval that holds for all pooled models together."""
    if not model.entry.evidence.role("sample"):
        raise NotMeasured("one model is no family of tests")
    return widened(model.reading("penultimate"), len(pooled_models(model.entry.evidence)))


DAMPING = Question(
    "damping",
    3,
    "The second-last block damps the residual stream: its gain is below 1.",
    "mean gain",
    "prompts",
    single_models,
    {
        PUBLISHED: lambda model: model.reading("penultimate"),
        "models_at_once": gain_at_once,
        "inner_blocks": inner_blocks_gain,
        **rules_by_reading(lambda _, estimate: estimate),
    },
    BELOW_ONE,
)
WITHOUT_PRODUCT = {
    name: rule
    for name, rule in rules_by_reading(relative_to_bound).items()
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
        PUBLISHED: lambda model: relative_to_bound(model, model.reading("penultimate")),
        "models_at_once": lambda model: relative_to_bound(model, gain_at_once(model)),
        "largest_block": lambda model: relative_to_bound(model, largest_block_gain(model)),
        "inner_blocks": lambda model: relative_to_bound(model, inner_blocks_gain(model)),
        **WITHOUT_PRODUCT,
    },
    BELOW_ONE,
)


# --- the benchmark: does the last block expand? ---------------------------------------------------


@dataclass(frozen=True)
class Benchmarked:
    """The rows of a model in the benchmark, or in the table of tuned models and their bases."""

    name: str
    rows: Rows


def benchmark_rows(evidence: Evidence) -> dict[str, Benchmarked]:
    """Return the four models by name, and those of the tuned families by family and variant."""
    rows_by_name: dict[str, Rows] = {}
    for table in evidence.role("benchmark").values():
        rows_by_name |= Rows(table).by("Model")
    for family, twins in tuned_families(evidence).items():
        for variant, rows in twins.by("Variant").items():
            rows_by_name[f"{family} {variant}"] = rows
    return {name: Benchmarked(name, rows) for name, rows in rows_by_name.items()}


EXPANSION = Question(
    "expansion",
    3,
    "The last block, before the final norm, expands the residual stream.",
    "mean last gain",
    "prompts",
    benchmark_rows,
    {
        PUBLISHED: lambda model: mean_estimate(model.rows["Last_Gain"], "prompts"),
        "models_at_once": lambda model: mean_estimate(
            model.rows["Last_Gain"],
            "prompts",
            family_level(len(benchmark_rows(model.rows.table.evidence))),
        ),
    },
    Range(above=1.0),
)


# --- the benchmark's order, and tuned models beside their bases -----------------------------------

# Neighbours in the abstract's order, and the name of each comparison.
ORDER = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")


@dataclass(frozen=True)
class Neighbours:
    """Two models of the benchmark; the second is said to have the larger gain."""

    first: Benchmarked
    second: Benchmarked


def neighbouring_models(evidence: Evidence) -> dict[str, Neighbours]:
    """Return the neighbours in the printed order, by their comparison."""
    by_name = benchmark_rows(evidence)
    pairs = pairwise(ORDER) if by_name else ()
    return {f"{a} < {b}": Neighbours(by_name[a], by_name[b]) for a, b in pairs}


def rise_of_gain(neighbours: Neighbours, n_tests: int = 1) -> Estimate:
    """Return the second's mean gain less the first's, paired: both saw the same prompts."""
    first, second = (
        np.asarray(model.rows["Last_Gain"], dtype=float)
        for model in (neighbours.first, neighbours.second)
    )
    return mean_estimate(second - first, "prompts", family_level(n_tests))


GAIN_ORDER = Question(
    "gain_order",
    3,
    "The last gains of the four benchmarked models stand in the printed order.",
    "the larger mean last gain less the next smaller",
    "prompts",
    neighbouring_models,
    {
        PUBLISHED: rise_of_gain,
        "models_at_once": lambda neighbours: rise_of_gain(neighbours, len(ORDER) - 1),
    },
    Range(above=0.0),
    OF_MEAN,
)


def tuned_families(evidence: Evidence) -> dict[str, Rows]:
    """Return the rows of a base model and its tuned twin, by family."""
    by_family: dict[str, Rows] = {}
    for table in evidence.role("tuned").values():
        by_family |= Rows(table).by("Family")
    return by_family


def beyond_one(family: Rows, n_tests: int = 1) -> Estimate:
    """Return how far the tuned model's gain lies beyond 1, counted towards its base's side."""
    side = math.copysign(1.0, tuned_base(family) - 1)
    tuned = np.asarray(family.where(Variant="instruct")["Last_Gain"], dtype=np.float64)
    return mean_estimate(side * (tuned - 1), "prompts", family_level(n_tests))


def count_families(family: Rows) -> int:
    """Return the number of families that the table has."""
    return len(tuned_families(family.table.evidence))


def share_of_families(evidence: Evidence) -> Estimate:
    """Return the share of the families whose tuned model stays on its base's side of 1.

    The unit is the family: a claim on what tuning can do is about models, not about prompts.
    """
    kept = [keeps_side(family) for family in tuned_families(evidence).values()]
    return share_estimate(kept, "families")


def all_models_together(evidence: Evidence) -> dict[str, Evidence]:
    """Return the evidence itself, for questions over models; a reader's single model has none."""
    return {OVER_MODELS: evidence} if evidence.role("sample") else {}


TUNING = (
    Question(
        "tuning",
        3,
        "The gain of a tuned model stays on its base's side of 1.",
        "distance of the tuned mean gain from 1, on the base's side",
        "prompts",
        tuned_families,
        {
            PUBLISHED: beyond_one,
            "models_at_once": lambda family: beyond_one(family, count_families(family)),
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
        all_models_together,
        {PUBLISHED: share_of_families},
        Range(above=MAJORITY),
        fewest=FEWEST_FOR_MAJORITY,
    ),
)


# --- over models ----------------------------------------------------------------------------------

Models = Mapping[str, Model]
Number = Callable[[Model], float]
Select = Callable[[Evidence], Models]
LEAVE_OUT: Mapping[str, Any] = {"leave_out": True}


def rules_over_models(
    estimate: Callable[..., Estimate], models: Select, choices: Mapping[str, Mapping[str, Any]]
) -> dict[str, Function]:
    """Return a rule per choice, from one estimate over models.

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
            return rules_without_each_model(chosen, partial(estimate, **given))
        return estimate(chosen, **given)

    return {choice: partial(rule, options) for choice, options in choices.items()}


def rules_without_each_model(
    models: Models, estimate: Callable[[Models], Estimate]
) -> dict[str, Function]:
    """Return a rule per model: the estimate without it."""

    def without(left_out: str) -> Estimate:
        return estimate({name: model for name, model in models.items() if name != left_out})

    return {name: partial(without, name) for name in models}


def mean_gain(model: Model) -> float:
    """Return the mean gain of the second-last block."""
    return gain(model.entry)


def mean_final_gain(model: Model) -> float:
    """Return the mean gain of the last block, after the final norm."""
    return final_gain(model.entry)


def r_of_depth(
    models: Models, *, gain_of: Number = mean_gain, n_tests: int = 1, ranks: bool = False
) -> Estimate:
    """Return r of depth and gain over models, or Spearman's with `ranks`."""
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
    all_models_together,
    rules_over_models(
        r_of_depth,
        sweep_models,
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
    all_models_together,
    rules_over_models(
        r_of_depth, hunt_models, {PUBLISHED: {}, "pooled": {"models": pooled_models}}
    ),
    Range(below=0.0),
    OF_R,
)


# --- sides of 1, and tests that count them --------------------------------------------------------


@dataclass(frozen=True)
class Sides:
    """The sides of 1 on which the gains of a group of models lie.

    Attributes:
        sure: how many damp for sure.
        undecided: how many have an interval that includes 1.
        by_value: how many damp by their values alone.
        n: how many there are.
    """

    sure: int
    undecided: int
    by_value: int
    n: int

    def __add__(self, other: "Sides") -> "Sides":
        """Return the sides of two groups together."""
        return Sides(
            self.sure + other.sure,
            self.undecided + other.undecided,
            self.by_value + other.by_value,
            self.n + other.n,
        )


def count_sides(models: Iterable[Model], reading: str = "penultimate") -> Sides:
    """Return the sides of 1 on which the gains of models lie."""
    return sides_of([model.reading(reading) for model in models])


def sides_of(estimates: Sequence[Estimate]) -> Sides:
    """Return the sides of 1 on which estimates lie."""
    words = [word(estimate, BELOW_ONE) for estimate in estimates]
    return Sides(
        sum(given == YES for given in words),
        sum(given not in (YES, NO) for given in words),
        sum(dampens(estimate.value) for estimate in estimates),
        len(estimates),
    )


def split_by_lab(models: Models) -> tuple[list[Model], list[Model]]:
    """Return EleutherAI's models, the sweep's among them, and all others."""
    eleuther = [model for model in models.values() if not is_other_lab(model)]
    return eleuther, [model for model in models.values() if is_other_lab(model)]


def fisher_of_labs(models: Models, reading: str = "penultimate", n_tests: int = 1) -> Estimate:
    """Return Fisher's p, EleutherAI against the others: see `fisher_of_sides`."""
    groups = [count_sides(group, reading) for group in split_by_lab(models)]
    return fisher_of_sides(groups, n_tests)


def fisher_of_sides(groups: Sequence[Sides], n_tests: int = 1) -> Estimate:
    """Return Fisher's p that the first of two groups damps more often, and its range.

    The range is that of all ways to count the undecided. A table that leans the other way gives
    two less its p: no evidence for the claim, and against it where that p is small. For several
    tests p is multiplied by their number (Bonferroni).
    """
    if not all_of(group.n for group in groups):
        raise NotMeasured("a group is left without models")

    total = sum(group.n for group in groups)

    def p(first: int, second: int) -> Estimate:
        table = np.array([[first, groups[0].n - first], [second, groups[1].n - second]])
        both_ways = min(1.0, n_tests * fisher_p(table))
        leans = first / groups[0].n >= second / groups[1].n
        towards = both_ways if leans else 2.0 - both_ways
        return Estimate(towards, towards, towards, total, "models")

    return estimate_from_counts(
        p,
        [(sides.sure, sides.undecided) for sides in groups],
        [sides.by_value for sides in groups],
        total,
    )


def fisher_with_gpt2(evidence: Evidence) -> Estimate:
    """Return Fisher's p over survey, sweep and the three GPT-2 sizes, these by their last gain."""
    eleuther, others = (count_sides(group) for group in split_by_lab(pooled_models(evidence)))
    tests = [
        mean_estimate(rows["Last_Gain"], "prompts")
        for rows in Rows(evidence[GPT2]).by("Model").values()
    ]
    return fisher_of_sides([eleuther, others + sides_of(tests)])


def difference_of_labs(models: Models, n_tests: int = 1) -> Estimate:
    """Return the mean gain of EleutherAI's models less that of the others."""
    first, second = (
        np.array([mean_gain(model) for model in group]) for group in split_by_lab(models)
    )
    return difference_estimate(first, second, "models", family_level(n_tests))


def share_on_side(
    models: Iterable[Model], *, damping: bool, reading: str = "penultimate"
) -> Estimate:
    """Return the share of a group that damps, or expands, however the undecided are counted."""
    counts = count_sides(models, reading)

    def share(n_damping: int) -> Estimate:
        flags = [(place < n_damping) == damping for place in range(counts.n)]
        return share_estimate(flags, "models")

    return estimate_from_counts(
        share, [(counts.sure, counts.undecided)], [counts.by_value], counts.n
    )


def share_that_damps(models: Models, reading: str = "penultimate") -> Estimate:
    """Return the share of EleutherAI's models that damp."""
    return share_on_side(split_by_lab(models)[0], damping=True, reading=reading)


def share_that_expands(models: Models, reading: str = "penultimate") -> Estimate:
    """Return the share of the other labs' models that expand."""
    return share_on_side(split_by_lab(models)[1], damping=False, reading=reading)


HERITAGE = (
    Question(
        "heritage",
        3,
        "EleutherAI's models damp and the others expand: Fisher's p is below 0.05.",
        "Fisher's p (2 less p, where it leans the other way)",
        "models",
        all_models_together,
        {
            **rules_over_models(
                fisher_of_labs, hunt_models, {PUBLISHED: {}, "pooled": {"models": pooled_models}}
            ),
            "with_gpt2": fisher_with_gpt2,
            **rules_over_models(
                fisher_of_labs,
                hunt_models,
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
        all_models_together,
        rules_over_models(
            difference_of_labs,
            hunt_models,
            {
                PUBLISHED: {},
                "pooled": {"models": pooled_models},
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
        all_models_together,
        rules_over_models(
            share_that_damps,
            hunt_models,
            {
                PUBLISHED: {},
                "family": {"models": sweep_models},
                "pooled": {"models": pooled_models},
                "final_norm": {"reading": "final_norm"},
            },
        ),
        Range(above=MAJORITY),
        fewest=FEWEST_FOR_MAJORITY,
    ),
    Question(
        "others_expand",
        3,
        "Most models of the other labs expand.",
        "share of the others that expand",
        "models",
        all_models_together,
        rules_over_models(
            share_that_expands,
            hunt_models,
            {PUBLISHED: {}, "final_norm": {"reading": "final_norm"}},
        ),
        Range(above=MAJORITY),
        fewest=FEWEST_FOR_MAJORITY,
    ),
)


# --- does the density of heads predict damping? ---------------------------------------------------


def fisher_of_densities(models: Models, reading: str = "penultimate") -> Estimate:
    """Return Fisher's p that models with dense heads damp more often: see `fisher_of_sides`."""
    dense = [model for model in models.values() if head_density(model) >= LIMIT]
    sparse = [model for model in models.values() if head_density(model) < LIMIT]
    return fisher_of_sides([count_sides(group, reading) for group in (dense, sparse)])


def r_of_density(models: Models) -> Estimate:
    """Return r of head density and gain over models."""
    densities = np.array([head_density(model) for model in models.values()])
    gains = np.array([mean_gain(model) for model in models.values()])
    return pearson_estimate(densities, gains, "models")


CROWDING = (
    Question(
        "crowding",
        3,
        "Models with dense heads damp and the others expand: Fisher's p is below 0.05.",
        "Fisher's p (2 less p, where it leans the other way)",
        "models",
        all_models_together,
        rules_over_models(
            fisher_of_densities,
            hunt_models,
            {
                PUBLISHED: {},
                "family": {"models": sweep_models},
                "pooled": {"models": pooled_models},
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
        all_models_together,
        rules_over_models(
            r_of_density,
            sweep_models,
            {
                PUBLISHED: {},
                "hunt": {"models": hunt_models},
                "pooled": {"models": pooled_models},
                "model_out": LEAVE_OUT,
            },
        ),
        Range(below=0.0),
        OF_R,
    ),
)


# --- which of them explains more? -----------------------------------------------------------------


def is_other_lab(model: Model) -> float:
    """Return 1 for a model of a lab that is not EleutherAI; the sweep's models name no lab."""
    return float(model.experiment != "sweep" and model.entry.lab != ELEUTHER)


def log_size(model: Model) -> float:
    """Return the logarithm of the blocks' parameters, 12 times depth times width squared."""
    return math.log(12 * model.depth * model.entry.d_model**2)


def difference_of_r(models: Models, first: Number, second: Number) -> Estimate:
    """Return |r| of the gain and a number of the models less |r| of the gain and another."""
    gains, first_numbers, second_numbers = (
        np.array([number(model) for model in models.values()])
        for number in (mean_gain, first, second)
    )
    return correlation_difference_estimate(gains, first_numbers, second_numbers, "models")


def head_density(model: Model) -> float:
    """Return the number of heads over the size of a head."""
    return density(model.entry)


def hierarchy_question(
    name: str, says: str, number: str, first: Number, second: Number
) -> Question:
    """Return the question whether the gain correlates more closely with the first number."""
    return Question(
        name,
        3,
        says,
        number,
        "models",
        all_models_together,
        rules_over_models(
            partial(difference_of_r, first=first, second=second),
            hunt_models,
            {PUBLISHED: {}, "pooled": {"models": pooled_models}, "model_out": LEAVE_OUT},
        ),
        Range(above=0.0),
    )


HIERARCHY = (
    hierarchy_question(
        "heritage_over_geometry",
        "The gain correlates more closely with the lab than with the density of heads.",
        "|r| of lab and gain less |r| of density and gain",
        is_other_lab,
        head_density,
    ),
    hierarchy_question(
        "geometry_over_scale",
        "The gain correlates more closely with the density of heads than with the size.",
        "|r| of density and gain less |r| of size and gain",
        head_density,
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
