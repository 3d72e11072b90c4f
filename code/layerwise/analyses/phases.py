"""Phases, stars, transitions and labels of every curve, and what Paper 2's text says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.pair_curves import CURVES, PYTHIA_CURVE, Curve
from layerwise.analyses.phase_statements import STATEMENTS, some_late
from layerwise.inputs.published import pointer
from layerwise.inputs.result_files import PAIRS, PHASE_SUMMARY
from layerwise.statistics import phases


def mean_by_depth(curve: Curve, phase: str) -> float:
    """Mean r of a phase, as thirds of the depth."""
    layers = curve.phase_by_depth(phase)
    return phases.phase_mean(curve.r(layers), layers)


def stars(curve: Curve, r: float) -> str:
    """Stars of an r over all pairs."""
    return phases.stars(r, curve.n_pairs)


def stars_at(curve: Curve, layer: int) -> str:
    """Stars of a layer's r."""
    return stars(curve, curve.tests[layer].r)


def stars_of_layer(curve: Curve) -> Rules:
    """Stars of every layer."""
    return {str(layer): partial(stars_at, curve, layer) for layer in curve.layers}


def structured(curve: Curve, mean: Callable[[str], float]) -> str:
    """Whether the phases have the signs that the paper says, by their means."""
    return phases.structured(mean("early"), mean("late"), some_late(curve))


def of_measures(curve: Curve) -> Rules:
    """Phase means of every measure of the pairs."""
    first = next(iter(curve.source.of(PAIRS).results.values()))

    def means(measure: str) -> Rules:
        other = replace(curve.place, metric=measure).of(curve.source)
        return {phase: partial(other.mean, phase) for phase in phases.PHASES}

    return {measure: partial(means, measure) for measure in first}


OF_PHASE: Mapping[str, Callable[[Curve, str], Any]] = {
    "partition": lambda curve, phase: phases.span(curve.phase(phase)),
    "partition_by_depth": lambda curve, phase: phases.span(curve.phase_by_depth(phase)),
    "means": Curve.mean,
    "means_by_depth": mean_by_depth,
    "stars": lambda curve, phase: stars(curve, curve.mean(phase)),
    "stars_of_last_layer": lambda curve, phase: stars_at(curve, curve.phase(phase)[-1]),
    "stars_of_printed": lambda curve, phase: stars(curve, curve.printed_mean(phase)),
}


def _at_phase(curve: Curve, rule: Callable[[Curve, str], Any], phase: str) -> Any:
    return rule(curve, phase)


OF_CURVE: Rules = {
    "n_layers": lambda curve: curve.layers[-1],
    "late_inversion": lambda curve: phases.late_inversion(curve.mean("late")),
    "late_inversion_of_printed": lambda c: phases.late_inversion(c.printed_mean("late")),
    "late_inversion_by_layer": lambda curve: "TRUE" if some_late(curve) else "FALSE",
    "structured": lambda curve: structured(curve, curve.mean),
    "structured_of_printed": lambda curve: structured(curve, curve.printed_mean),
    "structured_by_layer": lambda curve: "Yes" if some_late(curve) else "No",
    "transition": lambda curve: phases.transition(curve.r()),
    "transition_if_inverted": lambda curve: phases.transition(
        curve.r() if some_late(curve) else {}
    ),
    "first_not_positive": lambda curve: phases.first_not_positive(curve.r()),
    "most_negative_layer": lambda curve: phases.most_negative(curve.r()),
    "labels/thirds": lambda curve: phases.thirds_label(*curve.means()),
    "labels/llama": lambda curve: phases.llama_label(*curve.means()),
    "labels/template": lambda curve: phases.template_label(*curve.means()),
    "stars_of_layer": stars_of_layer,
    **{
        f"{name}/{phase}": partial(_at_phase, rule=rule, phase=phase)
        for name, rule in OF_PHASE.items()
        for phase in phases.PHASES
    },
}
DOCUMENTS = {
    slug: Document(
        curve.of,
        {"": {**OF_CURVE, **({"metrics": of_measures} if curve is PYTHIA_CURVE else {})}},
        {"/late_inversion": (PHASE_SUMMARY, pointer(curve.summary_row, "late_inversion"))},
    )
    for slug, curve in CURVES.items()
} | {"paper": Document(None, {"": STATEMENTS})}
