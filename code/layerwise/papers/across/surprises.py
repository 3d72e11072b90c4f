"""What a reader of the papers would least expect, a line each, the most surprising first.

The first three that hold stand in the head of page, README, report and terminal.
"""

from collections.abc import Iterator

from layerwise.engine.seen import Seen
from layerwise.papers.paper2.central import PYTHIA
from layerwise.papers.paper3.central import ALPHA


def surprises(seen: Seen) -> Iterator[str]:
    """Yield a sentence for each surprise that the numbers bear out."""
    law = seen.claim("p3.kleiber.r")
    if law.falls and law.reading("density of heads instead of depth").gives:
        yield (
            f"The printed r of the First law, {law.printed}, is that of another quantity, the "
            f"density of heads; depth gives {law:+.2f}."
        )
    own = seen.answer("bound", "pythia-1b")
    if own.no:
        gain = seen.claim("p3.fig1.1b.gain")
        limit = seen.statistic("depth_gain", "family", "models", 3, "bound")
        yield (
            "Pythia-1B, one of the paper's own models, breaks the paper's bound on the gain: "
            f"{gain:.3f} where {limit:.3f} is allowed."
        )
    late = seen.answer("late", PYTHIA)
    weak = seen.claim("p2.abstract.late_range_weak")
    if weak.falls and late.unshown:
        yield (
            f"Pythia-6.9B's mean correlation over the late layers is printed as {weak.printed}; "
            f"its own layers give {late.value:+.3f} ({late.ends:+.2f})."
        )
    labs = seen.answer("heritage")
    if labs.unshown and labs.value < ALPHA:
        yield (
            f"The p of the Second law, {labs.value:.3f}, runs from {labs.ends:.3f} as gains near "
            "one are counted as damping or expanding."
        )
    ratio = seen.answer("spectral_predicts")
    if ratio.unshown:
        yield (
            f"The ratio that the Third law rests on has r = {ratio.value:+.2f} ({ratio.ends:+.2f}) "
            "with the gain that it predicts."
        )
