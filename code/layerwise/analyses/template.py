"""Llama-3.1-8B-Instruct with and without its chat template (template notebook)."""

from __future__ import annotations

from layerwise.analyses.cross_model import derive_flags, mean, means
from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.pair_curves import TEMPLATE, WITH, WITHOUT
from layerwise.statistics import phases

SLUG = "llama-3p1-8b-instruct"


def derive(work: Replay, draws: Draws) -> None:
    """Flags, phase means, the labels and what the template changes."""
    published = work.published
    work.start(SLUG, published.document(TEMPLATE), {"": (TEMPLATE, "")})
    conditions = {"phase_with": WITH, "phase_without": WITHOUT}

    def label(condition: str) -> str:
        return phases.template_label(*means(published, conditions[condition]))

    for condition, curve in conditions.items():
        derive_flags(work, SLUG, curve)
        for phase in phases.PHASES:
            work.derive(SLUG, f"/{condition}/{phase}", mean, published, curve, phase)
        work.derive(SLUG, f"/{condition}/pattern", label, condition)
    work.derive(
        SLUG,
        "/verdict",
        lambda: phases.template_verdict(label("phase_with"), label("phase_without")),
    )
    layers = WITH.layers(published)
    work.derive(
        SLUG,
        "/same_sign_layers",
        lambda: phases.equal_signs(WITH.r(published, layers), WITHOUT.r(published, layers)),
    )
