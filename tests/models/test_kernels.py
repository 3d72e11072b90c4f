"""The published half is equal, byte for byte, whatever a processor's kernels add first.

NumPy chooses loops, and its BLAS kernels, by the processor they meet; both can be told to take
those of another. What is committed in `results/published` must not depend on that choice, nor on
the last digits of what another Python or another C library computes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tiny_checkpoints import contents

# of another processor, and of one that is older than most
SETTINGS = {
    "haswell, two threads": {
        "OPENBLAS_CORETYPE": "Haswell",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "2",
    },
    "nehalem": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    },
}


ANALYSE = """
import sys
from pathlib import Path
out = Path(sys.argv[1])
from layerwise.run.steps import analyse
analyse.run("published", out / "statistics")
"""
# glibc 2.43 rounds these functions in another way than 2.36, and Python adds floats in another from
# 3.12 on: here as if by one that rounds up, and by one that adds exactly.
ELSEWHERE = f"""
import builtins, math

def up(function):
    return lambda x: math.nextafter(function(x), math.inf)

def added(values, /, start=0, plain=sum):
    values = list(values)
    exact = values and all(type(one) is float for one in values)
    return start + math.fsum(values) if exact else plain(values, start)

for name in ("acosh", "asinh", "atan", "atanh", "erf", "erfc"):
    setattr(math, name, up(getattr(math, name)))
builtins.sum = added
{ANALYSE}
"""


def made(root: Path, out: Path, stage: str, **settings: str) -> dict[str, bytes]:
    """What the stage writes in a process of its own."""
    quiet = {"PYTHONWARNINGS": "ignore:.*NPY_DISABLE_CPU_FEATURES:ImportWarning"}
    subprocess.run(
        [sys.executable, "-c", stage, out],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1", **quiet, **settings},
        check=True,
        capture_output=True,
    )
    return contents(out / "statistics")


@pytest.mark.parametrize("kernels", SETTINGS)
def test_what_is_published_does_not_depend_on_the_kernels(
    kernels: str, results: Path, root: Path, tmp_path: Path
) -> None:
    here, there = (
        contents(results / "published" / "statistics"),
        made(root, tmp_path, ANALYSE, **SETTINGS[kernels]),
    )
    assert len(there) > 20
    assert [name for name in there if there[name] != here[name]] == []


def test_what_is_published_does_not_depend_on_the_python_or_its_library(
    results: Path, root: Path, tmp_path: Path
) -> None:
    here, there = contents(results / "published" / "statistics"), made(root, tmp_path, ELSEWHERE)
    assert len(there) > 20
    assert [name for name in there if there[name] != here[name]] == []
