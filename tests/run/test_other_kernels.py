"""What git holds of the published numbers, computed as an older processor would."""

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

OLDER = {  # kernels of BLAS without AVX, loops of NumPy without AVX2 and AVX-512
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
}
PRODUCT = """
import numpy
a = numpy.random.RandomState(0).standard_normal((200, 200))
print((a @ a).tobytes().hex())
"""


def python(root: Path, *arguments: str, **environment: str) -> str:
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def files_of(folder: Path) -> dict[str, str]:
    """The hash of each file."""
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the kernels named are those of x86")
def test_statistics_verdicts_and_figures_are_those_of_an_older_processor(results, root, tmp_path):
    if python(root, "-c", PRODUCT) == python(root, "-c", PRODUCT, **OLDER):
        pytest.skip("this processor has no kernel but the older one's")
    here, older = results / "published", tmp_path / "older"

    def step(name: str, *arguments: str, **environment: str) -> None:
        python(root, "-m", f"layerwise.run.steps.{name}", "published", *arguments, **environment)

    def draw(source: Path, to: Path, **environment: str) -> None:
        given = [f"--statistics={source}/statistics", f"--claims={source}/claims.json"]
        step("draw", *given, f"--out={to}", f"--pdf={to}-pdf", **environment)

    step("analyse", f"--out={older}/statistics", **OLDER)
    step("judge", f"--statistics={older}/statistics", f"--out={older}/claims.json", **OLDER)
    draw(here, tmp_path / "figures")
    draw(older, tmp_path / "older-figures", **OLDER)
    assert files_of(older / "statistics") == files_of(here / "statistics")
    assert (older / "claims.json").read_bytes() == (here / "claims.json").read_bytes()
    assert files_of(tmp_path / "older-figures") == files_of(tmp_path / "figures")
