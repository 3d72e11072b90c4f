"""Models measured at the same time, one on each GPU: DVC's stages in the slots of GNU xargs.

A slot is a GPU: its number, from 0, chooses among those that this process may use. xargs begins the
next stage where one has ended. A stage that fails leaves the others alone.

    python -m layerwise.run.side_by_side STAGE      one of them, in its slot
"""

import os
import subprocess
import sys
from collections.abc import Sequence

from layerwise.models.needs import models_at_a_time

SLOT, GPUS = "LAYERWISE_SLOT", "CUDA_VISIBLE_DEVICES"


def models_on_disk() -> int:
    """Return how many models' weights a run has on disk at once: one ahead, or one for each GPU."""
    return max(2, models_at_a_time())


SINGLE = ("--wait-for-lock", "repro", "--single-item")  # stages record what they made


def begin_stages(names: Sequence[str], n_gpus: int) -> "subprocess.Popen[str]":
    """Start xargs on stages, in the order given; it ends with them."""
    slots = [f"--max-procs={n_gpus}", f"--process-slot-var={SLOT}", "--max-args=1"]
    process = subprocess.Popen(
        ["xargs", *slots, sys.executable, "-P", "-m", "layerwise.run.side_by_side"],
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the launcher, which ends this
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write("\n".join(names))
    process.stdin.close()
    return process


def gpu_of_slot(slot: int, visible: str | None) -> str:
    """Return the GPU of a slot, as CUDA_VISIBLE_DEVICES names it; a scheduler may have set that."""
    gpus = [gpu.strip() for gpu in (visible or "").split(",") if gpu.strip()]
    return gpus[slot] if gpus else str(slot)


if __name__ == "__main__":
    if (visible := os.environ.get(GPUS)) != "":  # empty: none is to be seen, as in a rehearsal
        os.environ[GPUS] = gpu_of_slot(int(os.environ[SLOT]), visible)
    command = [sys.executable, "-P", "-m", "dvc", *SINGLE, *sys.argv[1:]]
    done = subprocess.run(command, check=False)
    sys.exit(1 if done.returncode else 0)  # DVC's 255 would end xargs before its other slots
