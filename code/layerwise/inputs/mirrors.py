"""Where published files come from: upstream's address, another address, or a folder."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests.exceptions

from layerwise.errors import LayerwiseError

MIRROR_VARIABLE = "LAYERWISE_MIRROR"
TIMEOUT = 30  # seconds without a byte


class MissingFile(LayerwiseError):
    """The mirror is there, but does not have the file."""


@dataclass(frozen=True)
class Pin:
    """What a file must be: sha256 in hexadecimal, and its size in bytes where it is known."""

    sha256: str
    size: int | None = None

    def check(self, place: str, content: bytes) -> None:
        """Compare.

        Raises:
            LayerwiseError: naming `place`, distinct for a cut file and for wrong bytes.
        """
        found = hashlib.sha256(content).hexdigest()
        if found == self.sha256:
            return
        if self.size is not None and len(content) < self.size:
            raise LayerwiseError(
                f"{place}: cut off, {len(content)} of {self.size} bytes came; "
                "try again, or complete the mirror"
            )
        raise LayerwiseError(
            f"{place}: wrong bytes, expected sha256 {self.sha256}, found {found}; "
            "take the file of the pinned commit"
        )


def require_inside(place: Path, path: str) -> None:
    """Refuse a path that, joined to a mirror or a folder for downloads, would lead out of it.

    Raises:
        LayerwiseError: for a path that is absolute or has `..`; `place` is where it stands.
    """
    parts = path.split("/")
    if not path.isprintable() or "\\" in path or {"", ".", ".."} & set(parts):
        raise LayerwiseError(
            f"{place}: a file's path is relative to the upstream repository and without `..`, "
            f"found {path!r:.80}; correct the table"
        )


@dataclass(frozen=True)
class FolderMirror:
    """A folder laid out like the upstream repository."""

    folder: Path

    def read(self, path: str, pin: Pin) -> bytes:
        """Verified bytes of the file at `path`.

        Raises:
            MissingFile: if it is not there.
            LayerwiseError: distinct for a cut file and for wrong bytes.
        """
        file = self.folder / path
        if not file.is_file():
            raise MissingFile(f"the mirror {self.folder} has no file {path}; complete the mirror")
        content = file.read_bytes()
        pin.check(str(file), content)
        return content


@dataclass(frozen=True)
class AddressMirror:
    """An http(s) address laid out like the upstream repository, with a final slash."""

    address: str
    retries: int

    def read(self, path: str, pin: Pin) -> bytes:
        """Verified bytes of the file at `path`.

        Raises:
            MissingFile: if it is not there.
            LayerwiseError: distinct for no network, a cut transfer and wrong bytes.
        """
        url = self.address + path
        pooch.get_logger().setLevel("WARNING")

        def download(_: str, output: str, owner: pooch.Pooch) -> None:
            # pooch tries again on a network error or a ValueError: not where the file is missing
            http = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT)
            try:
                http(url, output, owner)
            except requests.exceptions.HTTPError as error:
                if _status(error) in (404, 410):
                    raise MissingFile(
                        f"{url}: no such file (HTTP {_status(error)}); "
                        "check the address or complete the mirror"
                    ) from None
                raise
            try:
                pin.check(url, Path(output).read_bytes())
            except LayerwiseError as error:
                raise ValueError(str(error)) from None

        with tempfile.TemporaryDirectory(prefix="layerwise-") as folder:
            registry = {path: f"sha256:{pin.sha256}"}
            cache = pooch.create(
                folder, self.address, registry=registry, retry_if_failed=self.retries
            )
            try:
                return Path(cache.fetch(path, downloader=download)).read_bytes()
            except (requests.exceptions.RequestException, ValueError) as error:
                raise _explained(url, error) from None


Mirror = FolderMirror | AddressMirror


def open_mirror(name: str, retries: int) -> Mirror:
    """The mirror at a folder or at an http(s) address.

    Raises:
        LayerwiseError: if it is neither.
    """
    if urlsplit(name).scheme in ("http", "https"):
        return AddressMirror(name.rstrip("/") + "/", retries)
    if "://" in name:
        raise LayerwiseError(
            f"a mirror is a folder or an address with http:// or https://, found {name!r}"
        )
    if not Path(name).is_dir():
        raise LayerwiseError(
            f"the mirror {name} must be a folder, there is none; "
            f"check --mirror or {MIRROR_VARIABLE}"
        )
    return FolderMirror(Path(name))


def _explained(url: str, error: Exception) -> LayerwiseError:
    cut = (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError)
    if isinstance(error, requests.exceptions.HTTPError):
        return LayerwiseError(
            f"{url}: the server answers HTTP {_status(error)}; "
            "try again later, or name another mirror"
        )
    if isinstance(error, cut):
        return LayerwiseError(f"{url}: the transfer broke off before the end; try again")
    if isinstance(error, requests.exceptions.RequestException):
        return LayerwiseError(
            f"{url}: cannot be reached ({type(error).__name__}); "
            f"check the network, or name a mirror with --mirror or {MIRROR_VARIABLE}"
        )
    return LayerwiseError(str(error))  # wrong or missing bytes, already in words


def _status(error: requests.exceptions.HTTPError) -> int | None:
    return None if error.response is None else error.response.status_code
