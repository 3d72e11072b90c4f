"""Where published files come from: upstream's address, another address, or a folder."""

import hashlib
import re
import time
from pathlib import Path
from typing import NamedTuple

import requests

from layerwise.errors import LayerwiseError, address_shown
from layerwise.shapes import read_place

MIRROR_VARIABLE = "LAYERWISE_MIRROR"
TIMEOUT = (3, 30)  # seconds until there is a way, and without a byte
LARGEST = 2**26  # bytes of a file whose size is not pinned


class Address(NamedTuple):
    """The address of a mirror, with a final slash; what errors say of it has no password."""

    url: str
    shown: str

    def __str__(self) -> str:
        return self.shown


Mirror = Path | Address  # laid out like upstream


class MissingFile(LayerwiseError):
    """The mirror is there, but does not have the file."""


class Pin(NamedTuple):
    """The demands on a file: its sha256 in hexadecimal, and size in bytes where it is known."""

    sha256: str
    size: int | None = None

    @property
    def most(self) -> int:
        """The bytes that are worth reading: with one more it is another file."""
        return self.size or LARGEST

    def check(self, place: str, content: bytes) -> bytes:
        """The content, if it is that."""
        digest = hashlib.sha256(content).hexdigest()
        if digest == self.sha256:
            return content
        if self.size is not None and len(content) < self.size:
            said = f"cut off, {len(content)} of {self.size} bytes came; try again, or complete the"
            raise LayerwiseError(f"{place}: {said} mirror")
        more = f", of more than {self.most} bytes" if len(content) > self.most else ""
        raise LayerwiseError(
            f"{place}: wrong bytes, expected sha256 {self.sha256}, found {digest}{more}; "
            "take the file of the pinned commit"
        )


def open_mirror(name: str) -> Mirror:
    """The mirror at a folder or at an http(s) address."""
    shown, check = address_shown(name), f"check {MIRROR_VARIABLE}, or `layerwise fetch --mirror`"
    if (folder := read_place("mirror", name)).is_dir():
        return folder
    address = re.fullmatch(r"https?://[^\s?#]+", name)
    if address is None or "@" in name.partition("://")[2].partition("/")[2]:
        raise LayerwiseError(
            f"the mirror {shown} must be a folder, there is none, or an address with http:// or "
            "https://, without a query, with / @ and spaces in a password written as %2F %40 %20; "
            f"{check}"
        )
    return Address(name.rstrip("/") + "/", shown.rstrip("/") + "/")


def read(mirror: Mirror, path: str, pin: Pin, retries: int) -> bytes:
    """Return the verified bytes of a file, asked for again after 1, 2, ... seconds if it fails.

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
            return _download(mirror, path, pin)
        except MissingFile:
            raise
        except LayerwiseError:
            time.sleep(wait)
    return _download(mirror, path, pin)


def _download(mirror: Address, path: str, pin: Pin) -> bytes:
    content, status, place = b"", 0, f"{mirror}{path}"
    try:
        with requests.get(mirror.url + path, timeout=TIMEOUT, stream=True) as answer:
            status = answer.status_code
            answer.raise_for_status()
            for piece in answer.iter_content(2**16):
                content += piece
                if len(content) > pin.most:  # however many more would come
                    break
    except (requests.RequestException, ValueError) as error:
        if status in (404, 410):
            raise MissingFile(
                f"{place}: no such file (HTTP {status}); complete the mirror"
            ) from None
        said = f"HTTP {status}" if status >= 400 else type(error).__name__
        raise LayerwiseError(
            f"{place}: cannot be read ({said}); check the network and the address, try again "
            f"later, or name a mirror in {MIRROR_VARIABLE}"
        ) from None
    return pin.check(place, content)
