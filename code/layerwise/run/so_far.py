"""What the models that are measured already give, judged and shown while others are measured.

    python -m layerwise.run.so_far      into results/so-far, with its page

It reads `results/measured/models` and writes nothing there: `results/measured` is only ever whole.
A model that is not measured yet leaves its claims `not measured`.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from layerwise.engine.measured import NAME

NUMBERS, FOLDER = Path("results/measured/models"), Path("results/so-far")
TEXTS = "texts"  # what is counted in them is there before any model
COMMAND = [sys.executable, "-P", "-m", "layerwise.run.so_far"]
NICE = 10  # the models come first


def show(numbers: Path = NUMBERS, folder: Path = FOLDER) -> Path:
    """Write statistics, claims, figures and the page of what is measured; return the page.

    By the stages that the pipeline has for it.
    """
    statistics, figures = f"{folder}/statistics", f"{folder}/figures"
    claims, report = f"{folder}/judged/claims.json", f"{folder}/report"
    judged = ["--claims", claims, "--statistics", statistics]
    stages = {
        "analyse": ["--numbers", str(numbers), "--out", statistics],
        "judge": ["--numbers", str(numbers), "--statistics", statistics, "--out", claims],
        "draw": [*judged, "--out", figures, "--pdf", f"{folder}/pdf"],
        "page": [*judged, "--figures", figures, "--out", report],
    }
    for name, options in stages.items():
        stage = [sys.executable, "-P", "-m", f"layerwise.run.steps.{name}", "measured", *options]
        subprocess.run(stage, check=True)
    return Path(report) / "index.html"


class SoFar:
    """The process that shows what is measured so far: one at a time, and none is waited for."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.shown: dict[Path, int] = {}

    def __enter__(self) -> "SoFar":
        return self

    def update(self) -> None:
        """Show what is there, if a model has come since and the process before has ended."""
        files = [path for path in NUMBERS.glob(f"*/{NAME}") if path.parent.name != TEXTS]
        there = {path: path.stat().st_mtime_ns for path in files}
        if there == self.shown or (self.process and self.process.poll() is None):
            return
        self.shown = there
        self.process = begin()

    def __exit__(self, *_: object) -> None:
        """End the process and its stage: what is whole is shown by the run itself."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()


def begin() -> "subprocess.Popen[bytes]":
    """Start the process; a fault of it, as of a model that is just taken up, is the next one's."""
    silent = subprocess.DEVNULL
    return subprocess.Popen(
        COMMAND, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
    )


if __name__ == "__main__":
    os.nice(NICE)
    print(show())
