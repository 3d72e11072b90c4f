"""The consolidated table of Paper 2 against the files it was typed from."""

from __future__ import annotations

from layerwise.analyses.documents import Draws, Replay, total_pairs
from layerwise.analyses.pair_curves import CONSOLIDATED, CURVES, PairCurve
from layerwise.inputs.published import pointer
from layerwise.statistics import phases, rules

ENDS = ("ci_lo", "ci_hi")


def derive(work: Replay, draws: Draws) -> None:
    """Significance flag and phase of every row; Fisher's interval as another reading."""
    for slug, curve in CURVES.items():
        layers = curve.layers(work.published)
        origins = {
            pointer(layer, name): (CONSOLIDATED, pointer(curve.first_row + number, name))
            for number, layer in enumerate(layers)
            for name in ("significant", "phase")
        }
        work.start(slug, {}, origins)
        _rows(work, slug, curve, layers)


def _rows(work: Replay, slug: str, curve: PairCurve, layers: list[int]) -> None:
    published = work.published
    by_list = phases.thirds_of_list(layers)
    by_depth = phases.thirds_of_depth(layers, layers[-1])

    def flag(ends: rules.Ends) -> str:
        return "FALSE" if rules.includes_zero(ends) else "TRUE"

    def printed(layer: int) -> rules.Ends:
        row = curve.first_row + layers.index(layer)
        low, high = (published.number(CONSOLIDATED, pointer(row, end)) for end in ENDS)
        return low, high

    def fisher(layer: int) -> dict[str, float]:
        r = curve.r(published, [layer])[layer]
        ends = phases.fisher_interval(r, total_pairs(published))
        return dict(zip(ENDS, ends, strict=True))

    def raw_flag(layer: int) -> str:
        return flag(curve.interval(published, layer))

    def printed_flag(layer: int) -> str:
        return flag(printed(layer))

    for layer in layers:
        row = pointer(layer)
        work.derive(slug, f"{row}/significant", raw_flag, layer)
        work.derive(slug, f"{row}/significant_of_printed", printed_flag, layer)
        work.derive(slug, f"{row}/phase", phases.phase_of, layer, by_list)
        work.derive(slug, f"{row}/phase_by_depth", phases.phase_of, layer, by_depth)
        work.derive(slug, f"{row}/fisher", fisher, layer)
