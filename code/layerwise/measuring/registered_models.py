"""All that is measured on one model: each dtype loaded once, states, traces and matrices; noise.

`measure_registered` is what a stage calls: the model of the registry, and draws of random weights
in its place. It calls `measure_model` for each.
"""

import gc
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from layerwise.engine.experiment import Subject
from layerwise.engine.measured import CONTROL, NOISE, Runs
from layerwise.engine.published import Published, leaves
from layerwise.errors import LayerwiseError, refused
from layerwise.files import read_json
from layerwise.measuring.kept import Kept, fingerprint
from layerwise.measuring.reduction import measure
from layerwise.models import tracing
from layerwise.models.fitting import is_out_of_memory
from layerwise.models.hidden_states import extract
from layerwise.models.hub import fetch
from layerwise.models.load import Checkpoint, load_registered
from layerwise.models.projections import Weights
from layerwise.models.provenance import commit_of_code, describe, describe_environment, smi
from layerwise.models.registry import PACKED, Model
from layerwise.models.replicates import Replicates
from layerwise.models.rounding import rounds
from layerwise.models.texts import StatementPairs
from layerwise.papers.fetching import upstream
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.paper3.experiments.table import measure_experiment
from layerwise.papers.shared.experiments import fill
from layerwise.progress import Advance, meter, say
from layerwise.statistics.bootstrap import Draws

# Of an extraction's index: how its states were made, beside the model and the dtype.
HOW = ("attention", "template", "tokens_per_batch", "smaller_batches")


@dataclass(frozen=True)
class Texts:
    """The texts that are put into the models."""

    pairs: StatementPairs
    prompts: tuple[str, ...]  # whose token states an extraction keeps
    sets: Mapping[str, Any]  # {set: {"prompts": ...}}, as fetched


def read_texts(data: Path) -> Texts:
    """Return the papers' statement pairs and prompts, as fetched into a folder."""
    pairs, prompts = data / upstream.DATASET, data / upstream.PROMPTS
    return Texts(read_pairs(pairs), read_prompts(prompts), read_json(prompts))


def measure_registered(
    model: Model,
    texts: Texts,
    published: Published,
    scratch: Path,
    *,
    choices: Mapping[str, Any],
    draws: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a model's document: its runs, why others are absent, noise and control.

    `control` is the same of several draws of random weights in the same architecture: what these
    give too says nothing of the model. A model that is left out, or that the hub does not give, has
    no runs.

    Args:
        published, scratch, draws: as for `measure_model`.
        choices: `device`, `replicates`, `control`, and those of `measure_model`.
    """

    def measured(folder: Path, replicates: int = 0, draw: int | None = None) -> Runs:
        return measure_model(
            model,
            lambda dtype: load_registered(model, dtype, device=choices["device"], draw=draw),
            texts,
            published,
            folder,
            choices=choices,
            draws=draws,
            replicates=replicates,
            label="" if draw is None else f"random weights, draw {draw}",
        )

    control: list[Runs] = []
    if reason := model.skipped or _out_of_reach(model):
        absent = dict.fromkeys((*model.extractions, *model.experiments), reason)
        document: Runs = {"runs": {}, "absent": absent, NOISE: []}
    else:
        document = measured(scratch, choices["replicates"])
    if document["runs"]:
        control = [
            measured(scratch / f"{CONTROL}-{draw}", draw=draw) for draw in range(choices[CONTROL])
        ]
    return {"model": model.slug, "hub": model.hub, **document, CONTROL: control}


def _out_of_reach(model: Model) -> str | None:
    """Return why the hub does not give a model; it is asked once, not for every dtype."""
    try:
        if model.revision is not None:
            fetch(model.hub, model.revision, model)
    except Exception as error:
        return reason_of(error)
    return None


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
    label: str = "",
) -> Runs:
    """Run every extraction and experiment of a model; what fails leaves the others alone.

    A run that is done is kept in `scratch` until the caller removes it: a second call computes what
    is not there.

    `runs` say dtype, device, revision, kernels, and their `fragments`; `absent` why there are none.
    `noise` holds as many replicates of what runs in 16 bits and looks at texts: the same with
    noise of the size of rounding.

    Args:
        load: gives the model in a dtype; what it raises is why all of that dtype is absent.
        published: gives the places of fragments, never a value.
        scratch: folder of hidden states and of runs that are done, of this measurement alone: from
            there one that was killed goes on.
        choices: of `extract` and `measure`: `tokens_per_batch`, `seed`, `bins`.
        draws: `n_resamples`, `level` and `seed` of the intervals.
        label: what the progress says beside the model: "random weights".
    """
    measuring = _Measuring(model, texts, published, choices, draws)
    digest = _fingerprint(model, texts, published, choices, draws)
    undisturbed = _Pass(None, scratch, digest)
    noisy = [_Pass(n, scratch / f"{NOISE}-{n}", digest) for n in range(replicates)]

    def in_dtype(dtype: str, advance: Advance) -> None:
        passes = [undisturbed, *noisy] if rounds(dtype) else [undisturbed]
        todo = [a_pass.take_up(_names_in(model, dtype), advance) for a_pass in passes]
        if not any(todo):
            return
        advance(0, f"loading in {dtype}")
        try:
            checkpoint = load(dtype)
        except Exception as error:
            reason = reason_of(error)
            for a_pass, wanted in zip(passes, todo, strict=True):
                a_pass.give_up(wanted, reason, advance)
            return
        replicates = Replicates(checkpoint)
        for a_pass, wanted in zip(passes, todo, strict=True):
            with ExitStack() as stack:
                try:
                    watched = stack.enter_context(a_pass.watched_model(replicates))
                except Exception as error:  # no memory for weights that are to be moved
                    a_pass.give_up(wanted, reason_of(error), advance)
                    continue
                measuring.add_runs(watched, wanted, a_pass, advance)

    total = sum(
        len(_names_in(model, dtype)) * (1 + replicates * rounds(dtype)) for dtype in model.dtypes
    )
    with meter(f"{model.slug}{label and f', {label}'}", "runs", total) as advance:
        for dtype in model.dtypes:
            in_dtype(dtype, advance)  # its model goes with its names: two do not fit together
    order = [name for dtype in model.dtypes for name in _names_in(model, dtype)]
    return {**undisturbed.document(order), "noise": [a_pass.document(order) for a_pass in noisy]}


@dataclass
class _Pass:
    """The runs of a model as it is (`seed` None), or with one draw of rounding noise."""

    seed: int | None
    scratch: Path
    fingerprint: str
    runs: dict[str, Any] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> Kept:
        return Kept(self.scratch, self.fingerprint)

    def take_up(self, names: Sequence[str], advance: Advance) -> list[str]:
        """Take what an earlier call has done, and say what is left to do."""
        left = []
        for name in names:
            if done := self.kept.get(name):
                self.runs[name] = done
                advance()
            else:
                left.append(name)
        return left

    def give_up(self, names: Sequence[str], reason: str, advance: Advance) -> None:
        """Note why none of these runs is there."""
        self.absent.update(dict.fromkeys(names, reason))
        advance(len(names), reason)

    def watched_model(self, replicates: Replicates) -> AbstractContextManager[Checkpoint]:
        """Return the model that these runs look at."""
        if self.seed is None:
            return nullcontext(replicates.checkpoint)
        return replicates.disturbed(self.seed)

    def document(self, order: Sequence[str]) -> Runs:
        """The same bytes, whatever of it was kept."""
        return {
            "runs": {name: self.runs[name] for name in order if name in self.runs},
            "absent": {name: self.absent[name] for name in order if name in self.absent},
        }


@dataclass(frozen=True)
class _Measuring:
    """The measurement of a loaded model, whether as it is or with noise."""

    model: Model
    texts: Texts
    published: Published
    choices: Mapping[str, Any]
    draws: Mapping[str, Any]

    def add_runs(
        self,
        checkpoint: Checkpoint,
        wanted: Sequence[str],
        into: _Pass,
        advance: Advance,
    ) -> None:
        """Add the runs, or why they failed."""
        dtype, slug = checkpoint.dtype, self.model.slug
        # its headers are read once, when the first experiment asks for a matrix
        weights = cache(partial(Weights.from_checkpoint, checkpoint))
        for name in wanted:
            advance(0, f"{name} in {dtype}")
            try:
                if name in self.model.extractions:
                    run = self._measure_pairs(name, checkpoint, into.scratch / name)
                else:
                    run = self._measure_prompts(name, checkpoint, weights())
                require_finite(f"{name} of {slug} in {dtype}", run["fragments"])
                into.kept.put(name, run)
                into.runs[name] = run
            except Exception as error:
                into.absent[name] = reason_of(error)
                say(f"{slug}: {name} failed: {into.absent[name]}")
            advance()
            gc.collect()

    def _measure_prompts(
        self, name: str, checkpoint: Checkpoint, weights: Weights
    ) -> dict[str, Any]:
        """Return an experiment of Paper 3 on prompts and matrices, in the published places."""
        trace = partial(tracing.trace, checkpoint)
        subject = Subject(self.model, trace, weights, self.texts.sets, self.published)
        is_replicate = checkpoint.rounding is not None
        fragments = measure_experiment(name, subject, of_texts_alone=is_replicate)
        return {**_describe(checkpoint), "fragments": fragments}

    def _measure_pairs(self, name: str, checkpoint: Checkpoint, folder: Path) -> dict[str, Any]:
        """Return the numbers of the statement pairs' hidden states, in the published places."""
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
        of_states = {name_of_choice: states.index[name_of_choice] for name_of_choice in HOW}
        return {**_describe(checkpoint), **of_states, "fragments": fragments}


def _describe(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what measured a number: model, device, versions, and the commit of this code."""
    return {**describe(checkpoint), "commit": commit_of_code()}


def _fingerprint(
    model: Model,
    texts: Texts,
    published: Published,
    choices: Mapping[str, Any],
    draws: Mapping[str, Any],
) -> str:
    """Return a digest of what a number can depend on but weights, which are the folder's."""
    given = [model.model_dump(mode="json"), list(texts.pairs.statements), texts.prompts, texts.sets]
    places = sorted(f"{file}#{key}={value}" for (file, key), value in published.cells.items())
    here = [describe_environment(), smi()[0], torch.backends.cpu.get_cpu_capability()]
    return fingerprint(given, places, dict(choices), dict(draws), here)


def reason_of(error: Exception) -> str:
    """Return why something gave nothing, in a sentence; what nobody foresaw is shown whole too."""
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


def _names_in(model: Model, dtype: str) -> list[str]:
    """Return the names of what runs in a dtype: extractions, then experiments."""
    return [
        *(key for key, extraction in model.extractions.items() if extraction.dtype == dtype),
        *(name for name, own in model.experiments.items() if own.removeprefix(PACKED) == dtype),
    ]
