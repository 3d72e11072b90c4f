"""Llama-3.1-8B-Instruct with and without its chat template (template notebook)."""

from layerwise.analyses.cross_model import EXCLUDES, structure
from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Entry
from layerwise.analyses.pair_curves import WITH, WITHOUT
from layerwise.inputs.result_files import TEMPLATE
from layerwise.statistics import phases


def verdict(f: Entry) -> str:
    """What the template does to the label."""
    labels = [phases.template_label(*curve.of(f).means()) for curve in (WITH, WITHOUT)]
    return phases.template_verdict(*labels)


def same_signs(f: Entry) -> int:
    """Layers at which r has the same sign with and without."""
    return phases.equal_signs(WITH.of(f).r(), WITHOUT.of(f).r())


OF_MODEL = {
    **structure(WITH, phases.template_label, "phase_with"),
    **structure(WITHOUT, phases.template_label, "phase_without"),
    "verdict": verdict,
    "same_sign_layers": same_signs,
}
OF_LAYERS = {f"{curve.group}/*": EXCLUDES for curve in (WITH, WITHOUT)}
DOCUMENTS = {"llama-3p1-8b-instruct": Document(TEMPLATE, {"": OF_MODEL, **OF_LAYERS})}
