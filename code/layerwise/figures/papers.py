"""The numbers behind the papers' own figures, collected from the published files.

Each figure gets one document: the files it was read from, how many observations a point stands
for, and the numbers with every published digit, also where the paper's figure was drawn from
numbers typed with two or three decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published

RESULTS = "paper3/Results/"
PAPER1 = {
    "Gemma-2-9B": "Results/results_gemma_20251231_142425.json",
    "Llama-3.1-8B": "Results/results_llama_20251231_142705.json",
    "Mistral-7B": "Results/results_mistral_20251231_143700.json",
    "Apertus-8B": "Results/results_apertus_20251231_150219.json",
}
PAIRS = "Results/pythia/option_b_pair_level_20260102_142148.json"
CONSOLIDATED = "Results/CONSOLIDATED_RESULTS.csv"
LLAMA = "Results/llama/llama3_cross_validation_20260102_235626.json"
APERTUS = "Results/apertus/apertus_cross_validation_20260103_010455.json"
GEMMA = "Results/gemma/gemma_cross_validation_20260103_011230.json"
TEMPLATE = "Results/llama/llama3_instruct_template_20260103_000840.json"
SWEEP = RESULTS + "pythia_family_NO_FINAL_LN_20260105_174820.json"
HUNT = RESULTS + "high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
SPECTRAL = RESULTS + "restriction_map_spectral_20260105_202448.json"
CROSS = RESULTS + "l_star_cross_heritage_20260106_104357.json"
METRIC = "centroid_asymmetry"  # the pair-level metric of Paper 2's figures
ELEUTHER = "EleutherAI"
# What Paper 3's figure 2 shows as EleutherAI: these sizes of the sweep, these models of the hunt.
DRAWN_SIZES = ("pythia-1.4b", "pythia-2.8b", "pythia-6.9b")
DRAWN_HUNT = ("gpt-neo-1.3B", "gpt-j-6B")
LEFT_OUT = "gpt-neo-125M"  # Paper 3 leaves it out of the two figures over depth

Document = dict[str, Any]


def asymmetry_by_category(published: Published) -> Document:
    """Paper 1, figure 1: UA of every category and model."""
    asymmetry, pairs = {}, set()
    for model, file in PAPER1.items():
        results = published.document(file)
        categories = {name: row for name, row in results.items() if not name.startswith("_")}
        asymmetry[model] = {name: row["asymmetry"] for name, row in categories.items()}
        pairs.add(sum(row["n_pairs"] for row in categories.values()))
    (n_pairs,) = pairs
    return {"files": list(PAPER1.values()), "n_pairs": n_pairs, "asymmetry": asymmetry}


def layer_curves(published: Published) -> Document:
    """Paper 2, figure 1: r of the centroid asymmetry and the preference over pairs, by layer."""
    pythia, llama = published.document(PAIRS), published.document(LLAMA)
    gemma, apertus = published.document(GEMMA), published.document(APERTUS)
    curves = {
        "Pythia-6.9B": {layer: row[METRIC] for layer, row in pythia["results"].items()},
        "Llama-3.1-8B": {layer: row[METRIC] for layer, row in llama["pair_level_results"].items()},
        "Apertus-8B": _interval_names(apertus["results"]),
        "Gemma-2B": _interval_names(gemma["results"]),
    }
    printed = {
        str(row["layer"]): (row["ci_lo"], row["ci_hi"])
        for row in published.document(CONSOLIDATED)
        if row["model"] == "Pythia-6.9B"
    }
    (n_pairs,) = {document["n_pairs"] for document in (pythia, llama, gemma, apertus)}
    return {
        "files": [PAIRS, LLAMA, APERTUS, GEMMA, CONSOLIDATED],
        "n_pairs": n_pairs,
        "curves": curves,
        "printed_intervals": {"Pythia-6.9B": printed},
    }


def template_comparison(published: Published) -> Document:
    """Paper 2, figure 2: the same curve of the instruct model, with and without its template."""
    document = published.document(TEMPLATE)
    return {
        "files": [TEMPLATE],
        "n_pairs": document["n_pairs"],
        "verdict": document["verdict"],
        "with": _interval_names(document["results_with_template"]),
        "without": _interval_names(document["results_without_template"]),
    }


def sweep(published: Published) -> Document:
    """Paper 3, figures 1, 6 (A3) and 7 (A4): gain of the second-last block per Pythia size."""
    document = published.document(SWEEP)
    return {
        "files": [SWEEP],
        "n_prompts": document["n_prompts"],
        "models": {
            row["model"]: {
                "n_layers": row["n_layers"],
                "rho": row["rho"],
                "mean": row["residual_gain_mean"],
                "std": row["residual_gain_std"],
                "all": row["residual_gain_all"],
            }
            for row in document["models"]
        },
    }


def lab_heritage(published: Published) -> Document:
    """Paper 3, figure 2: mean gain of every model, by lab.

    `labs` holds what the figure shows; `hunt` is EleutherAI as the hunt alone measured it.
    """
    labs: dict[str, dict[str, float]] = {ELEUTHER: {}}
    for row in published.document(HUNT)["tested_results"]:
        labs.setdefault(row["lab"], {})[_short(row["model"])] = row["gain_no_ln_mean"]
    hunt = labs[ELEUTHER]
    sizes = {row["model"]: row["residual_gain_mean"] for row in published.document(SWEEP)["models"]}
    labs[ELEUTHER] = {name: sizes[name] for name in DRAWN_SIZES}
    labs[ELEUTHER] |= {name: hunt[name] for name in DRAWN_HUNT}
    return {"files": [HUNT, SWEEP], "labs": labs, "hunt": hunt}


def spectral(published: Published) -> Document:
    """Paper 3, figures 3, 4 (A1) and 8 (A5): spectral norms of W_V per layer, means of W_V, W_O."""
    return {
        "files": [SPECTRAL],
        "models": {
            _short(row["model"]): {
                "lab": row["lab"],
                "value": row["W_V_mean_spectral"],
                "output": row["W_O_mean_spectral"],
                "norms": row["W_V_spectral_norm"],
            }
            for row in published.document(SPECTRAL)["results"]
        },
    }


def spectral_without_neo(published: Published) -> Document:
    """The six models of the two figures over depth."""
    document = spectral(published)
    models = document["models"].items()
    return document | {"models": {name: row for name, row in models if name != LEFT_OUT}}


def critical_layer(published: Published) -> Document:
    """Paper 3, figure 5 (A2): L* by the formula against L* of the trace over five prompts."""
    document = published.document(CROSS)
    return {
        "files": [CROSS],
        "mean_error": document["overall_mape"],
        "models": {
            _short(row["model"]): {
                "lab": row["lab"],
                "n_layers": row["L"],
                "predicted": row["L_star_predicted"],
                "empirical": row["L_star_empirical"],
                "std": row["L_star_std"],
            }
            for row in document["results"]
        },
    }


FIGURES: Mapping[str, Callable[[Published], Document]] = {
    "asymmetry_by_category": asymmetry_by_category,
    "layer_curves": layer_curves,
    "template_comparison": template_comparison,
    "depth_gain": sweep,
    "lab_heritage": lab_heritage,
    "spectral_scatter": spectral,
    "spectral_depth": spectral_without_neo,
    "critical_layer": critical_layer,
    "gain_by_depth": sweep,
    "gain_distribution": sweep,
    "weight_norms": spectral_without_neo,
}

# The analysis whose claims a figure shows.
SHOWS: Mapping[str, str] = {
    "asymmetry_by_category": "calibration",
    "layer_curves": "cross_model",
    "template_comparison": "template",
    "depth_gain": "depth_gain",
    "lab_heritage": "lab_heritage",
    "spectral_scatter": "spectral_norms",
    "spectral_depth": "spectral_norms",
    "critical_layer": "critical_layer",
    "gain_by_depth": "depth_gain",
    "gain_distribution": "depth_gain",
    "weight_norms": "spectral_norms",
}


def collect(figure: str, published: Published) -> dict[str, Document]:
    """What `plots.<figure>.draw` takes: the figure's document under its name.

    Raises:
        LayerwiseError: if the papers have no such figure.
    """
    if figure not in FIGURES:
        raise LayerwiseError(
            f"a figure of the papers must be one of {', '.join(FIGURES)}, found {figure!r}"
        )
    return {figure: FIGURES[figure](published)}


def _interval_names(results: Mapping[str, Mapping[str, Any]]) -> dict[str, Document]:
    """The later notebooks' ci_lo, ci_hi and sig under the names of the earlier ones."""
    return {
        layer: {
            "r": row["r"],
            "ci_lower": row["ci_lo"],
            "ci_upper": row["ci_hi"],
            "includes_zero": not row["sig"],
        }
        for layer, row in results.items()
    }


def _short(model: str) -> str:
    """A hub id without its owner."""
    return model.split("/")[-1]
