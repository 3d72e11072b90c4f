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
from layerwise.files import read_json
from layerwise.inputs.models import Model

_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_PICKLED = (".bin", ".pt", ".pth", ".ckpt")


def fetch_config(hub_id: str, revision: str) -> Path:
    """The snapshot folder with config.json alone: it can be refused before gigabytes arrive.

    Raises:
        LayerwiseError: as in `fetch`.
    """
    _check_revision(hub_id, revision)
    with _explained(hub_id, revision):
        return Path(
            huggingface_hub.snapshot_download(
                hub_id, revision=revision, allow_patterns=["config.json"]
            )
        )


def fetch(hub_id: str, revision: str) -> Path:
    """The snapshot folder with config, tokenizer and safetensors weights, nothing else.

    Raises:
        LayerwiseError: if the model is not to be had: no network, gated, no such model or
            revision, a revision that is no name, pickled weights only, or no room in the cache.
    """
    _check_revision(hub_id, revision)
    with _explained(hub_id, revision):
        snapshot = Path(
            huggingface_hub.snapshot_download(hub_id, revision=revision, allow_patterns=_FILES)
        )
    if not any(snapshot.glob("*.safetensors")):
        _refuse_pickles(hub_id, revision)
    return snapshot


def require_hub(models: list[Model]) -> None:
    """Every model is in the local cache, or the hub gives it to this user.

    Raises:
        LayerwiseError: for a model of neither kind, gated ones without access among them.
    """
    if unresolved := [model.slug for model in models if None in (model.hub, model.revision)]:
        raise LayerwiseError(
            f"no revision is recorded for {', '.join(unresolved)}; look the commits up on the "
            "model pages and write them into the registry"
        )
    for model in models:
        hub, revision = str(model.hub), str(model.revision)
        with _explained(hub, revision):
            cached = huggingface_hub.try_to_load_from_cache(hub, "config.json", revision=revision)
            if isinstance(cached, str):
                continue
            huggingface_hub.HfApi().model_info(hub, revision=revision, timeout=10)
            if model.gated:  # whose page everybody may see
                huggingface_hub.HfApi().auth_check(hub)


def unavailable(model: Model) -> str | None:
    """Why nothing of a model can be measured here; None: it can be had.

    Raises:
        TryAgainError: if the hub cannot be asked.
    """
    if model.skipped:
        return model.skipped
    try:
        require_hub([model])
    except TryAgainError:
        raise
    except LayerwiseError as error:
        return str(error)
    return None


def cached(model: Model) -> str:
    """`yes`, `no`, or `part` where only weights are missing; the network is not asked."""

    def find(name: str) -> Path | None:
        found = huggingface_hub.try_to_load_from_cache(model.hub, name, revision=model.revision)
        return Path(found) if isinstance(found, str) else None

    if find("config.json") is None:
        return "no"
    whole, index = (find(name) for name in _WEIGHTS)
    shards = set(read_json(index)["weight_map"].values()) if index else set()
    there = whole or (shards and all(find(shard) for shard in shards))
    return "yes" if there else "part"


def _check_revision(hub_id: str, revision: str) -> None:
    """The client joins a revision to the cache's path; what climbs out of it must not get there."""
    parts = revision.split("/")
    if not re.fullmatch(r"[\w.+/-]+", revision, re.ASCII) or not all(map(_is_plain, parts)):
        raise LayerwiseError(
            f"{hub_id}: a revision is a commit, tag or branch of letters, digits and . _ + - /, "
            f"found {revision!r:.80}; take one from the history on its model page"
        )


def _is_plain(part: str) -> bool:
    return part not in ("", ".", "..")


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
    except hub_errors.GatedRepoError:
        raise LayerwiseError(
            f"{hub_id} is gated: accept its licence on its model page, then log in with "
            "`hf auth login` or set HF_TOKEN"
        ) from None
    except hub_errors.RepositoryNotFoundError:
        raise LayerwiseError(
            f"{hub_id}: neither a local folder nor a model on the hub (or a private one); "
            "check the spelling, or log in with `hf auth login`"
        ) from None
    except hub_errors.RevisionNotFoundError:
        raise LayerwiseError(
            f"{hub_id}: the hub has no revision {revision!r}; take a commit, tag or branch from "
            "the history on its model page"
        ) from None
    except hub_errors.HFValidationError as error:
        raise LayerwiseError(
            f"{hub_id}: no such folder, and not a model id `organisation/name` ({error}); "
            "check the path"
        ) from None
    except Exception as error:
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
