"""Which claims need the noise of 16 bits: those of which some run rounded to them."""

from pathlib import Path

import pytest

from layerwise.engine.claims import Claim
from layerwise.engine.judged import NO_NOISE
from layerwise.engine.origins import Origins
from layerwise.engine.published import Published
from layerwise.engine.verdicts import Statistics, judge
from layerwise.models.registry import read_models

MODELS = read_models(Path(__file__).parents[2] / "models.yaml")
RUNS = {
    "sweep": {"dtype": "float32", "fragments": {"f.json": {"/sweep": 0.1}}},
    "hunt": {"dtype": "float32", "fragments": {"f.json": {"/hunt": 0.1}}},
    "bench": {"dtype": "float16", "fragments": {"f.json": {"/bench": 0.1}}},
}


@pytest.mark.parametrize(
    ("cells", "needs_noise"),
    [
        (["sweep"], False),
        (["sweep", "hunt"], False),
        (["bench"], True),
        (["sweep", "bench"], True),  # one run in 16 bits is enough
        (["bench", "sweep"], True),
    ],
)
def test_noise_is_asked_for_if_and_only_if_some_run_rounded_to_16_bits(cells, needs_noise):
    claim = Claim(
        id="p2.x",
        paper=2,
        document="paper",
        where="t",
        quantity="r",
        printed=0.1,
        decimals=3,
        statistic="layers:m:/r",
        tolerance="measured",
    )
    statistics = Statistics(
        "measured",
        {"layers": {"m": {"r": 0.1}}},
        derived={"layers:m:/r": [f"f.json#/{name}" for name in cells]},
        origins=Origins({"gpt2": {"runs": RUNS, "absent": {}}}, MODELS, Published({})),
    )
    assert (judge(claim, statistics).verdict == NO_NOISE) is needs_noise
