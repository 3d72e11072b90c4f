"""Where the time of `layerwise analyze` goes, from the command to the page.

    python benchmarks/whole.py [--cpu-time]

Random weights in the shape of Pythia-160M in a folder, 230 pairs in six categories, 16 prompts,
float32 on a CPU. Prints seconds and share of every part, and beside them the forward pass at the
rate of a matrix product measured in the same run. On a machine that others use too,
OMP_NUM_THREADS=1 with --cpu-time is the steadier: seconds of one core, not of the wall.
"""

import argparse
import functools
import importlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

STARTED = {"wall": time.perf_counter(), "cpu": time.process_time()}
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
# The parts: what is imported for them, and the functions that are timed, none inside another.
PARTS = {
    "load the model": "extraction.load:load_model",
    "hidden states and NLL": "steps.own_model:extract",
    "measures of states": "steps.own_model:measure",
    "intervals": "experiments.of_pairs.reader:numbers",
    "gains": "experiments.own_weights:gains",
    "spectral norms": "experiments.own_weights:spectral",
    "draw the figures": "pages.own_model.figures:draw",
    "write the figures": "pages.own_model.page:save",
    "page and tables": "pages.own_model.page:html",
}


def timed_parts(clock: Callable[[], float]) -> dict[str, float]:
    """Wrap every function of `PARTS`; the dictionary fills while they run."""
    spent: dict[str, float] = {}

    def wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> Any:
            start = clock()
            try:
                return function(*arguments, **options)
            finally:
                spent[name] = spent.get(name, 0.0) + clock() - start

        return run

    for name, place in PARTS.items():
        module_name, _, function_name = place.partition(":")
        module = importlib.import_module(f"layerwise.{module_name}")
        setattr(module, function_name, wrapped(name, getattr(module, function_name)))
    return spent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu-time", action="store_true", help="seconds of one core")
    arguments = parser.parse_args()
    kind = "cpu" if arguments.cpu_time else "wall"
    clock = CLOCKS[kind]
    spent = timed_parts(clock)
    imports = clock() - STARTED[kind]
    import extraction
    import layerwise

    extraction.clock = kind
    checkpoint, texts = extraction.random_weights("pythia-160m"), extraction.synthetic(230)
    rates = [extraction.gemm_rate(checkpoint)]
    sides = zip(texts[:230], texts[230:], strict=True)
    pairs = [list(pair) for pair in sides]
    categories = {f"c{n}": {"pairs": pairs[n::6]} for n in range(6)}
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model")
        checkpoint.model.save_pretrained(model)
        checkpoint.tokenizer.save_pretrained(model)
        Path(folder, "pairs.json").write_text(json.dumps(categories))
        Path(folder, "prompts.json").write_text(json.dumps(texts[:16]))
        start = clock()
        layerwise.analyze(
            str(model), f"{folder}/pairs.json", f"{folder}/prompts.json", out=f"{folder}/out"
        )
        whole = clock() - start + imports
    spent = {"imports": imports, **spent}
    spent["rest"] = whole - sum(spent.values())
    for name, seconds in spent.items():
        print(f"{name:<24} {seconds:7.2f} s {seconds / whole:6.1%}")
    print(f"{'all':<24} {whole:7.2f} s")
    rates.append(extraction.gemm_rate(checkpoint))
    floor = extraction.needed_flop(checkpoint, [*texts, *texts[:16]]) / max(rates)
    print(f"a matrix product runs at {' and '.join(f'{rate / 1e9:.0f}' for rate in rates)} GFLOP/s")
    print(
        f"the passes at that rate: {floor:.2f} s, {floor / spent['hidden states and NLL']:.2f} "
        f"of the states' time"
    )


if __name__ == "__main__":
    main()
