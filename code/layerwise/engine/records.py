"""Judged claims, `results/SOURCE/claims.json`, as pages, figures and the command line read them.

A version and a seal, one SHA-256 over the content, stand for every check of a field: what this
version wrote and nobody changed is right; all else is judged again.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from layerwise.engine.marks import mark_text
from layerwise.engine.verdicts import count_verdicts
from layerwise.errors import LayerwiseError
from layerwise.files import read_json, sha256_of
from layerwise.home import is_repository, judged_claims
from layerwise.progress import say

AGAIN = "judge the ledger again"
REMAKE = {"published": "make reproduce", "measured": "dvc repro judge@measured"}
FORMAT = 3  # of claims.json: one more where a field changes its name, its place or its meaning
SEAL = "seal"
JUDGED_FROM = ("claims", "published")  # the folders of the repository


def seal_of(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document's content, without its seal, whatever the order of keys."""
    content = {name: part for name, part in document.items() if name != SEAL}
    text = json.dumps(json.loads(json.dumps(content)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return judged claims with the version of their format and a seal, as `read_judged` asks."""
    versioned = {"format": FORMAT, **document}
    return {**versioned, SEAL: seal_of(versioned)}


def verdicts_csv(document: Mapping[str, Any]) -> str:
    """Return the mark of every central claim and the verdict of every claim, a line each."""
    rows = [
        ("central", claim["id"], mark_text(claim["mark"], claim["why"]))
        for claim in document["central"]
    ]
    rows += [("claim", record["id"], record["verdict"]) for record in document["claims"]]
    return "".join(f"{','.join(row)}\n" for row in [("kind", "id", "verdict"), *rows])


def judged(source: str, results: Path) -> dict[str, Any]:
    """Return the judged claims of a source, of the folder of all results.

    A line on stderr says if the repository around that folder has changed since they were judged.
    """
    document = read_judged(judged_claims(source, results), source)
    if changed := changed_files(document, results):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        say(f"judged from other files ({changed[0]}{more}); run `{REMAKE[source]}`")
    return document


def read_judged(path: Path, source: str, statistics: Path | None = None) -> dict[str, Any]:
    """Read the judged claims of a source, once STATISTICS are the files they were judged by.

    Raises:
        LayerwiseError: if the ledger was not judged yet, or for another source, or by other
            statistics; if another version wrote the file, or it was changed since.
    """
    if not path.exists():
        raise LayerwiseError(
            f"{path}: the ledger was not judged for source {source!r} yet; run `make reproduce` "
            "(or `make reproduce-full` for source measured) first"
        )
    document: dict[str, Any] = read_json(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise LayerwiseError(
            f"{path}: judged claims must have format {FORMAT}, another version wrote these; {AGAIN}"
        )
    if document.get(SEAL) != seal_of(document):
        raise LayerwiseError(
            f"{path}: the file must be as it was written, it was changed since; {AGAIN}"
        )
    if document["source"] != source:
        raise LayerwiseError(
            f"{path}: claims of source {source!r} are wanted, these were judged for "
            f"{document['source']!r}; give that source's claims.json"
        )
    if statistics:
        gone = dict.fromkeys(document["statistics"], "")
        require_judged(document, gone | hashes_of(statistics), statistics)
        if changed := changed_files(document, path.parents[1]):
            raise LayerwiseError(
                f"{path}: judged from other files ({changed[0]}); "
                f"run `dvc repro judge@{source}` first"
            )
    return document


def count_by_paper(records: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Return how often each verdict was given, by paper."""
    counts: dict[str, dict[str, int]] = count_verdicts(
        records, lambda record: f"paper{record['paper']}"
    )
    return counts


def hashes_of(folder: Path, pattern: str = "*.json") -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by relative path."""
    files = sorted(path for path in folder.rglob(pattern) if path.is_file())
    return {file.relative_to(folder).as_posix(): sha256_of(file) for file in files}


def hashes_judged_from(claims: Path, published: Path) -> dict[str, str]:
    """Return the SHA-256 of the ledger and of the published numbers, by path in the repository."""
    folders = zip(JUDGED_FROM, (claims, published), strict=True)
    return {
        f"{name}/{path}": sha256
        for name, folder in folders
        for pattern in ("*.yaml", "*.csv")
        for path, sha256 in hashes_of(folder, pattern).items()
    }


def changed_files(document: Mapping[str, Any], results: Path) -> list[str]:
    """Return the files of ledger and published numbers that are not as they were when judged.

    Empty where RESULTS is not the folder of a repository: a wheel brings some of these files only.
    """
    root = results.parent
    if not is_repository(root):
        return []
    now = hashes_judged_from(*(root / folder for folder in JUDGED_FROM))
    then = document["judged_from"]
    return sorted(path for path in now.keys() | then.keys() if now.get(path) != then.get(path))


def require_judged(document: dict[str, Any], hashes: Mapping[str, str], statistics: Path) -> None:
    """Refuse statistics of which a file was written, changed or removed since they were judged.

    Arguments:
        hashes: `hashes_of` the folder of the statistics, or some of them.
    """
    for name, sha256 in hashes.items():
        if sha256 != document["statistics"].get(name):
            raise LayerwiseError(
                f"{statistics / name}: these statistics are not the ones that were judged; "
                f"run `dvc repro judge@{document['source']}` first"
            )
