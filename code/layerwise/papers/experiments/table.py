"""Every experiment by its name in `models.yaml`, where the dtype of each model stands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from layerwise.engine.experiment import (
    Experiment,
    Needs,
    PairExperiment,
    PairSubject,
    Subject,
)
from layerwise.engine.measured import Fragments, merge
from layerwise.engine.published import pointer
from layerwise.papers.experiments import attention_sheaf as sheaf
from layerwise.papers.experiments import choices, gains, matrices, pairs, streams
from layerwise.papers.experiments.gains import benchmark_entropy, prompt_rows
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.names import SLUG

TEXTS = "input_dependency"
FFN_TEXTS = {"pythia-1p4b": "ffn_expansion", "pythia-6p9b": "ffn_expansion_6p9b"}
TUNED_BASES = {
    "mistral-7b": "Mistral-7B-Base",
    "gemma-7b": "Gemma-7B-Base",
    "llama-3p1-8b": "LLaMA-3.1-8B-Base",
}

# The conditions of Paper 2's models beside its first, and of the template notebook.
OTHER_CURVES = ("llama-3p1-8b", "apertus-8b", "gemma-2b")
TEMPLATE_MODELS = ("llama-3p1-8b-instruct",)

EXPERIMENTS: Mapping[str, Sequence[Experiment | PairExperiment]] = {
    # four models, 23 categories (Paper 1, section 3); the supplement on outputs
    "p1_ua": [PairExperiment(pairs.paper_1_file)],
    "p1_outcorr": [PairExperiment(pairs.output_files)],
    # Pythia sizes by category (two were saved), and over their layers (Paper 2, section 4)
    "p1_pythia_ua": [PairExperiment(pairs.last_layer_file, models=files.UA_FILES)],
    "p2_scaling": [PairExperiment(pairs.scaling_file, Needs.ALL_CATEGORIES)],
    # r over the pairs by layer, of four models and two conditions (Paper 2, tables 1 and 2)
    "p2_layers": [
        PairExperiment(pairs.first_model_files, Needs.ALL_CATEGORIES, models=(SLUG,)),
        PairExperiment(pairs.unsaved_anisotropy, Needs.PROMPTS, models=(SLUG,)),
        PairExperiment(pairs.cross_validation_file, Needs.ALL_CATEGORIES, models=OTHER_CURVES),
        PairExperiment(pairs.template_files, Needs.ALL_CATEGORIES, models=TEMPLATE_MODELS),
    ],
    # eight Pythia sizes, 25 prompts (section 4.1)
    "sweep": [Experiment(files.SWEEP, "models", gains.gains_by_layer_and_prompt, "gain_sweep")],
    # 16 models of five labs, five prompts (sections 4.2, 5.4); figure 3 gives GPT-2's class too
    "hunt": [
        Experiment(
            files.HUNT, "tested_results", gains.mean_gains_by_layer, "rho_hunt", {"gpt2": None}
        )
    ],
    # Pythia-6.9B and GPT-J in float32, three prompts (appendix B)
    "clean": [Experiment(files.CLEAN, "results", gains.mean_gains_by_layer, "clean_gain")],
    # four models, 25 prompts (abstract)
    "bench": [prompt_rows(files.BENCHMARK_ROWS, "benchmark", benchmark_entropy)],
    # base models and their instruction-tuned twins, 25 prompts (section 5.5)
    "twin": [prompt_rows(files.TWIN_ROWS, "twin", names=TUNED_BASES)],
    # GPT-2 against a gain of one, 25 prompts (notebook on norms)
    "gpt2_ln": [prompt_rows(files.GPT2, "gpt2_layernorm")],
    # attention and MLP of two sizes, eight sentences each; of eight sizes, four sentences
    "ffn": [Experiment(files.MODULES, None, gains.module_entry, FFN_TEXTS)],
    "scaling": [Experiment(files.MLP_SCALING, "models", gains.size_entry, "mlp_scaling")],
    # one text, bfloat16 under autocast; Mistral's and LLaMA's streams (float16)
    "fourmodel": [Experiment(files.FOUR, "results", streams.four_model_norms, TEXTS)],
    "mistral": [Experiment({"mistral-7b": files.MISTRAL}, None, streams.mistral_norms, TEXTS)],
    "llama23": [Experiment(files.LLAMAS, "models", streams.token_mean_norms, TEXTS)],
    "inputdep": [Experiment({"llama-3p1-8b": files.INPUTS}, None, streams.input_dependency, TEXTS)],
    # singular values of the projections (section 4.3, figures 3, A1 and A5)
    "spectral": [Experiment(files.SPECTRAL, "results", matrices.projections)],
    # four texts (section 5.2.1): the two trace scripts
    "h4": [
        Experiment(files.V2, "results", sheaf.second_script, "sheaf_trace"),
        Experiment(files.V1, "results", sheaf.first_script, "sheaf_trace"),
    ],
    # five texts (section 5.3, figure 5)
    "lstar": [
        Experiment(files.CROSS, "results", sheaf.cross_heritage, "l_star"),
        Experiment(files.SIGNS, "results", sheaf.turning_layers, "l_star"),
    ],
    # 16 texts (section 6 and supplement)
    "aniso": [Experiment(files.PROFILES, None, streams.profile, "anisotropy")],
}


def reads_weights_alone(name: str) -> bool:
    """Return whether an experiment looks at no text."""
    return all(
        isinstance(experiment, Experiment) and experiment.prompts is None
        for experiment in EXPERIMENTS[name]
    )


def measure_experiment(name: str, subject: Subject, *, of_texts_alone: bool = False) -> Fragments:
    """Return what an experiment measures of a subject; places that share a text run it once.

    Arguments:
        of_texts_alone: leave out what looks at weights and at no text: noise does not touch it.
    """
    once = replace(subject, trace=cache(subject.trace))
    wanted = [
        experiment
        for experiment in EXPERIMENTS[name]
        if isinstance(experiment, Experiment)
        and (experiment.prompts is not None or not of_texts_alone)
    ]
    return merge(experiment.fragments(name, once) for experiment in wanted)


def fill_experiments(subject: PairSubject, extraction: str, *, is_whole: bool = True) -> Fragments:
    """Return what an extraction fills of the published files, and what is asked under any choice.

    Values are of the extraction's own layers: an interval depends on every test before it. A
    template that is applied as it is meant to be stands beside the published condition, and never
    in its place: it fills choices alone.

    Args:
        extraction: its name in the registry, at which its choices stand.
        is_whole: whether the values are of all categories; if not, what rests on others is missing.
    """
    filled: list[Fragments] = []
    if is_whole:
        under_choices = choices.choices_document(subject.values, subject.draws)
        filled.append({files.CHOICES_FILE: {pointer(extraction): under_choices}})
    filled += [
        experiment.fragments(subject, is_whole=is_whole)
        for name in EXPERIMENTS
        if name in subject.extraction.experiments and subject.extraction.template != "once"
        for experiment in EXPERIMENTS[name]
        if isinstance(experiment, PairExperiment)
    ]
    return merge(filled)
