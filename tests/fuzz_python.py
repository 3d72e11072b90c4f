"""Arguments that nobody should give to the Python interface: a `LayerwiseError`, or it is done.

Which functions there are, and what each of them takes, is read from the package itself: what is
right of every parameter stands in `right`, and what is wrong in a way of its own in `WRONG`.
"""

import inspect
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import layerwise
from fuzz import RESULTS, Attempt, Kind, json_case, refusal
from fuzz_runs import PAIRS, PROMPTS, RESAMPLES, analyzed
from fuzz_runs import prepare as prepared

N_STATEMENTS = 2 * sum(len(of["pairs"]) for of in PAIRS.values())
N_LAYERS, HIDDEN = 4, 8
# A refusal that only the numbers themselves can show: a correlation that does not exist.
OF_NUMBERS = "vary|cannot be computed"


def parameters() -> dict[str, list[str]]:
    """What every public function and method of the package takes: `{"Result.save": ["folder"]}`."""
    found = {}
    for name in layerwise.__all__:
        of = getattr(layerwise, name)
        methods = {f"{name}.{key}": one for key, one in vars(of).items() if key[0] != "_"}
        for place, function in (methods if inspect.isclass(of) else {name: of}).items():
            if inspect.isfunction(function):
                names = inspect.signature(function).parameters
                found[place] = [one for one in names if one != "self"]
    return found


def arrays() -> dict[str, np.ndarray]:
    """What `measure` takes, of random states."""
    rng = np.random.default_rng(0)
    by_layer = (N_LAYERS + 1, N_STATEMENTS, HIDDEN)
    shapes = {"hidden_states": by_layer, "all_tokens": by_layer}
    shapes |= dict.fromkeys(("before_norm", "last_token", "first_token"), by_layer[1:])
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def right(folder: Path, work: Path) -> dict[str, dict[str, Any]]:
    """What is right, of every parameter of every function."""
    out = work / "out"
    choices = {"layers": [0, 3], "seed": 1, "out": out}
    return {
        "analyze": {
            **choices,
            **{"model": folder / "model", "pairs": PAIRS, "prompts": PROMPTS, "tokenizer": None},
            **{"revision": None, "dtype": "bfloat16", "device": "cpu", "without": ["spectral"]},
            **{
                "limit": 2,
                "chat_template": False,
                "replicates": 1,
                "control": 1,
                "keep_states": True,
            },
        },
        "measure": {
            **choices,
            **arrays(),
            "nll": np.random.default_rng(1).gamma(4.0, size=N_STATEMENTS),
            "pairs": PAIRS,
            "name": "mine",
        },
        "pool": {
            "hidden": np.random.default_rng(2).normal(size=(3, 4, HIDDEN)),
            "mask": np.ones((3, 4), int),
        },
        "compare": {
            "models": [str(folder / "results"), folder / "others"],
            "out": out,
            "other_pairs": False,
        },
        "claims": {
            **{
                "source": "published",
                "results": Path(os.environ.get(RESULTS, "")),
                "verdict": "agrees",
            },
            **{"paper": 2, "analysis": "validation", "search": "UA", "limit": 3},
        },
        "Result.save": {"folder": out},
        "Result.frame": {"name": "layers"},
        "Table.to_pandas": {},
    }


class Frame:
    """Looks like a data frame, and gives no rows."""

    columns = ("category", "a", "b")


class Polars(Frame):
    """One that gives them in another way."""

    def to_dict(self, *, as_series: bool = True) -> dict[str, Any]:
        return {}


def odd(rng: random.Random, _: Any = None) -> Any:
    """Any value."""
    return rng.choice([
        None, True, -1, 0, 1.0, 2.5, float("nan"), float("inf"), 2**70, "", "x", "3", "\0", "a\nb",
        b"x", "x" * 5000, b"\xff", [], {}, (), set(), [None], [True], [1.0], [5, 6], [-1], [2, 2],
        {"a": 1}, {0: None}, object(), len, iter([]), iter(["a", "b"]), range(3), Path("\0"),
        Path("nowhere"), Path("/proc/self/mem"), "/dev/zero", Frame(), Polars(),
        SimpleNamespace(columns=5), Exception("x"), int, 1j, "\ud800", np.int64(3), np.float64(3),
        np.bool_(True), np.arange(3), np.zeros((2, 0)), np.array([1j]), np.array([None]),
    ])  # fmt: skip


def odd_pairs(rng: random.Random, _: Any) -> Any:
    """Pairs whose names become one, or are no texts."""
    names = rng.choice(
        [(1.0, "1.0", "c"), (True, "True", 3), (None, "None", 2), (1, 2, 3), (b"a", 1, 2)]
    )
    return {name: {"pairs": of["pairs"]} for name, of in zip(names, PAIRS.values(), strict=True)}


def odd_array(rng: random.Random, whole: np.ndarray) -> Any:
    """Numbers of other kinds and sizes, in other shapes, or by layers that are none."""
    axis = rng.randrange(whole.ndim)
    spot = tuple(rng.randrange(n) for n in whole.shape)
    spoilt = whole.copy()
    spoilt[spot] = rng.choice([np.nan, np.inf, -np.inf, 1e39, 1e300])
    emptied = whole.copy()
    emptied[spot[:-1]] = 0
    dictionary = dict(enumerate(whole))
    keys = [True, -1, "0", 0.0, None, 10**9, 2**70, np.int64(9), N_LAYERS + 1, (0,)]
    return rng.choice([
        whole + 1j, whole.astype(object), whole > 0, whole.astype(str), whole.astype("M8[s]"),
        whole.astype(int), whole.astype(np.float16), whole.astype(np.longdouble), whole.tolist(),
        *(whole * size for size in (1e300, 1e39, 1e37, 1e20, 1e-7, 1e-30, 1e-46, 1e-320, -1, 0)),
        spoilt, emptied, np.ones_like(whole), whole[0], whole[None], whole.T,
        np.concatenate([whole, whole[:1]]), whole.take(range(whole.shape[axis] - 1), axis),
        whole.take([], axis), whole[:1], [whole.tolist(), []], dictionary,
        {**dictionary, rng.choice(keys): whole[0]}, {rng.choice(keys): whole[0]},
        {N_LAYERS: whole[-1]}, dict.fromkeys(dictionary),
    ])  # fmt: skip


def odd_models(rng: random.Random, whole: list[Any]) -> Any:
    """Fewer, twice the same, results of several or of none, or one that is no model's."""
    several = layerwise.compare(whole)
    return rng.choice([
        *(whole[:1], whole[0], whole * 2, [several], [several, whole[0]], [several, several]),
        [odd(rng), whole[0]], [whole[0], odd(rng)],
    ])  # fmt: skip


def spoilt_folder(rng: random.Random, whole: list[Any]) -> Any:
    """One of the folders has a result file that is not as it was."""
    spoilt = Path(shutil.copytree(whole[0], Path("spoilt").absolute()))
    files = [one.name for one in spoilt.glob("*.json")]
    case = json_case(rng, spoilt, rng.choice(files))
    (spoilt / case.file).write_bytes(case.made)
    return [spoilt, whole[1]]


def odd_out(rng: random.Random, _: Any) -> Any:
    """A place where nothing can be put."""
    Path("a file").write_text("mine")
    Path("a link").symlink_to("nowhere")
    return rng.choice([
        *("/proc/x", "/dev/null", "/dev/null/x", "x" * 300, "\0", "/sys/x", "a file", "a file/x"),
        *("a link", "a link/x", Path("a file/x/y")),
    ])  # fmt: skip


KINDS_OF_MODEL = ["meta", "mixed", "double", "tokenizer", "name", "whole", "no_head", "integer"]


def loaded(rng: random.Random, folder: Path) -> dict[str, Any]:
    """A loaded model that is whole, or is not, and its tokenizer."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "model")
    kind = rng.choice(KINDS_OF_MODEL)
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
    return {"model": model, "tokenizer": tokenizer, "dtype": None, "device": None}


Wrong = Callable[[random.Random, Any], Any]
# What is wrong of a parameter in a way of its own, beside any odd value.
WRONG: dict[str, tuple[Wrong, ...]] = {
    "pairs": (odd_pairs,),
    "models": (odd_models, spoilt_folder, spoilt_folder),
    **dict.fromkeys(("out", "folder"), (odd_out,)),
    **dict.fromkeys((*arrays(), "nll"), (odd_array, odd_array)),
}


def call(rng: random.Random, folder: Path, work: Path) -> None:
    """One call with no, one or two wrong arguments."""
    functions = {name: of for name, of in right(folder, work).items() if of}
    # of those that take more, more
    asked = rng.choices([*functions], [len(of) for of in functions.values()])[0]
    given = functions[asked]
    wrong = rng.sample([*given], min(len(given), rng.choice([0, 1, 1, 1, 1, 1, 1, 2])))
    for name in wrong:
        given[name] = rng.choice((odd, *WRONG.get(name, ())))(rng, given[name])
    if asked == "analyze" and wrong and rng.random() < 0.2:
        given |= loaded(rng, folder)
    function, computed = bound(asked)
    refused = refusal(lambda: function(**given))
    if refused is not None:
        assert wrong, f"refused, and nothing is wrong: {refused}"
        of_numbers = re.search(OF_NUMBERS, str(refused))
        assert not computed or of_numbers, f"refused too late: {refused}"
        assert not (work / "out").exists(), "something was left"
        raise refused


def bound(asked: str) -> tuple[Callable[..., Any], list[int]]:
    """The function, or the method of a result; and a list that has an entry once it computes."""
    from layerwise.models import hidden_states
    from layerwise.reader import arrays as of_arrays

    computed: list[int] = []
    for module, name in ((hidden_states, "forward"), (of_arrays, "reduced")):
        of = getattr(module, name)
        setattr(module, name, lambda *a, of=of, **k: computed.append(1) or of(*a, **k))
    if "." not in asked:
        return getattr(layerwise, asked), computed
    result = some_result()
    computed.clear()
    return getattr(result, asked.partition(".")[2]), computed


def some_result() -> layerwise.Result:
    """Of random states."""
    return layerwise.measure(**right(Path(), Path())["measure"] | {"out": None})


def prepare(folder: Path) -> Path:
    """As for runs, and beside the results others; what the functions import."""
    from layerwise.reader import arrays as of_arrays
    from layerwise.reader import compare as of_several

    prepared(folder)
    of_arrays.N_RESAMPLES = of_several.N_RESAMPLES = RESAMPLES
    analyzed(folder, folder / "others", seed=7)
    some_result()
    layerwise.compare([folder / "results", folder / "others"])
    return folder


def python(rng: random.Random, folder: Path) -> Iterator[Attempt]:
    """Odd arguments of every public function: a result, or a `LayerwiseError` before any work."""

    def do(seed: int, work: Path) -> None:
        os.chdir(work)
        call(random.Random(seed), folder, work)

    while True:
        seed = rng.randrange(2**32)
        yield Attempt(f"seed {seed}", partial(do, seed))


KINDS = {"python": Kind(python, prepare)}
