"""What others wrote is read in words: new cases each run, none of them a traceback, hang or abort.

`LAYERWISE_FUZZ=SEED` tries the cases of a failed run again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from tiny_checkpoints import EVERY_KIND, twin_folder

HERE = Path(__file__).parent
SECONDS = 40


def tried(kind: str, folder: Path, least: int) -> None:
    """Run the cases in a process of their own, without the checks of annotations."""
    seed = int(os.environ.get("LAYERWISE_FUZZ") or random.SystemRandom().randrange(2**32))
    done = subprocess.run(
        [sys.executable, HERE / "fuzz.py", kind, folder, str(seed), str(SECONDS)],
        env={**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["flaws"] == [], f"LAYERWISE_FUZZ={seed}"
    assert sum(report["ended"].values()) >= least


def test_checkpoints(tmp_path: Path) -> None:
    """Those that somebody made once come first, on an architecture that changes from run to run."""
    kind = random.SystemRandom().choice(EVERY_KIND)
    tried("checkpoints", shutil.copytree(twin_folder(kind), tmp_path / kind), 20)


def test_results_ledger_and_parameters(tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    tried("documents", tmp_path / "house", 5)
