"""What the hub's client raises -> one sentence: the rule, the client's own words, the next step."""

import contextlib
import functools
from collections.abc import Iterator

import huggingface_hub
from huggingface_hub import errors as hub_errors

from layerwise.errors import LayerwiseError, TryAgainError, UnreachedError

# What the hub answers, the narrower before the wider.
_ANSWERS: dict[type[Exception], str] = {
    hub_errors.GatedRepoError: "{hub} is gated: accept its licence at {page}, then log in "
    "with `hf auth login` or set HF_TOKEN ({words})",
    hub_errors.RepositoryNotFoundError: "{hub}: neither a local folder nor a model on the hub (or "
    "a private one); check the spelling, or log in with `hf auth login`",
    hub_errors.RevisionNotFoundError: "{hub}: the hub has no revision {revision!r}; take a commit, "
    "tag or branch from the history at {page}/commits/main",
    hub_errors.HFValidationError: "{hub}: there is no such folder here; check the path, or give a "
    "model of the hub as `organisation/name`",
    hub_errors.OfflineModeIsEnabled: "there is no folder {hub} here, and the model of the hub "
    "{hub} at {revision} is not in the local cache, and "
    "HF_HUB_OFFLINE forbids to ask the hub; unset it, or fill the cache where there is a network",
}
PROBE = 3  # seconds until the way to the hub is taken to be closed
_UNREACHED = ("ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol")


@functools.lru_cache
def require_reach(address: str) -> None:
    """Ask the hub for a word, whatever it is: its client tries for half a minute, aloud.

    That there is a way is asked once per process.

    Raises:
        UnreachedError: if there is no way to the hub.
    """
    try:
        huggingface_hub.get_session().head(address, timeout=PROBE, follow_redirects=False)
    except Exception as error:
        if type(error).__name__ in _UNREACHED:
            raise UnreachedError(
                f"not in the local cache, and the hub cannot be reached ({type(error).__name__}); "
                "connect to the network, or check the path of the folder"
            ) from None


@contextlib.contextmanager
def reword_hub_errors(hub_id: str, revision: str) -> Iterator[None]:
    """Inside the block, what the hub answers, or a transfer that breaks off, becomes a sentence."""
    try:
        yield
    except LayerwiseError:
        raise
    except Exception as error:
        raise _in_a_sentence(error, hub_id, revision) from None


def _in_a_sentence(error: Exception, hub_id: str, revision: str) -> Exception:
    """Return the error in words; what is not the hub's, nor a transfer's, is returned as it is."""
    while isinstance(error, hub_errors.LocalEntryNotFoundError) and error.__cause__:
        error = error.__cause__  # type: ignore[assignment]  # the client looks into its cache last
    words = str(getattr(error, "server_message", None) or error).strip().partition("\n")[0]
    page = f"{huggingface_hub.constants.ENDPOINT}/{hub_id}"
    for kind, answer in _ANSWERS.items():
        if isinstance(error, kind):
            return LayerwiseError(
                answer.format(hub=hub_id, revision=revision, page=page, words=words)
            )
    place = f"{hub_id} at {revision}"
    if isinstance(error, hub_errors.HfHubHTTPError):
        status = error.response.status_code
        if status == 429 or status >= 500:
            return TryAgainError(
                f"{place}: the hub answers HTTP {status} ({words}); try again later"
            )
        if status in (404, 410):
            return LayerwiseError(
                f"{place}: the hub has no such file ({words}); see what it has at "
                f"{page}/tree/{revision}, or take another revision"
            )
        return LayerwiseError(
            f"{place}: the hub refuses this user ({words}); look at {page} for a licence to "
            "accept, or log in with `hf auth login`"
        )
    is_of_system = isinstance(error, OSError) and error.errno is not None  # a full disk, say
    is_transfer = isinstance(error, OSError | RuntimeError) and not is_of_system
    if is_transfer or type(error).__module__.startswith("httpx"):
        return TryAgainError(
            f"{place}: the transfer from the hub was not whole ({words}); run it again"
        )
    return error
