"""The file of judged claims: what is read is what was written, and all else is refused."""

from pathlib import Path
from typing import Any

import pytest

from claim_records import judged, record
from layerwise.engine.judged import NoisyNumber, NoisyWord, RandomDraws
from layerwise.engine.records import as_json, read_judged, sealed
from layerwise.errors import LayerwiseError
from layerwise.files import read_json, write_json


def test_the_published_record_is_written_as_it_was_read(results: Path, tmp_path: Path) -> None:
    path, again = results / "published" / "claims.json", tmp_path / "claims.json"
    write_json(again, sealed(as_json(read_judged(path, "published"), "published")))
    assert again.read_bytes() == path.read_bytes()


def test_a_measured_claim_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Also what a published source has nothing of: noise, random draws, runs, absences."""
    claims = [
        record("p2.a", noise=NoisyNumber([0.1, None], 5), control=RandomDraws(2, 1, ["x", None])),
        record("p2.b", noise=NoisyNumber(None, 5, shift=True), runs=["gpt2/sweep"]),
        record("p2.c", noise=NoisyWord(4, 5), verdict="too noisy to tell"),
        record("p2.d", recomputed=None, verdict="not measured", waits_for="gpt2"),
        record("p2.e", recomputed=None, verdict="not measured", waits_for=None),
    ]
    absent = {"reasons": {"sweep": "a gate"}, "claims": 1}
    runs = {"gpt2/sweep": {"dtype": "float16", "versions": {"torch": "2"}}}
    document = judged(claims, "measured", runs=runs, failed={"gpt2": absent}, left_out={})
    write_json(tmp_path / "claims.json", document)
    source = read_judged(tmp_path / "claims.json", "measured")
    assert source.claims == claims
    assert source.failed["gpt2"].claims == 1
    assert sealed(as_json(source, "measured")) == document


def spoilt(document: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return sealed({**document, "claims": [document["claims"][0] | fields]})


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("verdict", "fine"),
        ("paper", 4),
        ("paper", "1"),
        ("readings", None),
        ("noise", {"same": 1}),
        ("waits", "gpt2"),
    ],
)
def test_another_shape_is_refused_in_words(
    results: Path, tmp_path: Path, field: str, wrong: Any
) -> None:
    document = read_json(results / "published" / "claims.json")
    write_json(tmp_path / "claims.json", spoilt(document, **{field: wrong}))
    with pytest.raises(LayerwiseError, match=rf"claims\.0\.{field}.*; judge the ledger again"):
        read_judged(tmp_path / "claims.json", "published")
