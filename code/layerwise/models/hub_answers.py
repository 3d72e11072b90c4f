"""What the hub's client raises -> one sentence: the rule, the client's own words, the next step."""

import contextlib
import errno
import functools
import re
from collections.abc import Iterator

import huggingface_hub
from huggingface_hub import errors as hub_errors

from layerwise.errors import LayerwiseError, TryAgainError, UnreachedError, refused

WORDS = 240  # characters of the client's, or of the hub's
# What the hub answers, the narrower before the wider.
_ANSWERS: dict[type[Exception], str] = {
    hub_errors.GatedRepoError: "{hub} is gated: accept its licence at {page}, then log in "
    "with `hf auth login` or set HF_TOKEN ({words})",
    hub_errors.RepositoryNotFoundError: "{hub}: neither a local folder nor a model on the hub (or "
    "a private one); check the spelling, or log in with `hf auth login`",
    hub_errors.RevisionNotFoundError: "{hub}: the hub has no revision {revision!r}; take a commit, "
    "tag or branch from the history at {page}/commits/main",
    hub_errors.HFValidationError: "{hub}: no such folder, and not a model id `organisation/name` "
    "({words}); check the path",
    hub_errors.RemoteEntryNotFoundError: "{hub} at {revision}: a file that is needed is not there "
    "({words}); take another revision from the history at {page}/commits/main",
    hub_errors.OfflineModeIsEnabled: "{hub} at {revision} is not in the local cache, and "
    "HF_HUB_OFFLINE forbids to ask the hub; unset it, or fill the cache where there is a network",
}
_STATUS = {
    401: "{hub} at {revision}: the hub refuses this user ({words}); log in again with "
    "`hf auth login`, or correct HF_TOKEN",
    403: "{hub} at {revision}: the hub refuses this user ({words}); look at {page}, where a "
    "licence may wait to be accepted, or take an HF_TOKEN that may read it",
    429: "{hub} at {revision}: the hub was asked too often ({words}); try again {after}, or log in "
    "with `hf auth login`: users may ask more often",
}
_OTHER = "{hub} at {revision}: the hub answers HTTP {status} ({words}); try again later"
PROBE = 3  # seconds until the way to the hub is taken to be closed
_UNREACHED = ("ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol")


@functools.lru_cache
def require_reach(address: str) -> None:
    """Ask the hub for a word, whatever it is: its client tries for half a minute, aloud.

    That there is a way is asked once per process. Raises what the client raises.
    """
    try:
        huggingface_hub.get_session().head(address, timeout=PROBE, follow_redirects=False)
    except Exception as error:
        if type(error).__name__ in _UNREACHED:
            raise


@contextlib.contextmanager
def explained(hub_id: str, revision: str) -> Iterator[None]:
    """Inside the block, what the hub answers, or the way to it, becomes one sentence."""
    # The client joins a revision to the cache's path; what climbs out of it must not get there.
    plain = not {"", ".", ".."} & set(revision.split("/"))
    if not plain or not re.fullmatch(r"[\w.+/-]+", revision, re.ASCII):
        raise LayerwiseError(
            f"{hub_id}: a revision is a commit, tag or branch of letters, digits and . _ + - /, "
            f"found {revision!r:.80}; take one from the history on its model page"
        )
    try:
        yield
    except LayerwiseError:
        raise
    except Exception as raised:
        error: BaseException = raised
        while isinstance(error, hub_errors.LocalEntryNotFoundError) and error.__cause__:
            error = error.__cause__  # the client looks into its cache last
        lines = (getattr(error, "server_message", None) or str(error)).splitlines()
        words = next(filter(str.strip, lines), type(error).__name__).strip()
        page = f"{huggingface_hub.constants.ENDPOINT}/{hub_id}"
        about = {"hub": hub_id, "revision": revision, "page": page, "words": f"{words:.{WORDS}}"}
        for kind, said in _ANSWERS.items():
            if isinstance(error, kind):
                raise LayerwiseError(said.format(**about)) from None
        if isinstance(error, hub_errors.HfHubHTTPError):
            raise _of_status(error, about) from None
        # of the client's own errors only some are OSErrors
        if isinstance(error, OSError | RuntimeError) or type(error).__module__.startswith("httpx"):
            raise _of_transfer(error, about) from None
        raise


def _of_status(error: hub_errors.HfHubHTTPError, about: dict[str, str]) -> LayerwiseError:
    status = error.response.status_code
    seconds = error.response.headers.get("retry-after", "")
    after = f"after {seconds:.20} seconds" if seconds.isdecimal() else "in some minutes"
    kind = LayerwiseError if status in (401, 403) else TryAgainError
    return kind(_STATUS.get(status, _OTHER).format(**about, after=after, status=status))


def _of_transfer(error: BaseException, about: dict[str, str]) -> LayerwiseError:
    number = error.errno if isinstance(error, OSError) else None
    kind = TryAgainError
    if number in (errno.ENOSPC, errno.EDQUOT):
        place = huggingface_hub.constants.HF_HUB_CACHE
        said = f"no room for it in {place}; make room, or set HF_HOME to a folder on another disk"
    elif isinstance(error, OSError) and error.filename:
        said = refused(error)
    elif type(error).__name__ in _UNREACHED:
        kind = UnreachedError
        said = (
            f"not in the local cache, and the hub cannot be reached ({about['words']}); connect to "
            "the network, or give a checkpoint folder that exists"
        )
    else:
        said = f"the transfer from the hub was not whole ({about['words']}); run it again"
    return kind(f"{about['hub']} at {about['revision']}: {said}")
