"""The whole of source full, rehearsed on twins of all models: does every claim get a value?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from layerwise.analyses import MEASURED_DIRECTLY
from layerwise.inputs.published import read_published
from layerwise.ledger.claims import Claim, read_ledger
from layerwise.ledger.verdicts import Statistics, select
from layerwise.steps.judge import read_statistics

ROOT = Path(__file__).resolve().parent.parent
MINI = ROOT / "code" / "layerwise" / "inputs" / "rehearsal"
PER_CATEGORY = 6  # statement pairs, half of the built-in ones
FAMILY = ("pythia-410m", "pythia-1p4b", "pythia-6p9b", "pythia-12b")
PARAMS = """\
extract: {tokens_per_batch: 2048}
measure: {layer_step: 4, seed: 42, bins: {k_values: [10], n_permutations: 2, k_stable: 20}}
infer: {n_resamples: 300, level: 0.95, seed: 42}
"""


@pytest.fixture(scope="module")
def statistics(tmp_path_factory: pytest.TempPathFactory) -> Statistics:
    """The stages as the pipeline runs them, fewer resamples, without the shape checks of tests."""
    folder = tmp_path_factory.mktemp("rehearsal")
    (folder / "params.yaml").write_text(PARAMS)
    everything = json.loads((MINI / "pairs.json").read_text(encoding="utf-8"))
    fewer = {name: {"pairs": of["pairs"][:PER_CATEGORY]} for name, of in everything.items()}
    (folder / "pairs.json").write_text(json.dumps(fewer), encoding="utf-8")
    pairs = ["--pairs", "pairs.json"]
    _layerwise(folder, "rehearse", *pairs, "--prompts", str(MINI / "prompts.json"))
    made = ["--surveys", "rehearse/surveys", "--values", "rehearse/values"]
    _layerwise(folder, "assemble", *pairs, *made)
    _layerwise(folder, "derive", "--measured", "assemble")
    values = [f"rehearse/values/{key}.npz" for key in FAMILY]
    for analysis in MEASURED_DIRECTLY:
        if analysis != "sensitivity":
            _infer(folder, analysis, values)
    return read_statistics("full", folder / "derive", ROOT / "models.yaml")


def _infer(folder: Path, analysis: str, values: list[str]) -> None:
    out = ["--out", f"derive/{analysis}.json", "--params", "params.yaml"]
    _run(folder, "infer", analysis, *values, *out)


def _layerwise(folder: Path, verb: str, *options: str) -> None:
    """Run a verb that writes to a place of its own name."""
    places = ["--published", str(ROOT / "published"), "--params", "params.yaml", "--out", verb]
    if verb == "rehearse":
        places += ["--models", str(ROOT / "models.yaml")]
    _run(folder, verb, *options, *places)


def _run(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "layerwise", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    """What the ledger says can be computed."""
    ledger = read_ledger(ROOT / "claims", read_published(ROOT / "published"))
    return [claim for claim in ledger if claim.kind != "declared" and claim.statistic]


def test_every_claim_gets_a_value_or_says_why_not(
    statistics: Statistics, claims: list[Claim]
) -> None:
    without = [claim for claim in claims if select(claim, statistics) is None]
    silent = [
        claim.id
        for claim in without
        if not claim.unmeasured
        and claim.statistic not in statistics.undefined
        and "/sign_changes/" not in claim.statistic  # these weights may have fewer of them
    ]
    assert not silent
    assert len(without) < 60  # not everything may be excused


def test_what_cannot_be_measured_is_not(statistics: Statistics, claims: list[Claim]) -> None:
    excused = [claim for claim in claims if claim.unmeasured]
    assert excused
    assert [claim.id for claim in excused if select(claim, statistics) is not None] == []


def test_nothing_published_passes_for_measured(statistics: Statistics, claims: list[Claim]) -> None:
    """Random weights do not reproduce full-precision numbers of real models.

    Left aside: what can be the same by chance, because it counts (percent of pairs or blocks), and
    what follows from the number of blocks, which a twin shares (L* by formula, and L* of the sign
    rule, which is noise of half precision in both).
    """
    again = [
        claim.id
        for claim in claims
        if isinstance(claim.printed, float)
        and len(repr(claim.printed)) > 12
        and claim.decimals == "full"
        and "pct" not in claim.statistic
        and not claim.statistic.startswith("critical_layer:")
        and not claim.statistic.endswith("/L_star_apriori")
        and claim.tolerance != "exact"
        and select(claim, statistics) == claim.printed
    ]
    assert again == []


def _numbers(node: Any) -> Iterator[float]:
    if isinstance(node, dict | list):
        for entry in node.values() if isinstance(node, dict) else node:
            yield from _numbers(entry)
    elif isinstance(node, float):
        yield node


def test_results_are_strict_json(statistics: Statistics) -> None:
    text = json.dumps(statistics.documents, allow_nan=False)
    assert sum(1 for _ in _numbers(json.loads(text))) > 5000
