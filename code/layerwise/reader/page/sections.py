"""The result documents of one model as tables, a section per analysis.

`SECTIONS` at the end declares them: a name, the printed title and question, and what builds the
tables of a document.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from layerwise.papers.paper3.rules.anisotropy import FILLED, filled_by_one_direction
from layerwise.papers.paper3.rules.spectral_norms import mean_over_blocks
from layerwise.papers.shared.names.matrices import MATRICES
from layerwise.papers.shared.questions.choices import READINGS
from layerwise.papers.shared.rules.categories import decisive_category, r_without_each_category
from layerwise.papers.shared.terms import LAYER_PREFIX
from layerwise.present.tables import Table, Value, facts
from layerwise.statistics.correlation import MIN_POINTS

Document = Mapping[str, Any]
Columns = Mapping[str, int | None]  # {heading: decimals}


@dataclass(frozen=True)
class Section:
    """The tables of one analysis.

    Attributes:
        name: of the result document: its JSON file is `name`.json.
        title: printed above it.
        question: printed below the title: what the tables answer.
        build: gives the tables, from what they show.
    """

    name: str
    title: str
    question: str
    build: Callable[..., list[Table]]


PAPERS_DEPTH = 32  # blocks of Pythia-6.9B, whose layer numbers the notebooks typed in
POOLINGS = {
    "mean_pooled": "mean over tokens",
    "last_token": "last token",
    "first_token": "first token",
}
INTERVAL: Columns = {"r": 3, "low": 3, "high": 3, "p": 4, "excludes zero": None}
# of a category in validation.json: (heading, decimals)
OF_CATEGORY: Mapping[str, tuple[str, int | None]] = {
    "n_pairs": ("pairs", None),
    "uniformity_a": ("uniformity A", 4),
    "uniformity_b": ("uniformity B", 4),
    "asymmetry": ("UA", 4),
    "output_preference": ("preference (nats)", 4),
    "pct_prefer_a": ("prefers A (%)", 1),
}
# of the file of gains
OF_GAINS = {
    "gain of the second-last block": "residual_gain_mean",
    "gain of the last block and the final norm": "gain_with_ln_mean",
    "heads": "n_heads",
    "hidden size": "d_model",
    "heads over head size": "rho",
}
SPREAD: Columns = {"mean": 4, "SD": 4}


def interval(result: Document) -> list[Value]:
    """Return the cells of `INTERVAL`."""
    ends = [result["r"], result["ci_lower"], result["ci_upper"]]
    return [*ends, result["p_value"], not result["includes_zero"]]


def validation(document: Document) -> list[Table]:
    categories = {name: entry for name, entry in document.items() if not name.startswith("_")}
    return [
        Table(
            "categories",
            "Mean pairwise cosine of each side's states, their difference (UA), and what the model "
            "prefers, by category.",
            {"category": None, **dict(OF_CATEGORY.values())},
            [[name, *(entry[key] for key in OF_CATEGORY)] for name, entry in categories.items()],
        ),
        _tabulate_overall(document["_global_stats"]),
        *_tabulate_left_out(document),
    ]


def _tabulate_overall(overall: Document) -> Table:
    low, high = overall["bootstrap_95ci"]
    statistics = {
        "pairs": overall["total_pairs"],
        "mean UA": overall["mean_asymmetry"],
        "lower end of its 95% interval": low,
        "upper end of its 95% interval": high,
        "population SD of UA": overall["std_asymmetry"],
        "Cohen's d of UA against zero": overall["cohens_d"],
        "mean preference (nats)": overall["mean_output_preference"],
        "r of UA and preference": overall["ua_output_correlation"],
    }
    return facts("over-categories", "Over the categories, each with the same weight.", statistics)


def _tabulate_left_out(document: Document) -> list[Table]:
    """Tabulate r without each category; no table where a category less leaves no r."""
    left = r_without_each_category(document)
    if not left:
        return []
    r, deciding = document["_global_stats"]["ua_output_correlation"], decisive_category(document)
    notes = [] if deciding is None else [describe_decisive_category(deciding, r, left[deciding].r)]
    caption = "r of UA and preference over the other categories when one is left out."
    rows: list[list[Value]] = [
        [name, correlation.r, correlation.p] for name, correlation in left.items()
    ]
    columns = {"left out": None, "r": 3, "p": 4}
    return [Table("without-one-category", caption, columns, rows, notes)]


def describe_decisive_category(category: str, r: float, without: float) -> str:
    """Return the sentence on a category that alone makes the correlation over all."""
    return (
        f"One category determines r over the categories at the last layer: {r:+.3f} with all of "
        f"them, {without:+.3f} without {category.replace('_', ' ')}. It shows how far that "
        "category lies from the others, and says nothing about them."
    )


def layers(document: Document) -> list[Table]:
    strategies = document["strategies"]
    notes = [
        f"No r for the {POOLINGS[name]}: it has the same state in every statement, as where the "
        "tokenizer puts the same token before each text."
        for name, strategy in strategies.items()
        if strategy["correlation"] is None
    ]
    notes.append(_said_of_signs(document["summary"]["sign_changes"]))
    rows = [
        [
            POOLINGS.get(name, f"layer {name.removeprefix(LAYER_PREFIX)}"),
            strategy["correlation"],
            strategy["p_value"],
        ]
        for name, strategy in strategies.items()
    ]
    caption = "Correlation of UA and preference over the categories, by reading of the states."
    return [Table("layers", caption, {"reading": None, "r": 4, "p": 4}, rows, notes)]


def _said_of_signs(changes: list[Document]) -> str:
    if not changes:
        return "The sign of r does not change over the sampled layers."
    where = ", ".join(f"{change['layer_before']} and {change['layer_after']}" for change in changes)
    return f"The sign of r changes between layers {where}."


def category_bootstrap(document: Document) -> list[Table]:
    caption = (
        f"Correlation over {document['n_categories']} categories with its "
        f"{document['ci_level']:.0%} interval from {document['n_bootstrap']} resamples of them."
    )
    rows = [[int(layer), *interval(result)] for layer, result in document["layer_results"].items()]
    return [Table("intervals", caption, {"layer": None, **INTERVAL}, rows)]


def bins(document: Document) -> list[Table]:
    rows, scarce = [], []
    for layer, result in document["bootstrap_results"].items():
        cells = interval(result)
        if result["n_bins"] < MIN_POINTS:
            scarce.append(layer)
            cells = [None] * len(cells)
        rows.append([int(layer), *cells, result["n_bins"]])
    notes = []
    if scarce:
        notes.append(
            f"No r where fewer than {MIN_POINTS} bins hold two pairs (layer {', '.join(scarce)}); "
            "the JSON file has the notebook's placeholders there, r = 0 in [-1, 1]."
        )
    caption = f"Correlation over {document['k_bins']} random bins with its interval."
    stable = Table("bins", caption, {"layer": None, **INTERVAL, "bins": None}, rows, notes)
    return [stable, _sweep(document)]


def _sweep(document: Document) -> Table:
    """Tabulate the means over all binnings into k bins; no numbers where none was usable."""
    by_k = document["results_by_k"]
    rows: list[list[Value]] = []
    for layer in document["bootstrap_results"]:
        for k, results in by_k.items():
            result = results[layer]
            means = (result["r_mean"], result["p_mean"]) if result["n_valid"] else (None, None)
            rows.append([int(layer), int(k), *means])
    empty = [k for k in by_k if not all(result["n_valid"] for result in by_k[k].values())]
    notes = []
    if empty:
        notes.append(
            f"No value for k = {', '.join(sorted(empty, key=int))}: no binning left {MIN_POINTS} "
            "bins with two pairs; the JSON file has the notebook's placeholders there, r = 0 and "
            "p = 1."
        )
    caption = f"Mean r and mean p over {document['n_permutations']} binnings into k bins."
    return Table("sweep", caption, {"layer": None, "k": None, "r": 3, "p": 3}, rows, notes)


def pairs(document: Document) -> list[Table]:
    counts = document["summary"]
    notes = [
        f"{counts['significant_tests']} of {counts['total_tests']} intervals exclude zero. Nothing "
        "is corrected for the number of tests, and pairs of one category are not independent."
    ]
    rows = [
        [int(layer), metric.replace("_", " "), *interval(result)]
        for layer, of_layer in document["results"].items()
        for metric, result in of_layer.items()
    ]
    caption = f"Correlation of five measures with preference over {document['n_pairs']} pairs."
    return [Table("pairs", caption, {"layer": None, "measure": None, **INTERVAL}, rows, notes)]


def anisotropy(document: Document) -> list[Table]:
    return [_bell(document), _profile(document)]


def _bell(document: Document) -> Table:
    """Tabulate the bell test; a slope needs two layers, so there is none beside an end."""
    l_star, n_layers = document["L_star_anisotropy"], document["n_layers"]
    before, after = l_star >= 2, l_star < n_layers
    notes = []
    if not before:
        notes.append("No slope before the peak: a line needs two layers.")
    if not after:
        notes.append("No slope from the peak on: it is the last layer, and a line needs two.")
    if n_layers != PAPERS_DEPTH:
        notes.append(
            "anisotropy.json compares the peak with a layer of Pythia-6.9B, as the notebook does "
            f"(L_star_paper2, gap, match_verdict); that says nothing of a model of {n_layers} "
            "blocks."
        )
    statistics = {
        "layer of the largest share": l_star,
        "notebook's bell test, by the two slopes' signs alone": document["is_bell_curve"],
        "slope before it": document["phase1_slope"] if before else None,
        "slope from it on": document["phase2_slope"] if after else None,
        "layer of the smallest effective rank": document["effective_rank_min_layer"],
    }
    return facts("bell", "The bell test of the first component's share.", statistics, notes)


def _profile(document: Document) -> Table:
    n_layers = document["n_layers"]
    series = (document[key] for key in ("intrinsic_dim_ratio", "effective_rank", "avg_cos_sim"))
    caption = (
        "Share of the first principal component, effective rank, and mean cosine to the mean of "
        f"all tokens of {document['n_prompts']} prompts."
    )
    columns = {"layer": None, "first-PC share": 4, "effective rank": 2, "mean cosine": 4}
    rows = list(zip(range(n_layers + 1), *series, strict=True))
    return Table("profile", caption, columns, rows, _note_on_one_direction(document))


def _note_on_one_direction(document: Document) -> list[str]:
    """Return a note on the layers that a single direction fills."""
    filled = filled_by_one_direction(document)
    if not filled:
        return []
    variances = document.get("eigenvalue_variance")
    most = f" (their variance is {max(variances):.0e} at most)" if variances else ""
    return [
        f"At {len(filled)} of {len(document['intrinsic_dim_ratio'])} layers ({filled[0]} to "
        f"{filled[-1]}) one direction holds more than {FILLED:.0%} of the variance of the token "
        f"states, as where single tokens have massive activations. It makes the eigenvalues{most}; "
        "share, effective rank and the slopes tell of that direction alone there."
    ]


def gains(document: Document) -> list[Table]:
    over = f"over {document['n_prompts']} prompts"
    of_model = {heading: document[key] for heading, key in OF_GAINS.items()}
    readings = [
        [READINGS[name], reading["mean"], reading["std"]]
        for name, reading in document["readings"].items()
    ]
    series = document["all_layer_gains"], document["all_layer_gains_std"]
    by_block = list(zip(range(document["n_layers"]), *series, strict=True))
    return [
        facts("gain", f"Paper 3's gain {over}, and the shape it is set against.", of_model),
        Table(
            "readings",
            f"The last gain in every reading of Paper 3: mean and population SD {over}.",
            {"reading": None, **SPREAD},
            readings,
        ),
        Table(
            "gain-by-block",
            f"Gain of the last token by block: mean and population SD {over}.",
            {"block": None, **SPREAD},
            by_block,
            ["The last block's gain has the final norm in it."],
        ),
    ]


def spectral(document: Document) -> list[Table]:
    names = {matrix: matrix.replace("_", " ") for matrix in MATRICES}
    means = [
        [
            called,
            document[f"{matrix}_mean_spectral"],
            document[f"{matrix}_std_spectral"],
            mean_over_blocks(document, f"{matrix}_frobenius_norm"),
            mean_over_blocks(document, f"{matrix}_effective_rank"),
        ]
        for matrix, called in names.items()
    ]
    norms = (document[f"{matrix}_spectral_norm"] for matrix in names)
    by_block = list(zip(range(document["n_layers"]), *norms, strict=True))
    columns = {"spectral norm": 3, "SD": 3, "Frobenius norm": 3, "effective rank": 2}
    return [
        Table(
            "projections",
            "Means over the blocks.",
            {"matrix": None, **columns},
            means,
            [
                "The papers' notebooks cut the fused matrices of GPT-NeoX and BLOOM at other rows: "
                "published norms of such models are of those."
            ],
        ),
        Table(
            "projections-by-block",
            "Spectral norm by block.",
            {"block": None, **dict.fromkeys(names.values(), 3)},
            by_block,
        ),
    ]


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
        "How far can the correlation be trusted when each category is one point?",
        category_bootstrap,
    ),
    Section(
        "bins",
        "Random bins instead of categories",
        "Do more points, the pairs thrown into bins at random, tell more than the categories? They "
        "answer another question: bins cut across the categories.",
        bins,
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
        anisotropy,
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


def sections_of(results: Mapping[str, Document]) -> dict[Section, list[Table]]:
    """Return the tables of every result document that there is, in the papers' order."""
    return {
        section: section.build(results[section.name])
        for section in SECTIONS
        if section.name in results
    }
