"""Recompute the numbers of three papers on the dynamics of transformers, layer by layer.

The packages, in the order in which numbers flow; each imports only those above it, and its own
docstring names its modules in the order in which to read them:

statistics   numbers -> estimates: bootstrap streams, tests, L*, phases
measures     states and matrices -> numbers
models       a checkpoint -> its states, traces and weights, batch by batch; the only torch
engine       numbers with their origin, rules, claims, verdicts, questions; knows no paper
present      verdicts and statistics -> figures, the HTML page, the LaTeX paper, the terminal
papers       what the three papers claim: experiments, and rules, questions, figures of each
measuring    one model -> numbers in the published places, by the papers' experiments
reader       a reader's own model, taken through the same steps as the papers'
run          the pipeline's stages, the reader's verbs, the rehearsal, what can run here

Beside them: `files` (whole or not at all), `csv_rows` (tables as CSV), `errors` (the rule, what
came, the fix), `progress`, `shapes` (what comes from outside, in a declared shape), `home` (where
files stand), `workers` (other processes), `own_paper` (a paper of one's own, judged), `__main__`
(where the command begins).

In Python: `layerwise.analyze`, `measure`, `pool`, `compare`, `claims`, `headlines` (docs/api.md),
imported when they are used.
"""

import os
from importlib import import_module

# Read when torch is imported: a GPU's kernels are those that torch brings, not such as it compiles
# on the machine at hand, which may lack a compiler.
os.environ.setdefault("TORCH_DISABLE_NATIVE_JIT", "1")

TYPE_CHECKING = False  # for type checkers it is true; `typing` itself takes long to import
if TYPE_CHECKING:
    from typing import Any

    from layerwise.errors import LayerwiseError
    from layerwise.present.claim_table import claims, headlines
    from layerwise.present.tables import Table
    from layerwise.reader.analyze import analyze
    from layerwise.reader.arrays import measure
    from layerwise.reader.compare import compare
    from layerwise.reader.pooling import pool
    from layerwise.reader.result import Result

__version__ = "0.1.0"
__all__ = [
    "LayerwiseError",
    "Result",
    "Table",
    "analyze",
    "claims",
    "compare",
    "headlines",
    "measure",
    "pool",
]
_ALIASES = {"scaling": "compare"}  # as the command was called once
_AT = {
    "analyze": "reader.analyze",
    "measure": "reader.arrays",
    "compare": "reader.compare",
    "pool": "reader.pooling",
    "claims": "present.claim_table",
    "headlines": "present.claim_table",
    "Result": "reader.result",
    "Table": "present.tables",
    "LayerwiseError": "errors",
}


def __getattr__(name: str) -> "Any":
    name = _ALIASES.get(name, name)
    if name not in _AT:
        raise AttributeError(f"module 'layerwise' has no attribute {name!r}")
    import_module("layerwise.errors").require_docstrings()
    return getattr(import_module(f"layerwise.{_AT[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_AT]
