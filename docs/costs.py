"""Write the tables of docs/costs.md: where the minutes of a first run on a rented GPU go.

    python docs/costs.py

The parts of a model are those of `layerwise.models.needs`, by which `layerwise doctor` reckons too;
here stand the terms beside them, from `git clone` to the PDF. Each says in TERMS whether it was
measured, on a CPU, or is assumed. Weights of the next models are fetched and compared while one is
measured, so only what exceeds that time is waited for. What was fetched or read before lies in
memory, if there is room for it, and is loaded from there.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.engine.experiment import Experiment
from layerwise.models import needs
from layerwise.models.registry import BYTES, Model, read_models
from layerwise.papers.experiments.table import EXPERIMENTS
from layerwise.run.look_ahead import AHEAD
from layerwise.shapes import read_choices

ROOT = Path(__file__).resolve().parent.parent
STAND_INS = ROOT / "code" / "layerwise" / "models" / "rehearsal"
BEGIN, END = "<!-- computed by docs/costs.py -->", "<!-- end -->"
SET_UP = 240.0  # seconds of `make setup-models` with the CUDA build
PREFLIGHT = 2.0  # of a model: config, tokenizer and list of files, every text tokenised
STAGE = 5.0  # of a stage beside what is measured in it: DVC, imports, files
BLOCK, NOISY_BLOCK = 0.69e-3, 1.93e-3  # of Python in a block, for a prompt; with rounding noise
LINE = 250e6  # bytes a second from the hub
HASHED = 1.2e9  # bytes a second of SHA-256 on a core with AVX-512
MEMORY, MEMORY_RATE = 128e9, 5e9  # bytes of the host; a second, of a file that lies there
STATISTICS = 18.0  # of a core, for what follows from the states of one extraction
PAGES = 30.0 + 60.0  # of a source: analyse, judge, draw, page; LaTeX
CORES = 16  # of a machine with one GPU
FUSED = ("gpt_neox", "bloom")  # whose matrices are cut in two ways
FIRST = "pythia-"  # whose numbers say whether this machine measures what the papers did
ON_GPU = ("passes", "replicates", "random weights")  # in these the GPU computes
TERMS = {
    "setting up": "measured, the table above",
    "preflight": "assumed: 2 s a model",
    "passes": "assumed: 50 TFLOP/s",
    "replicates": "as passes; their noise takes longer",
    "random weights": "as passes",
    "Python between kernels": "measured: 0.69 ms a block and prompt, 1.93 with noise",
    "loading": "assumed: 1 GB/s from disk, 5 GB/s from memory, of which there are 128 GB",
    "drawing random weights": "0.3 s a draw measured, 50 billion numbers a second assumed",
    "singular values": "measured on a core, of which 16 are assumed",
    "statistics not hidden": "measured on a core: 18 s for each extraction",
    "starting a stage for each model": "measured: 5 s",
    "waiting for weights": "assumed: 250 MB/s; SHA-256 measured: 1.2 GB/s",
    "pages and PDFs of both sources": "30 s measured, LaTeX assumed: a minute",
}


class Part(NamedTuple):
    """A part of the run.

    Attributes:
        is_busy: whether the GPU computes in it.
    """

    name: str
    seconds: float
    is_busy: bool


def parts(
    models: Sequence[Model], replicates: int, control: int, *, fills_cache: bool = True
) -> list[Part]:
    """Return the parts of a run over these models, in the order given.

    Arguments:
        fills_cache: whether their weights come from the hub, or are there.
    """
    spent = dict.fromkeys(TERMS, 0.0)
    spent["setting up"] = SET_UP
    spent["preflight"] = PREFLIGHT * len(models)
    spent["pages and PDFs of both sources"] = 2 * PAGES
    measuring = []
    for number, model in enumerate(models):
        kept = sum(map(bytes_of_files, models[number : number + AHEAD + 1]))
        by_part = seconds_of_model(
            model, replicates, control, is_fetched=fills_cache, is_in_memory=kept < MEMORY
        )
        measuring.append(sum(by_part.values()))
        spent = {name: seconds + by_part.get(name, 0.0) for name, seconds in spent.items()}
    if fills_cache:
        spent["waiting for weights"] = seconds_waiting(models, measuring)
    return [Part(name, seconds, name in ON_GPU) for name, seconds in spent.items()]


def seconds_of_model(
    model: Model, replicates: int, control: int, *, is_fetched: bool, is_in_memory: bool
) -> dict[str, float]:
    """Return the parts of measuring a model whose weights are there.

    Arguments:
        is_fetched: whether this run wrote them, a moment ago.
        is_in_memory: whether what was written or read a moment ago lies in memory still.
    """
    draws = model.n_draws(control)
    by_part = needs.seconds_by_part(model, "cuda", replicates=replicates, control=draws)
    by_part["loading"] = seconds_of_loading(model, is_fetched=is_fetched, is_in_memory=is_in_memory)
    by_part["Python between kernels"] = seconds_of_python(model, replicates, draws)
    by_part["singular values"] = (1 + draws) * seconds_of_matrices(model) / CORES
    by_part["starting a stage for each model"] = STAGE
    in_jobs = STATISTICS * n_extractions(model, replicates, draws) / CORES
    by_part["statistics not hidden"] = max(0.0, in_jobs - sum(by_part.values()))
    return by_part


def seconds_of_loading(model: Model, *, is_fetched: bool, is_in_memory: bool) -> float:
    """Return the time of reading the weights once in each dtype, from the disk or from memory."""
    from_disk = [needs.seconds_of_loading(model.parameters * 1e9, dtype) for dtype in model.dtypes]
    if not is_in_memory:
        return sum(from_disk)
    first = 0.0 if is_fetched else from_disk[0]
    again = sum(from_disk) - first
    return first + again * needs.DISK_RATE / MEMORY_RATE


def bytes_of_files(model: Model) -> float:
    """Return what the files of a model's weights take, which are 16 bits wide as a rule."""
    return model.parameters * 1e9 * BYTES["float16"]


def seconds_waiting(
    models: Sequence[Model], measuring: Sequence[float], ahead: int = AHEAD
) -> float:
    """Return how long a run waits for weights, which come one model after the other.

    Arguments:
        measuring: seconds that each model is measured for once its weights are there.
        ahead: how many models may come, or wait, while one is measured.
    """
    begun: list[float] = []  # when the stages began to measure
    come = ended = 0.0
    for number, (model, seconds) in enumerate(zip(models, measuring, strict=True)):
        asked = begun[max(0, number - ahead)] if number else 0.0
        come = max(come, asked) + bytes_of_files(model) * (1 / LINE + 1 / HASHED)
        begun.append(max(ended, come))
        ended = begun[-1] + seconds
    return ended - sum(measuring)


def seconds_of_python(
    model: Model, replicates: int, draws: int, *, in_batches: bool = False
) -> float:
    """Return the time in which Python prepares passes of prompts, while the GPU waits.

    Arguments:
        in_batches: whether prompts of equal length went through together, which they do not.
    """
    seconds = 0.0
    for name, dtype in model.experiments.items():
        noisy = replicates * (BYTES[dtype] == 2)
        for_each = (1 + draws) * BLOCK + noisy * NOISY_BLOCK
        n_passes = sum(
            len(set(map(n_words, texts))) if in_batches else len(texts)
            for texts in prompts_of(name, model.slug)
        )
        seconds += n_passes * model.shape.n_layers * for_each
    return seconds


def prompts_of(name: str, slug: str) -> list[list[str]]:
    """Return the sets of prompts that an experiment puts through a model."""
    chosen = [one.prompts for one in EXPERIMENTS[name] if isinstance(one, Experiment)]
    sets = {given if isinstance(given, str) else given[slug] for given in chosen if given}
    # the stand-ins have as many as the papers, but for `input_dependency`: 5 of 20
    document = json.loads((STAND_INS / "prompts.json").read_text(encoding="utf-8"))
    return [texts_in(document[name]["prompts"]) for name in sets]


def texts_in(node: Any) -> list[str]:
    """Return the texts in a set of prompts."""
    if isinstance(node, str):
        return [node]
    parts: Iterable[Any] = node.values() if isinstance(node, dict) else node
    return [text for part in parts for text in texts_in(part)]


def n_words(text: str) -> int:
    """Return the words of a text, which stand for its tokens: these differ by model."""
    return len(text.split())


def n_extractions(model: Model, replicates: int, draws: int) -> int:
    """Return how many sets of hidden states are evaluated for a model."""
    dtypes = [extraction.dtype for extraction in model.extractions.values()]
    return sum(1 + draws + replicates * (BYTES[dtype] == 2) for dtype in dtypes)


def seconds_of_matrices(model: Model) -> float:
    """Return a core's time for the singular values that Paper 3 took of a model."""
    if "spectral" not in model.experiments:
        return 0.0
    shape = model.shape
    sizes = (shape.n_layers, shape.hidden_size, shape.hidden_size)
    return needs.seconds_of_spectra(*sizes) * (2 if model.family in FUSED else 1)


def table(root: Path) -> str:
    """Return the table: minutes of each part with an empty and a filled cache, and where from."""
    chosen = read_choices(root / "params.yaml", "measure")
    models = [model for model in read_models(root / "models.yaml").values() if not model.skipped]
    repeats = chosen["replicates"], chosen["control"]
    empty, filled = (parts(models, *repeats, fills_cache=fills) for fills in (True, False))
    lines = ["| part | minutes | cache filled | where the term is from |", "|---|---|---|---|"]
    lines += [
        f"| {one.name} | {one.seconds / 60:.1f} | {other.seconds / 60:.1f} | {TERMS[one.name]} |"
        for one, other in zip(empty, filled, strict=True)
    ]
    totals = [sum(one.seconds for one in each) for each in (empty, filled)]
    busy = sum(one.seconds for one in empty if one.is_busy)
    minutes = " | ".join(f"**{total / 60:.0f}**" for total in totals)
    lines += [f"| **all of {len(models)} models** | {minutes} | GPU busy for {busy / 60:.0f} |"]
    first = [model for model in models if model.slug.startswith(FIRST)]
    both = (parts(first, *repeats, fills_cache=fills) for fills in (True, False))
    until = " | ".join(f"{(sum(one.seconds for one in run) - 2 * PAGES) / 60:.0f}" for run in both)
    lines += [
        f"| the {len(first)} Pythia sizes, which come first | {until} | what decides to go on |"
    ]
    return "\n".join(lines)


def table_of_savings(root: Path) -> str:
    """Return the table of what another way of running would change, with an empty cache."""
    chosen = read_choices(root / "params.yaml", "measure")
    models = [model for model in read_models(root / "models.yaml").values() if not model.skipped]
    repeats = chosen["replicates"], chosen["control"]
    measuring = [
        sum(seconds_of_model(model, *repeats, is_fetched=True, is_in_memory=True).values())
        for model in models
    ]
    waiting = seconds_waiting(models, measuring)
    changes = {
        f"weights of {name} fetched ahead, in place of {AHEAD}": waiting
        - seconds_waiting(models, measuring, ahead)
        for name, ahead in (("1 model", 1), ("3 models", 3), ("all", len(models)))
    }
    in_turn, in_batches = (
        sum(
            seconds_of_python(model, repeats[0], model.n_draws(repeats[1]), in_batches=in_batches)
            for model in models
        )
        for in_batches in (False, True)
    )
    changes["prompts with as many words in one pass"] = in_turn - in_batches
    lines = ["| another way | minutes saved |", "|---|---|"]
    lines += [f"| {name} | {seconds / 60:.1f} |" for name, seconds in changes.items()]
    return "\n".join(lines)


def page(root: Path) -> str:
    """Return docs/costs.md with the tables in their places."""
    before, _, rest = (root / "docs" / "costs.md").read_text(encoding="utf-8").partition(BEGIN)
    between, _, after = rest.partition(END)[2].partition(BEGIN)
    return (
        f"{before}{BEGIN}\n\n{table(root)}\n\n{END}{between}"
        f"{BEGIN}\n\n{table_of_savings(root)}\n\n{END}{after.partition(END)[2]}"
    )


if __name__ == "__main__":
    (ROOT / "docs" / "costs.md").write_text(page(ROOT), encoding="utf-8")
