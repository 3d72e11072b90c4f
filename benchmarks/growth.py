"""How time and memory grow with pairs, layers, bins and resamples, beside the notebooks' way.

    python benchmarks/growth.py [--quick]

A tiny model with random weights, float32, CPU: what is computed beside the passes shows. One number
grows at a time, the others stay at their smallest.
Both sides run in processes of their own, in turn: ours from texts to the documents of `analyze`;
the notebooks' as loops (a pass per statement for states and one for the loss, bins one by one, a
correlation per resample). Printed are seconds of a core, peak memory beyond the least, and the law
of each: the exponent e of seconds ~ number^e, fitted to the increase over the smallest number.
Loops over more than 500 statements or 20,000 correlations are timed on so many, and scaled.
"""

import argparse
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

GROWN = {
    "pairs": (230, 2300, 23000),
    "blocks": (4, 16, 64),
    "bins": (20, 200, 2000),
    "resamples": (1000, 10_000, 100_000),
}
QUICK = {
    "pairs": (60, 230, 690),
    "blocks": (2, 4, 8),
    "bins": (5, 20, 80),
    "resamples": (100, 300, 900),
}
SIDES = ("ours", "loops")
K = 20  # bins of a draw, in both sides
CATEGORIES = 6
MOST_STATEMENTS, MOST_CORRELATIONS = 500, 20_000  # that a loop is timed on
Spent = dict[str, float]  # seconds of a core, peak in MB


def run_ours(pairs: int, blocks: int, bins: int, resamples: int) -> float:
    """Return the seconds from texts to the documents of results."""
    import numpy as np

    from extraction import SHAPES, random_weights, synthetic
    from layerwise.measuring.reduction import measure
    from layerwise.models.hidden_states import extract
    from layerwise.models.texts import StatementPairs
    from layerwise.papers.experiments.reader import result_files
    from layerwise.papers.fetching.upstream import PUBLISHED
    from layerwise.papers.shared.published import read_published
    from layerwise.statistics.bootstrap import Draws

    hidden, _, heads, vocabulary = SHAPES["tiny"]
    SHAPES["grown"] = (hidden, blocks, heads, vocabulary)
    checkpoint, published = random_weights("grown"), read_published(PUBLISHED)
    texts = synthetic(pairs, vocabulary)
    names = tuple(f"category {number}" for number in range(CATEGORIES))
    category = np.sort(np.arange(pairs) % CATEGORIES)
    statements = StatementPairs(names, category, tuple(texts[:pairs]), tuple(texts[pairs:]))
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        states = extract(checkpoint, texts, ["w1 w2 w3 w4"] * 3, Path(folder) / "states")
        given: dict[str, Any] = {"layer_step": 1, "k_values": [K], "n_permutations": bins}
        values = measure(states, statements, **given)
        result_files(values, Draws(resamples, 0.95, 42), published)
        return time.process_time() - begun


def run_loops(pairs: int, blocks: int, bins: int, resamples: int) -> float:
    """Return the seconds of the notebooks' way: 1 + 1 passes a statement, bins, correlations."""
    import numpy as np

    from extraction import SHAPES, naive_nll, naive_pooled, random_weights, synthetic

    hidden, _, heads, vocabulary = SHAPES["tiny"]
    SHAPES["grown"] = (hidden, blocks, heads, vocabulary)
    checkpoint, texts = random_weights("grown"), synthetic(pairs, vocabulary)
    some = texts[: min(len(texts), MOST_STATEMENTS)]
    naive_pooled(checkpoint, texts[0], 0)
    begun = time.process_time()
    for text in some:
        naive_pooled(checkpoint, text, blocks)  # all layers come from one pass
        naive_nll(checkpoint, text)
    passes = (time.process_time() - begun) * len(texts) / len(some)
    rng = np.random.RandomState(42)
    sides, preferences = rng.normal(size=(2, pairs, hidden)), rng.normal(size=pairs)
    drawn = max(1, min(bins, MOST_STATEMENTS * 20 // pairs))
    begun = time.process_time()
    for _ in range(drawn):
        for members in np.array_split(rng.permutation(pairs), K):
            for side in sides:
                unit = side[members] / np.linalg.norm(side[members], axis=1, keepdims=True)
                np.triu(unit @ unit.T, 1).sum()
            preferences[members].mean()
    binned = (time.process_time() - begun) * bins / drawn * (blocks + 1)
    asked = min(resamples, MOST_CORRELATIONS // (blocks + 1))
    begun = time.process_time()
    for _ in range(asked * (blocks + 1)):
        chosen = rng.randint(0, pairs, pairs)
        np.corrcoef(preferences[chosen], sides[0, chosen, 0])
    return passes + binned + (time.process_time() - begun) * resamples / asked


def spent_by(side: str, sizes: dict[str, int]) -> Spent:
    """Return what one side takes at these sizes, in a process of its own."""
    command = [sys.executable, __file__, "--side", side, "--sizes", json.dumps(sizes)]
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=alone, check=True, stdout=subprocess.PIPE, text=True)
    found: Spent = json.loads(done.stdout.splitlines()[-1])
    return found


def law(numbers: tuple[int, ...], spent: list[float]) -> str:
    """Return the exponent of the increase over the smallest number, by its two largest steps."""
    more = [(n - numbers[0], s - spent[0]) for n, s in zip(numbers, spent, strict=True)][1:]
    if any(increase <= 0 for _, increase in more):
        return "none"
    (n, s), (larger, longer) = more[-2], more[-1]
    return f"{math.log(longer / s) / math.log(larger / n):.2f}"


def main() -> None:
    """Measure and print a table for each number that grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small numbers: tries the program")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        seconds = {"ours": run_ours, "loops": run_loops}[arguments.side](**arguments.sizes)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(json.dumps({"seconds": seconds, "megabytes": peak}))
        return
    grown = QUICK if arguments.quick else GROWN
    usual = {name: numbers[0] for name, numbers in grown.items()}
    least = spent_by("ours", usual)["megabytes"]
    print("grows      number  ours: s   MB more   loops: s   MB more")
    for name, numbers in grown.items():
        spent: dict[str, list[Spent]] = {side: [] for side in SIDES}
        for number, side in itertools.product(numbers, SIDES):
            spent[side].append(spent_by(side, usual | {name: number}))
            if side == SIDES[-1]:
                columns = "".join(
                    f"{spent[each][-1]['seconds']:9.2f}{spent[each][-1]['megabytes'] - least:10.0f}"
                    for each in SIDES
                )
                print(f"{name:10}{number:7}{columns}", flush=True)
        for what in ("seconds", "megabytes"):
            laws = [law(numbers, [one[what] for one in spent[side]]) for side in SIDES]
            print(f"{name:10}{what}: number^e, e = {laws[0]} (ours), {laws[1]} (loops)")


if __name__ == "__main__":
    main()
