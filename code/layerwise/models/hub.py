"""Checkpoints on the hub: looked up, fetched into the local cache, and held to what was announced.

In the folder that the hub's client keeps of a model we add two things: `converted/COMMIT`, which is
safetensors made of a commit that has pickles only, and a note of the blobs whose bytes were right.

python -m layerwise.models.hub [SLUG...]     fills the cache with models of models.yaml
"""

import contextlib
import hashlib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import huggingface_hub
import typer
from huggingface_hub.errors import LocalEntryNotFoundError

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, sha256_of, write_json
from layerwise.home import here
from layerwise.models.checkpoint_config import check_config, check_declared, declared
from layerwise.models.checkpoint_folder import (
    INDEX,
    PICKLED,
    WEIGHTS,
    check_adapters,
    is_one,
    shards,
)
from layerwise.models.checkpoint_tokenizer import FILES, check_tokenizer, declare
from layerwise.models.hub_answers import explained, require_reach
from layerwise.models.pickles import convert, place_of
from layerwise.models.registry import Model, find_model, read_models
from layerwise.models.token_ids import NO_TEXTS, Texts, Wrapping, check_texts
from layerwise.progress import say, track

ANSWER = 10  # seconds that the hub may take to answer
_COMMIT = re.compile("[0-9a-f]{40}")
_SAFE, _PICKLES = "*.safetensors", "pytorch_model*.bin"
_BESIDE = ("*.json", "*.txt", "*.model", "*.jinja")
_CHECKED = "layerwise-checked.json"  # blob: its size and time when its bytes were right


class WrongBytesError(LayerwiseError):
    """A blob of the cache is not what its name says."""

    def __init__(self, file: Path, blob: Path, digest: str) -> None:
        self.blob = blob
        self.found = f"{file}: wrong bytes, the hub's have the digest {blob.name}, found {digest}"
        super().__init__(f"{self.found}; remove {blob}, then run it again to fetch it anew")


def fetch(
    hub_id: str,
    revision: str,
    model: Model | None = None,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
) -> Path:
    """The folder with config, tokenizer and safetensors weights, nothing else.

    config.json comes first, then the tokenizer: what they show can be refused before gigabytes
    arrive. A `model` of the registry, which is at a pinned commit, is held to its declaration, and
    may have pickled weights: they are converted once. Of a commit that is in the cache the hub is
    asked nothing. A file whose bytes are not the hub's is fetched anew, once.

    Raises:
        LayerwiseError: if the model is not to be had, or is not what can be loaded: no network,
            gated, no such model or revision, pickles that nobody declared, wrong bytes, no room.
        TextError: for a text that it cannot take.
    """
    found = _look_up(hub_id, revision, model)
    if place_of(found.folder).is_dir():
        return place_of(found.folder)
    if not found.is_whole:
        _check_ahead(found, hub_id, model, texts, template)
    patterns = [*_BESIDE, _PICKLES if is_pickled(found.weights) else _SAFE]
    if not sys.stderr.isatty():
        huggingface_hub.utils.disable_progress_bars()
    snapshot = _right(hub_id, revision, found.folder.name, patterns, found.is_whole)
    return convert(snapshot, _BESIDE) if is_pickled(found.weights) else snapshot


def _right(hub_id: str, revision: str, commit: str, patterns: list[str], is_there: bool) -> Path:
    """The snapshot with bytes that are the hub's: a blob with others is fetched anew, once."""
    anew: set[Path] = set()
    while True:
        with explained(hub_id, revision):
            snapshot = _download(hub_id, commit, patterns, is_there and not anew)
        try:
            check_bytes(snapshot, patterns)
            return snapshot
        except WrongBytesError as wrong:
            if wrong.blob in anew or huggingface_hub.constants.HF_HUB_OFFLINE:
                raise
            try:
                wrong.blob.unlink()
            except OSError:  # somebody else's cache
                raise wrong from None
            anew.add(wrong.blob)
            say(f"layerwise: {wrong.found}; it is fetched anew")


def _download(hub_id: str, commit: str, patterns: list[str], is_there: bool) -> Path:
    get = partial(huggingface_hub.snapshot_download, hub_id, revision=commit)
    if is_there:  # else the client lists the commit's files once more, and waits for the network
        with contextlib.suppress(LocalEntryNotFoundError):  # it knows of others that are missing
            return Path(get(allow_patterns=patterns, local_files_only=True))
    return Path(get(allow_patterns=patterns))


def look_up(model: Model, texts: Texts = NO_TEXTS) -> dict[str, int]:
    """The files of a model's weights, and their bytes; only config and tokenizer are downloaded.

    The hub is asked unless all of it is in the cache: whether it has the commit, gives it to this
    user, and what is there. What config and tokenizer show is held to the declaration, and the
    texts are tokenised as they will be: each extraction has its template, experiments have prompts.

    Raises:
        LayerwiseError, TextError: for what cannot be had or taken, as for `fetch`.
    """
    found = _look_up(model.hub, str(model.revision), model)
    _check_ahead(found, model.hub, model, texts)
    return found.weights


def ahead(
    hub_id: str, revision: str, texts: Texts, template: Wrapping = "none"
) -> tuple[Path, dict[str, int]]:
    """The folder with config and tokenizer of a model that nobody declared, and what it has.

    That is the files of its weights, which are not downloaded, and their bytes. Raises as `fetch`.
    """
    found = _look_up(hub_id, revision, None)
    _check_ahead(found, hub_id, None, texts, template)
    return found.folder, found.weights


@dataclass(frozen=True)
class _Found:
    """A commit: the snapshot's folder, which is called by it, its files, and those of weights."""

    folder: Path
    sizes: Mapping[str, int]
    weights: dict[str, int]
    is_whole: bool  # weights and tokenizer are in the cache


def _look_up(hub_id: str, revision: str, model: Model | None) -> _Found:
    with explained(hub_id, revision):
        folder = Path(_config(hub_id, revision)).parent  # a branch moves
        there = whole(hub_id, folder.name)
        is_whole = there is not None and (there / "tokenizer_config.json").is_file()
        sizes = {} if is_whole else _ask(hub_id, folder.name)
    check_config(folder)
    if model is not None:
        check_declared(model, declared(folder))
    if there is not None:
        sizes |= {file.name: file.stat().st_size for file in there.iterdir() if file.is_file()}
    for pattern in (_SAFE, _PICKLES):  # of the top folder: a * is no slash
        if weights := {name: n for name, n in sizes.items() if is_one(name, [pattern])}:
            break
    else:
        raise LayerwiseError(
            f"{hub_id} at {revision}: weights are {_SAFE} or {_PICKLES}, this commit has neither; "
            "take another from the history on its model page"
        )
    if model is None and is_pickled(weights):
        raise LayerwiseError(
            f"{hub_id} at {revision} has pickled weights only ({', '.join(sorted(weights)[:3])}), "
            "which can run code and are not loaded; take a revision that has *.safetensors (often "
            "a pull request of the hub's converter), or save it as safetensors once and give that "
            "folder"
        )
    return _Found(folder, sizes, weights, is_whole)


def _config(hub_id: str, revision: str) -> str:
    """The place of config.json: of a commit from the cache, else the hub's, if there is a way."""
    get = partial(huggingface_hub.hf_hub_download, hub_id, "config.json", revision=revision)
    is_there = _COMMIT.fullmatch(revision) and _snapshot(hub_id, revision)
    if not (is_there or huggingface_hub.constants.HF_HUB_OFFLINE):
        try:
            require_reach(huggingface_hub.constants.ENDPOINT)
        except Exception:
            with contextlib.suppress(LocalEntryNotFoundError):
                return get(local_files_only=True)
            raise
    return get()


def _check_ahead(
    found: _Found, hub_id: str, model: Model | None, texts: Texts, template: Wrapping = "none"
) -> None:
    """Refuse what config and tokenizer show; the tokenizer is fetched for that, a few megabytes.

    A model of the registry has its templates declared: `template` is for others.
    """
    folder = found.folder
    check_adapters(hub_id, found.sizes)
    if found.is_whole:
        folder = whole(hub_id, folder.name) or folder
    else:
        with explained(hub_id, folder.name):
            for name in found.sizes:
                if name in FILES or (name == INDEX and WEIGHTS not in found.sizes):
                    huggingface_hub.hf_hub_download(hub_id, name, revision=folder.name)
        check_bytes(folder, FILES)
    check_tokenizer(folder)
    declaration = declare(folder, hub_id)
    if model is None:
        check_texts(declaration, texts, template)
        return
    check_declared(model, declaration.config, adds_bos=declaration.adds_bos)
    prompts = {kind: of for kind, of in texts.items() if kind == "prompts"}
    check_texts(declaration, prompts)
    for declared_one in {one.template for one in model.extractions.values()}:
        check_texts(declaration, texts, declared_one)


def _ask(hub_id: str, revision: str) -> dict[str, int]:
    """Every file of a commit, and its bytes, if the hub gives them to this user."""
    api = huggingface_hub.HfApi()
    info = api.model_info(hub_id, revision=revision, files_metadata=True, timeout=ANSWER)
    if info.gated:  # whose list of files everybody may see
        api.auth_check(hub_id)
    return {file.rfilename: file.size or 0 for file in info.siblings or ()}


def is_pickled(weights: Iterable[str]) -> bool:
    """Whether files of weights are pickles, all of them: `look_up` names no others beside."""
    return all(name.endswith(".bin") for name in weights)


def disk_bytes(weights: Mapping[str, int]) -> int:
    """What the files of `look_up` take in the cache: pickles stand there twice."""
    return sum(weights.values()) * (2 if is_pickled(weights) else 1)


def cached(hub_id: str, revision: str | None) -> str:
    """`yes`, `no`, or `part` where only weights are missing; the network is not asked."""
    return "yes" if whole(hub_id, revision) else "part" if _snapshot(hub_id, revision) else "no"


def whole(hub_id: str, revision: str | None) -> Path | None:
    """The folder in the cache that has all weights; None: there is none. No network is asked."""
    if (snapshot := _snapshot(hub_id, revision)) is None:
        return None
    if place_of(snapshot).is_dir():
        return place_of(snapshot)
    with contextlib.suppress(LayerwiseError):  # of an index that is none
        stored = (shards(snapshot, weights) for weights in (WEIGHTS, PICKLED))
        return snapshot if any(all(map(Path.is_file, of)) for of in stored) else None
    return None


def _snapshot(hub_id: str, revision: str | None) -> Path | None:
    config = huggingface_hub.try_to_load_from_cache(hub_id, "config.json", revision=revision)
    return Path(config).parent if isinstance(config, str) else None


def check_bytes(snapshot: Path, patterns: Iterable[str]) -> None:
    """Refuse bytes that are not the hub's: blobs are named by sha256, or git's sha1 if small.

    It is done once per blob: size and time of those that were right are noted in the cache, where
    that can be written. What has no such name, as in a cache without links, is taken as it is.
    """
    note = snapshot.parents[1] / _CHECKED
    try:
        known = read_json(note)
    except LayerwiseError:
        known = {}
    links = [
        file for file in sorted(snapshot.iterdir())
        if file.is_symlink() and file.is_file() and is_one(file.name, patterns)
        and re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", file.readlink().name)
    ]  # fmt: skip
    right = dict(known) if isinstance(known, dict) else {}
    wrong: list[WrongBytesError] = []
    for file in track(links, "comparing bytes", "files", len(links)):
        blob, status = file.readlink().name, file.stat()
        if right.get(blob) == (mark := [status.st_size, status.st_mtime_ns]):
            continue
        if (found := _name_of(file, len(blob))) != blob:
            wrong.append(WrongBytesError(file, snapshot.parents[1] / "blobs" / blob, found))
        else:
            right[blob] = mark
    if right != known:
        with contextlib.suppress(OSError, LayerwiseError):  # a cache that only others may write
            write_json(note, right)
    if wrong:
        raise wrong[0]


def _name_of(file: Path, length: int) -> str:
    """What the hub calls a blob: its sha256 (64 digits), or that of git (40)."""
    if length == 64:
        return sha256_of(file)
    content = file.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def main(
    slugs: Annotated[list[str] | None, typer.Argument()] = None,
    models: Path | None = None,
) -> None:
    """Fetch models of the registry into the hub's cache, where the network is.

    SLUGS are all that are not left out, unless some are named.
    """
    registry, code = read_models(models or here() / "models.yaml"), 0
    for slug in slugs or [slug for slug, model in registry.items() if not model.skipped]:
        model = find_model(registry, slug)
        try:
            print(f"{slug}: {fetch(model.hub, str(model.revision), model)}", flush=True)
        except LayerwiseError as error:
            print(f"{slug}: {error}", file=sys.stderr)
            code = 2
    raise typer.Exit(code)


if __name__ == "__main__":
    typer.run(main)
