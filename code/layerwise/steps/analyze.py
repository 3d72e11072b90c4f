"""The papers' analyses of a user's own model, pairs and prompts."""

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import layerwise
from layerwise.analyses import depth_curves, of_reader
from layerwise.analyses.answers import answers
from layerwise.analyses.evidence import Draws, Evidence
from layerwise.errors import LayerwiseError, TextError
from layerwise.experiments import own_weights
from layerwise.experiments.of_pairs import reader
from layerwise.experiments.of_pairs.documents import Filled
from layerwise.experiments.reduction import measure
from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import Checkpoint, load_model
from layerwise.extraction.partial import partial_of
from layerwise.extraction.store import HiddenStates
from layerwise.figures.drawing import Drawn
from layerwise.figures.style import RANDOM
from layerwise.files import dated, locked, together, write_json
from layerwise.inputs.measured import alone
from layerwise.inputs.pairs import StatementPairs, place_of, read_pairs
from layerwise.inputs.prompts import read_prompts
from layerwise.inputs.published import read_published
from layerwise.measures.values import Values, sampled_layers
from layerwise.pages.own_model import OF_WEIGHTS, figures, page
from layerwise.pages.own_model.cautions import cautions
from layerwise.pages.own_model.sections import sections_of
from layerwise.pages.own_model.tables import by_pair
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES

STATES = "hidden_states"
LEFT_OUT = "it was left out by --without"


def run(
    model: str,
    pairs: str | Path,
    prompts: str | Path,
    out: Path,
    *,
    revision: str | None,
    dtype: str,
    device: str,
    layers: Sequence[int] | None,
    seed: int,
    without: Sequence[str] = (),
) -> str:
    """Write one result file per analysis to `out`, then their figures, tables and page.

    Everything but the seed and the layers is as published. `without` names measurements of
    `own_weights` to leave out. `out/hidden_states` serves a later run.

    Inputs are checked before the model is loaded. After an error nothing is left behind; after a
    kill, or on a full disk, the next run goes on from the last finished batch.
    """
    statement_pairs, texts = read_pairs(pairs), read_prompts(prompts)
    if out.exists() and not out.is_dir():
        raise LayerwiseError(f"{out}: --out must be a folder, found a file; choose another place")
    page.require_templates()
    with _alone(out):
        checkpoint = load_model(model, revision=revision, dtype=dtype, device=device)
        sampled = sampled_layers(checkpoint.n_layers, layers=layers)
        try:
            states = extract(checkpoint, statement_pairs.statements, texts, out / STATES)
        except TextError as error:
            is_pair = error.kind == "statements"
            place = place_of(statement_pairs, error.number) if is_pair else str(prompts)
            raise LayerwiseError(f"{place}: {error}") from None
        try:
            values = measure(states, statement_pairs, layers=sampled, seed=seed)
            draws = Draws(N_RESAMPLES, LEVEL, seed)
            published = read_published(page.ROOT / "published")
            drawn = reader.numbers(values, draws, published)
            further, absent = _of_weights(checkpoint, texts, without)
            results = {**of_reader(alone(drawn.files), draws), **further}
            is_random = checkpoint.has_random_weights
            own = _own(values, drawn, states, statement_pairs, results, absent)
            if is_random:
                warned = [f"{RANDOM.capitalize()}.", *own.cautions]
                own = replace(own, cautions=warned, random_weights=True)
            in_print = Evidence(published, draws)
            own = replace(own, answers=answers(results, in_print))
            pictures = figures.draw(
                {own.display: results},
                random_weights=is_random,
                beside=depth_curves.published(in_print),
            )
        except LayerwiseError as error:
            raise LayerwiseError(f"{pairs} with {model}: {error}") from None
        _write(results, own, pictures, out)
    return _said(results, own, out)


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Inside the block this run alone works in `out`; when a rule is broken, what it made goes."""
    folders = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        with locked(out / STATES):
            made = [one for one in (out / STATES, partial_of(out / STATES)) if not one.exists()]
            try:
                yield
            except LayerwiseError:
                for one in made:
                    shutil.rmtree(one, ignore_errors=True)
                raise
    finally:
        for folder in folders:
            with contextlib.suppress(OSError):  # there is something in it, or it never was
                folder.rmdir()


def _of_weights(
    checkpoint: Checkpoint, texts: Sequence[str], without: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """What Paper 3 measures, and why the rest of it is not there.

    A model can lack one of them, say slices of the weights that are known, and have all else.
    """
    measured = {
        "gains": lambda: own_weights.gains(checkpoint, texts),
        "spectral": lambda: own_weights.spectral(checkpoint),
    }
    found, absent = {}, {}
    for name in OF_WEIGHTS:
        if name in without:
            absent[name] = LEFT_OUT
            continue
        try:
            found[name] = measured[name]()
        except LayerwiseError as error:
            absent[name] = str(error)
    return found, absent


def _own(
    values: Values,
    drawn: Filled,
    states: HiddenStates,
    pairs: StatementPairs,
    results: Mapping[str, Mapping[str, Any]],
    absent: Mapping[str, str],
) -> page.Own:
    index, draws = states.index, results["category_bootstrap"]
    counts = np.bincount(pairs.category_of_pair)
    by_category = zip(pairs.categories, counts, strict=True)
    settings = {
        "model": index["model"],
        "revision": index["revision"],
        "dtype": index["dtype"],
        "device": index["device"],
        "pairs": "; ".join(f"{name}: {count}" for name, count in by_category),
        "prompts": str(index["n_prompts"]),
        "layers": ", ".join(map(str, values.layers)),
        "seed": str(values.seed),
        "resamples": f"{draws['n_bootstrap']} for an interval of {draws['ci_level']:.0%}",
        "layerwise": layerwise.__version__,
        "torch": index["torch"],
        "transformers": index["transformers"],
    }
    warned = cautions(
        values,
        drawn,
        sum(index["prompt_lengths"]),
        n_resamples=draws["n_bootstrap"],
        level=draws["ci_level"],
    )
    return page.Own(
        str(index["display"]), list(settings.items()), warned, absent, sections_of(results),
        further=[by_pair(values)],
    )  # fmt: skip


def _write(
    results: Mapping[str, dict[str, Any]], own: page.Own, drawn: Sequence[Drawn], out: Path
) -> None:
    """Everything but the hidden states; what an earlier run had and this one has not goes."""
    with together(out) as part:
        for name, result in results.items():
            write_json(part / f"{name}.json", dated(result))
        page.write(own, drawn, part, Path(), "index.html")
    for name in own.absent:
        (out / f"{name}.json").unlink(missing_ok=True)


def _said(results: Mapping[str, Any], own: page.Own, out: Path) -> str:
    lines = [
        f"{', '.join(f'{name}.json' for name in results)} in {out}",
        f"the page: {out / 'index.html'}; tables: {out / 'tables'}, {out / 'tables.tex'}; figures: "
        f"{out / 'figures'}",
        *(f"warning: {caution}" for caution in own.cautions),
        *(f"no {name}.json: {reason}" for name, reason in own.absent.items()),
    ]
    return "\n".join(lines)
