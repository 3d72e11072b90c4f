"""Phases, stars, transitions and labels of every curve, and what Paper 2's text says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from layerwise.analyses.categories import total_pairs
from layerwise.analyses.cross_model import inverted, layers_of, mean, means, r_of
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.pair_curves import CURVES, PYTHIA_CURVE, SUMMARY, PairCurve
from layerwise.analyses.pairs import PAIRS
from layerwise.analyses.phase_statements import STATEMENTS, printed_mean
from layerwise.inputs.published import pointer
from layerwise.statistics import phases


def by_depth(e: Evidence, curve: PairCurve, phase: str) -> list[int]:
    """Sampled layers of a phase, as thirds of the depth."""
    layers = list(curve.tests(e))
    return phases.thirds_of_depth(layers, layers[-1])[phase]


def mean_by_depth(e: Evidence, curve: PairCurve, phase: str) -> float:
    """Mean r of a phase, as thirds of the depth."""
    layers = by_depth(e, curve, phase)
    return phases.phase_mean(r_of(e, curve, layers), layers)


def stars(e: Evidence, r: float) -> str:
    """Stars of an r over all pairs."""
    return phases.stars(r, total_pairs(e))


def stars_of_last_layer(e: Evidence, curve: PairCurve, phase: str) -> str:
    """Stars of the r at the last layer of a phase."""
    last = layers_of(e, curve, phase)[-1]
    return stars(e, curve.tests(e)[last].r)


def stars_of_layer(e: Evidence, curve: PairCurve) -> Rules:
    """Stars of every layer."""

    def rule(test: Entry) -> str:
        return phases.stars(test.r, total_pairs(test))

    return {str(layer): partial(rule, test) for layer, test in curve.tests(e).items()}


def late_inverted(e: Evidence, curve: PairCurve) -> bool:
    """Whether a late layer has a negative r and an interval that excludes zero."""
    return inverted(e, curve, layers_of(e, curve, "late"))


def structured(
    e: Evidence, curve: PairCurve, of: Callable[[Evidence, PairCurve, str], float] = mean
) -> str:
    """Whether there are an early and a late phase of either sign, by their means."""
    return phases.structured(of(e, curve, "early"), of(e, curve, "late"), late_inverted(e, curve))


def transition_if_inverted(e: Evidence, curve: PairCurve) -> str:
    """The transition, where a late layer is inverted."""
    found = phases.transition(r_of(e, curve))
    return found if late_inverted(e, curve) else phases.NO_TRANSITION


OF_PHASE: Mapping[str, Callable[..., Any]] = {
    "partition": lambda e, curve, phase: phases.span(layers_of(e, curve, phase)),
    "partition_by_depth": lambda e, curve, phase: phases.span(by_depth(e, curve, phase)),
    "means": mean,
    "means_by_depth": mean_by_depth,
    "stars": lambda e, curve, phase: stars(e, mean(e, curve, phase)),
    "stars_of_last_layer": stars_of_last_layer,
    "stars_of_printed": lambda e, curve, phase: stars(e, printed_mean(e, curve, phase)),
}
OF_CURVE: Mapping[str, Callable[..., Any]] = {
    "n_layers": lambda e, curve: max(curve.tests(e)),
    "late_inversion": lambda e, curve: phases.late_inversion(mean(e, curve, "late")),
    "late_inversion_of_printed": lambda e, curve: phases.late_inversion(
        printed_mean(e, curve, "late")
    ),
    "late_inversion_by_layer": lambda e, curve: "TRUE" if late_inverted(e, curve) else "FALSE",
    "structured": structured,
    "structured_of_printed": partial(structured, of=printed_mean),
    "structured_by_layer": lambda e, curve: "Yes" if late_inverted(e, curve) else "No",
    "transition": lambda e, curve: phases.transition(r_of(e, curve)),
    "transition_if_inverted": transition_if_inverted,
    "first_not_positive": lambda e, curve: phases.first_not_positive(r_of(e, curve)),
    "most_negative_layer": lambda e, curve: phases.most_negative(r_of(e, curve)),
    "labels/thirds": lambda e, curve: phases.thirds_label(*means(e, curve)),
    "labels/llama": lambda e, curve: phases.llama_label(*means(e, curve)),
    "labels/template": lambda e, curve: phases.template_label(*means(e, curve)),
    "stars_of_layer": stars_of_layer,
}


def rules_of(curve: PairCurve) -> Rules:
    """The rules of one curve."""
    of_phase = {
        f"{name}/{phase}": partial(rule, curve=curve, phase=phase)
        for name, rule in OF_PHASE.items()
        for phase in phases.PHASES
    }
    return of_phase | {name: partial(rule, curve=curve) for name, rule in OF_CURVE.items()}


def of_measures(e: Evidence) -> Rules:
    """Phase means of every measure of Pythia's pairs."""

    def rule(measure: str) -> Rules:
        curve = PairCurve(PAIRS, PYTHIA_CURVE.group, measure)
        return {phase: partial(mean, e, curve, phase) for phase in phases.PHASES}

    first = next(iter(e[PAIRS].results.values()))
    return {measure: partial(rule, measure) for measure in first}


DOCUMENTS = {
    slug: Document(
        None,
        {"": {**rules_of(curve), **({"metrics": of_measures} if curve is PYTHIA_CURVE else {})}},
        {"/late_inversion": (SUMMARY, pointer(curve.summary_row, "late_inversion"))},
    )
    for slug, curve in CURVES.items()
} | {"paper": Document(None, {"": STATEMENTS})}
