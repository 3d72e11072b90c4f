"""What others wrote or ask is taken in words: new cases each commit, none a traceback or a hang.

A commit's files are the seed, so that a run which failed fails again; `LAYERWISE_FUZZ=SEED` tries
other cases, `LAYERWISE_FUZZ_CASES=NUMBER` so many of each class. `make attack` tries thousands, and
all other classes, and writes what held into docs/robustness.md.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import attack
import fuzz

HERE = Path(__file__).parents[1]
# How many of each class; those in one row share a process, whose imports take most of the time.
CASES = (
    (40, "checkpoints"),
    (12, "documents"),
    (30, "pairs,prompts"),
)


def seed() -> int:
    """Of the commit's tree; 0 where there is no git."""
    if given := os.environ.get(fuzz.SEED):
        return int(given)
    git = ["git", "-C", str(HERE), "rev-parse", "HEAD^{tree}"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        return int(subprocess.check_output(git, text=True, stderr=subprocess.DEVNULL)[:8], 16)
    return 0


@pytest.mark.parametrize(("n_cases", "kinds"), CASES, ids=[kinds for _, kinds in CASES])
def test_every_case_ends_well_or_in_a_sentence(
    n_cases: int, kinds: str, results: Path, tmp_path: Path
) -> None:
    """In a process of their own, without the checks of annotations."""
    n_cases = int(os.environ.get("LAYERWISE_FUZZ_CASES", str(n_cases)))
    done = subprocess.run(
        [sys.executable, HERE / "fuzz.py", kinds, tmp_path, str(seed()), str(n_cases)],
        env={**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1",
             fuzz.SEED: str(seed()), fuzz.RESULTS: str(results)},
        capture_output=True, text=True, timeout=1200 + 200 * n_cases,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    for kind, report in json.loads(done.stdout).items():
        assert report["flaws"] == [], f"LAYERWISE_FUZZ={seed()}, {kind}"
        assert sum(report["ended"].values()) == n_cases


def test_every_class_is_attacked() -> None:
    assert set(attack.CASES) == set(fuzz.KINDS)
