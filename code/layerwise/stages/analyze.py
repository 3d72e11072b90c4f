"""The papers' analyses of a user's own model, pairs and prompts."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import write_json
from layerwise.hidden_states import extract
from layerwise.pairs import read_pairs
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
    existed = out.exists()
    if existed and not out.is_dir():
        raise LayerwiseError(f"{out}: --out must be a folder, found a file; choose another place")
    checkpoint = load_model(model, revision=revision, dtype=dtype, device=device)
    sampled = sampled_layers(checkpoint.n_layers, layers=layers)
    states_existed = (out / "hidden_states").exists()
    try:
        states = extract(checkpoint, statement_pairs.statements, texts, out / "hidden_states")
        values = measure(states, statement_pairs, layers=sampled, seed=seed)
        results = {
            name: from_values(name, {"model": values}, {"seed": seed})["model"]
            for name in PER_MODEL
        }
    except LayerwiseError:
        if not existed:
            shutil.rmtree(out, ignore_errors=True)
        elif not states_existed:
            shutil.rmtree(out / "hidden_states", ignore_errors=True)
        shutil.rmtree(out / "hidden_states.partial", ignore_errors=True)
        raise
    for name, result in results.items():
        write_json(out / f"{name}.json", result)
    return f"{', '.join(f'{name}.json' for name in results)} in {out}"
