"""Recompute the numbers of three papers on the dynamics of transformers, layer by layer.

The packages, in the order in which numbers flow; each imports only those above it, and its own
docstring names its modules in the order in which to read them:

places       names alone: files, models, categories, curves, and where each number stands
inputs       statement pairs, prompts, models, published numbers: read and validated
statistics   numbers -> estimates: bootstrap streams, tests, L*, phases
measures     states and matrices -> numbers
extraction   a checkpoint -> its states, traces and weights, batch by batch; the only torch
analyses     numbers -> statistics, by tables of rules: one rule for print, weights and readers
experiments  which text, model, dtype and measure fill which place of the published files
ledger       claims and statistics -> verdicts and findings
figures      statistics -> figures
pages        verdicts, statistics, figures -> the HTML page, the LaTeX paper, a reader's own page
reader       a reader's own model, taken through the same steps as the papers'
doctor       what can run on this machine
rehearsal    the measured pipeline on random weights, in a scratch copy
steps        the stages of the pipeline: read, call one of the above, write
cli          the reader's verbs

Beside them: `files` (whole or not at all), `errors` (the rule, what came, the fix), `progress`,
`terminal` (tables and colours, plain where nobody looks), `__main__` (where the command begins).

In Python: `layerwise.analyze`, `measure`, `compare` and `claims` (docs/api.md), imported when they
are used.
"""

from importlib import import_module

TYPE_CHECKING = False  # for type checkers it is true; `typing` itself takes long to import
if TYPE_CHECKING:
    from typing import Any

    from layerwise.errors import LayerwiseError
    from layerwise.pages.claim_table import claims
    from layerwise.pages.tables import Table
    from layerwise.reader.analyze import analyze
    from layerwise.reader.arrays import measure
    from layerwise.reader.compare import compare
    from layerwise.reader.result import Result

__version__ = "0.1.0"
__all__ = ["LayerwiseError", "Result", "Table", "analyze", "claims", "compare", "measure"]
_AT = {
    "analyze": "reader.analyze",
    "measure": "reader.arrays",
    "compare": "reader.compare",
    "claims": "pages.claim_table",
    "Result": "reader.result",
    "Table": "pages.tables",
    "LayerwiseError": "errors",
}


def __getattr__(name: str) -> "Any":
    if name not in _AT:
        raise AttributeError(f"module 'layerwise' has no attribute {name!r}")
    return getattr(import_module(f"layerwise.{_AT[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_AT]
