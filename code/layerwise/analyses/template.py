"""Llama-3.1-8B-Instruct with and without its chat template (template notebook)."""

from __future__ import annotations

from layerwise.analyses.cross_model import EXCLUDES, means, r_of, structure
from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Entry
from layerwise.analyses.pair_curves import TEMPLATE, WITH, WITHOUT
from layerwise.statistics import phases


def verdict(f: Entry) -> str:
    """What the template does to the label."""
    return phases.template_verdict(
        *(phases.template_label(*means(f, curve)) for curve in (WITH, WITHOUT))
    )


DOCUMENTS = {
    "llama-3p1-8b-instruct": Document(
        TEMPLATE,
        {
            "": {
                **structure(WITH, phases.template_label, "phase_with"),
                **structure(WITHOUT, phases.template_label, "phase_without"),
                "verdict": verdict,
                "same_sign_layers": lambda f: phases.equal_signs(r_of(f, WITH), r_of(f, WITHOUT)),
            },
            f"{WITH.group}/*": EXCLUDES,
            f"{WITHOUT.group}/*": EXCLUDES,
        },
    )
}
