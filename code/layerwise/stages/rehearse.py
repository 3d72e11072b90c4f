"""surveys and values <- a tiny random-weight twin of every model: all that `full` runs, offline."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tqdm import tqdm

from layerwise.errors import LayerwiseError
from layerwise.extractions import EXTRACTIONS
from layerwise.files import publish_folder, read_json
from layerwise.hidden_states import extract
from layerwise.models import Model, read_models
from layerwise.pairs import StatementPairs, read_pairs
from layerwise.prompts import read_prompts
from layerwise.published import read_published
from layerwise.stages import survey
from layerwise.tiny import build_twin
from layerwise.values import measure
from layerwise.weights import Checkpoint, load_local, one_thread


def run(
    models: Path, pairs: Path, prompts: Path, published: Path, out: Path, params: dict[str, Any]
) -> str:
    """Survey every twin; extract and measure those that Papers 1 and 2 use.

    Writes `OUT/surveys/SLUG.json` and `OUT/values/KEY.npz`, a model per process at a time.
    """
    papers = [model for model in read_models(models).values() if not model.built]
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    # spawned, not forked: torch's threads do not survive a fork
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        work = partial(_rehearse, pairs=pairs, prompts=prompts, published=published, params=params)
        for _ in tqdm(pool.map(partial(work, out=part), papers), total=len(papers), disable=None):
            pass
    publish_folder(part, out)
    return f"{len(papers)} twins in {out}; their numbers mean nothing"


def _rehearse(
    model: Model, *, pairs: Path, prompts: Path, published: Path, params: dict[str, Any], out: Path
) -> None:
    statements, texts = read_pairs(pairs), read_prompts(prompts)
    # Networks this small gain nothing from a second thread, and lose much where cores are busy.
    with tempfile.TemporaryDirectory() as folder, one_thread():
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
    for extraction in EXTRACTIONS.values():
        if extraction.slug != model.slug:
            continue
        states = extract(
            _Twin(model, twin)(extraction.dtype),
            pairs.statements,
            prompts,
            twin.with_name(extraction.key + ".states"),
            template=extraction.template,
            tokens_per_batch=params["extract"]["tokens_per_batch"],
        )
        choices = {**params["measure"], "layer_step": extraction.layer_step}
        values = measure(states, pairs, **choices.pop("bins"), **choices)
        values.save(folder / f"{extraction.key}.npz")
        shutil.rmtree(states.folder)
