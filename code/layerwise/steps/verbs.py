"""The verbs of the pipeline: each calls `run` of the stage of its name with the verb's options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError

SOURCES = ("published", "mini", "full")
Run = Callable[[argparse.Namespace], "str | tuple[str, int]"]  # what to print, and an exit code
Verb = Callable[..., argparse.ArgumentParser]  # adds a verb: name, what runs, text, example

# Path options: the default (None: the option must be given), and what is there.
_PATHS = {
    "claims": (None, "the judged claims, from `judge`"),
    "data": ("data", "folder of the fetched pairs and prompts"),
    "figures": (None, "folder of the figures, from `draw` and `redraw`"),
    "measured": (None, "file of the measured numbers, from `assemble`"),
    "models": ("models.yaml", "the registry of models"),
    "pairs": (None, "statement pairs, as for `analyze`"),
    "params": ("params.yaml", "choices that can change a number"),
    "prompts": (None, "a JSON list of texts, or prompts.json"),
    "published": ("published", "folder of the published numbers"),
    "results": ("results", "folder of the results"),
    "sensitivity": (None, "statistics file of `sensitivity`"),
    "states": (None, "folder of hidden states, from `extract`"),
    "statistics": (None, "folder of statistics, from `replay`, `infer` and `derive`"),
    "surveys": (None, "folder of what `survey` or `rehearse` measured"),
    "tex": (None, "folder of the LaTeX source, from `render`"),
    "values": (None, "folder of values, from `measure`"),
}


def stage(name: str, section: str | None = None) -> Run:
    """Call `stages.NAME.run` with the verb's options, which have the names of its arguments.

    `params` becomes that section of the file, or all of it. A stage is imported when it runs:
    reading a claim needs neither numpy nor torch.
    """

    def run(options: argparse.Namespace) -> Any:
        arguments = {key: value for key, value in vars(options).items() if key not in _OURS}
        if "params" in arguments:
            arguments["params"] = _params(arguments["params"], section)
        return import_module(f"layerwise.steps.{name}").run(**arguments)

    return run


_OURS = ("verb", "run")


def _params(path: Path, section: str | None) -> dict[str, Any]:
    import yaml

    if not path.is_file():
        raise LayerwiseError(f"{path}: no such file; run from the repository or give --params")
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document if section is None else document[section]


def add_path(
    sub: argparse.ArgumentParser, name: str, default: str | None, meaning: str, **more: Any
) -> None:
    """Add an option that takes a path; without a default it must be given."""
    if default is None:
        sub.add_argument(f"--{name}", type=Path, required=True, help=meaning, **more)
    else:
        shown = f"{meaning} (default: {default})"
        sub.add_argument(f"--{name}", type=Path, default=Path(default), help=shown, **more)


def add_paths(sub: argparse.ArgumentParser, names: str, out: str | None = None) -> None:
    """Add the usual path options of these names, and `--out` with its meaning."""
    for name in names.split():
        add_path(sub, name, *_PATHS[name])
    if out is not None:
        add_path(sub, "out", None, out)


def add_stages(verb: Verb) -> None:
    """Add the verbs in the order of the pipeline."""
    _add_measuring(verb)
    _add_statistics(verb)
    _add_rendering(verb)


def _add_measuring(verb: Verb) -> None:
    sub = verb("preflight", stage("preflight"), "can the full reproduction run here?")
    add_paths(sub, "models data", "file of hardware and versions")
    sub = verb(
        "extract",
        stage("extract"),
        "hidden states of a registered model",
        "layerwise extract pythia-410m --pairs data/dataset.json --prompts data/prompts.json \\\n"
        "    --out results/full/hidden_states/pythia-410m",
    )
    sub.add_argument("key", metavar="KEY", help="an extraction of the registry")
    sub.add_argument("--device", help="a torch device; default: cuda")
    add_paths(sub, "models pairs prompts params", "folder of the hidden states")
    sub = verb(
        "survey",
        stage("survey"),
        "every study of one model: gains, spectral norms, sheaf traces",
        "layerwise survey gpt2 --out results/full/surveys/gpt2.json",
    )
    sub.add_argument("slug", metavar="SLUG", help="a model of the registry")
    sub.add_argument("--device", help="a torch device; default: cuda")
    add_path(sub, "prompts", "data/prompts.json", "the fetched prompts")
    add_paths(sub, "models published", "file of the measured numbers")
    text = "every study on tiny random-weight twins of all models"
    sub = verb("rehearse", stage("rehearse"), text)
    add_paths(sub, "models pairs prompts published params", "folder of surveys and values")
    sub = verb("measure", stage("measure", "measure"), "values from hidden states")
    meaning = "every how many layers, instead of params.yaml's (Gemma-2B: 2)"
    sub.add_argument("--layer-step", type=int, help=meaning)
    add_paths(sub, "states pairs params", "file of the values (.npz)")


def _add_statistics(verb: Verb) -> None:
    text = "what all models gave, in the published places"
    sub = verb("assemble", stage("assemble", "infer"), text)
    add_paths(sub, "surveys values pairs published models params", "file of the measured numbers")
    text = "statistics that follow from the assembled measurements"
    sub = verb("derive", stage("derive", "infer"), text)
    add_path(sub, "measured", *_PATHS["measured"], dest="fragments", metavar="MEASURED")
    add_paths(sub, "published params", "folder of the statistics files")
    sub = verb("sensitivity", stage("sensitivity", "infer"), "which claims survive another choice")
    add_paths(sub, "values measured params", "statistics file")
    sub = verb("infer", stage("infer", "infer"), "statistics from values")
    sub.add_argument("analysis", help="e.g. layers")
    sub.add_argument("values", nargs="+", type=Path, metavar="VALUES", help="files of `measure`")
    add_paths(sub, "params", "statistics file")
    text = "statistics that follow from the published numbers"
    example = "layerwise replay layers --out results/published/statistics/layers.json"
    sub = verb("replay", stage("replay", "infer"), text, example)
    sub.add_argument("analysis", help="e.g. layers")
    add_paths(sub, "published params", "statistics file")
    sub = verb("judge", stage("judge"), "verdicts: the ledger against the statistics")
    sub.add_argument("source", choices=SOURCES, help="of the statistics")
    add_path(sub, "claims", "claims", "folder of the ledger")
    out = "file of the judged claims; verdicts.json is written beside it"
    add_paths(sub, "published models statistics", out)


def _add_rendering(verb: Verb) -> None:
    sub = verb("draw", stage("draw"), "one figure, as PDF and PNG")
    sub.add_argument("figure", help="e.g. layers")
    sub.add_argument("source", choices=SOURCES, help="of the statistics")
    add_paths(sub, "statistics models", "folder of the figures")
    text = "one of the papers' own figures, from the published numbers"
    sub = verb("redraw", stage("redraw"), text)
    sub.add_argument("figure", help="e.g. depth_gain")
    add_paths(sub, "published", "folder of the figures")
    sub = verb("render", stage("render"), "the report as LaTeX, every number from the ledger")
    sub.add_argument("source", choices=SOURCES, help="of the claims")
    add_path(sub, "templates", "paper", "folder of the templates")
    add_paths(sub, "claims sensitivity figures params", "folder of the LaTeX source")
    text = "the report as one HTML page: claims, figures, findings"
    sub = verb("report", stage("report"), text)
    sub.add_argument("source", choices=SOURCES, help="of the claims")
    add_path(sub, "templates", "report/templates", "folder of the templates")
    add_paths(sub, "claims statistics figures published", "folder of the page")
    sub = verb("typeset", stage("typeset"), "the report as PDF (needs latexmk)")
    add_paths(sub, "tex", "the PDF")
