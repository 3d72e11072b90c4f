"""All that is measured on one model: each dtype loaded once, states, traces and matrices; noise.

`measure_registered` is what a stage calls: the model of the registry, and draws of random weights
in its place. It calls `pass_through` for each. What follows from the states of one pass is computed
by other processes while the next pass runs, so that a GPU does not wait for it.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import cast

import torch

from layerwise import workers
from layerwise.engine.experiment import Subject
from layerwise.engine.measured import (
    CONTROL,
    LACKING,
    NOISE,
    About,
    Fragments,
    Run,
    Runs,
    Setting,
    absent_document,
)
from layerwise.engine.published import Published, leaves
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject
from layerwise.measuring.extractions import numbers_of_states
from layerwise.measuring.given_texts import Lacking, Texts
from layerwise.measuring.kept import Kept, fingerprint
from layerwise.measuring.reasons import reason_of
from layerwise.models import tracing
from layerwise.models.checkpoint import CheckpointFiles
from layerwise.models.forward import UnsoundTexts
from layerwise.models.hidden_states import extract, probe_in_all
from layerwise.models.hub import fetch, look_up_registered, states_beside
from layerwise.models.load import Checkpoint, load_registered
from layerwise.models.needs import processes_with
from layerwise.models.passes import Passes
from layerwise.models.projections import Weights
from layerwise.models.provenance import commit_of_code, describe, describe_environment, driver
from layerwise.models.registry import Model
from layerwise.models.replicates import Replicates
from layerwise.models.rounding import rounds
from layerwise.models.store import HiddenStates
from layerwise.models.token_ids import check_texts
from layerwise.papers.experiments.table import measure_experiment, reads_weights_alone
from layerwise.progress import Advance, meter, say, track
from layerwise.shapes import Analysing, Measuring
from layerwise.statistics.bootstrap import Draws

CUT_OFF = "measuring random weights was cut off; run it again"


def measure_registered(
    model: Model,
    texts: Texts,
    published: Published,
    scratch: Path,
    *,
    choices: Measuring,
    draws: Analysing,
    keep: Callable[[Runs], object] = lambda document: None,
) -> Runs:
    """Return a model's document: its runs, why others are absent, noise and control.

    `control` is the same of several draws of random weights in the same architecture: what these
    give too says nothing of the model. A model that is left out, or that the hub does not give, has
    no runs.

    Args:
        published, scratch, draws: as for `pass_through`.
        choices: `device`, `replicates`, `control`, and those of `pass_through`.
        keep: is given the model's own document before random weights are drawn, whatever becomes of
            them; in it they are absent.
    """
    about = About(model=model.slug, hub=model.hub)
    files, reason = _files_of(model, states_beside(model, choices, scratch))
    if reason:
        names = (*model.extractions, *model.experiments)
        return absent_document(model.slug, model.hub, names, reason)
    passes: dict[str, Passes] = {}  # by dtype, as the model itself was found to be run right

    def load(dtype: str, draw: int | None) -> Checkpoint:
        loaded = load_registered(model, dtype, device=choices["device"], draw=draw, files=files)
        return replace(loaded, passes=passes.get(dtype))

    def passed(folder: Path, replicates: int = 0, draw: int | None = None) -> PassedThrough:
        return pass_through(
            model,
            partial(load, draw=draw),
            texts,
            published,
            folder,
            choices=choices,
            draws=draws,
            replicates=replicates,
            label="" if draw is None else f"random weights, draw {draw}",
        )

    as_it_is, random = passed(scratch, choices["replicates"]), []
    passes |= as_it_is.passes
    document = as_it_is.document()
    if document["runs"] and choices[CONTROL]:
        to_come = dict.fromkeys(document["runs"], CUT_OFF)
        cut_off: list[Runs] = [{"runs": {}, "absent": to_come}] * choices[CONTROL]
        keep({**about, **document, CONTROL: cut_off})
        places = (scratch / f"{CONTROL}-{draw}" for draw in range(choices[CONTROL]))
        random = [passed(place, draw=draw) for draw, place in enumerate(places)]
    return {**about, **document, CONTROL: [draw.document() for draw in random]}


def _files_of(model: Model, beside: int) -> tuple[CheckpointFiles | None, str]:
    """Return the files of a model, fetched and read once, or why there are none."""
    if model.skipped:
        return None, model.skipped
    try:
        return fetch(look_up_registered(model), beside=beside), ""
    except Exception as error:
        return None, reason_of(error)


def pass_through(
    model: Model,
    load: Callable[[str], Checkpoint],
    texts: Texts,
    published: Published,
    scratch: Path,
    *,
    choices: Measuring,
    draws: Analysing,
    replicates: int = 0,
    label: str = "",
) -> PassedThrough:
    """Put the texts through a model for every extraction and experiment, and for replicates of it.

    What fails leaves the others alone. A run that is done is kept in `scratch` until the caller
    removes it: a second call computes what is not there. What follows from hidden states may still
    be under way in other processes when this returns.

    Args:
        load: gives the model in a dtype; what it raises is why all of that dtype is absent.
        published: gives the places of fragments, never a value.
        scratch: folder of hidden states and of runs that are done, of this measurement alone: from
            there one that was killed goes on.
        choices: of `extract` and `measure`: `tokens_per_batch`, `seed`, `bins`.
        draws: `n_resamples`, `level` and `seed` of the intervals.
        replicates: how often what runs in 16 bits and looks at texts is run again, with noise of
            the size of rounding.
        label: what the progress says beside the model: "random weights".
    """
    measuring = _Measuring(model, texts, published, choices, draws)
    digest = _fingerprint(model, texts, published, choices, draws)
    order = [name for dtype in model.dtypes for name in _names_in(model, dtype)]
    undisturbed = _Pass(model.slug, order, None, scratch, digest)
    noisy = [
        _Pass(model.slug, order, n, scratch / f"{NOISE}-{n}", digest) for n in range(replicates)
    ]

    total = sum(
        len(_names_in(model, dtype)) * (1 + replicates * rounds(dtype)) for dtype in model.dtypes
    )
    with meter(f"{model.slug}{label and f', {label}'}", "runs", total) as advance:
        for dtype in model.dtypes:
            passes = [undisturbed, *noisy] if rounds(dtype) else [undisturbed]
            # its model goes with its names: two do not fit together
            measuring.add_dtype(dtype, load, passes, advance)
    return PassedThrough(undisturbed, noisy, measuring.passes)


@dataclass
class _Pass:
    """The runs of a model as it is (`seed` None), or with one draw of rounding noise, in an order.

    `begun` holds runs whose numbers other processes still compute: what waits until they are added.
    """

    slug: str
    order: Sequence[str]
    seed: int | None
    scratch: Path
    fingerprint: str
    runs: dict[str, Run] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    begun: dict[str, Callable[[], None]] = field(default_factory=dict)

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

    def add(self, name: str, run: Callable[[], Run]) -> None:
        """Add what a run gives, or why it gives nothing; what is added is kept."""
        try:
            measured = run()
            require_finite(f"{name} of {self.slug} in {measured['dtype']}", measured["fragments"])
            self.kept.put(name, measured)
            self.runs[name] = measured
        except Exception as error:
            self.fail(name, error)

    def fail(self, name: str, error: Exception) -> None:
        """Note and say why a run gives nothing."""
        self.absent[name] = reason_of(error)
        say(f"{self.slug}: {name} failed: {self.absent[name]}")

    def wait_for(self, names: Iterable[str]) -> None:
        """Wait until these runs are added, as far as they were begun."""
        for name in names:
            if name in self.begun:
                self.begun.pop(name)()

    def document(self) -> Runs:
        """Wait for what was begun; the same bytes, whatever of it was kept."""
        self.wait_for([*self.begun])
        return {
            "runs": {name: self.runs[name] for name in self.order if name in self.runs},
            "absent": {name: self.absent[name] for name in self.order if name in self.absent},
        }


@dataclass(frozen=True)
class PassedThrough:
    """A model whose passes are over; what follows from its states may still be computed."""

    undisturbed: _Pass
    noisy: Sequence[_Pass]
    passes: Mapping[str, Passes]  # by dtype

    def document(self) -> Runs:
        """Return all runs, once the last one's numbers are there.

        `runs` say dtype, device, revision, kernels, and their `fragments`; `absent` why there are
        none; `noise` holds the same of every replicate.
        """
        passes = [self.undisturbed, *self.noisy]
        waited_for = track(passes, f"{self.undisturbed.slug}, statistics", "passes", len(passes))
        document, *noise = (a_pass.document() for a_pass in waited_for)
        return {**document, NOISE: noise}


@dataclass(frozen=True)
class _Measuring:
    """The measurement of a loaded model, whether as it is or with noise."""

    model: Model
    texts: Texts
    published: Published
    choices: Measuring
    draws: Analysing
    lacking: dict[str, Lacking] = field(default_factory=dict)  # by extraction; replicates share it
    passes: dict[str, Passes] = field(default_factory=dict)  # by dtype

    def take_up(self, undisturbed: _Pass) -> None:
        """Note what runs that an earlier call has done do without, and how they were made."""
        for name, run in undisturbed.runs.items():
            if LACKING in run:
                self.lacking[name] = Lacking(**run[LACKING])
            self.passes[run["dtype"]] = Passes.of_record(run["passes"])

    def probe(self, checkpoint: Checkpoint) -> Checkpoint:
        """Return a checkpoint whose passes were held against its own forward, now or before.

        Its kernels are part of the published method.
        """
        known = checkpoint.passes or self.passes.get(checkpoint.dtype)
        if known is None:
            texts = {"statements": self.texts.pairs.statements, "prompts": self.texts.prompts}
            ids = check_texts(checkpoint.declaration, texts)
            most = self.choices["tokens_per_batch"]
            known = probe_in_all(checkpoint, ids, fixed_kernel=True, tokens_per_batch=most)
        self.passes[checkpoint.dtype] = known
        return replace(checkpoint, passes=known)

    def add_dtype(
        self,
        dtype: str,
        load: Callable[[str], Checkpoint],
        passes: Sequence[_Pass],
        advance: Advance,
    ) -> None:
        """Load the model in a dtype and add all that is measured in it, or why it is not there.

        Arguments:
            passes: of the model as it is, which comes first, then with noise.
        """
        todo = [a_pass.take_up(_names_in(self.model, dtype), advance) for a_pass in passes]
        if not any(todo):
            return
        self.take_up(passes[0])
        advance(0, f"loading in {dtype}")
        try:
            checkpoint = self.probe(load(dtype))
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
                self.add_runs(watched, wanted, a_pass, advance)

    def add_runs(
        self,
        checkpoint: Checkpoint,
        wanted: Sequence[str],
        into: _Pass,
        advance: Advance,
    ) -> None:
        """Add the runs, or why they failed."""
        # its headers are read once, when the first experiment asks for a matrix
        weights = cache(partial(Weights.from_checkpoint, checkpoint))
        for name in wanted:
            advance(0, f"{name} in {checkpoint.dtype}")
            if name in self.model.extractions:
                self._extract(name, checkpoint, into)
            elif reads_weights_alone(name):
                self._begin_on_weights(name, checkpoint, weights, into)
            else:
                into.add(name, self._measure_prompts(name, checkpoint, weights))
            advance()
            gc.collect()
        if checkpoint.files is None:  # no file holds these weights, and they go with the model
            on_prompts = [name for name in wanted if name not in self.model.extractions]
            into.wait_for(name for name in on_prompts if reads_weights_alone(name))

    def _begin_on_weights(
        self, name: str, checkpoint: Checkpoint, weights: Callable[[], Weights], into: _Pass
    ) -> None:
        """Have an experiment on matrices measured while texts go through the model.

        A thread reads the matrices and hands them to other processes; what comes is kept at once.
        """
        measured = self._measure_prompts(name, checkpoint, weights)
        into.begun[name] = workers.in_thread(partial(into.add, name, measured)).result

    def _measure_prompts(
        self, name: str, checkpoint: Checkpoint, weights: Callable[[], Weights]
    ) -> Callable[[], Run]:
        """Return what measures an experiment of Paper 3, in the published places."""
        about, is_replicate = _describe(checkpoint), checkpoint.rounding is not None

        def measure() -> Run:
            trace = partial(tracing.trace, checkpoint)
            subject = Subject(self.model, trace, weights(), self.texts.sets, self.published)
            fragments = measure_experiment(name, subject, of_texts_alone=is_replicate)
            return {**about, "fragments": fragments}

        return measure

    def _extract(self, name: str, checkpoint: Checkpoint, into: _Pass) -> None:
        """Run the statement pairs; their numbers, in the published places, come beside."""
        folder = into.scratch / name
        try:
            states, texts = self._states(name, checkpoint, folder)
        except Exception as error:
            into.fail(name, error)
            return
        index = states.index
        about = _describe(
            checkpoint,
            {
                "attention": index["attention"],
                "template": index["template"],
                "tokens_per_batch": index["tokens_per_batch"],
                "smaller_batches": index["smaller_batches"],
            },
        )
        lacking = self.lacking.get(name, Lacking())
        if lacking.why:
            categories, prompts = [*lacking.categories], lacking.prompts
            about[LACKING] = {"categories": categories, "prompts": prompts, "why": lacking.why}
        arguments = (folder, texts.pairs, self.model, name, self.published, self.choices)
        # copies: a thread sends them, while this one reads on and so fills their caches
        sent = (*map(copy, arguments), Draws(**self.draws), not lacking.categories)
        n_bytes = sum(file.stat().st_size for file in folder.iterdir())
        most = processes_with(n_bytes)
        numbers = workers.submit(numbers_of_states, lambda: sent, most=most)

        def measured() -> Run:
            return {**about, "fragments": numbers.result()}

        into.begun[name] = partial(into.add, name, measured)

    def _states(
        self, name: str, checkpoint: Checkpoint, folder: Path
    ) -> tuple[HiddenStates, Texts]:
        """Return the hidden states of an extraction, and the texts that they are of.

        Where states of some texts are not sound, they are those of the texts that do not rest on
        these. Replicates take the texts of the model as it is: their noise is that of its numbers.
        """
        lacking = self.lacking.get(name, Lacking())
        texts = self.texts.without(lacking.categories, prompts=lacking.prompts)
        if not texts.pairs.categories:
            raise LayerwiseError(lacking.why)
        try:
            states = extract(
                checkpoint,
                texts.pairs.statements,
                texts.prompts,
                folder,
                template=self.model.extractions[name].template,
                tokens_per_batch=self.choices["tokens_per_batch"],
            )
        except UnsoundTexts as unsound:
            if lacking.why or checkpoint.rounding is not None:
                raise
            self.lacking[name] = Lacking.of_texts(texts, unsound)
            return self._states(name, checkpoint, folder)
        return states, texts


def _describe(checkpoint: Checkpoint, of_states: JsonObject = MappingProxyType({})) -> Setting:
    """Return what measured a number: model, device, versions, and the commit of this code."""
    return cast(Setting, {**describe(checkpoint), "commit": commit_of_code(), **of_states})


def _fingerprint(
    model: Model,
    texts: Texts,
    published: Published,
    choices: Measuring,
    draws: Analysing,
) -> str:
    """Return a digest of what a number can depend on but weights, which are the folder's."""
    pairs = texts.pairs
    inputs = [
        model.model_dump(mode="json"),
        list(pairs.statements),
        [pairs.categories[number] for number in pairs.category_of_pair.tolist()],
        list(pairs.neutral),
        texts.prompts,
        texts.sets,
    ]
    places = sorted(f"{file}#{key}={value}" for (file, key), value in published.cells.items())
    here = [describe_environment(), driver(), torch.backends.cpu.get_cpu_capability()]
    return fingerprint(inputs, places, dict(choices), dict(draws), here)


def require_finite(name: str, fragments: Fragments) -> None:
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
        *(name for name, own in model.experiments.items() if own == dtype),
    ]
