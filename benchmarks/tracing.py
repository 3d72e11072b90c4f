"""Time the trace of one text against a plain forward with hooks, in turn in one process.

    python benchmarks/tracing.py [--quick]

Checkpoints of random weights, loaded from files, float32, CPU. The plain side makes the tokens of
the text, runs the model in the same attention kernel with a hook on every block, and copies what
the blocks give and the last token's logits. The trace checks text, states and logits beside that.
In a model so narrow that its products cost nothing the rest shows most; the part of a larger one
is what a run pays. Printed are medians in milliseconds of a core, and of the ratio of each round.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from extraction import random_weights, synthetic
from layerwise.models.checkpoint_config import quiet
from layerwise.models.forward import on_output, removing
from layerwise.models.load import Checkpoint, load_model
from layerwise.models.tracing import trace

SHAPES = ("tiny", "pythia-70m")  # of `extraction`
REPEATS = 5  # traces of a round


def load(shape: str, folder: Path) -> Checkpoint:
    """A checkpoint with files, as a run has it: its tokenizer is held against its own file."""
    made = random_weights(shape)
    with quiet():
        made.model.save_pretrained(folder)
        made.tokenizer.save_pretrained(folder)
    return load_model(folder, "float32", "cpu")


def plain(checkpoint: Checkpoint, text: str) -> list[np.ndarray]:
    """Return the output of every block, and the last token's logits, of one forward."""
    kept: list[np.ndarray] = []

    def keep(states: torch.Tensor) -> None:
        kept.append(states[0].to("cpu", torch.float32, copy=True).numpy())

    ids = torch.tensor([checkpoint.tokenizer(text).input_ids])
    with removing([on_output(block, keep) for block in checkpoint.blocks]), torch.inference_mode():
        out = checkpoint.model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False)
        kept.append(out.logits[0, -1].float().numpy())
    return kept


def milliseconds(call: Callable[[], object]) -> float:
    """Milliseconds of a core for one call, over `REPEATS` calls."""
    start = time.process_time()
    for _ in range(REPEATS):
        call()
    return 1e3 * (time.process_time() - start) / REPEATS


def row(checkpoint: Checkpoint, text: str, rounds: int) -> str:
    """Return medians of both sides, and median, least and largest of their ratios."""
    found, expected = trace(checkpoint, text), plain(checkpoint, text)
    np.testing.assert_array_equal(found.logits, expected[-1])
    ours, theirs = [], []
    for _ in range(rounds):  # in turn: a slow moment hits both
        ours.append(milliseconds(lambda: trace(checkpoint, text)))
        theirs.append(milliseconds(lambda: plain(checkpoint, text)))
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return (
        f"{statistics.median(ours):12.2f}{statistics.median(theirs):12.2f}"
        f"{statistics.median(ratios):8.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    )


def main() -> None:
    """Measure and print a row for each shape."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the tiny shape alone, few rounds")
    quick = parser.parse_args().quick
    print("one text          trace: ms   plain: ms   ratio", flush=True)
    for shape in SHAPES[:1] if quick else SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = load(shape, Path(folder))
            (text, *_) = synthetic(1, checkpoint.model.config.vocab_size)
            print(f"{shape:15}{row(checkpoint, text, 3 if quick else 21)}", flush=True)


if __name__ == "__main__":
    main()
