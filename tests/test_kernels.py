"""The published half is equal, byte for byte, whatever a processor's kernels add first.

NumPy chooses loops, and its BLAS kernels, by the processor they meet; both can be told to take
those of another. What is committed in `results/published` must not depend on that choice.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tiny_checkpoints import contents

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


ANALYSE = """
import sys
from pathlib import Path
out = Path(sys.argv[1])
from layerwise.steps import analyse
analyse.run("published", out / "statistics")
"""
# Of the many figures that one function draws, one for each question, two are enough.
ALL = f"""{ANALYSE}
from functools import partial
from layerwise.figures import drawing, questions
from layerwise.steps import draw, judge, page
many = [curve.__name__ for curve in questions.CURVES[1:-1]]
names = [name for name in drawing.FIGURES if name not in many]
drawing.print_all = partial(drawing.print_all, names=names)
judge.run("published", out / "statistics", out / "claims.json")
draw.run("published", out / "statistics", out / "claims.json", out / "figures")
page.run("published", out / "claims.json", out / "statistics", out / "figures", out / "page")
"""


def made(root: Path, out: Path, stages: str, **settings: str) -> dict[str, bytes]:
    """What stages write in a process of their own; always at one place, which the page names."""
    quiet = {"PYTHONWARNINGS": "ignore:.*NPY_DISABLE_CPU_FEATURES:ImportWarning"}
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-c", stages, out],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1", **quiet, **settings},
        check=True,
        capture_output=True,
    )
    return contents(out)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels") / "out"


@pytest.fixture(scope="module")
def here(root: Path, place: Path) -> dict[str, bytes]:
    return made(root, place, ALL)


@pytest.mark.parametrize("kernels", SETTINGS)
def test_what_is_published_does_not_depend_on_the_kernels(
    kernels: str, here: dict[str, bytes], root: Path, place: Path
) -> None:
    """Statistics under all of them; verdicts, figures and page under the oldest too."""
    stages = ALL if kernels == "nehalem" else ANALYSE
    there = made(root, place, stages, **SETTINGS[kernels])
    assert len(there) > 20
    assert [name for name in there if there[name] != here[name]] == []
