"""The published half is equal, byte for byte, whatever a processor's kernels add first.

NumPy chooses loops, and its BLAS kernels, by the processor they meet; both can be told to take
those of another. What is committed in `results/published` must not depend on that choice, nor on
the last digits of what another Python or another C library computes.
"""

import os
import subprocess
import sys
from pathlib import Path

from tiny_checkpoints import contents

# of a processor that is older than most, and with two threads
OTHER_KERNELS = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OMP_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "2",
    "PYTHONWARNINGS": "ignore:.*NPY_DISABLE_CPU_FEATURES:ImportWarning",
}
# glibc 2.43 rounds these functions in another way than 2.36, and Python adds floats in another from
# 3.12 on: here as if by one that rounds up, and by one that adds exactly.
ELSEWHERE = """
import builtins, math, sys
from pathlib import Path

def up(function):
    return lambda x: math.nextafter(function(x), math.inf)

def added(values, /, start=0, plain=sum):
    values = list(values)
    exact = values and all(type(one) is float for one in values)
    return start + math.fsum(values) if exact else plain(values, start)

for name in ("acosh", "asinh", "atan", "atanh", "erf", "erfc"):
    setattr(math, name, up(getattr(math, name)))
builtins.sum = added
from layerwise.run.steps import analyse
analyse.run("published", Path(sys.argv[1]))
"""


def test_what_is_published_depends_neither_on_kernels_nor_on_the_python_or_its_library(
    results: Path, root: Path, tmp_path: Path
) -> None:
    """All of them are others at once: equal bytes say that none counts."""
    subprocess.run(
        [sys.executable, "-c", ELSEWHERE, tmp_path / "statistics"],
        cwd=root,
        env=os.environ | OTHER_KERNELS,
        check=True,
        capture_output=True,
    )
    here, there = contents(results / "published" / "statistics"), contents(tmp_path / "statistics")
    assert len(there) > 20
    assert [name for name in there if there[name] != here[name]] == []
