"""Quotations: what a contradicted claim quotes stands in that file of upstream's, at that line."""

import tarfile
from pathlib import Path

from judged import ledger

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


def test_a_quotation_stands_where_it_is_said_to_stand(upstream_code, root) -> None:
    checked, wrong = 0, []
    for claim in ledger(root):
        denials = [denial for denial in claim.against if isinstance(denial, dict)]
        for quote in [claim.quote, *denials] if claim.quote else []:
            if "commit" in quote:
                continue  # the mirror is the pinned commit
            if lines := lines_of(upstream_code, quote["file"]):
                checked += 1
                wrong += [] if quote["text"] in lines[quote["line"] - 1] else [(claim.id, quote)]
    assert checked > 10
    assert wrong == []
