"""A measured run that is killed at named moments goes on to the same bytes.

At other moments, and again and again, the class `measured` of `make attack` kills it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MOMENTS = 6


@pytest.mark.long  # 60 CPU s: without it a kill between two results is never tried
def test_a_measured_run_goes_on_after_a_kill_at_every_named_moment(tmp_path: Path) -> None:
    """The document is that of an undisturbed run, and nothing is left beside it."""
    done = subprocess.run(
        [sys.executable, Path(__file__).parents[1] / "kills_worker.py", tmp_path],
        env={**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert len(seen) == MOMENTS
    assert {moment: found for moment, found in seen.items() if found != [-9, 0, True, True]} == {}
