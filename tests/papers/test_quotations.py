"""Quotations: what a contradicted claim quotes stands in that file of upstream's, at that line."""

import tarfile
from pathlib import Path

import pytest

from layerwise.engine.claims import read_ledger
from layerwise.papers.shared.published import read_published

ROOT = Path(__file__).parents[2]
CLAIMS = read_ledger(ROOT / "claims", read_published(ROOT / "published"))
DENIED = [claim for claim in CLAIMS if claim.quote is not None]
ARCHIVE = ".tar.gz/"


def lines_of(upstream: Path, file: str) -> list[str]:
    """Return the lines of a file, or of a member of an archive; none where it is not there."""
    if ARCHIVE not in file:
        path = upstream / file
        return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    archive, _, member = file.partition("/")
    with tarfile.open(upstream / archive) as files:
        content = files.extractfile(member)
        assert content is not None
        return content.read().decode().splitlines()


@pytest.mark.parametrize("claim", DENIED, ids=lambda claim: claim.id)
def test_a_quotation_stands_where_it_is_said_to_stand(upstream_code: Path, claim) -> None:
    quotes = [claim.quote, *(denial for denial in claim.against if isinstance(denial, dict))]
    for quote in quotes:
        if "commit" in quote:
            continue  # the mirror is the pinned commit
        if lines := lines_of(upstream_code, quote["file"]):
            assert quote["text"] in lines[quote["line"] - 1], quote
