"""All that is measured on one model: each dtype loaded once, states, traces and matrices."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError, TryAgainError
from layerwise.experiments import Fragments, Subject
from layerwise.experiments.of_pairs import pair_values
from layerwise.experiments.reduction import measure
from layerwise.experiments.table import measure_experiment
from layerwise.extraction import tracing
from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import Checkpoint
from layerwise.extraction.projections import Weights
from layerwise.extraction.provenance import describe
from layerwise.inputs.models import PACKED, Extraction, Model
from layerwise.inputs.pairs import StatementPairs
from layerwise.inputs.published import Published
from layerwise.progress import Advance, meter, say

Load = Callable[[str], Checkpoint]  # dtype -> the model in it
# Of an extraction's index: how its states were made, beside the model and the dtype.
HOW = ("attention", "linears", "template", "tokens_per_batch", "smaller_batches")


@dataclass(frozen=True)
class Texts:
    """What is put into the models."""

    pairs: StatementPairs
    prompts: tuple[str, ...]  # whose token states an extraction keeps
    sets: Mapping[str, Any]  # {set: {"prompts": ...}}, as fetched


@dataclass
class Measurement:
    """What was measured on one model, and what measured it.

    Attributes:
        runs: by experiment or extraction: dtype, device, revision, kernels, and its `fragments`.
        absent: by experiment or extraction: why it gave nothing.
    """

    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)


def measure_model(
    model: Model,
    load: Load,
    texts: Texts,
    published: Published,
    scratch: Path,
    *,
    choices: Mapping[str, Any],
    draws: Mapping[str, Any],
    shown: bool = True,
) -> Measurement:
    """Run every extraction and experiment of a model; what fails leaves the others alone.

    Args:
        load: gives the model in a dtype; what it raises is why all of that dtype is absent, but
            for what another try may have: that is raised.
        published: gives the places of fragments, never a value.
        scratch: folder of hidden states, from which a run that was killed goes on.
        choices: of `extract` and `measure`: `tokens_per_batch`, `seed`, `bins`.
        draws: `n_resamples`, `level` and `seed` of the intervals.
        shown: say how far it is, and what failed.
    """
    found = Measurement()

    def attempt(name: str, what: Callable[[], dict[str, Any]]) -> None:
        try:
            found.runs[name] = what()
        except LayerwiseError as error:
            found.absent[name] = str(error)
            if shown:
                say(f"{model.slug}: {name} failed: {error}")

    with meter(model.slug, "runs", n_runs(model), shown=shown) as advance:
        for dtype in model.dtypes:
            wanted = _wanted(model, dtype)
            advance(0, f"loading in {dtype}")
            try:
                checkpoint = load(dtype)
                subject = _subject(model, checkpoint, texts, published)
            except TryAgainError:
                raise
            except LayerwiseError as error:
                found.absent |= dict.fromkeys(wanted, str(error))
                advance(len(wanted), str(error))
                continue
            for name, extraction in wanted.items():
                advance(0, f"{name} in {dtype}")
                if extraction is None:
                    attempt(name, partial(_experiment, name, subject, checkpoint))
                else:
                    folder = scratch / name
                    reduce = partial(_pairs, extraction, checkpoint, texts, published, folder)
                    attempt(name, partial(reduce, choices, draws))
                _done(advance)
            del checkpoint, subject  # two dtypes of a large model do not fit together
            gc.collect()
    return found


def n_runs(model: Model) -> int:
    """Extractions and experiments of a model."""
    return len(model.extractions) + len(model.experiments)


def _done(advance: Advance) -> None:
    advance()
    gc.collect()


def _wanted(model: Model, dtype: str) -> dict[str, Extraction | None]:
    """What runs in a dtype: extractions, then experiments."""
    found: dict[str, Extraction | None] = {
        key: one for key, one in model.extractions.items() if one.dtype == dtype
    }
    return found | {
        name: None for name, of in model.experiments.items() if of.removeprefix(PACKED) == dtype
    }


def _subject(model: Model, checkpoint: Checkpoint, texts: Texts, published: Published) -> Subject:
    return Subject(
        model=model,
        dtype=checkpoint.dtype,
        trace=partial(tracing.trace, checkpoint),
        weights=Weights.open(checkpoint.folder, checkpoint.dtype),
        prompts=texts.sets,
        published=published,
    )


def _experiment(name: str, subject: Subject, checkpoint: Checkpoint) -> dict[str, Any]:
    fragments: Fragments = measure_experiment(name, subject)
    return {**describe(checkpoint), "fragments": fragments}


def _pairs(
    extraction: Extraction,
    checkpoint: Checkpoint,
    texts: Texts,
    published: Published,
    folder: Path,
    choices: Mapping[str, Any],
    draws: Mapping[str, Any],
) -> dict[str, Any]:
    """Hidden states of the statement pairs, reduced to values, in the published places."""
    states = extract(
        checkpoint,
        texts.pairs.statements,
        texts.prompts,
        folder,
        template=extraction.template,
        tokens_per_batch=choices["tokens_per_batch"],
    )
    values = measure(
        states,
        texts.pairs,
        layer_step=extraction.layer_step,
        seed=choices["seed"],
        **choices["bins"],
    )
    fragments = pair_values.fragments(extraction, values, published, **draws)
    how = {name: states.index[name] for name in HOW}
    return {**describe(checkpoint), **how, "fragments": fragments}
