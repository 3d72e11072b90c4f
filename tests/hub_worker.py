"""A process with the hub's real client, which reads HF_ENDPOINT when it is imported.

    HF_ENDPOINT=... HF_HOME=... python hub_worker.py MODELS.yaml WORDS...    all its models at once

prints, as JSON, what `look_up` and `fetch` gave for each slug, or their errors, and before it what
`layerwise WORDS...` says. A slug that begins with `reader` is fetched as nobody's declaration. The
client's waits between tries are cut short.
"""

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import transformers
from huggingface_hub.utils import tqdm as ClientBar
from tqdm import tqdm

from layerwise.errors import LayerwiseError
from layerwise.models import hub
from layerwise.models.checkpoint import CheckpointFiles
from layerwise.models.registry import Model, read_models
from layerwise.run.cli import main

really_sleep = time.sleep
# The client's bars and ours are one set, which threads under two locks change at once.
tqdm.set_lock(ClientBar.get_lock())
transformers.AutoConfig  # noqa: B018, a first import in several threads at once finds half of it


def outcomes(model: Model) -> list[object]:
    def look_up() -> CheckpointFiles:
        if model.slug.startswith("reader"):
            return hub.look_up(model.hub, str(model.revision))
        return hub.look_up_registered(model)

    return [
        outcome(lambda: dict(look_up().weights)),
        outcome(lambda: str(hub.fetch(look_up()).folder)),
    ]


def outcome(action: Callable[[], object]) -> object:
    try:
        return action()
    except LayerwiseError as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    time.sleep = lambda seconds: really_sleep(seconds / 50)
    assert main(sys.argv[2:]) == 0
    models = read_models(Path(sys.argv[1]))
    with ThreadPoolExecutor(32) as pool:
        found = pool.map(outcomes, models.values())
        print(json.dumps(dict(zip(models, found, strict=True))))
