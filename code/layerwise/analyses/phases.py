"""Phases, stars, transitions and labels of every curve, and what Paper 2's text says of them."""

from __future__ import annotations

from collections.abc import Callable

from layerwise.analyses.cross_model import mean, means
from layerwise.analyses.documents import Draws, Replay, total_pairs
from layerwise.analyses.pair_curves import CURVES, PYTHIA_CURVE, SUMMARY, PairCurve
from layerwise.analyses.pairs import PAIRS
from layerwise.analyses.phase_statements import derive_statements
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import phases

LABELS = {
    "thirds": phases.thirds_label,
    "llama": phases.llama_label,
    "template": phases.template_label,
}


def derive(work: Replay, draws: Draws) -> None:
    """One document per curve, and `paper` for statements about several models."""
    for slug, curve in CURVES.items():
        flag = {"/late_inversion": (SUMMARY, pointer(curve.summary_row, "late_inversion"))}
        work.start(slug, {}, flag)
        _partitions(work, slug, curve)
        _words(work, slug, curve)
        _layers(work, slug, curve)
    published = work.published
    results = published.document(PAIRS)["results"]
    for metric in next(iter(results.values())):
        for phase in phases.PHASES:
            key = pointer("metrics", metric, phase)
            work.derive("pythia-6p9b", key, _mean_of_metric, published, metric, phase)
    work.start("paper", {}, {})
    derive_statements(work, "paper", draws)


def printed_mean(published: Published, curve: PairCurve, phase: str) -> float:
    """The phase mean that the summary table prints with two decimals."""
    return published.number(SUMMARY, pointer(curve.summary_row, f"{phase}_mean"))


def _mean_of_metric(published: Published, metric: str, phase: str) -> float:
    layers = phases.thirds_of_list(PYTHIA_CURVE.layers(published))[phase]
    return phases.phase_mean(PYTHIA_CURVE.r(published, layers, metric), layers)


def _partitions(work: Replay, slug: str, curve: PairCurve) -> None:
    """Both readings of the phases: means over them, and the stars of three readings of a mean."""
    published = work.published
    layers = curve.layers(published)
    by_list = phases.thirds_of_list(layers)
    by_depth = phases.thirds_of_depth(layers, layers[-1])

    def mean_over(part: list[int]) -> float:
        return phases.phase_mean(curve.r(published, part), part)

    def stars(r: float) -> str:
        return phases.stars(r, total_pairs(published))

    work.derive(slug, "/n_layers", max, layers)
    for phase in phases.PHASES:
        for suffix, partition in (("", by_list), ("_by_depth", by_depth)):
            part = partition[phase]
            work.derive(slug, pointer(f"partition{suffix}", phase), phases.span, part)
            work.derive(slug, pointer(f"means{suffix}", phase), mean_over, part)
        for name, r, argument in (
            ("stars", mean_over, by_list[phase]),
            ("stars_of_last_layer", mean_over, by_list[phase][-1:]),
            ("stars_of_printed", lambda name: printed_mean(published, curve, name), phase),
        ):
            work.derive(
                slug, pointer(name, phase), lambda of, argument: stars(of(argument)), r, argument
            )


def _words(work: Replay, slug: str, curve: PairCurve) -> None:
    """Inversion flag, verdict, transitions and labels."""
    published = work.published
    layers = curve.layers(published)
    late_layers = phases.thirds_of_list(layers)["late"]

    def inverted() -> bool:
        return curve.inverted(published, late_layers)

    def printed(phase: str) -> float:
        return printed_mean(published, curve, phase)

    def own(phase: str) -> float:
        return mean(published, curve, phase)

    def whole() -> dict[int, float]:
        return curve.r(published, layers)

    derived: dict[str, Callable[[], object]] = {
        "late_inversion": lambda: phases.late_inversion(own("late")),
        "late_inversion_of_printed": lambda: phases.late_inversion(printed("late")),
        "late_inversion_by_layer": lambda: "TRUE" if inverted() else "FALSE",
        "structured": lambda: phases.structured(own("early"), own("late"), inverted()),
        "structured_of_printed": lambda: phases.structured(
            printed("early"), printed("late"), inverted()
        ),
        "structured_by_layer": lambda: "Yes" if inverted() else "No",
        "transition": lambda: phases.transition(whole()),
        "transition_if_inverted": lambda: (
            phases.transition(whole()) if inverted() else phases.NO_TRANSITION
        ),
        "first_not_positive": lambda: phases.first_not_positive(whole()),
        "most_negative_layer": lambda: phases.most_negative(whole()),
    }
    for name, compute in derived.items():
        work.derive(slug, pointer(name), compute)
    for name, rule in LABELS.items():
        work.derive(slug, pointer("labels", name), lambda rule=rule: rule(*means(published, curve)))


def _layers(work: Replay, slug: str, curve: PairCurve) -> None:
    published = work.published

    def stars(layer: int) -> str:
        return phases.stars(curve.r(published, [layer])[layer], total_pairs(published))

    for layer in curve.layers(published):
        work.derive(slug, pointer("stars_of_layer", layer), stars, layer)
