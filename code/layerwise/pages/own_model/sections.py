"""Papers 1 and 2 on an own model, and other choices: a section of tables per result document."""

from __future__ import annotations

from layerwise.analyses.layers import PREFIX
from layerwise.analyses.survival import CHOICES, CLAIMS, STATISTICS
from layerwise.pages.own_model.tables import (
    INTERVAL,
    Document,
    Section,
    Table,
    Value,
    facts,
    interval,
    table,
)
from layerwise.statistics.bootstrap import MIN_KEPT
from layerwise.statistics.correlation import MIN_POINTS

_READINGS = {"mean_pooled": "mean over tokens", "last_token": "last token"}
_READINGS["first_token"] = "first token"


def validation(document: Document) -> Section:
    """UA and preference by category, and over the categories."""
    categories = [name for name in document if not name.startswith("_")]
    keys = ("n_pairs", "uniformity_a", "uniformity_b", "asymmetry", "output_preference")
    aligned = document["_verdicts"]["aligned"]
    by_category = table(
        "categories",
        "Mean pairwise cosine of each side's states, their difference (UA), and what the model "
        "prefers, by category.",
        [("category", None), ("pairs", None), ("uniformity A", 4), ("uniformity B", 4), ("UA", 4),
         ("preference (nats)", 4), ("prefers A (%)", 1), ("aligned", None)],
        [
            [name, *(document[name][key] for key in (*keys, "pct_prefer_a")), aligned[name]]
            for name in categories
        ],
        ["Aligned: UA and preference have the same sign, or both are near zero."],
    )  # fmt: skip
    found = document["_global_stats"]
    over = facts(
        "over-categories",
        "Statistics over the categories, each with the same weight.",
        [
            ("pairs", found["total_pairs"], None),
            ("mean UA", found["mean_asymmetry"], 4),
            ("lower end of its 95% interval", found["bootstrap_95ci"][0], 4),
            ("upper end of its 95% interval", found["bootstrap_95ci"][1], 4),
            ("population SD of UA", found["std_asymmetry"], 4),
            ("Cohen's d of UA against zero", found["cohens_d"], 3),
            ("mean preference (nats)", found["mean_output_preference"], 4),
            ("r of UA and preference", found["ua_output_correlation"], 3),
        ],
    )
    return Section(
        "validation",
        "Asymmetry and preference",
        "Are the states of one side of the pairs closer together than those of the other, and does "
        "that go with what the model prefers to say? States of the last layer, behind the final "
        "norm.",
        (by_category, over),
    )


def layers(document: Document) -> Section:
    """r by layer and by pooling."""
    strategies, words = document["strategies"], document["summary"]["bands"]
    notes = [
        f"No r for the {_READINGS[name]}: it has the same state in every statement, as where the "
        "tokenizer puts the same token before each text."
        for name, found in strategies.items()
        if found["correlation"] is None
    ]
    changes = document["summary"]["sign_changes"]
    where = ", ".join(f"{change['layer_before']} and {change['layer_after']}" for change in changes)
    notes.append(
        f"The sign of r changes between layers {where}."
        if changes
        else "The sign of r does not change over the sampled layers."
    )
    rows: list[list[Value]] = [
        [
            _READINGS.get(name, f"layer {name.removeprefix(PREFIX)}"),
            found["correlation"],
            found["p_value"],
            words[name],
        ]
        for name, found in strategies.items()
    ]
    columns = [("reading", None), ("r", 4), ("p", 4), ("the notebook's word", None)]
    caption = "Correlation of UA and preference over the categories, by reading of the states."
    return Section(
        "layers",
        "The correlation, layer by layer",
        "Does the relation of asymmetry and preference change along the depth of the model? The "
        "first three readings are of the last layer.",
        (table("layers", caption, columns, rows, notes),),
    )


def category_bootstrap(document: Document) -> Section:
    """r over the categories with its interval."""
    n, level = document["n_categories"], document["ci_level"]
    rows = [[int(layer), *interval(found)] for layer, found in document["layer_results"].items()]
    caption = (
        f"Correlation over {n} categories with its {level:.0%} interval from "
        f"{document['n_bootstrap']} resamples of the categories."
    )
    return Section(
        "category_bootstrap",
        "Intervals over the categories",
        "How far can the correlation be trusted when each category is one point?",
        (table("intervals", caption, [("layer", None), *INTERVAL], rows),),
    )


def bins(document: Document) -> Section:
    """r over random bins, and the sweep over their number."""
    rows, scarce = [], []
    for layer, found in document["bootstrap_results"].items():
        cells = interval(found)
        if found["n_bins"] < MIN_POINTS:
            scarce.append(layer)
            cells = [None] * len(cells)
        rows.append([int(layer), *cells, found["n_bins"], document["change"][layer]])
    notes = [
        f"No r where fewer than {MIN_POINTS} bins hold two pairs (layer {', '.join(scarce)}); the "
        "JSON file has the notebook's placeholders there, r = 0 in [-1, 1]."
    ] * bool(scarce)
    columns = [("layer", None), *INTERVAL, ("bins", None), ("against categories", None)]
    caption = f"Correlation over {document['k_bins']} random bins with its interval."
    return Section(
        "bins",
        "Random bins instead of categories",
        "Do more points, the pairs thrown into bins at random, tell more than the categories? They "
        "answer another question: bins cut across the categories.",
        (table("bins", caption, columns, rows, notes), *_sweeps(document)),
    )


def _sweeps(document: Document) -> list[Table]:
    by_k = document["results_by_k"]
    columns = [("layer", None), *((f"k = {k}", 3) for k in by_k)]
    empty = sorted({int(k) for k in by_k if not all(f["n_valid"] for f in by_k[k].values())})
    notes = [
        f"No value for k = {', '.join(map(str, empty))}: no binning left {MIN_POINTS} bins with "
        "two pairs; the JSON file has the notebook's placeholders there, r = 0 and p = 1."
    ] * bool(empty)
    made = []
    for name, key, what in (("sweep-r", "r_mean", "r"), ("sweep-p", "p_mean", "p")):
        rows = [
            [
                int(layer),
                *(
                    found[layer][key] if found[layer]["n_valid"] else None
                    for found in by_k.values()
                ),
            ]
            for layer in document["bootstrap_results"]
        ]
        caption = f"Mean {what} over {document['n_permutations']} binnings into k bins."
        made.append(table(name, caption, columns, rows, notes))
    return made


def pairs(document: Document) -> Section:
    """r of five measures of single pairs."""
    rows = [
        [int(layer), metric.replace("_", " "), *interval(found)]
        for layer, of_layer in document["results"].items()
        for metric, found in of_layer.items()
    ]
    counts = document["summary"]
    notes = [
        f"{counts['significant_tests']} of {counts['total_tests']} intervals exclude zero. Nothing "
        "is corrected for the number of tests, and pairs of one category are not independent: see "
        "the other choices below."
    ]
    caption = f"Correlation of five measures with preference over {document['n_pairs']} pairs."
    columns = [("layer", None), ("measure", None), *INTERVAL]
    return Section(
        "pairs",
        "Five measures per pair",
        "Does a measure of a single pair go with the model's preference in that pair?",
        (table("pairs", caption, columns, rows, notes),),
    )


def sensitivity(document: Document) -> Section:
    """The headline claims under the papers' choices and under others."""
    rows = document["rows"]
    outcomes = table(
        "choices",
        "Each headline claim, asked again under a choice that the papers did not make.",
        [("claim", None), ("other choice", None), ("outcome", None), ("what follows", None)],
        [
            [CLAIMS[row["claim"]], CHOICES[row["choice"]], row["outcome"], row["conclusion"]]
            for row in rows
        ],
        ["As published: by the papers' choice, on this model. Survives, lost: the claim holds so, "
         "and under the other choice or not. Appears: under the other choice only. Absent: neither "
         "way."],
    )  # fmt: skip
    ends = ("value", "low", "high")
    numbers = table(
        "choices-numbers",
        "The statistic of each claim with its interval, by the papers' choice and by the other.",
        [("statistic", None), ("other choice", None), ("papers'", 3), ("low", 3), ("high", 3),
         ("other", 3), ("low", 3), ("high", 3)],
        [
            [STATISTICS[row["claim"]], CHOICES[row["choice"]]]
            + [row[side][end] for side in ("published", "other") for end in ends]
            for row in rows
        ],
        ["A slope has no interval."] * any(row["published"]["low"] is None for row in rows),
    )  # fmt: skip
    return Section(
        "sensitivity",
        "Which claims survive other choices",
        "Would the papers' headline claims hold for this model, and do they rest on how it was "
        f"asked? An interval needs {MIN_KEPT} usable resamples; these have streams of their own.",
        (outcomes, numbers),
    )
