"""All that is measured on one model: each dtype loaded once, states, traces and matrices; noise."""

import gc
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError, refused
from layerwise.experiments import Subject
from layerwise.experiments.of_pairs import fill
from layerwise.experiments.reduction import measure
from layerwise.experiments.table import measure_experiment
from layerwise.extraction import tracing
from layerwise.extraction.batches import is_out_of_memory
from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import Checkpoint
from layerwise.extraction.projections import Weights
from layerwise.extraction.provenance import describe
from layerwise.extraction.replicates import disturbed
from layerwise.extraction.rounding import rounds
from layerwise.inputs.measured import NOISE, Runs
from layerwise.inputs.models import PACKED, Model
from layerwise.inputs.published import Published, leaves
from layerwise.inputs.texts import StatementPairs
from layerwise.progress import Advance, meter, say
from layerwise.statistics.bootstrap import Draws

# Of an extraction's index: how its states were made, beside the model and the dtype.
HOW = ("attention", "template", "tokens_per_batch", "smaller_batches")


@dataclass(frozen=True)
class Texts:
    """What is put into the models."""

    pairs: StatementPairs
    prompts: tuple[str, ...]  # whose token states an extraction keeps
    sets: Mapping[str, Any]  # {set: {"prompts": ...}}, as fetched


def measure_model(
    model: Model,
    load: Callable[[str], Checkpoint],
    texts: Texts,
    published: Published,
    scratch: Path,
    *,
    choices: Mapping[str, Any],
    draws: Mapping[str, Any],
    replicates: int = 0,
) -> Runs:
    """Run every extraction and experiment of a model; what fails leaves the others alone.

    `runs` say dtype, device, revision, kernels, and their `fragments`; `absent` why there are none.
    `noise` holds as many replicates of what runs in 16 bits and looks at texts: the same with
    noise of the size of rounding.

    Args:
        load: gives the model in a dtype; what it raises is why all of that dtype is absent.
        published: gives the places of fragments, never a value.
        scratch: folder of hidden states, from which a run that was killed goes on.
        choices: of `extract` and `measure`: `tokens_per_batch`, `seed`, `bins`.
        draws: `n_resamples`, `level` and `seed` of the intervals.
    """
    found: Runs = {"runs": {}, "absent": {}, NOISE: [_nothing() for _ in range(replicates)]}
    of_run = _Measuring(model, texts, published, choices, draws)
    total = len(model.extractions) + len(model.experiments)
    total += replicates * sum(len(_wanted(model, dtype)) for dtype in model.dtypes if rounds(dtype))

    def in_dtype(dtype: str, advance: Advance) -> None:
        wanted = _wanted(model, dtype)
        advance(0, f"loading in {dtype}")
        try:
            checkpoint = load(dtype)
        except Exception as error:
            n_passes = 1 + replicates * rounds(dtype)
            for one in (found, *found[NOISE][: n_passes - 1]):
                one["absent"].update(dict.fromkeys(wanted, reason := why(error)))
            advance(n_passes * len(wanted), reason)
            return
        of_run(checkpoint, wanted, found, scratch, advance)
        for number, one in enumerate(found[NOISE] if rounds(dtype) else ()):
            with disturbed(checkpoint, number) as replicate:
                of_run(replicate, wanted, one, scratch / f"{NOISE}-{number}", advance)

    with meter(model.slug, "runs", total) as advance:
        for dtype in model.dtypes:
            in_dtype(dtype, advance)  # its model goes with its names: two do not fit together
    return found


def _nothing() -> Runs:
    return {"runs": {}, "absent": {}}


@dataclass(frozen=True)
class _Measuring:
    """What is measured on a loaded model, whether as it is or with noise."""

    model: Model
    texts: Texts
    published: Published
    choices: Mapping[str, Any]
    draws: Mapping[str, Any]

    def __call__(
        self,
        checkpoint: Checkpoint,
        wanted: Sequence[str],
        into: Runs,
        scratch: Path,
        advance: Advance,
    ) -> None:
        """Put the runs into a document, or why they failed."""
        dtype, slug = checkpoint.dtype, self.model.slug
        for name in wanted:
            advance(0, f"{name} in {dtype}")
            try:
                into["runs"][name] = run = self._run(name, checkpoint, scratch)
                require_finite(f"{name} of {slug} in {dtype}", run["fragments"])
            except Exception as error:
                into["runs"].pop(name, None)
                into["absent"][name] = why(error)
                say(f"{slug}: {name} failed: {into['absent'][name]}")
            advance()
            gc.collect()

    def _run(self, name: str, checkpoint: Checkpoint, scratch: Path) -> Any:
        if name in self.model.extractions:
            found = self._of_pairs(name, checkpoint, scratch / name)
        else:
            trace = partial(tracing.trace, checkpoint)
            weights = Weights.of(checkpoint)
            subject = Subject(self.model, trace, weights, self.texts.sets, self.published)
            is_replicate = checkpoint.rounding is not None
            found = {"fragments": measure_experiment(name, subject, of_texts_alone=is_replicate)}
        return describe(checkpoint) | found

    def _of_pairs(self, name: str, checkpoint: Checkpoint, folder: Path) -> dict[str, Any]:
        """Hidden states of the statement pairs, reduced to values, in the published places."""
        extraction, choices = self.model.extractions[name], self.choices
        states = extract(
            checkpoint,
            self.texts.pairs.statements,
            self.texts.prompts,
            folder,
            template=extraction.template,
            tokens_per_batch=choices["tokens_per_batch"],
        )
        sampling = {"layer_step": extraction.layer_step, "seed": choices["seed"], **choices["bins"]}
        values = measure(states, self.texts.pairs, **sampling)
        fragments = fill.fragments(self.model, name, values, self.published, Draws(**self.draws))
        return {**{of: states.index[of] for of in HOW}, "fragments": fragments}


def why(error: Exception) -> str:
    """Why something gave nothing, in one sentence; what nobody foresaw is shown whole as well."""
    if isinstance(error, LayerwiseError):
        return str(error)
    said = next(iter(str(error).splitlines()), "")
    if is_out_of_memory(error):
        return f"out of memory ({said}); measure it where there is more"
    if isinstance(error, OSError):
        return refused(error)
    traceback.print_exception(error)
    return f"it broke off ({type(error).__name__}: {said}); the log has the place"


def require_finite(name: str, fragments: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse an infinity; NaN is what the papers' half precision leaves of some layers."""
    for file, parts in fragments.items():
        for place, part in parts.items():
            for key, value in leaves(place, part):
                if isinstance(value, float) and math.isinf(value):
                    raise LayerwiseError(
                        f"{name}: numbers must be finite, {file}#{key} is {value}; give it "
                        "another dtype under the model's name in models.yaml"
                    )


def _wanted(model: Model, dtype: str) -> list[str]:
    """What runs in a dtype: extractions, then experiments."""
    return [
        *(key for key, one in model.extractions.items() if one.dtype == dtype),
        *(name for name, of in model.experiments.items() if of.removeprefix(PACKED) == dtype),
    ]
