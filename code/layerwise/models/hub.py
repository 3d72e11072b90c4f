"""Checkpoints on the hub: looked up, fetched into the local cache, and held to what was announced.

Pickled weights are made into safetensors, in the folder that the hub's client keeps of a model:
`converted/COMMIT`.
"""

import contextlib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import huggingface_hub

from layerwise.errors import LayerwiseError, TryAgainError, UnreachedError
from layerwise.files import sha256_of
from layerwise.models.checkpoint_config import check_config, check_declared, declared
from layerwise.models.checkpoint_folder import (
    PICKLED,
    WEIGHTS,
    check_adapters,
    matches,
    shards,
)
from layerwise.models.checkpoint_tokenizer import (
    TOKENIZER_FILES,
    TOKENIZERS,
    Declaration,
    check_tokenizer,
    load_tokenizer,
)
from layerwise.models.hub_answers import require_reach, reword_hub_errors
from layerwise.models.pickles import convert, place_of
from layerwise.models.registry import Model
from layerwise.models.token_ids import NO_TEXTS, Texts, Wrapping, check_texts
from layerwise.progress import track

ANSWER = 10  # seconds that the hub may take to answer
_COMMIT = re.compile("[0-9a-f]{40}")
_SAFE, _PICKLES = "*.safetensors", "pytorch_model*.bin"
_BESIDE = ("*.json", "*.txt", "*.model", "*.jinja")


@dataclass(frozen=True)
class _Commit:
    """A commit of a model, and what is known of its files.

    Attributes:
        name: of the commit, 40 digits.
        folder: with config.json; where all is in the cache, with weights and tokenizer.
        sizes: bytes of every file.
        weights: those of files of weights.
        is_whole: whether weights and tokenizer are in the cache.
    """

    name: str
    folder: Path
    sizes: Mapping[str, int]
    weights: dict[str, int]
    is_whole: bool


def fetch(
    hub_id: str,
    revision: str,
    model: Model | None = None,
    texts: Texts = NO_TEXTS,
    template: Wrapping = "none",
) -> Path:
    """Return the folder with config, tokenizer and safetensors weights.

    config.json comes first, then the tokenizer: what they show can be refused before gigabytes
    arrive. A `model` of the registry, which is at a pinned commit, is held to its declaration, and
    may have pickled weights: they are converted once. Of a commit that is in the cache the hub is
    asked nothing.

    Raises:
        LayerwiseError: if the model is not to be had, or is not what can be loaded: no network,
            gated, no such model or revision, pickles that nobody declared, wrong bytes.
        TextError: for a text that it cannot take.
    """
    commit = _look_up(hub_id, revision, model)
    if not commit.is_whole:
        _check_ahead(commit, hub_id, model, texts, template)
        _download(hub_id, commit)
    return convert(commit.folder, _BESIDE) if is_pickled(commit.weights) else commit.folder


def _download(hub_id: str, commit: _Commit) -> None:
    """Fetch the files of a commit; weights must have the hub's bytes, else they are removed.

    The cache calls a file of weights by its sha256, which the client does not look at.
    """
    patterns = [*_BESIDE, _PICKLES if is_pickled(commit.weights) else _SAFE]
    if not sys.stderr.isatty():
        huggingface_hub.utils.disable_progress_bars()
    with reword_hub_errors(hub_id, commit.name):
        huggingface_hub.snapshot_download(hub_id, revision=commit.name, allow_patterns=patterns)
    for name in track(commit.weights, "comparing bytes", "files", len(commit.weights)):
        link = commit.folder / name
        blob = link.resolve()
        if re.fullmatch("[0-9a-f]{64}", blob.name) and sha256_of(blob) != blob.name:
            link.unlink()
            blob.unlink()
            raise TryAgainError(
                f"{link}: wrong bytes arrived, their sha256 is not {blob.name}; they are removed, "
                "run it again to fetch them anew, and check the proxies between here and the hub"
            )


def look_up(model: Model, texts: Texts = NO_TEXTS) -> dict[str, int]:
    """Return the bytes of each file of a model's weights; only config and tokenizer are fetched.

    The hub is asked unless all of it is in the cache: whether it has the commit, gives it to this
    user, and what is there. What config and tokenizer show is held to the declaration, and the
    texts are tokenised as they will be: each extraction has its template, experiments have prompts.

    Raises:
        LayerwiseError, TextError: for what cannot be had or taken, as for `fetch`.
    """
    commit = _look_up(model.hub, str(model.revision), model)
    _check_ahead(commit, model.hub, model, texts)
    return commit.weights


def look_ahead(hub_id: str, revision: str) -> tuple[Path, dict[str, int], bool]:
    """Fetch config and tokenizer of a model that nobody declared; its weights stay where they are.

    Returns:
        The folder, the bytes of each file of weights, and whether these are in the cache, and so in
        the folder.

    Raises:
        LayerwiseError: as for `fetch`.
    """
    commit = _look_up(hub_id, revision, None)
    _get_tokenizer(commit, hub_id)
    return commit.folder, commit.weights, commit.is_whole


def _look_up(hub_id: str, revision: str, model: Model | None) -> _Commit:
    with reword_hub_errors(hub_id, revision):
        snapshot = _snapshot_with_config(hub_id, revision)
        cached = cached_folder(hub_id, snapshot.name)
        folder = cached or snapshot
        # whoever loaded the model with transformers may have the weights alone
        has_tokenizer = any((folder / name).is_file() for name in TOKENIZERS)
        is_whole = cached is not None and has_tokenizer
        sizes = _sizes_of_files(folder) if is_whole else _ask(hub_id, snapshot.name)
    check_config(snapshot)
    weights = _weights_among(sizes)
    if not weights:
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
    return _Commit(snapshot.name, folder, sizes, weights, is_whole)


def _sizes_of_files(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()}


def _weights_among(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the files of weights, safetensors if there are some, else pickles, and their bytes."""
    for pattern in (_SAFE, _PICKLES):
        if weights := {name: size for name, size in sizes.items() if matches(name, [pattern])}:
            return weights
    return {}


def _snapshot_with_config(hub_id: str, revision: str) -> Path:
    """Return the cache's folder of a commit with its config.json, which is fetched if need be.

    A branch may have moved: the hub is asked, or the cache where there is no way to the hub.
    """
    cached = _snapshot(hub_id, revision)
    if cached and _COMMIT.fullmatch(revision):
        return cached
    if not huggingface_hub.constants.HF_HUB_OFFLINE:
        try:
            require_reach(huggingface_hub.constants.ENDPOINT)
        except UnreachedError as error:
            if cached:
                return cached
            raise UnreachedError(f"{hub_id} at {revision}: {error}") from None
    return Path(huggingface_hub.hf_hub_download(hub_id, "config.json", revision=revision)).parent


def _get_tokenizer(commit: _Commit, hub_id: str) -> None:
    """Fetch the tokenizer, a few megabytes; an adapter beside the weights is refused before."""
    check_adapters(hub_id, commit.sizes)
    if not commit.is_whole:
        with reword_hub_errors(hub_id, commit.name):
            for name in commit.sizes:
                if matches(name, TOKENIZER_FILES):
                    huggingface_hub.hf_hub_download(hub_id, name, revision=commit.name)
    check_tokenizer(commit.folder)


def _check_ahead(
    commit: _Commit, hub_id: str, model: Model | None, texts: Texts, template: Wrapping = "none"
) -> None:
    """Refuse what config and tokenizer show, before weights are fetched.

    A model of the registry has its templates declared: `template` is for others.
    """
    _get_tokenizer(commit, hub_id)
    config, tokenizer = declared(commit.folder), load_tokenizer(commit.folder)
    declaration = Declaration.of_config(hub_id, commit.folder, config, tokenizer)
    if model is None:
        check_texts(declaration, texts, template)
        return
    check_declared(model, config, adds_bos=declaration.adds_bos)
    check_texts(declaration, {kind: given for kind, given in texts.items() if kind == "prompts"})
    for declared_template in {extraction.template for extraction in model.extractions.values()}:
        check_texts(declaration, texts, declared_template)


def _ask(hub_id: str, revision: str) -> dict[str, int]:
    """Return the bytes of every file of a commit, if the hub gives them to this user."""
    api = huggingface_hub.HfApi()
    info = api.model_info(hub_id, revision=revision, files_metadata=True, timeout=ANSWER)
    if info.gated:  # whose list of files everybody may see
        api.auth_check(hub_id)
    return {file.rfilename: file.size or 0 for file in info.siblings or ()}


def is_pickled(weights: Iterable[str]) -> bool:
    """Return whether files of weights are pickles: all of them are, or none."""
    return all(name.endswith(".bin") for name in weights)


def disk_bytes(weights: Mapping[str, int]) -> int:
    """Return what the files of `look_up` take in the cache: pickles stand there twice."""
    return sum(weights.values()) * (2 if is_pickled(weights) else 1)


def cache_state(hub_id: str, revision: str | None) -> str:
    """Return `yes`, `no`, or `part` where only weights are missing; the hub is not asked."""
    if cached_folder(hub_id, revision):
        return "yes"
    return "part" if _snapshot(hub_id, revision) else "no"


def cached_folder(hub_id: str, revision: str | None) -> Path | None:
    """Return the cache's folder with all weights; None: there is none. The hub is not asked."""
    if (snapshot := _snapshot(hub_id, revision)) is None:
        return None
    if place_of(snapshot).is_dir():
        return place_of(snapshot)
    with contextlib.suppress(LayerwiseError):  # of an index that is none
        stored = (shards(snapshot, weights) for weights in (WEIGHTS, PICKLED))
        return snapshot if any(all(map(Path.is_file, files)) for files in stored) else None
    return None


def _snapshot(hub_id: str, revision: str | None) -> Path | None:
    config = huggingface_hub.try_to_load_from_cache(hub_id, "config.json", revision=revision)
    return Path(config).parent if isinstance(config, str) else None
