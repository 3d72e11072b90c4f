"""The band of a claim that rests on several runs: a narrow one if all of them were float32."""

import pytest

from layerwise.inputs.published import Published
from layerwise.ledger.claims import Claim
from layerwise.ledger.origins import Origins
from layerwise.ledger.verdicts import Statistics, judge

RUNS = {
    "sweep": {"dtype": "float32", "fragments": {"f.json": {"/sweep": 0.1}}},
    "hunt": {"dtype": "float32", "fragments": {"f.json": {"/hunt": 0.1}}},
    "bench": {"dtype": "float16", "fragments": {"f.json": {"/bench": 0.1}}},
}


@pytest.mark.parametrize("tolerance", ["half", "ua"])
@pytest.mark.parametrize(
    ("cells", "is_narrow"),
    [
        (["sweep"], True),
        (["sweep", "hunt"], True),
        (["bench"], False),
        (["sweep", "bench"], False),  # one run in half precision is enough
        (["bench", "sweep"], False),
        ([], False),  # nobody knows what measured it
    ],
)
def test_a_band_is_narrow_if_and_only_if_every_run_was_float32(tolerance, cells, is_narrow):
    claim = Claim(
        id="p2.x", paper=2, where="t", quantity="r", printed=0.1, decimals=3,
        statistic="layers:m:/r", tolerance=tolerance,
    )  # fmt: skip
    statistics = Statistics(
        "measured",
        {"layers": {"m": {"r": 0.1}}},
        derived={"layers:m:/r": [f"f.json#/{name}" for name in cells]},
        origins=Origins({"gpt2": {"runs": RUNS, "absent": {}}}, {}, Published({})),
    )
    record = judge(claim, statistics)
    assert record["tolerance"] == ("float32" if is_narrow else tolerance)
    assert record["provenance"]["runs"] == sorted(f"gpt2/{name}" for name in cells)
