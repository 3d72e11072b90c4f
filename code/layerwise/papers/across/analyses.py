"""Statistics that follow from the numbers of one source, by tables of rules.

A document starts as what was published and is then overwritten, number by number, with what can
be derived from lower-level published numbers: those are its derived statistics, each with the
cells it was computed from. A published number that is left as it was is given, not derived; where
it stands is known for whole parts of a document, by the key they begin at.
"""

from layerwise.engine.derivation import Analysis, Derivation, Document, derive
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import Published
from layerwise.files import JsonObject
from layerwise.papers.across import questions
from layerwise.papers.across.rules import sensitivity, sources
from layerwise.papers.paper1.rules import calibration, neutral_control, output_correlation
from layerwise.papers.paper2.rules import (
    bins,
    category_bootstrap,
    consolidated,
    cross_model,
    layers,
    pairs,
    phases,
    scaling,
    validation,
)
from layerwise.papers.paper3.rules import (
    anisotropy,
    critical_layer,
    crowding,
    depth_gain,
    lab_heritage,
    laws,
    mlp_scaling,
    sequence_gains,
    sheaf_trace,
    spectral_norms,
    thermodynamic_benchmark,
    twins,
)
from layerwise.papers.shared.result_files import RESULTS
from layerwise.statistics.bootstrap import Draws

# A module per analysis: `DOCUMENTS` of the papers; `READER`, if a reader's own model has it too.
MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        critical_layer,
        layers,
        category_bootstrap,
        bins,
        pairs,
        anisotropy,
        scaling,
        questions,
        depth_gain,
        lab_heritage,
        crowding,
        mlp_scaling,
        laws,
        sequence_gains,
        thermodynamic_benchmark,
        neutral_control,
        sheaf_trace,
        spectral_norms,
        calibration,
        output_correlation,
        cross_model,
        phases,
        consolidated,
        twins,
        validation,
        sources,
    )
}
# The result documents of a reader's model, and the analyses that make them.
READER_ANALYSES = {name: name for name in RESULTS} | {
    "gains": "depth_gain",
    "spectral": "spectral_norms",
}


TABLES: dict[str, Analysis] = {name: module.DOCUMENTS for name, module in MODULES.items()}
READER: dict[str, Document] = {
    name: (MODULES | {"sensitivity": sensitivity})[analysis].READER
    for name, analysis in READER_ANALYSES.items()
}
# Without r over the categories these take the place of the documents of the same names: where
# there are under three of them, and where there are no preferences.
READER_OF_PAIRS: dict[str, Document] = {
    "validation": validation.READER_OF_PAIRS,
    "layers": layers.READER_OF_STATES,
}
READER_OF_STATES = READER_OF_PAIRS | {"validation": validation.READER_OF_STATES}


def analyse(name: str, evidence: Evidence) -> Derivation:
    """Return the documents of one analysis; what in them was derived or given, from which cells."""
    return derive(TABLES[name], evidence)


def documents_of_reader(evidence: Evidence) -> dict[str, Document]:
    """Return the documents of a reader's own model: those whose numbers were measured."""
    documents = READER
    if not evidence.role("pairs"):
        documents = READER | READER_OF_STATES
    elif not evidence.role("category_bootstrap"):
        documents = READER | READER_OF_PAIRS
    return {
        name: document
        for name, document in documents.items()
        if evidence.cells.keys(str(document.reads).partition("#")[0])
    }


def analyse_reader(numbers: Published, draws: Draws) -> dict[str, JsonObject]:
    """Return the documents of a reader's own model by result file.

    What was not measured, say gains where there are no prompts, has no document.

    Raises:
        LayerwiseError: if a statistic of a document that is there has no value.
    """
    return derive(documents_of_reader, Evidence(numbers, draws)).whole()
