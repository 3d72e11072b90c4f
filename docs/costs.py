"""Write the table of docs/costs.md: where the minutes of a first run on a rented GPU go.

    python docs/costs.py

The parts of a model are those of `layerwise.models.needs`, by which `layerwise doctor` reckons too;
here stand the terms beside them, from `git clone` to the PDF. Each says in TERMS whether it was
measured, on a CPU, or is assumed. Weights of the next model are fetched and compared while one is
measured, so only what exceeds that time is waited for.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from layerwise.engine.experiment import Experiment
from layerwise.models import needs
from layerwise.models.registry import BYTES, Model, read_models
from layerwise.papers.experiments.table import EXPERIMENTS
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
    "loading": "assumed: 1 GB/s",
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
    meanwhile = 0.0  # how long the model before is measured
    for model in models:
        draws = model.n_draws(control)
        by_part = needs.seconds_by_part(model, "cuda", replicates=replicates, control=draws)
        by_part["Python between kernels"] = seconds_of_python(model, replicates, draws)
        by_part["singular values"] = (1 + draws) * seconds_of_matrices(model) / CORES
        by_part["starting a stage for each model"] = STAGE
        meanwhile_done = sum(by_part.values())
        in_jobs = STATISTICS * n_extractions(model, replicates, draws) / CORES
        by_part["statistics not hidden"] = max(0.0, in_jobs - meanwhile_done)
        if fills_cache:
            arriving = model.parameters * 1e9 * BYTES["float16"] * (1 / LINE + 1 / HASHED)
            by_part["waiting for weights"] = max(0.0, arriving - meanwhile)
        meanwhile = meanwhile_done + by_part["statistics not hidden"]
        spent = {name: seconds + by_part.get(name, 0.0) for name, seconds in spent.items()}
    return [Part(name, seconds, name in ON_GPU) for name, seconds in spent.items()]


def seconds_of_python(model: Model, replicates: int, draws: int) -> float:
    """Return the time in which Python prepares passes of single prompts, while the GPU waits."""
    seconds = 0.0
    for name, dtype in model.experiments.items():
        noisy = replicates * (BYTES[dtype] == 2)
        for_each = (1 + draws) * BLOCK + noisy * NOISY_BLOCK
        seconds += n_prompts(name, model.slug) * model.shape.n_layers * for_each
    return seconds


def n_prompts(name: str, slug: str) -> int:
    """Return how many prompts an experiment puts through a model, one at a time."""
    chosen = [one.prompts for one in EXPERIMENTS[name] if isinstance(one, Experiment)]
    sets = {given if isinstance(given, str) else given[slug] for given in chosen if given}
    # the stand-ins have as many as the papers
    document = json.loads((STAND_INS / "prompts.json").read_text(encoding="utf-8"))
    return sum(n_texts(document[one]["prompts"]) for one in sets)


def n_texts(node: Any) -> int:
    """Return how many texts are in a set of prompts."""
    if isinstance(node, str):
        return 1
    parts: Iterable[Any] = node.values() if isinstance(node, dict) else node
    return sum(map(n_texts, parts))


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


def page(root: Path) -> str:
    """Return docs/costs.md with the table in its place."""
    text = (root / "docs" / "costs.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table(root)}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    (ROOT / "docs" / "costs.md").write_text(page(ROOT), encoding="utf-8")
