"""The papers' analyses of a user's own model, pairs and prompts."""

import contextlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from layerwise.errors import LayerwiseError, TextError
from layerwise.files import dated, write_json
from layerwise.hidden_states import extract
from layerwise.pairs import place_of, read_pairs
from layerwise.prompts import read_prompts
from layerwise.stages.infer import PER_MODEL, from_values
from layerwise.values import measure, sampled_layers
from layerwise.weights import load_model


def run(
    model: str,
    pairs: Path,
    prompts: Path,
    out: Path,
    *,
    revision: str | None,
    dtype: str,
    device: str,
    layers: Sequence[int] | None,
    seed: int,
) -> str:
    """Write one result file per analysis to `out`; `out/hidden_states` serves a later run.

    Everything but the seed and the layers is as published.

    Inputs are checked before the model is loaded. After an error nothing is left behind; after a
    kill the next run goes on from the last finished shard.
    """
    statement_pairs, texts = read_pairs(pairs), read_prompts(prompts)
    if out.exists() and not out.is_dir():
        raise LayerwiseError(f"{out}: --out must be a folder, found a file; choose another place")
    checkpoint = load_model(model, revision=revision, dtype=dtype, device=device)
    sampled = sampled_layers(checkpoint.n_layers, layers=layers)
    made = [folder for folder in _folders(out) if not folder.exists()]
    try:
        states = extract(checkpoint, statement_pairs.statements, texts, out / "hidden_states")
    except LayerwiseError as error:
        _remove(made)
        if not isinstance(error, TextError):
            raise
        place = place_of(statement_pairs, error.number) if error.kind == "statements" else ""
        file = f"{pairs}: {place}" if place else str(prompts)
        raise LayerwiseError(f"{file}: {error}") from None
    try:
        values = measure(states, statement_pairs, layers=sampled, seed=seed)
        results = {
            name: from_values(name, {"model": values}, {"seed": seed})["model"]
            for name in PER_MODEL
        }
    except LayerwiseError as error:
        _remove(made)
        raise LayerwiseError(f"{pairs} with {model}: {error}") from None
    for name, result in results.items():
        write_json(out / f"{name}.json", dated(result))
    return f"{', '.join(f'{name}.json' for name in results)} in {out}"


def _folders(out: Path) -> list[Path]:
    """What a run may make, the deepest first."""
    return [out / "hidden_states.partial", out / "hidden_states", out, *out.parents]


def _remove(made: list[Path]) -> None:
    for folder in made:
        if folder.name.startswith("hidden_states"):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):  # somebody else put a file there, or it never was
                folder.rmdir()
