"""Arguments that nobody should give to the Python interface: a `LayerwiseError`, or it is done."""

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fuzz import Attempt, Kind
from fuzz_runs import PAIRS, PROMPTS, analyzed, prepare


class Frame:
    """Looks like a data frame, and gives no rows."""

    columns = ("category", "a", "b")


class Polars(Frame):
    """One that gives them in another way."""

    def to_dict(self, *, as_series: bool = True) -> dict[str, Any]:
        return {}


def odd(rng: random.Random) -> Any:
    """Any value."""
    return rng.choice([
        None, True, -1, 0, 1.0, float("nan"), float("inf"), 2**70, "", "x", "\0", "a\nb", b"x",
        "x" * 5000, b"\xff", [], {}, (), set(), [None], [5, 6], {"a": 1}, object(), len, iter([]),
        iter(["a", "b"]), range(3), Path("\0"), Path("nowhere"), Path("/proc/self/mem"),
        "/dev/zero", Frame(), Polars(), SimpleNamespace(columns=5), Exception("x"), int, 1j,
        "\ud800",
    ])  # fmt: skip


def merging(rng: random.Random) -> Any:
    """Pairs whose names become one, or are no texts."""
    names = rng.choice(
        [(1.0, "1.0", "c"), (True, "True", 3), (None, "None", 2), (1, 2, 3), (b"a", 1, 2)]
    )
    return {name: {"pairs": of["pairs"]} for name, of in zip(names, PAIRS.values(), strict=True)}


KINDS_OF_MODEL = ["meta", "mixed", "double", "tokenizer", "name", "whole", "no_head", "integer"]


def model_of(rng: random.Random, folder: Path) -> dict[str, Any]:
    """A loaded model that is whole, or is not."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "model")
    kind = rng.choice(
        ["meta", "mixed", "double", "tokenizer", "name", "whole", "no_head", "integer"]
    )
    if kind == "meta":
        model = model.to("meta")
    elif kind == "mixed":
        next(iter(model.parameters())).data = next(iter(model.parameters())).data.half()
    elif kind == "double":
        model = model.double()
    elif kind == "tokenizer":
        tokenizer = odd(rng)
    elif kind == "name":
        model.name_or_path = rng.choice(["a\nb", "x" * 500, "\u202e", 5])
    elif kind == "no_head":
        model = model.base_model
    elif kind == "integer":
        one = next(iter(model.parameters()))
        one.requires_grad_(False)
        one.data = one.data.to(torch.int8)
    return {"model": model, "tokenizer": tokenizer}


def call(rng: random.Random, folder: Path, work: Path) -> None:
    """One call of the interface with odd arguments; what it gives, if it does, is a result."""
    import layerwise

    def analyze(**changed: Any) -> Any:
        given = {"model": folder / "model", "pairs": PAIRS, "prompts": PROMPTS, "out": work / "out"}
        return layerwise.analyze(**{**given, **changed})

    asked = rng.choice(["analyze", "analyze", "analyze", "merging", "model", "compare", "claims",
                        "save", "out"])  # fmt: skip
    results = str(folder / "results")
    if asked == "analyze":
        names = ("model", "pairs", "prompts", "tokenizer", "out", "revision", "dtype", "device",
                 "layers", "seed", "without", "replicates", "control")  # fmt: skip
        analyze(**{name: odd(rng) for name in rng.sample(names, rng.choice([1, 1, 2]))})
    elif asked == "merging":
        analyze(pairs=merging(rng))
    elif asked == "model":
        analyze(**model_of(rng, folder))
    elif asked == "compare":
        models = rng.choice([odd(rng), [odd(rng), results], [results, results], results, [results]])
        layerwise.compare(models, *rng.choice([(), (odd(rng),)]))
    elif asked == "claims":
        names = ("source", "results", "verdict", "paper", "analysis", "search")
        layerwise.claims(**{name: odd(rng) for name in rng.sample(names, rng.choice([1, 2]))})
    elif asked == "save":
        analyzed(folder, None).save(odd(rng))
    else:
        analyze(out=rng.choice(["/proc/x", "/dev/null", "/dev/null/x", "x" * 300, "\0", "/sys/x"]))


def python(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """Odd arguments of every function of the package: a result, or a `LayerwiseError`."""
    import os

    def do(seed: int, work: Path) -> None:
        os.chdir(work)
        call(random.Random(seed), folder, work)

    while True:
        seed = rng.randrange(2**32)
        yield Attempt(f"seed {seed}", partial(do, seed))


KINDS = {"python": Kind(python, prepare)}
