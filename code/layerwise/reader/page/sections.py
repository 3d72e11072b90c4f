"""The result documents of one model as tables, a section per analysis.

`SECTIONS` at the end declares them: a name, the printed title and question, and what builds the
tables of a document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from layerwise.engine.question import Results
from layerwise.engine.words import category_labels, key_in_words
from layerwise.files import JsonObject
from layerwise.papers.paper3.rules.spectral_norms import mean_over_blocks
from layerwise.papers.shared import quantities
from layerwise.papers.shared.names import MATRICES
from layerwise.papers.shared.questions import READINGS
from layerwise.papers.shared.rules import r_without_each_category
from layerwise.present.csv_text import Value
from layerwise.present.tables import Table, facts

Columns = Mapping[str, int | None]  # {heading: decimals}


@dataclass(frozen=True)
class Section:
    """The tables of one analysis.

    Attributes:
        name: of the result document: its JSON file is `name`.json.
        title: printed above it.
        question: printed below the title: what the tables answer.
        build: gives the tables, from what they show; by default there is the file alone.
    """

    name: str
    title: str
    question: str
    build: Callable[..., list[Table]] = lambda document: []


INTERVAL: Columns = {"r": 3, "low": 3, "high": 3, "p": 4, "excludes zero": None}
# of a category in validation.json: (heading, decimals)
OF_STATES: Mapping[str, tuple[str, int | None]] = {
    "n_pairs": ("pairs", None),
    "uniformity_a": ("uniformity A", 4),
    "uniformity_b": ("uniformity B", 4),
    "asymmetry": (quantities.UA, 4),
}
OF_CATEGORY: Mapping[str, tuple[str, int | None]] = {
    **OF_STATES,
    "output_preference": (quantities.PREFERENCE, 4),
    "pct_prefer_a": ("prefers A (%)", 1),
}
# of the file of gains
OF_GAINS = {
    quantities.SECOND_LAST: "residual_gain_mean",
    "mean gain of the last block and the final norm": "gain_with_ln_mean",
    "heads": "n_heads",
    "hidden size": "d_model",
    "heads over head size": "rho",
}


def interval(result: JsonObject) -> list[Value]:
    """Return the cells of `INTERVAL`."""
    ends = [result["r"], result["ci_lower"], result["ci_upper"]]
    return [*ends, result["p_value"], not result["includes_zero"]]


def validation(document: JsonObject) -> list[Table]:
    overall = document["_global_stats"]
    caption = (
        "Mean pairwise cosine of each side's states, their difference (UA), and what the model "
        "prefers, by category."
    )
    of_preference = {
        f"mean {quantities.PREFERENCE}": overall["mean_output_preference"],
    }
    if "ua_output_correlation" in overall:
        of_preference[quantities.R_OVER_CATEGORIES] = overall["ua_output_correlation"]
    return [
        _tabulate_categories(document, caption, OF_CATEGORY),
        _tabulate_overall({**_overall_of_states(overall), **of_preference}),
        *_tabulate_left_out(document),
    ]


def validation_of_states(document: JsonObject) -> list[Table]:
    caption = "Mean pairwise cosine of each side's states, and their difference (UA), by category."
    return [
        _tabulate_categories(document, caption, OF_STATES),
        _tabulate_overall(_overall_of_states(document["_global_stats"])),
    ]


def _tabulate_categories(
    document: JsonObject, caption: str, columns: Mapping[str, tuple[str, int | None]]
) -> Table:
    categories = {name: entry for name, entry in document.items() if not name.startswith("_")}
    rows = [[name, *(entry[key] for key in columns)] for name, entry in categories.items()]
    headings = {"category": None, **dict(columns.values())}
    return Table("categories", caption, headings, rows, labels=category_labels(categories))


def _tabulate_overall(statistics: Mapping[str, Value]) -> Table:
    return facts("over-categories", "Over the categories, each with the same weight.", statistics)


def _overall_of_states(overall: JsonObject) -> dict[str, Value]:
    of_all: dict[str, Value] = {
        "pairs": overall["total_pairs"],
        f"mean {quantities.UA}": overall["mean_asymmetry"],
    }
    if overall["bootstrap_95ci"] is None:  # of one category
        return of_all
    low, high = overall["bootstrap_95ci"]
    return {
        **of_all,
        "lower end of its 95% interval": low,
        "upper end of its 95% interval": high,
        "population SD of UA": overall["std_asymmetry"],
        "Cohen's d of UA against zero": overall["cohens_d"],
    }


def _tabulate_left_out(document: JsonObject) -> list[Table]:
    """Tabulate r without each category; no table where a category less leaves no r."""
    left = r_without_each_category(document)
    if not left:
        return []
    caption = "r of UA and preference over the other categories when one is left out."
    rows: list[list[Value]] = [
        [name, correlation.r, correlation.p] for name, correlation in left.items()
    ]
    columns = {"left out": None, "r": 3, "p": 4}
    labels = category_labels(left)
    return [Table("without-one-category", caption, columns, rows, labels=labels)]


def layers(document: JsonObject) -> list[Table]:
    strategies = document["strategies"]
    notes = [
        f"No r for the {key_in_words(name)}: it has the same state in every statement, as where "
        "the tokenizer puts the same token before each text."
        for name, strategy in strategies.items()
        if strategy["correlation"] is None
    ]
    notes.append(_said_of_signs(document["summary"]["sign_changes"]))
    rows = [
        [key_in_words(name), strategy["correlation"], strategy["p_value"]]
        for name, strategy in strategies.items()
    ]
    caption = "Correlation of UA and preference over the categories, by reading of the states."
    return [Table("layers", caption, {"reading": None, "r": 4, "p": 4}, rows, notes)]


def layers_of_states(document: JsonObject) -> list[Table]:
    rows: list[list[Value]] = [
        [key_in_words(name), category, ua]
        for name, by_category in document["asymmetries"].items()
        for category, ua in by_category.items()
    ]
    caption = "UA of every category, by reading of the states."
    return [Table("layers", caption, {"reading": None, "category": None, quantities.UA: 4}, rows)]


def _said_of_signs(changes: list[JsonObject]) -> str:
    if not changes:
        return "The sign of r does not change over the sampled layers."
    where = ", ".join(f"{change['layer_before']} and {change['layer_after']}" for change in changes)
    return f"The sign of r changes between layers {where}."


def category_bootstrap(document: JsonObject) -> list[Table]:
    caption = (
        f"Correlation over {document['n_categories']} categories with its "
        f"{document['ci_level']:.0%} interval by the papers' bootstrap, {document['n_bootstrap']} "
        "resamples of them: too narrow for few, it decides nothing."
    )
    rows = [[int(layer), *interval(result)] for layer, result in document["layer_results"].items()]
    return [Table("intervals", caption, {"layer": None, **INTERVAL}, rows)]


def pairs(document: JsonObject) -> list[Table]:
    counts = document["summary"]
    notes = [
        f"{counts['significant_tests']} of {counts['total_tests']} intervals exclude zero. Nothing "
        "is corrected for the number of tests, and pairs of one category are not independent."
    ]
    rows = [
        [int(layer), key_in_words(metric), *interval(result)]
        for layer, of_layer in document["results"].items()
        for metric, result in of_layer.items()
    ]
    caption = f"Correlation of five measures with preference over {document['n_pairs']} pairs."
    return [Table("pairs", caption, {"layer": None, "measure": None, **INTERVAL}, rows, notes)]


def gains(document: JsonObject) -> list[Table]:
    over = f"over {document['n_prompts']} prompts"
    of_model = {heading: document[key] for heading, key in OF_GAINS.items()}
    readings = [
        [READINGS[name], reading["mean"], reading["std"]]
        for name, reading in document["readings"].items()
    ]
    caption = f"The last gain in every reading of Paper 3: mean and population SD {over}."
    return [
        facts("gain", f"Paper 3's gain {over}, and the shape it is set against.", of_model),
        Table("readings", caption, {"reading": None, "mean": 4, "SD": 4}, readings),
    ]


def spectral(document: JsonObject) -> list[Table]:
    rows = [
        [
            matrix.replace("_", " "),
            document[f"{matrix}_mean_spectral"],
            document[f"{matrix}_std_spectral"],
            mean_over_blocks(document, f"{matrix}_frobenius_norm"),
            mean_over_blocks(document, f"{matrix}_effective_rank"),
        ]
        for matrix in MATRICES
    ]
    names = (quantities.SPECTRAL_NORM, "SD", "Frobenius norm", "effective rank")
    note = (
        "The papers' notebooks cut the fused matrices of GPT-NeoX and BLOOM at other rows: "
        "published norms of such models are of those."
    )
    columns = {"matrix": None, **dict.fromkeys(names, 3)}
    return [Table("projections", "Means over the blocks.", columns, rows, [note])]


SECTIONS = (
    Section(
        "validation",
        "Asymmetry and preference",
        "Are the states of one side of the pairs closer together than those of the other, and does "
        "that correlate with what the model prefers to say? States of the last layer, after the "
        "final norm.",
        validation,
    ),
    Section(
        "layers",
        "The correlation, layer by layer",
        "Does the relation of asymmetry and preference change along the depth of the model? The "
        "first three readings are of the last layer.",
        layers,
    ),
    Section(
        "category_bootstrap",
        "Intervals over the categories",
        "What does the papers' bootstrap say of the correlation, when each category is one point?",
        category_bootstrap,
    ),
    Section(
        "pairs",
        "Five measures per pair",
        "Does a measure of a single pair correlate with the model's preference in that pair?",
        pairs,
    ),
    Section(
        "anisotropy",
        "Anisotropy over depth",
        "Do the states of the prompts' tokens crowd into few directions, and at which layer most?",
    ),
    Section(
        "gains",
        "Residual gains",
        "Does a block lengthen the residual stream (gain above 1) or damp it? A gain is the norm "
        "behind the block over the norm before it.",
        gains,
    ),
    Section(
        "spectral",
        "Spectral norms of the attention projections",
        "How much can each projection stretch a state? Without biases, of the rows that the model "
        "computes with.",
        spectral,
    ),
)

# These take the place of those of the same names without preferences, and without r over the
# categories.
VALIDATION_OF_STATES = Section(
    "validation",
    "Asymmetry",
    "Are the states of one side of the pairs closer together than those of the other? States of "
    "the last layer, after the final norm.",
    validation_of_states,
)
LAYERS_OF_STATES = Section(
    "layers",
    "Asymmetry, layer by layer",
    "Does asymmetry change along the depth of the model? What is no numbered layer is a reading of "
    "the last one.",
    layers_of_states,
)


def sections_of(results: Results) -> dict[Section, list[Table]]:
    """Return the tables of every result document that there is, in the papers' order."""
    others = {}
    if "asymmetries" in results.get("layers", {}):
        others = {"layers": LAYERS_OF_STATES}
    if "pairs" not in results:
        others["validation"] = VALIDATION_OF_STATES
    sections = [others.get(section.name, section) for section in SECTIONS]
    return {
        section: section.build(results[section.name])
        for section in sections
        if section.name in results
    }
