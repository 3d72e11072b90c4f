"""statistics <- values."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from layerwise.analyses import READER, Draws
from layerwise.analyses.derivation import derive
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.of_values import scaling
from layerwise.errors import LayerwiseError
from layerwise.experiments.of_pairs import reader
from layerwise.files import write_json
from layerwise.inputs.measured import alone
from layerwise.measures.values import Values, load
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED

PER_MODEL = (
    "validation",
    "layers",
    "category_bootstrap",
    "bins",
    "pairs",
    "anisotropy",
    "sensitivity",
)
ANALYSES = (*PER_MODEL, "scaling")


def from_values(analysis: str, values: dict[str, Values], params: dict[str, Any]) -> dict[str, Any]:
    """Result documents of one analysis, by model slug; `scaling` has one for the family."""
    if analysis == "scaling":
        layers = import_module("layerwise.analyses.of_values.layers")
        curves = {value.display: layers.analyse(value) for value in values.values()}
        return {"family": scaling.analyse(curves)}
    if analysis in READER:
        settings = Draws(**{"n_resamples": N_RESAMPLES, "level": LEVEL, "seed": SEED} | params)
        return {slug: of_reader(analysis, value, settings) for slug, value in values.items()}
    module = import_module(f"layerwise.analyses.of_values.{analysis}")
    wanted = {name: params[name] for name in module.PARAMETERS if name in params}
    return {slug: module.analyse(value, **wanted) for slug, value in values.items()}


def of_reader(analysis: str, values: Values, draws: Draws) -> dict[str, Any]:
    """One document of a model alone, by the rules that the published files have."""
    found = reader.fragments(values, n_resamples=draws.n_resamples, seed=draws.seed)
    evidence = Evidence(alone(found), draws)
    document: dict[str, Any] = derive({"": READER[analysis]}, evidence).documents[""]
    return document


def run(analysis: str, values: Sequence[Path], out: Path, params: dict[str, Any]) -> str:
    """Write `{analysis, documents: {model: result}, derived: {}, given: {}}`."""
    if analysis not in ANALYSES:
        raise LayerwiseError(f"analysis must be one of {', '.join(ANALYSES)}, found {analysis!r}")
    documents = from_values(analysis, {path.stem: load(path) for path in values}, params)
    result = {"documents": documents, "derived": {}, "given": {}}
    write_json(out, {"analysis": analysis, **result})
    return f"{analysis} of {', '.join(documents)} in {out}"
