"""What others wrote is read in words: new cases each commit, none a traceback, hang or abort.

A commit's files are the seed, so that a run which failed fails again; `LAYERWISE_FUZZ=SEED` tries
other cases, `LAYERWISE_FUZZ_CASES=NUMBER` more of them.
"""

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from tiny_checkpoints import EVERY_KIND, twin_folder

HERE = Path(__file__).parent


def seed() -> int:
    """Of the commit's tree; 0 where there is no git."""
    if given := os.environ.get("LAYERWISE_FUZZ"):
        return int(given)
    git = ["git", "-C", str(HERE), "rev-parse", "HEAD^{tree}"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        return int(subprocess.check_output(git, text=True, stderr=subprocess.DEVNULL)[:8], 16)
    return 0


def tried(kind: str, folder: Path, n_cases: int) -> None:
    """Run the cases in a process of their own, without the checks of annotations."""
    done = subprocess.run(
        [sys.executable, HERE / "fuzz.py", kind, folder, str(seed()), str(n_cases)],
        env={**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"},
        capture_output=True, text=True, timeout=1200 + 20 * n_cases,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["flaws"] == [], f"LAYERWISE_FUZZ={seed()}"
    assert sum(report["ended"].values()) == n_cases


def test_checkpoints(tmp_path: Path) -> None:
    """Those that somebody made once come first, on an architecture of the seed.

    Each goes through the dry run and the run, which must decide the same.
    """
    kind = random.Random(seed()).choice(EVERY_KIND)
    n_cases = int(os.environ.get("LAYERWISE_FUZZ_CASES", "60"))
    tried("checkpoints", shutil.copytree(twin_folder(kind), tmp_path / kind), n_cases)


def test_results_ledger_and_parameters(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "house" / "results")
    tried("documents", tmp_path / "house", 40)
