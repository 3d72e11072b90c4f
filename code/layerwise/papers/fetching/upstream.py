"""The published repository: fetch its statement pairs, prompts and result files, verified.

Every file is compared with the sha256 of `published/registry.csv`. A mirror (a folder or an
address, by argument or by the environment variable LAYERWISE_MIRROR) can stand in for upstream.
`prompts.json` is no file of upstream: it is made from the notebooks that
`published/prompt_sets.csv` lists, in one canonical form, so that a mirror that holds it gives the
same bytes.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.engine.published import DATASET, PROMPTS, read_table
from layerwise.errors import LayerwiseError
from layerwise.files import sha256_of, together
from layerwise.home import checkout, find_home
from layerwise.papers.fetching.mirrors import (
    MIRROR_VARIABLE,
    Mirror,
    MissingFile,
    Pin,
    open_mirror,
    read,
)
from layerwise.papers.fetching.notebooks import NotebookPrompts, prompts_document
from layerwise.shapes import read_place

COMMIT = "e3c7f94beb01a75e6774173ee3beeff3806d209c"
REPOSITORY = "https://github.com/buk81/uniformity-asymmetry"
ADDRESS = f"https://raw.githubusercontent.com/buk81/uniformity-asymmetry/{COMMIT}/"

DATA_FILES = (DATASET, PROMPTS)
PAPERS = "papers"  # in place of a file: what the papers used
PUBLISHED = find_home() / "published"
RETRIES = 3
PIN_COLUMNS = ("path", "sha256", "bytes")  # of registry.csv


class Registry(NamedTuple):
    """The pins by path in the upstream repository, and where the prompts stand."""

    pins: dict[str, Pin]
    prompt_sets: tuple[NotebookPrompts, ...]


def read_registry(folder: Path = PUBLISHED) -> Registry:
    """Read `registry.csv` (path, sha256, bytes) and `prompt_sets.csv` of `folder`.

    Raises:
        LayerwiseError: if a table is missing or has other columns, or a hash or a size is none.
    """
    pins, registry, sets = dict[str, Pin](), folder / "registry.csv", folder / "prompt_sets.csv"
    for line, (path, sha256, size) in read_table(registry, PIN_COLUMNS):
        if not re.fullmatch(r"[0-9a-f]{64},[1-9][0-9]{0,11}", f"{sha256},{size}"):
            raise LayerwiseError(
                f"{registry}, line {line}: a pin must be a sha256 of 64 hexadecimal digits and a "
                f"size in bytes, found {sha256!r:.80} and {size!r:.40}; restore the table"
            )
        pins[path] = Pin(sha256, int(size))
    rows = [row for _, row in read_table(sets, NotebookPrompts._fields)]
    return Registry(pins, tuple(NotebookPrompts(*row) for row in rows))


def pins_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of upstream's files, by path."""
    return {path: pin.sha256 for path, pin in read_registry(folder).pins.items()}


def fetch(
    target: Path,
    mirror: str | Path | None = None,
    *,
    published: Path = PUBLISHED,
    retries: int = RETRIES,
) -> None:
    """Put `dataset.json` and `prompts.json` into the folder `target`, whole and verified.

    Nothing is downloaded where both are there already; nothing is written unless both came whole.

    Args:
        mirror: a folder or an http(s) address laid out like upstream; by default the environment
            variable LAYERWISE_MIRROR, else upstream itself.
        published: the folder of `registry.csv` and `prompt_sets.csv`.

    Raises:
        LayerwiseError: distinct for no network, a missing file, a cut transfer and wrong bytes.
    """
    if target.exists() and not target.is_dir():
        raise LayerwiseError(f"{target}: the data go into a folder, this is a file; move it away")
    registry = read_registry(published)
    if all(_is_whole(target / name, registry.pins[name]) for name in DATA_FILES):
        return
    contents = _read(DATA_FILES, mirror, registry, retries)
    with together(target) as part:
        for name, content in zip(DATA_FILES, contents, strict=True):
            (part / name).write_bytes(content)


def papers_folder() -> Path:
    """The folder of the papers' texts: `data` in a checkout, elsewhere one in the user's cache."""
    if root := checkout():
        return root / "data"
    import platformdirs

    return platformdirs.user_cache_path("layerwise") / "papers"


def own_or_papers(what: str, given: Any, name: str) -> Any:
    """The path that a text is; for `papers` that of the pinned file, fetched if it is not there.

    What is no text and no path, say the contents of a file, stays what it is.

    Arguments:
        what: errors call it so.
        name: of the pinned file.
    """
    if not isinstance(given, str | Path):
        return given
    if given == PAPERS:
        fetch(folder := papers_folder())
        return folder / name
    path = read_place(what, given)
    if isinstance(given, str) and not path.exists():
        raise LayerwiseError(
            f"{given:.200}: no such file; check the path, or write the word {PAPERS} for the "
            "papers' own; in Python, texts themselves are given as a list or dictionary"
        )
    return path


def verify_data(folder: Path, *, published: Path = PUBLISHED) -> None:
    """Check that `folder` holds the pinned `dataset.json` and `prompts.json`."""
    registry = read_registry(published)
    for name in DATA_FILES:
        path = folder / name
        if not path.is_file():
            raise LayerwiseError(f"{path}: the data are not here; run `layerwise fetch`")
        if not _is_whole(path, registry.pins[name]):
            raise LayerwiseError(
                f"{path}: the data must be the pinned ones with sha256 "
                f"{registry.pins[name].sha256}, found {sha256_of(path)}; run `layerwise fetch`"
            )


def result_file(
    path: str,
    mirror: str | Path | None = None,
    *,
    published: Path = PUBLISHED,
    retries: int = RETRIES,
) -> bytes:
    """Return the verified bytes of one published file, by its path in the upstream repository."""
    registry = read_registry(published)
    if path not in registry.pins:
        raise LayerwiseError(
            f"{path}: no published file of this name in {published / 'registry.csv'}; "
            "check the path or pin the file there"
        )
    return _read([path], mirror, registry, retries)[0]


def _read(
    paths: Sequence[str], mirror: str | Path | None, registry: Registry, retries: int
) -> list[bytes]:
    name = os.environ.get(MIRROR_VARIABLE) or None if mirror is None else str(mirror)
    source = open_mirror(ADDRESS if name is None else name)

    def read_file(path: str) -> bytes:
        if path == PROMPTS and name is None:
            return _prompts(source, registry, retries)
        try:
            return read(source, path, registry.pins[path], retries)
        except MissingFile:
            if path != PROMPTS:
                raise
            return _prompts(source, registry, retries)  # a plain copy has the notebooks only

    return list(map(read_file, paths))


def _prompts(source: Mirror, registry: Registry, retries: int) -> bytes:
    try:
        content = prompts_document(
            registry.prompt_sets,
            lambda entry: read(source, entry.notebook, Pin(entry.sha256), retries),
        )
    except MissingFile as absent:
        raise LayerwiseError(
            f"{source}: it holds neither {PROMPTS} nor all the notebooks that it is made from "
            f"({absent})"
        ) from None
    return registry.pins[PROMPTS].check(f"{PROMPTS}, made from the notebooks", content)


def _is_whole(path: Path, pin: Pin) -> bool:
    return path.is_file() and sha256_of(path) == pin.sha256
