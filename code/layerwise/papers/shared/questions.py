"""The ways to ask a question, and what was measured of a model under those that need its states."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from layerwise.engine.derivation import Function
from layerwise.engine.evidence import Entry, Evidence
from layerwise.engine.published import BEYOND, NotMeasured, pointer
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.shared.names import EXTRACTIONS, Choice
from layerwise.papers.shared.result_files import CHOICES_FILE
from layerwise.statistics.estimates import Estimate

T = TypeVar("T")
READINGS: Mapping[str, str] = {  # of the gain
    GainReading.PENULTIMATE: "second-last block, last token (the papers' gain without the "
    "final norm)",
    GainReading.FINAL_NORM: "last block and final norm, last token (the papers' gain with it)",
    GainReading.LAST_BLOCK: "last block, last token, before the final norm",
    GainReading.LAST_BLOCK_ROUNDED: "last block, last token, norms rounded to the model's dtype",
    GainReading.SEQUENCE: "last block, all tokens together, before the final norm",
    GainReading.SEQUENCE_FINAL_NORM: "last block, all tokens together, after the final norm",
    GainReading.TOKEN: "last block, mean over the tokens' norms, before the final norm",
    GainReading.TOKEN_FINAL_NORM: "last block, mean over the tokens' norms, after the final norm",
    GainReading.TOTAL_AMPLIFICATION: "last block against the first, last token, before the "
    "final norm",
}
TEXTS: Mapping[str, str] = {
    Choice.DECIDES: "what decides",
    Choice.PUBLISHED: "as the papers did",
    # which units
    Choice.ALL_PAIRS: "r over all pairs, leaving out one category in turn",
    Choice.BOOTSTRAP: "the notebook's bootstrap interval",
    Choice.SPEARMAN: "ranks instead of values",
    Choice.CATEGORY_OUT: "without one category",
    Choice.MODEL_OUT: "without one model",
    Choice.RANDOM_BINS: "random bins of pairs instead of categories",
    # which state
    Choice.BEFORE_NORM: "last layer before the final norm",
    Choice.ALL_TOKENS: "all tokens pooled",
    Choice.LAST_TOKEN: "last token instead of the mean",
    Choice.FIRST_TOKEN: "first token instead of the mean",
    # which layers
    Choice.FIRST_LAYER: "the first layer alone",
    Choice.LAST_LAYER: "the last layer alone",
    Choice.WITHOUT_LAST: "without the last layer, which is read after the final norm",
    Choice.BY_DEPTH: "thirds of the depth instead of thirds of the sampled layers",
    Choice.PHASE_MEAN: "the mean of the late layers instead of the lowest",
    # which run, which models
    Choice.FAMILY: "the eight Pythia sizes",
    Choice.POOLED: "the models of survey and sweep together",
    Choice.WITH_GPT2: "survey, sweep and the three GPT-2 sizes together",
    Choice.UNSEEN: "the models that the formula was not fitted to",
    # which number
    Choice.BY_MEANS: "every model counted by its mean gain, as the paper counts",
    Choice.VALUE_NORMS: "W_V alone",
    Choice.CORRECT_SLICES: "correct slices of the fused weights",
    Choice.MULTIHEAD: "the trace by heads",
    Choice.INNER_BLOCKS: "the mean of the inner blocks",
    **READINGS,
}


def require_any(items: list[T], missing: str) -> list[T]:
    """Return a list that is not empty.

    Raises:
        NotMeasured: with what is `missing`, where it is.
    """
    if not items:
        raise NotMeasured(missing)
    return items


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
