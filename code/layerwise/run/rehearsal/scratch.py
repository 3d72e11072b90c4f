"""A copy of the repository in which stand-ins take the places of upstream's texts and models.

The pipeline finds its models in a cache of the hub's and asks no network.
"""

import hashlib
import importlib.metadata
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pathspec
import yaml

import layerwise.models
from layerwise.csv_rows import format_csv
from layerwise.errors import LayerwiseError
from layerwise.files import make_folder, read_json, refuse_link, sha256_of, write_text
from layerwise.models.families import twin_of
from layerwise.models.registry import Model, read_models
from layerwise.papers.fetching.mirrors import Pin
from layerwise.papers.fetching.notebooks import NotebookPrompts, prompts_document
from layerwise.papers.fetching.upstream import DATASET, PIN_COLUMNS, PROMPTS, read_registry

TEXTS = Path(layerwise.models.__path__[0]) / "rehearsal"
OUR_PAIRS, OUR_PROMPTS = TEXTS / "pairs.json", TEXTS / "prompts.json"
MARK = "REHEARSAL.md"  # of a folder that may be written over
CACHE, MIRROR, LOG = "hub-cache", "upstream", "rehearsal.log"  # in the folder, beside the copy
# What git does not hold, and what a rehearsal has of its own.
LEFT = (".git", "/.dvc/", "/dvc.lock", "/results/")
OWN = (f"/{MARK}", f"/{CACHE}/", f"/{MIRROR}/", f"/{LOG}")
_BUILDERS = ("twins.py", "families.py")
_STAMP = "twin"  # what the twin was made from, beside its snapshots
DVC_CONFIG = "[core]\n    analytics = false\n    check_update = false\n    no_scm = true\n"
ABOUT = """\
A rehearsal of the measured pipeline, made by `make rehearse`: a copy of the repository in which
models with random weights (hub-cache/) and sentences of its own (upstream/) stand in for those of
the papers.
Its numbers mean nothing. Another run goes on here; to begin anew, remove the folder.
"""


def prepare(root: Path, folder: Path) -> dict[str, Model]:
    """Make `folder` a copy of the repository in `root`, with stand-ins; the models it declares.

    What is there already is brought up to date, and results stay: DVC knows which are stale.

    Raises:
        LayerwiseError: if the folder is in the repository, or holds what no rehearsal made.
    """
    copy(root, folder, ABOUT)
    for name in (CACHE, MIRROR):
        make_folder(folder / name)
    choose(folder / "params.yaml", {"device": "cpu", "replicates": 1, "control": 1})
    stand_in_texts(folder / "published", folder / MIRROR)
    return declare_twins(folder / "models.yaml")


def copy(root: Path, folder: Path, about: str) -> None:
    """Make `folder` a copy of the repository, with its own DVC; MARK there says what it is.

    Raises:
        LayerwiseError: if the folder is in the repository, or holds what was not made here.
    """
    if folder.resolve().is_relative_to(root.resolve()):
        raise LayerwiseError(
            f"{folder}: a rehearsal writes nothing into the repository ({root.resolve()}); "
            "give --folder a place outside"
        )
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise LayerwiseError(
            f"{folder}: not empty, and no rehearsal made it (there is no {MARK}); give --folder "
            "a new or an empty folder"
        )
    for name in ("", ".dvc"):
        make_folder(folder / name)
    refuse_link(folder / LOG)
    write_text(folder / MARK, about)
    copy_repository(root, folder)
    write_text(folder / ".dvc" / "config", DVC_CONFIG)


def choose(params: Path, choices: Mapping[str, object]) -> None:
    """Set choices of `measure`: what measures, and each kind of run beside the model once."""
    document = yaml.safe_load(params.read_text(encoding="utf-8"))
    document["measure"] |= choices
    write_text(params, yaml.safe_dump(document, sort_keys=False))


def copy_repository(root: Path, folder: Path) -> None:
    """Copy what git would hold, with or without git; remove what is no longer there."""
    ignored = (root / ".gitignore").read_text(encoding="utf-8").splitlines()
    spec = pathspec.GitIgnoreSpec.from_lines([*ignored, *LEFT, *OWN])
    wanted = set(_files(root, spec))
    for path in set(_files(folder, spec)) - wanted:
        (folder / path).unlink()
    for path in wanted:
        for above in reversed(Path(path).parents):
            make_folder(folder / above)
        (folder / path).unlink(missing_ok=True)  # it may be a link
        shutil.copy2(root / path, folder / path)


def _files(root: Path, spec: pathspec.GitIgnoreSpec) -> Iterator[str]:
    for at, folders, names in os.walk(root):
        place = Path(at).relative_to(root)
        folders[:] = [name for name in folders if not spec.match_file(f"{place / name}/")]
        yield from (str(place / name) for name in names if not spec.match_file(place / name))


def stand_in_texts(published: Path, mirror: Path) -> None:
    """Lay our own texts out as upstream does, notebooks too, and pin their sha256."""
    shutil.rmtree(mirror, ignore_errors=True)
    prompts = read_json(OUR_PROMPTS)
    registry, sets = read_registry(published), []
    for pinned in registry.prompt_sets:
        notebook = mirror / pinned.notebook
        source = f"{pinned.variable} = {prompts[pinned.study]['prompts']!r}"
        write_text(notebook, json.dumps({"cells": [{"cell_type": "code", "source": source}]}))
        sets.append(pinned._replace(sha256=sha256_of(notebook)))
    write_text(published / "prompt_sets.csv", format_csv(NotebookPrompts._fields, sets))
    shutil.copyfile(OUR_PAIRS, mirror / DATASET)
    made = {
        DATASET: OUR_PAIRS.read_bytes(),
        PROMPTS: prompts_document(sets, lambda entry: (mirror / entry.notebook).read_bytes()),
    }
    pins = registry.pins | {
        path: Pin(hashlib.sha256(content).hexdigest(), len(content))
        for path, content in made.items()
    }
    rows = ((path, *pin) for path, pin in pins.items())
    write_text(published / "registry.csv", format_csv(PIN_COLUMNS, rows))


def declare_twins(registry: Path) -> dict[str, Model]:
    """Give every model the shape of its twin; one that is left out stays so.

    Noise and random weights are measured beside one model of each family, the smallest: the code
    that does it is the same for all of them.
    """
    document = yaml.safe_load(registry.read_text(encoding="utf-8"))
    models = read_models(registry)
    smallest: dict[str, str] = {}
    for slug, model in sorted(models.items(), key=lambda item: item[1].parameters):
        if not model.skipped:
            smallest.setdefault(model.family, slug)
    for slug, model in models.items():
        entry = document["models"][slug]
        entry["shape"] = twin_of(model).shape.model_dump()
        entry["alone"] = slug != smallest.get(model.family)
    write_text(registry, yaml.safe_dump(document, sort_keys=False))
    return read_models(registry)


# --- a twin of every model, where the hub's client would keep what it fetched:
# CACHE/models--ORGANISATION--NAME/snapshots/REVISION/FILE -> ../../blobs/SHA256


def place(model: Model, texts: Sequence[str], cache: Path) -> Path:
    """Build a model's twin into a cache of the hub, at its revision; gives the snapshot.

    One that is there, whole and made from the same, stays.
    """
    assert model.revision is not None
    home = cache / f"models--{model.hub.replace('/', '--')}"
    stamp, recipe = home / _STAMP, _recipe(model, texts)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == recipe:
        return home / "snapshots" / model.revision
    from layerwise.models.twins import build_twin  # torch, where one must be built

    shutil.rmtree(home, ignore_errors=True)
    snapshot = keep(build_twin(model, texts, home / "built"), home, model.revision)
    write_text(stamp, recipe)  # last: what has it is whole
    return snapshot


def _recipe(model: Model, texts: Sequence[str]) -> str:
    """Return a digest of all that makes a twin what it is: declaration, texts, code, libraries."""
    code = Path(layerwise.models.__path__[0])
    parts = [repr(model), *texts, *((code / name).read_text("utf-8") for name in _BUILDERS)]
    parts += [importlib.metadata.version(name) for name in ("torch", "transformers", "tokenizers")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def keep(folder: Path, home: Path, revision: str) -> Path:
    """Move a checkpoint's files into HOME as the hub's client keeps them; gives the snapshot."""
    snapshot, blobs = home / "snapshots" / revision, home / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for file in sorted(folder.iterdir()):
        blob = blobs / sha256_of(file)
        os.replace(file, blob)
        (snapshot / file.name).symlink_to(Path("..", "..", "blobs", blob.name))
    folder.rmdir()
    write_text(home / "refs" / "main", revision)
    return snapshot
