"""surveys and values <- a tiny random-weight twin of every model: all that `full` runs, offline."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.experiments.reduction import measure
from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import Checkpoint, load_local, one_thread
from layerwise.extraction.twins import build_twin
from layerwise.files import publish_folder, read_json
from layerwise.inputs.models import Model, read_models
from layerwise.inputs.pairs import StatementPairs, read_pairs
from layerwise.inputs.prompts import read_prompts
from layerwise.inputs.published import read_published
from layerwise.progress import track
from layerwise.steps import survey


def run(
    models: Path, pairs: Path, prompts: Path, published: Path, out: Path, params: dict[str, Any]
) -> str:
    """Survey every twin; extract and measure those that Papers 1 and 2 use.

    Writes `OUT/surveys/SLUG.json` and `OUT/values/KEY.npz`, a model per process at a time.
    """
    papers = list(read_models(models).values())
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    work = partial(_rehearse, pairs=pairs, prompts=prompts, published=published, params=params)
    try:
        _run_all(partial(work, out=part), sorted(papers, key=_effort, reverse=True))
    except BaseException:  # Ctrl-C too
        shutil.rmtree(part, ignore_errors=True)
        raise
    publish_folder(part, out)
    return f"{len(papers)} twins in {out}; their numbers mean nothing"


def _effort(model: Model) -> tuple[int, int]:
    """What takes longest starts first, so that no core waits for it at the end."""
    return len(model.extractions), len(model.experiments)


def _run_all(work: Callable[[Model], None], papers: list[Model]) -> None:
    """A process per core; an error or Ctrl-C ends them all at once, and only this one speaks."""
    # spawned, not forked: torch's threads do not survive a fork
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        heard = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as every new process then does
        try:
            done = pool.map(work, papers)
        finally:
            signal.signal(signal.SIGINT, heard)
        try:
            for _ in track(done, "rehearsal", "models", len(papers)):
                pass
        except BaseException:
            for worker in active_children():
                worker.terminate()
            raise


def _rehearse(
    model: Model, *, pairs: Path, prompts: Path, published: Path, params: dict[str, Any], out: Path
) -> None:
    statements, texts = read_pairs(pairs), read_prompts(prompts)
    # Networks this small gain nothing from a second thread, and lose much where cores are busy.
    with tempfile.TemporaryDirectory(dir=out) as folder, one_thread():
        twin = build_twin(model, [*statements.statements, *texts], Path(folder) / model.slug)
        tables = read_published(published)
        found = survey.survey(model, _Twin(model, twin), read_json(prompts), tables)
        if found.failed:
            raise LayerwiseError(f"twin of {model.slug}: {found.failed}")
        survey.write(model, None, found, out / "surveys" / f"{model.slug}.json")
        _values(model, twin, statements, texts, out / "values", params)


class _Twin:
    """Loads a twin in the dtype of a study."""

    def __init__(self, model: Model, folder: Path) -> None:
        self.model, self.folder = model, folder

    def __call__(self, dtype: str) -> Checkpoint:
        loaded = load_local(self.folder, dtype, "cpu")
        return replace(loaded, display=self.model.display)


def _values(
    model: Model,
    twin: Path,
    pairs: StatementPairs,
    prompts: tuple[str, ...],
    folder: Path,
    params: dict[str, Any],
) -> None:
    for extraction in model.extractions.values():
        states = extract(
            _Twin(model, twin)(extraction.dtype),
            pairs.statements,
            prompts,
            twin.with_name(extraction.key + ".states"),
            template=extraction.template,
            tokens_per_batch=params["extract"]["tokens_per_batch"],
            progress=False,  # the whole is shown, not its processes
        )
        choices = {**params["measure"], "layer_step": extraction.layer_step}
        values = measure(states, pairs, **choices.pop("bins"), **choices)
        values.save(folder / f"{extraction.key}.npz")
        shutil.rmtree(states.folder)
