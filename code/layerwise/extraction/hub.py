"""Checkpoints on the hub: fetched into the local cache, with a sentence for each way to fail."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
from huggingface_hub import errors as hub_errors

from layerwise.errors import LayerwiseError, TryAgainError
from layerwise.extraction.checkpoint_folder import INDEX, WEIGHTS, check_config
from layerwise.files import read_json
from layerwise.inputs.models import Model

_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
_PICKLED = (".bin", ".pt", ".pth", ".ckpt")
# What the hub answers, the narrower before the wider.
_ANSWERS: dict[type[Exception], str] = {
    hub_errors.GatedRepoError: "{hub} is gated: accept its licence on its model page, then log in "
    "with `hf auth login` or set HF_TOKEN",
    hub_errors.RepositoryNotFoundError: "{hub}: neither a local folder nor a model on the hub (or "
    "a private one); check the spelling, or log in with `hf auth login`",
    hub_errors.RevisionNotFoundError: "{hub}: the hub has no revision {revision!r}; take a commit, "
    "tag or branch from the history on its model page",
    hub_errors.HFValidationError: "{hub}: no such folder, and not a model id `organisation/name` "
    "({error}); check the path",
}


def fetch(hub_id: str, revision: str) -> Path:
    """The snapshot folder with config, tokenizer and safetensors weights, nothing else.

    config.json comes first: it can be refused before gigabytes arrive.

    Raises:
        LayerwiseError: if the model is not to be had: no network, gated, no such model or
            revision, a revision that is no name, an architecture that is not known, pickled
            weights only, or no room in the cache.
    """
    # The client joins a revision to the cache's path; what climbs out of it must not get there.
    plain = not {"", ".", ".."} & set(revision.split("/"))
    if not plain or not re.fullmatch(r"[\w.+/-]+", revision, re.ASCII):
        raise LayerwiseError(
            f"{hub_id}: a revision is a commit, tag or branch of letters, digits and . _ + - /, "
            f"found {revision!r:.80}; take one from the history on its model page"
        )
    with _explained(hub_id, revision):
        check_config(_download(hub_id, revision, ["config.json"]))
        snapshot = _download(hub_id, revision, _FILES)
    if not any(snapshot.glob("*.safetensors")):
        _refuse_pickles(hub_id, revision)
    return snapshot


def _download(hub_id: str, revision: str, patterns: list[str]) -> Path:
    return Path(
        huggingface_hub.snapshot_download(hub_id, revision=revision, allow_patterns=patterns)
    )


def require_hub(model: Model) -> None:
    """The model is in the local cache, or the hub gives it to this user.

    Raises:
        LayerwiseError: if neither; a gated one without access among them.
    """
    with _explained(model.hub, str(model.revision)):
        if _cached_file(model, "config.json") is None:
            huggingface_hub.HfApi().model_info(model.hub, revision=model.revision, timeout=10)
            if model.gated:  # whose page everybody may see
                huggingface_hub.HfApi().auth_check(model.hub)


def unavailable(model: Model) -> str | None:
    """Why nothing of a model can be measured here; None: it can be had.

    Raises:
        TryAgainError: if the hub cannot be asked.
    """
    if model.skipped:
        return model.skipped
    try:
        require_hub(model)
    except TryAgainError:
        raise
    except LayerwiseError as error:
        return str(error)
    return None


def cached(model: Model) -> str:
    """`yes`, `no`, or `part` where only weights are missing; the network is not asked."""
    if _cached_file(model, "config.json") is None:
        return "no"
    index = _cached_file(model, INDEX)
    names = set(read_json(index)["weight_map"].values()) if index else {WEIGHTS}
    there = _cached_file(model, WEIGHTS) or all(_cached_file(model, name) for name in names)
    return "yes" if there else "part"


def _cached_file(model: Model, name: str) -> Path | None:
    found = huggingface_hub.try_to_load_from_cache(model.hub, name, revision=model.revision)
    return Path(found) if isinstance(found, str) else None


def _refuse_pickles(hub_id: str, revision: str) -> None:
    try:
        names = huggingface_hub.HfApi().list_repo_files(hub_id, revision=revision)
    except (hub_errors.HfHubHTTPError, hub_errors.OfflineModeIsEnabled, OSError):
        return  # the folder will be refused for having no weights
    if pickled := sorted(name for name in names if name.endswith(_PICKLED)):
        raise LayerwiseError(
            f"{hub_id} at {revision} has pickled weights only ({', '.join(pickled[:3])}), which "
            "can run code and are never loaded; record a revision that has *.safetensors (often "
            "a pull request of the hub's converter), or save it as safetensors once and give "
            "that folder"
        )


@contextlib.contextmanager
def _explained(hub_id: str, revision: str) -> Iterator[None]:
    """Inside the block, what the hub answers becomes one sentence with the next step."""
    try:
        yield
    except Exception as error:
        for kind, said in _ANSWERS.items():
            if isinstance(error, kind):
                told = said.format(hub=hub_id, revision=revision, error=error)
                raise LayerwiseError(told) from None
        # of the client's own errors only some are OSErrors
        if isinstance(error, OSError) or type(error).__module__.startswith("httpx"):
            raise _not_reached(hub_id, revision, error) from None
        raise


def _not_reached(hub_id: str, revision: str, error: Exception) -> LayerwiseError:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return LayerwiseError(
            f"{hub_id} at {revision}: the hub refuses this user (HTTP {status}); log in again "
            "with `hf auth login`, or correct HF_TOKEN"
        )
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return TryAgainError(
            f"{hub_id} at {revision}: no room for it in {huggingface_hub.constants.HF_HUB_CACHE}; "
            "make room, or set HF_HOME to a folder on another disk"
        )
    offline = isinstance(error, hub_errors.OfflineModeIsEnabled)
    return (LayerwiseError if offline else TryAgainError)(
        f"{hub_id} at {revision} is not in the local cache and the hub cannot be reached "
        f"({type(error).__name__}); connect to the network, unset HF_HUB_OFFLINE, or give a "
        "checkpoint folder that exists"
    )
