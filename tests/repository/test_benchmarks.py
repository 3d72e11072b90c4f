"""Every benchmark that `make bench` and `make bench-gpu` run comes to its end, at a tiny shape."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["extraction", "tracing", "whole", "growth", "gpu"])
def test_a_benchmark_runs(name: str, root: Path, tmp_path: Path) -> None:
    """A moved name would be found by whoever measures next, perhaps on a rented GPU."""
    options = {
        "gpu": ["--device", "cpu", "--out", str(tmp_path / "gpu.json")],
        "extraction": ["--pairs", str(root / "examples" / "pairs.json")],
    }
    command = [sys.executable, str(root / "benchmarks" / f"{name}.py"), "--quick"]
    command += options.get(name, [])
    environment = os.environ | {"PYTHONPATH": str(root / "code"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
