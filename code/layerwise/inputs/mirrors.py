"""Where published files come from: upstream's address, another address, or a folder."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import requests
from requests.exceptions import (
    ChunkedEncodingError,
    ContentDecodingError,
    InvalidHeader,
    InvalidSchema,
    RequestException,
    TooManyRedirects,
)

from layerwise.errors import LayerwiseError
from layerwise.progress import within

MIRROR_VARIABLE = "LAYERWISE_MIRROR"
TIMEOUT = 30  # seconds without a byte
DEADLINE = 600  # seconds for all of it
LARGEST = 2**26  # bytes of a file whose size is not pinned
T = TypeVar("T")

Mirror = Path | str  # a folder or an address with a final slash, laid out like upstream


class MissingFile(LayerwiseError):
    """The mirror is there, but does not have the file."""


class Pin(NamedTuple):
    """What a file must be: sha256 in hexadecimal, and its size in bytes where it is known."""

    sha256: str
    size: int | None = None

    @property
    def most(self) -> int:
        """Bytes that are worth reading: with one more it is another file."""
        return self.size or LARGEST

    def check(self, place: str, content: bytes) -> bytes:
        """The content, if it is that.

        Raises:
            LayerwiseError: naming `place`, distinct for a cut file and for wrong bytes.
        """
        found = hashlib.sha256(content).hexdigest()
        if found == self.sha256:
            return content
        if len(content) > self.most:
            raise LayerwiseError(
                f"{place}: it has at most {self.most} bytes, and more came; take the file of the "
                "pinned commit"
            )
        if self.size is not None and len(content) < self.size:
            raise LayerwiseError(
                f"{place}: cut off, {len(content)} of {self.size} bytes came; "
                "try again, or complete the mirror"
            )
        raise LayerwiseError(
            f"{place}: wrong bytes, expected sha256 {self.sha256}, found {found}; "
            "take the file of the pinned commit"
        )


def open_mirror(name: str) -> Mirror:
    """The mirror at a folder or at an http(s) address.

    Raises:
        LayerwiseError: if it is neither.
    """
    try:
        scheme = urlsplit(name).scheme
    except ValueError as error:
        raise LayerwiseError(
            f"the address {name} of a mirror is none: {error}; correct it"
        ) from None
    if scheme in ("http", "https"):
        return name.rstrip("/") + "/"
    if "://" in name:
        raise LayerwiseError(
            f"a mirror is a folder or an address with http:// or https://, found {name!r}"
        )
    if not Path(name).is_dir():
        raise LayerwiseError(
            f"the mirror {name} must be a folder, there is none; "
            f"check --mirror or {MIRROR_VARIABLE}"
        )
    return Path(name)


def read(mirror: Mirror, path: str, pin: Pin, retries: int) -> bytes:
    """Verified bytes of a file, asked for again after 1, 2, ... seconds if it did not come whole.

    Raises:
        MissingFile: if it is not there.
        LayerwiseError: distinct for no network, a cut transfer and wrong bytes.
    """
    if isinstance(mirror, Path):
        if not (mirror / path).is_file():
            raise MissingFile(f"the mirror {mirror} has no file {path}; complete the mirror")
        with (mirror / path).open("rb") as file:
            return pin.check(str(mirror / path), file.read(pin.most + 1))
    for wait in range(1, retries + 1):
        try:
            return _download(mirror + path, pin)
        except MissingFile:
            raise
        except LayerwiseError:
            time.sleep(wait)
    return _download(mirror + path, pin)


def in_time(work: Callable[[], T]) -> T:
    """What `work` gives, if it is done before the deadline, however slowly the bytes drip."""
    return within(
        DEADLINE,
        f"upstream or its mirror took more than {DEADLINE} seconds; try again later, or name "
        f"another mirror with --mirror or {MIRROR_VARIABLE}",
        work,
    )


def _download(url: str, pin: Pin) -> bytes:
    content = b""
    try:
        with requests.get(url, timeout=TIMEOUT, stream=True) as answer:
            if answer.ok:
                for piece in answer.iter_content(2**16):
                    content += piece
                    if len(content) > pin.most:  # however many more would come
                        break
    except (ChunkedEncodingError, ContentDecodingError):
        raise LayerwiseError(f"{url}: the transfer broke off before the end; try again") from None
    except (InvalidHeader, InvalidSchema, TooManyRedirects) as error:
        raise LayerwiseError(
            f"{url}: no server of files answers so ({type(error).__name__}); check the address"
        ) from None
    except (RequestException, ValueError) as error:
        raise LayerwiseError(
            f"{url}: cannot be reached ({type(error).__name__}); "
            f"check the network, or name a mirror with --mirror or {MIRROR_VARIABLE}"
        ) from None
    if answer.status_code in (404, 410):
        raise MissingFile(
            f"{url}: no such file (HTTP {answer.status_code}); "
            "check the address or complete the mirror"
        )
    if not answer.ok:
        raise LayerwiseError(
            f"{url}: the server answers HTTP {answer.status_code}; "
            "try again later, or name another mirror"
        )
    return pin.check(url, content)
