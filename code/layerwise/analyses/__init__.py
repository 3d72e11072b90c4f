"""Statistics that follow from the numbers of one source, by tables of rules.

A document starts as what was published and is then overwritten, number by number, with what can
be derived from lower-level published numbers: those are its derived statistics, each with the
cells it was computed from. A published number that is left as it was is given, not derived; where
it stands is known for whole parts of a document, by the key they begin at.
"""

from __future__ import annotations

from typing import Any

from layerwise.analyses import (
    anisotropy,
    bins,
    calibration,
    category_bootstrap,
    consolidated,
    critical_layer,
    cross_model,
    crowding,
    depth_gain,
    gemma_anisotropy,
    lab_heritage,
    laws,
    layers,
    mlp_scaling,
    neutral_control,
    output_correlation,
    pairs,
    phases,
    scaling,
    sensitivity,
    sequence_gains,
    sheaf_trace,
    spectral_norms,
    template,
    thermodynamic_benchmark,
    twins,
    unembedding,
    validation,
)
from layerwise.analyses.derivation import Derivation, Document, Table, derive
from layerwise.analyses.evidence import Draws, Evidence
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published

TABLES: dict[str, Table] = {
    "critical_layer": critical_layer.DOCUMENTS,
    "layers": layers.DOCUMENTS,
    "category_bootstrap": category_bootstrap.DOCUMENTS,
    "bins": bins.DOCUMENTS,
    "pairs": pairs.DOCUMENTS,
    "anisotropy": anisotropy.DOCUMENTS,
    "scaling": scaling.DOCUMENTS,
    "sensitivity": sensitivity.documents,
    "depth_gain": depth_gain.DOCUMENTS,
    "gemma_anisotropy": gemma_anisotropy.DOCUMENTS,
    "lab_heritage": lab_heritage.DOCUMENTS,
    "crowding": crowding.DOCUMENTS,
    "mlp_scaling": mlp_scaling.DOCUMENTS,
    "laws": laws.DOCUMENTS,
    "sequence_gains": sequence_gains.DOCUMENTS,
    "thermodynamic_benchmark": thermodynamic_benchmark.DOCUMENTS,
    "unembedding": unembedding.DOCUMENTS,
    "neutral_control": neutral_control.DOCUMENTS,
    "sheaf_trace": sheaf_trace.DOCUMENTS,
    "spectral_norms": spectral_norms.DOCUMENTS,
    "calibration": calibration.DOCUMENTS,
    "output_correlation": output_correlation.DOCUMENTS,
    "cross_model": cross_model.DOCUMENTS,
    "template": template.DOCUMENTS,
    "phases": phases.DOCUMENTS,
    "consolidated": consolidated.DOCUMENTS,
    "twins": twins.DOCUMENTS,
    "validation": validation.DOCUMENTS,
}

# What a reader's own model has, over the files that `experiments.of_pairs.reader` fills.
READER: dict[str, Document] = {
    "validation": validation.READER,
    "layers": layers.READER,
    "category_bootstrap": category_bootstrap.READER,
    "bins": bins.READER,
    "pairs": pairs.READER,
    "anisotropy": anisotropy.READER,
    "sensitivity": sensitivity.OF_READER,
}


def analyse(name: str, evidence: Evidence) -> Derivation:
    """The documents of one analysis; what in them was derived or given, from which cells.

    Raises:
        LayerwiseError: if the analysis is unknown or a number that it needs is not published.
    """
    if name not in TABLES:
        raise LayerwiseError(f"analysis must be one of {', '.join(TABLES)}, found {name!r}")
    return derive(TABLES[name], evidence)


def analyse_all(evidence: Evidence) -> dict[str, Derivation]:
    """Every analysis over the numbers of one source."""
    return {name: analyse(name, evidence) for name in TABLES}


def of_reader(numbers: Published, draws: Draws) -> dict[str, dict[str, Any]]:
    """`{analysis: document}` of a reader's own model, by the rules of the published files.

    Raises:
        LayerwiseError: if a statistic does not exist.
    """
    return derive(READER, Evidence(numbers, draws)).documents
