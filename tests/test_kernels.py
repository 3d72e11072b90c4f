"""The published statistics are equal, byte for byte, whatever a processor's kernels add first.

NumPy chooses loops, and its BLAS kernels, by the processor they meet; both can be told to take
those of another. What is committed in `results/published` must not depend on that choice.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

OLDER_LOOPS = "X86_V4 AVX512_ICL AVX512_SPR"  # of numpy, for processors that have them
SETTINGS = {
    "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "zen": {"OPENBLAS_CORETYPE": "Zen", "NPY_DISABLE_CPU_FEATURES": OLDER_LOOPS},
    "nehalem": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": f"X86_V3 {OLDER_LOOPS}",
    },
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
}


def statistics(root: Path, out: Path, **settings: str) -> dict[str, bytes]:
    """The files of all analyses, derived by a process of its own."""
    quiet = {"PYTHONWARNINGS": "ignore:.*NPY_DISABLE_CPU_FEATURES:ImportWarning"}
    subprocess.run(
        [sys.executable, "-m", "layerwise.steps.analyse", "published", "--out", out],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1", **quiet, **settings},
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.fixture(scope="module")
def here(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return statistics(root, tmp_path_factory.mktemp("here") / "statistics")


@pytest.mark.parametrize("kernels", SETTINGS)
def test_published_statistics_do_not_depend_on_the_kernels(
    kernels: str, here: dict[str, bytes], root: Path, tmp_path: Path
) -> None:
    assert len(here) > 20
    there = statistics(root, tmp_path / "statistics", **SETTINGS[kernels])
    assert [name for name in here if there[name] != here[name]] == []
