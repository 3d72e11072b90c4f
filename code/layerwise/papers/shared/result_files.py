"""The files whose numbers the ledger uses, each named once: upstream's, and ours beside them.

At the end the places of Paper 2's curves, r over the pairs by layer, for each model and condition.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from layerwise.engine.published import BEYOND, DATASET, PROMPTS, Constants
from layerwise.papers.shared.names import SLUG

# Paper 1
PAPER1 = {
    "llama": "Results/results_llama_20251231_142705.json",
    "gemma": "Results/results_gemma_20251231_142425.json",
    "mistral": "Results/results_mistral_20251231_143700.json",
    "apertus": "Results/results_apertus_20251231_150219.json",
}
CONTROL = "Results/neutral_control_test_results.json"
CLASSES = "extended_results/data/category_classification.csv"
CONTRIBUTIONS = "extended_results/data/contribution_by_category.csv"
OUTPUT_CORRELATION = "extended_results/data/correlation_analysis.json"
DIVERGENCE = "extended_results/data/cross_model_divergence.csv"

# Paper 2
BOOTSTRAP = "Results/pythia/bootstrap_ci_20260102_132830.json"
LAYERS = "Results/pythia/layer_analysis_20260102_122534.json"
BINS = "Results/pythia/option_a_bins_20260102_140002.json"
PAIRS = "Results/pythia/option_b_pair_level_20260102_142148.json"
UA_FILES = {
    "pythia-6p9b": "Results/pythia/pythia_6.9b_ua_results_20260102_002828.json",
    "pythia-12b": "Results/pythia/pythia_12b_ua_results_20260102_003540.json",
}
SCALING = "Results/pythia/pythia_scaling_20260102_131212.json"
CONSOLIDATED = "Results/CONSOLIDATED_RESULTS.csv"
PHASE_SUMMARY = "Results/PHASE_SUMMARY.csv"
APERTUS = "Results/apertus/apertus_cross_validation_20260103_010455.json"
GEMMA = "Results/gemma/gemma_cross_validation_20260103_011230.json"
LLAMA = "Results/llama/llama3_cross_validation_20260102_235626.json"
TEMPLATE = "Results/llama/llama3_instruct_template_20260103_000840.json"

# Paper 3: anisotropy, one text
R = "paper3/Results/"
ANISOTROPY = R + "anisotropy_results_pythia.json"
GEMMA_ANISOTROPY = R + "anisotropy_results_gemma.json"
PROFILES = {"pythia-6p9b": ANISOTROPY, "gemma-2b": GEMMA_ANISOTROPY}
FOUR = R + "4model_validation_results.json"
INPUTS = R + "input_dependency_thermodynamics.json"
LLAMAS = R + "llama2_vs_llama31_hypothesis_test.json"
MISTRAL = R + "mistral_paradox_investigation_results.json"
# gains
SWEEP = R + "pythia_family_NO_FINAL_LN_20260105_174820.json"
HUNT = R + "high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
CLEAN = R + "clean_residual_NO_FINAL_LN_20260105_173546.json"
MODULES = {
    "pythia-1p4b": R + "ffn_expansion_results.json",
    "pythia-6p9b": R + "ffn_expansion_pythia69b_results.json",
}
GPT2 = R + "gpt2_layernorm_validation_20260105_150306.csv"
MLP_SCALING = R + "scaling_law_multi_pythia_results.json"
# traces and norms
EXTENDED = R + "H4_v2_extended_20260106_012606.json"
V2 = R + "H4_v2_validation_20260106_015547.json"
V1 = R + "H4_validation_20260106_014132.json"
CROSS = R + "l_star_cross_heritage_20260106_104357.json"
SIGNS = R + "l_star_sign_change_20260106_111315.json"
SPECTRAL = R + "restriction_map_spectral_20260105_202448.json"
# the benchmark and the tuned twins: prompt by prompt, and what their notebooks made of it
BENCHMARK_ROWS = R + "thermodynamic_benchmark_20260105_141034.csv"
BENCHMARK = R + "thermodynamic_benchmark_20260105_141034.json"
TWIN_ROWS = R + "twin_test_results_20260105_160237.csv"
TWINS = R + "twin_test_results_20260105_160237.json"

PAPER_3_TEXT = "Paper 3"  # coefficients and shares that rules take as they are printed
# Numbers that exist only in a notebook's cells, under the notebook's name.
TYPED_INTERVALS = "notebook 000"  # its n = 6 table, with two decimals
TYPED_MODELS = "notebook 003"  # Paper 1's models on scientific facts, with three decimals
TYPED_LAYER = "notebook 004"  # the layer of Paper 2 that a profile is compared with
TYPED_CURVE = "notebook Llama"  # Pythia's r, with two decimals
NUMBERS = "numbers of dataset.json"  # in statements that the paper quotes
FIGURE_1 = "figure 1 of Paper 1"  # rows of pixels in the picture that its archive holds
WORDS = "words of dataset.json"  # white-space words per statement of the neutral categories

# Ours, among what was measured and never published.
CHOICES_FILE = f"{BEYOND}choices"  # the central claims' statistics under each choice
PROFILES_FILE = f"{BEYOND}aniso"  # of profiles, the last share before the final norm


# The result documents of a reader's model.
RESULTS = (
    "validation",
    "layers",
    "category_bootstrap",
    "bins",
    "pairs",
    "anisotropy",
    "sensitivity",
    "gains",
    "spectral",
)


def own_file(result: str) -> str:
    """Return where a reader's model has the numbers behind one of its result files."""
    return f"own/{result}"


# The tables of `published/`, and whose numbers stand there, in that order.
TABLES: Mapping[str, tuple[str, ...]] = {
    "dataset.csv": (DATASET, PROMPTS),
    "paper1.csv": (
        *(PAPER1[model] for model in ("apertus", "gemma", "llama", "mistral")),
        *(CONTROL, CLASSES, CONTRIBUTIONS, OUTPUT_CORRELATION, DIVERGENCE),
    ),
    "paper2.csv": (
        *(BOOTSTRAP, LAYERS, BINS, PAIRS, UA_FILES["pythia-12b"], UA_FILES["pythia-6p9b"]),
        *(SCALING, CONSOLIDATED, PHASE_SUMMARY, APERTUS, GEMMA, LLAMA, TEMPLATE),
    ),
    "paper3.csv": (ANISOTROPY, GEMMA_ANISOTROPY, FOUR, INPUTS, LLAMAS, MISTRAL),
    "paper3-gains.csv": (
        *(SWEEP, HUNT, CLEAN, MODULES["pythia-6p9b"], MODULES["pythia-1p4b"]),
        *(GPT2, MLP_SCALING),
    ),
    "paper3-sheaf.csv": (EXTENDED, V2, V1, CROSS, SIGNS, SPECTRAL),
    "paper3-benchmark.csv": (BENCHMARK_ROWS, BENCHMARK, TWIN_ROWS, TWINS),
}

# What stands in these files and is no result: what an entry is about; constants of the methods,
# typed into notebooks or fitted before.
CONSTANTS = Constants(
    names=frozenset(
        (
            "model",
            "model_name",
            "model_display",
            "model_hf_name",
            "hf_name",
            "path",
            "family",
            "lab",
            "arch",
            "type",
            "variant",
            "category",
            "layer",
            "role",
            "expected",
            "marker",
            "hypothesized_alpha",
        )
    ),
    settings=(
        "notebook 004#",
        "notebook Llama#",
        "Paper 3#/",
        "#behavior",
        "#known_gain",
        "#L_star_calibration",
        "#comparison_v2_argmax",
        "#pythia_profile_range",
    ),
)


# What a curve of r over the categories is drawn over.
CATEGORIES = "categories"
METRIC = "centroid_asymmetry"  # the measure of every curve in the paper
SHORT, LONG = ("ci_lo", "ci_hi"), ("ci_lower", "ci_upper")  # names of an interval's ends


@dataclass(frozen=True)
class CurvePlace:
    """The file and the group in it that hold a curve, and its rows in Paper 2's tables.

    Attributes:
        metric: the name of the measure in a file of several; None where the file has one.
        names: of the ends of an interval.
        summary_row: in PHASE_SUMMARY.
        first_row: in CONSOLIDATED, whose rows go on by layer.
    """

    file: str
    group: str
    metric: str | None = None
    names: tuple[str, str] = SHORT
    summary_row: int = 0
    first_row: int = 0


CURVES = {
    SLUG: CurvePlace(PAIRS, "results", METRIC, LONG),
    "llama-3p1-8b": CurvePlace(LLAMA, "pair_level_results", METRIC, LONG, 1, 9),
    "llama-3p1-8b-instruct": CurvePlace(TEMPLATE, "results_without_template", None, SHORT, 2, 18),
    "llama-3p1-8b-instruct-template": CurvePlace(
        TEMPLATE, "results_with_template", None, SHORT, 3, 27
    ),
    "apertus-8b": CurvePlace(APERTUS, "results", None, SHORT, 4, 36),
    "gemma-2b": CurvePlace(GEMMA, "results", None, SHORT, 5, 45),
}
