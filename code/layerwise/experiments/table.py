"""Every experiment by its name in `models.yaml`, where the dtype of each model stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from layerwise.experiments import (
    Experiment,
    Fragments,
    Subject,
    attention_sheaf,
    matrices,
    modules,
    streams,
    together,
    token_states,
)
from layerwise.experiments.depth_gains import measure as depth_gains
from layerwise.experiments.prompt_rows import PromptRows, stored_in_half
from layerwise.inputs.published import ANISOTROPY

R = "paper3/Results/"
HUNT = R + "high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
SWEEP = R + "pythia_family_NO_FINAL_LN_20260105_174820.json"
CLEAN = R + "clean_residual_NO_FINAL_LN_20260105_173546.json"
OPT = R + "OPT_anomaly_20260106_013155.json"
EXTENDED_TRACES = R + "H4_v2_extended_20260106_012606.json"
PACKED = ("pythia-1b", "pythia-2p8b", "pythia-6p9b", "mistral-7b", "gemma-2b")
PROFILES = {"pythia-6p9b": ANISOTROPY, "gemma-2b": R + "anisotropy_results_gemma.json"}
TEXTS = "input_dependency"
TUNED_BASES = {
    "mistral-7b": "Mistral-7B-Base",
    "gemma-7b": "Gemma-7B-Base",
    "llama-3p1-8b": "LLaMA-3.1-8B-Base",
}

EXPERIMENTS: Mapping[str, Callable[[Subject], Fragments]] = {
    # eight Pythia sizes, 25 prompts (section 4.1)
    "sweep": Experiment(SWEEP, "models", depth_gains, "gain_sweep"),
    # 16 models of five labs, five prompts (sections 4.2, 5.4); figure 3 gives GPT-2's class too
    "hunt": Experiment(HUNT, "tested_results", depth_gains, "rho_hunt", {"gpt2": None}),
    # Pythia-6.9B and GPT-J in float32, three prompts (appendix B)
    "clean": Experiment(CLEAN, "results", depth_gains, "clean_gain"),
    # four models, 25 prompts (abstract)
    "bench": PromptRows(
        R + "thermodynamic_benchmark_20260105_141034.csv", "benchmark", stored_in_half
    ),
    # base models and their instruction-tuned twins, 25 prompts (section 5.5)
    "twin": PromptRows(R + "twin_test_results_20260105_160237.csv", "twin", names=TUNED_BASES),
    # GPT-2 and GPT-J against a gain of one, 25 prompts (notebooks on norms and parallel blocks)
    "gpt2_ln": PromptRows(R + "gpt2_layernorm_validation_20260105_150306.csv", "gpt2_layernorm"),
    "gptj": PromptRows(R + "gptj_parallel_test_20260105_152333.csv", "gptj_parallel"),
    # attention and MLP of two sizes, eight sentences each; of eight sizes, four sentences
    "ffn": Experiment(
        {
            "pythia-1p4b": R + "ffn_expansion_results.json",
            "pythia-6p9b": R + "ffn_expansion_pythia69b_results.json",
        },
        None,
        modules.by_layer,
        {"pythia-1p4b": "ffn_expansion", "pythia-6p9b": "ffn_expansion_6p9b"},
    ),
    "scaling": Experiment(
        R + "scaling_law_multi_pythia_results.json", "models", modules.of_size, "mlp_scaling"
    ),
    # one text, bfloat16 under autocast; Mistral's investigation and the LLaMA tests (float16)
    "fourmodel": Experiment(
        R + "4model_validation_results.json", "results", streams.four_models, TEXTS
    ),
    "mistral": Experiment(
        {"mistral-7b": R + "mistral_paradox_investigation_results.json"},
        None,
        streams.mistral,
        TEXTS,
    ),
    "llama_anom": Experiment(
        R + "llama_anomaly_hypothesis_tests.json",
        "hypothesis_1_titanium_projector/results",
        streams.unembedding,
    ),
    "llama23": Experiment(
        R + "llama2_vs_llama31_hypothesis_test.json", "models", streams.token_means, TEXTS
    ),
    "inputdep": Experiment(
        {"llama-3p1-8b": R + "input_dependency_thermodynamics.json"},
        None,
        streams.input_dependency,
        TEXTS,
    ),
    # five stubs (per-head notebook)
    "perhead": Experiment(
        R + "beautiful_ones_analysis_20260105_164639.json", "models", streams.last_block, "per_head"
    ),
    # singular values of the projections (section 4.3, figures 3, A1 and A5)
    "spectral": Experiment(
        R + "restriction_map_spectral_20260105_202448.json", "results", matrices.projections
    ),
    # four texts (section 5.2.1): the two trace scripts, and the models that were read as packed
    "h4": together(
        Experiment(
            R + "H4_v2_validation_20260106_015547.json",
            "results",
            attention_sheaf.second_script,
            "sheaf_trace",
        ),
        Experiment(
            R + "H4_validation_20260106_014132.json",
            "results",
            attention_sheaf.first_script,
            "sheaf_trace",
        ),
    ),
    "h4ext": Experiment(
        EXTENDED_TRACES,
        "extended_results",
        attention_sheaf.packed_run,
        "sheaf_trace",
        dict.fromkeys(PACKED),
    ),
    # five texts (section 5.3, figure 5)
    "lstar": together(
        Experiment(
            R + "l_star_cross_heritage_20260106_104357.json",
            "results",
            attention_sheaf.cross_heritage,
            "l_star",
        ),
        Experiment(
            R + "l_star_sign_change_20260106_111315.json",
            "results",
            attention_sheaf.sign_changes,
            "l_star",
        ),
    ),
    # one text (appendix D of the draft)
    "rmap": Experiment(
        {"pythia-1p4b": R + "restriction_maps_results.json"},
        None,
        attention_sheaf.restriction_maps,
        "restriction_maps",
    ),
    # OPT-125M, GPT-2 and Pythia-160M, two texts in half precision (the OPT anomaly)
    "opt": together(
        Experiment(OPT, "W_V_analysis", matrices.value_sizes),
        Experiment(OPT, "attention_analysis", matrices.attention_shape, "opt_anomaly"),
    ),
    # 16 texts (section 6 and supplement)
    "aniso": Experiment(PROFILES, None, token_states.profile, "anisotropy"),
}


def measure_experiment(name: str, subject: Subject) -> Fragments:
    """What an experiment measures of a subject.

    Raises:
        LayerwiseError: if the model is none of its, or its states do not allow it.
    """
    return EXPERIMENTS[name](replace(subject, experiment=name))
