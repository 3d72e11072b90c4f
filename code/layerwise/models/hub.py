"""Checkpoints on the hub: looked up, fetched into the local cache, and held to what was announced.

Beside what the hub's client keeps of a model there are three folders: `before/COMMIT` is of
`passing`, `converted/COMMIT` has the safetensors of pickled weights, and `compared/COMMIT` notes
size and time of the files whose bytes were found to be the hub's. Files that it does not note are
compared before they are used, whoever fetched them.
"""

import contextlib
import hashlib
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import huggingface_hub
from huggingface_hub import constants

from layerwise.errors import LayerwiseError, TryAgainError, UnreachedError, refused
from layerwise.files import nearest_existing, read_json, sha256_of, write_json
from layerwise.models.checkpoint import CheckpointFiles
from layerwise.models.checkpoint_config import check_config, check_declared
from layerwise.models.checkpoint_folder import (
    PICKLED,
    WEIGHTS,
    check_adapters,
    is_inside,
    matches,
    refuse_gguf,
    shards,
)
from layerwise.models.checkpoint_tokenizer import TOKENIZER_FILES, TOKENIZERS, check_tokenizer
from layerwise.models.hub_answers import require_reach, reword_hub_errors
from layerwise.models.needs import bytes_of_states, require_room, spell_bytes
from layerwise.models.passing import drop_weights, note_what_is_there, remove_leftovers
from layerwise.models.pickles import convert, place_of
from layerwise.models.registry import Model
from layerwise.models.token_ids import NO_TEXTS, Texts, check_texts
from layerwise.progress import track
from layerwise.shapes import Measuring

ANSWER = 10  # seconds that the hub may take to answer
_COMMIT = re.compile("[0-9a-f]{40}")
_SAFE, _PICKLES = "*.safetensors", "pytorch_model*.bin"
_BESIDE = ("*.json", "*.txt", "*.model", "*.jinja")


def look_up(hub_id: str, revision: str | None) -> CheckpointFiles:
    """Return the config and tokenizer of a model, and its weights if they are in the cache.

    config.json comes first, then the tokenizer: what they show can be refused before gigabytes
    arrive. Of a commit that is in the cache the hub is asked nothing.

    Raises:
        LayerwiseError: if the model is not to be had, or is not what can be loaded: no network,
            gated, no such model or revision, pickles alone, wrong bytes.
    """
    refuse_gguf(Path(hub_id))
    return _look_up(hub_id, revision or "main", takes_pickles=False)


def look_up_registered(model: Model, texts: Texts = NO_TEXTS) -> CheckpointFiles:
    """Return the same of a model of the registry, whose weights may be pickled.

    What config and tokenizer show is held to the declaration, and the texts are tokenised as they
    will be: each extraction has its template, experiments have prompts.

    Raises:
        LayerwiseError: for an unresolved revision; as for `look_up`.
        TextError: for a text that the model cannot take.
    """
    if model.revision is None:
        raise LayerwiseError(
            f"{model.slug}: no revision is recorded for {model.hub} (revision: unresolved); "
            "look the commit up, write it into the registry, then load it"
        )
    files = _look_up(model.hub, model.revision, takes_pickles=True)
    check_declared(model, files.config, adds_bos=files.declaration.adds_bos)
    prompts = {kind: of_kind for kind, of_kind in texts.items() if kind == "prompts"}
    check_texts(files.declaration, prompts)
    for template in {extraction.template for extraction in model.extractions.values()}:
        check_texts(files.declaration, texts, template)
    return files


def fetch(files: CheckpointFiles, *, beside: int = 0) -> CheckpointFiles:
    """Return a checkpoint of the hub with its weights: fetched if need be, and compared once.

    Arguments:
        beside: bytes that the caller goes on to write on the disk of the cache.

    Raises:
        LayerwiseError: if there is no room for them, the hub does not give them, or other bytes
            arrived.
    """
    commit = str(files.commit)
    if not files.absent:
        return files
    if not sys.stderr.isatty():
        huggingface_hub.utils.disable_progress_bars()
    patterns = [*_BESIDE, _PICKLES if is_pickled(files.weights) else _SAFE]
    if there := _snapshot(files.name, commit):
        note_what_is_there(there)
        remove_leftovers(there)
    cache, n_bytes = Path(constants.HF_HUB_CACHE), _bytes_to_come(files)
    require_room(cache, n_bytes + beside, f"{files.name}, its weights and hidden states,")
    try:
        with reword_hub_errors(files.name, commit):
            snapshot = huggingface_hub.snapshot_download(
                files.name, revision=commit, allow_patterns=patterns
            )
        remove_leftovers(Path(snapshot))  # a run that was killed just before this one left them
        return files.with_weights(_ready(Path(snapshot), files.weights))
    except OSError as error:  # something else filled the disk meanwhile, say
        if there:
            drop_weights(there, files.weights)
        raise LayerwiseError(
            f"{files.name}, {spell_bytes(n_bytes)} of weights for {cache}: {refused(error)}"
        ) from error


def _bytes_to_come(files: CheckpointFiles) -> int:
    """Return the bytes that a fetch puts on the disk; of pickles those of the conversion too."""
    there = _sizes_of_files(files.folder)
    missing = {name: size for name, size in files.weights.items() if name not in there}
    converted = files.weights if is_pickled(files.weights) else {}
    return sum(missing.values()) + sum(converted.values())


def states_beside(model: Model, chosen: Measuring, scratch: Path) -> int:
    """Return the bytes of hidden states that go to the disk of the cache, if `scratch` is on it."""
    places = (Path(constants.HF_HUB_CACHE), scratch)
    cache_disk, scratch_disk = (nearest_existing(place).stat().st_dev for place in places)
    return bytes_of_states(model, chosen) if cache_disk == scratch_disk else 0


def drop_fetched(model: Model) -> int:
    """Remove the weights of a model that a run fetched, if it was told to; return their bytes."""
    snapshot = _snapshot(model.hub, model.revision)
    return drop_weights(snapshot, _weights_among(_sizes_of_files(snapshot))) if snapshot else 0


def _ready(snapshot: Path, weights: Iterable[str]) -> Path:
    """Return the folder to load a commit from, once its bytes are known to be the hub's."""
    if not _is_compared(snapshot):
        _compare_bytes(snapshot)
        write_json(_mark_of(snapshot), _marks(snapshot))
    return convert(snapshot, _BESIDE) if is_pickled(weights) else snapshot


def _mark_of(snapshot: Path) -> Path:
    return snapshot.parents[1] / "compared" / snapshot.name


def _marks(snapshot: Path) -> dict[str, list[int]]:
    """Return size and time of every file of a commit, by which a file is known again."""
    stats = {file.name: file.stat() for file in snapshot.iterdir() if file.is_file()}
    return {name: [stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}


def _is_compared(snapshot: Path) -> bool:
    """Return whether the files that are there are those that were compared; some may be gone."""
    noted = _mark_of(snapshot)
    if not noted.is_file():
        return False
    compared = read_json(noted)
    return all(compared.get(name) == mark for name, mark in _marks(snapshot).items())


def _compare_bytes(snapshot: Path) -> None:
    """Remove the files of a commit that are not the hub's, and refuse the commit.

    The cache calls a file by its hash, sha256 of what git-lfs keeps, git's own of the others. The
    client does not look at it: both ways of transfer, http and xet, end with a comparison of sizes
    (huggingface_hub 2.4.0, hf_xet 1.8.0), and wrong bytes of the right size have come
    (huggingface_hub, issue 3643). So files that were fetched just now are compared too.
    """
    files = sorted(file for file in snapshot.iterdir() if file.is_file())
    for link in track(files, "comparing bytes", "files", len(files)):
        blob = link.resolve()
        kind = _KINDS.get(len(blob.name)) if re.fullmatch("[0-9a-f]+", blob.name) else None
        if kind and _HASHES[kind](blob) != blob.name:
            link.unlink()
            blob.unlink()
            raise TryAgainError(
                f"{link}: wrong bytes arrived, their {kind} is not {blob.name}; they are removed, "
                "run it again to fetch them anew, and check the proxies between here and the hub"
            )


def _git_hash(file: Path) -> str:
    """Return the name that git gives to a small file."""
    content = file.read_bytes()
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


# What the cache calls a file by; where it holds no links, a file has its own name.
_KINDS = {64: "sha256", 40: "sha1"}
_HASHES = {"sha256": sha256_of, "sha1": _git_hash}


def _look_up(hub_id: str, revision: str, *, takes_pickles: bool) -> CheckpointFiles:
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
    if not takes_pickles and is_pickled(weights):
        raise LayerwiseError(
            f"{hub_id} at {revision} has pickled weights only ({', '.join(sorted(weights)[:3])}), "
            "which can run code and are not loaded; take a revision that has *.safetensors (often "
            "a pull request of the hub's converter), or save it as safetensors once and give that "
            "folder"
        )
    check_adapters(hub_id, sizes)
    if cached == snapshot and is_whole:
        folder = _ready(snapshot, weights)
    elif not is_whole:
        _get_tokenizer(hub_id, snapshot.name, sizes)
    check_tokenizer(folder)
    return CheckpointFiles(hub_id, folder, snapshot.name, weights, absent=not is_whole)


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
    if not constants.HF_HUB_OFFLINE:
        try:
            require_reach(constants.ENDPOINT)
        except UnreachedError as error:
            if cached:
                return cached
            raise UnreachedError(
                f"there is no folder {hub_id} here, and the model of the hub {hub_id} at "
                f"{revision} is {error}"
            ) from None
    return Path(huggingface_hub.hf_hub_download(hub_id, "config.json", revision=revision)).parent


def _get_tokenizer(hub_id: str, commit: str, names: Iterable[str]) -> None:
    """Fetch the tokenizer, a few megabytes."""
    with reword_hub_errors(hub_id, commit):
        for name in names:
            if matches(name, TOKENIZER_FILES):
                huggingface_hub.hf_hub_download(hub_id, name, revision=commit)


def _ask(hub_id: str, revision: str) -> dict[str, int]:
    """Return the bytes of every file of a commit, if the hub gives them to this user."""
    api = huggingface_hub.HfApi()
    info = api.model_info(hub_id, revision=revision, files_metadata=True, timeout=ANSWER)
    if info.gated:  # whose list of files everybody may see
        api.auth_check(hub_id)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    for name in sizes:
        if not is_inside(name):
            raise LayerwiseError(
                f"{hub_id} at {revision}: files of a model stay in its folder, the hub lists "
                f"{name!r:.80}; take another revision, and report this one to the hub"
            )
    return sizes


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
    if place_of(snapshot).is_dir() and _is_compared(snapshot):
        return place_of(snapshot)
    with contextlib.suppress(LayerwiseError):  # of an index that is none
        stored = (shards(snapshot, weights) for weights in (WEIGHTS, PICKLED))
        return snapshot if any(all(map(Path.is_file, files)) for files in stored) else None
    return None


def _snapshot(hub_id: str, revision: str | None) -> Path | None:
    config = huggingface_hub.try_to_load_from_cache(hub_id, "config.json", revision=revision)
    return Path(config).parent if isinstance(config, str) else None
