"""Every experiment by its name in `models.yaml`, where the dtype of each model stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from layerwise.experiments import (
    Experiment,
    Fragments,
    Subject,
    aniso,
    bentov,
    crossarch,
    ffn,
    fourmodel,
    h4,
    h4ext,
    inputdep,
    llama23,
    llama_anom,
    lstar,
    mistral,
    opt,
    perhead,
    rlhf,
    rmap,
    scaling,
    spectral,
)
from layerwise.experiments.depth_gains import measure as depth_gains
from layerwise.experiments.prompt_rows import PromptRows, stored_in_half

R = "paper3/Results/"
HUNT = R + "high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
SWEEP = R + "pythia_family_NO_FINAL_LN_20260105_174820.json"
CLEAN = R + "clean_residual_NO_FINAL_LN_20260105_173546.json"
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
    "ffn": ffn.fragments,
    "scaling": scaling.fragments,
    "fourmodel": fourmodel.fragments,
    "mistral": mistral.fragments,
    "llama_anom": llama_anom.fragments,
    "inputdep": inputdep.fragments,
    "rlhf": rlhf.fragments,
    "llama23": llama23.fragments,
    "crossarch": crossarch.fragments,
    "perhead": perhead.fragments,
    "spectral": spectral.fragments,
    "h4": h4.fragments,
    "h4ext": h4ext.fragments,
    "lstar": lstar.fragments,
    "rmap": rmap.fragments,
    "opt": opt.fragments,
    "aniso": aniso.fragments,
    "bentov": bentov.fragments,
}


def measure_experiment(name: str, subject: Subject) -> Fragments:
    """What an experiment measures of a subject.

    Raises:
        LayerwiseError: if the model is none of its, or its states do not allow it.
    """
    return EXPERIMENTS[name](replace(subject, experiment=name))
