"""The ways to ask a question, and what was measured of a model under those that need its states."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import BEYOND, NotMeasured, pointer
from layerwise.engine.questions.words import PUBLISHED
from layerwise.papers.shared.names.models import EXTRACTIONS
from layerwise.papers.shared.names.result_files import CHOICES_FILE
from layerwise.statistics.estimates import Estimate

STATES = ("before_norm", "all_tokens", "last_token", "first_token")  # of Papers 1 and 2

READINGS = {
    "penultimate": "second-last block, last token (the papers' gain without the final norm)",
    "final_norm": "last block and final norm, last token (the papers' gain with it)",
    "last_block": "last block, last token, before the final norm",
    "last_block_rounded": "last block, last token, norms rounded to the model's dtype",
    "sequence": "last block, all tokens together, before the final norm",
    "sequence_final_norm": "last block, all tokens together, after the final norm",
    "token": "last block, mean over the tokens' norms, before the final norm",
    "token_final_norm": "last block, mean over the tokens' norms, after the final norm",
    "total_amplification": "last block against the first, last token, before the final norm",
}
TEXTS = {
    PUBLISHED: "as the papers did",
    # which units, and how many tests
    "clusters": "categories as resampling units",
    "paired": "pairs resampled together at all layers",
    "bootstrap": "the notebook's bootstrap interval",
    "spearman": "ranks instead of values",
    "category_out": "without one category",
    "model_out": "without one model",
    "layers_at_once": "all sampled layers tested at once",
    "tests_at_once": "all layers and measures, or all categories and models, tested at once",
    "laws_at_once": "the three laws tested at once",
    "models_at_once": "all models tested at once",
    "phases_at_once": "the three phases tested at once",
    "random_bins": "random bins of pairs instead of categories",
    # which state
    "before_norm": "last layer before the final norm",
    "all_tokens": "all tokens pooled",
    "last_token": "last token instead of the mean",
    "first_token": "first token instead of the mean",
    # which layers
    "first_layer": "the first layer alone",
    "last_layer": "the last layer alone",
    "without_last": "without the last layer, which is read after the final norm",
    "by_depth": "thirds of the depth instead of thirds of the sampled layers",
    "every_layer": "every layer before or after the transition instead of the nearest",
    "phase_mean": "the mean of the late layers instead of the lowest",
    # which run, which models
    "hunt": "the models of the survey",
    "family": "the eight Pythia sizes",
    "pooled": "the models of survey and sweep together",
    "with_gpt2": "survey, sweep and the three GPT-2 sizes together",
    "meta_alone": "against Meta's models alone",
    "unseen": "the models that the formula was not fitted to",
    # which number
    "value_norms": "W_V alone",
    "frobenius": "Frobenius norms",
    "mean_of_ratios": "the mean of the blocks' ratios",
    "geometric": "the geometric mean of the blocks' ratios",
    "correct_slices": "correct slices of the fused weights",
    "multihead": "the trace by heads",
    "largest_block": "the block of the largest gain",
    "inner_blocks": "the mean of the inner blocks",
    **READINGS,
}


def rules_without_each(
    names: Sequence[str], estimate: Callable[[list[str]], Estimate]
) -> dict[str, Function]:
    """Return a rule per name, which is left out: the estimate over the other names."""

    def without(left_out: str) -> Estimate:
        return estimate([name for name in names if name != left_out])

    return {name: partial(without, name) for name in names}


def measured_choices(evidence: Evidence, model: str) -> Entry:
    """Return what was measured of a model under the choices.

    Raises:
        NotMeasured: for print, which has none of it.
    """
    return measured_entry(evidence, CHOICES_FILE, EXTRACTIONS.get(model, model))


def measured_entry(evidence: Evidence, file: str, *names: str) -> Any:
    """Return what stands in a file of ours at these names.

    Raises:
        NotMeasured: where nothing does.
    """
    cell = file, pointer(*names)
    if file not in evidence:
        raise NotMeasured(f"{cell[1]!r} of {file} was not measured", cell)
    entry: Any = evidence[file]
    for name in names:
        if name not in entry:
            raise NotMeasured(f"{cell[1]!r} of {file} was not measured", cell)
        entry = entry[name]
    return entry


def experiment_file(experiment: str) -> str:
    """Return our file of what an experiment measured."""
    return f"{BEYOND}{experiment}"
