"""Statements of Paper 1, its supplement and its pages that fail and touch no central claim.

Each function tells of one fact; what a sentence states is the condition of its branch.
"""

from collections.abc import Iterator

from layerwise.engine.seen import Seen, Sentences

findings = Sentences()


@findings("p1.figure_without_intervals")
def figure_without_intervals(seen: Seen) -> Iterator[str]:
    """The intervals of figure 1."""
    if seen.claim("p1.setup.fig_ci").falls:
        yield (
            "Figure 1 of Paper 1 is said to have intervals of single categories; it has none, and "
            "none was ever computed."
        )
    claims = [seen.claim(f"p1.finding1.{name}_ci") for name in ("lifestyle", "gemma")]
    if all(claim.falls for claim in claims):
        yield "Finding 1 speaks of intervals of lifestyle, of which none was ever computed either."


@findings("p1.supplement_regimes")
def supplement_regimes(seen: Seen) -> Iterator[str]:
    """The regimes of the supplement."""
    regimes = {
        name: seen.claim(f"p1.ext.page.regime.{category}")
        for category, name in (
            ("lifestyle", "lifestyle"),
            ("numeric", "the numeric facts"),
            ("business", "business"),
        )
    }
    for name, regime in regimes.items():
        if regime.falls:
            yield (
                f"{regime.printed.capitalize()} are said to put {name} into one regime, but "
                f"only {regime} do."
            )


@findings("p1.control_unrelated")
def control_unrelated(seen: Seen) -> Iterator[str]:
    """The control of unrelated facts."""
    pairs = seen.claim("p1.control.page.unrelated")
    if pairs.falls:
        yield (
            f"Pairs of unrelated facts are said to have {pairs.printed}; recomputed: {pairs}. No "
            "code shows what a single statement is compared with."
        )


@findings("p1.archive")
def archive(seen: Seen) -> Iterator[str]:
    """The time-stamped archives."""
    if seen.claim("p1.readme.archive").falls and seen.claim("p3.appA.timestamps").falls:
        yield (
            "The time-stamped archives of Papers 1 and 3 are said to contain results; neither "
            "does. The archive of Paper 3 is older than its experiments."
        )


@findings("p1.rounding_of_five")
def rounding_of_five(seen: Seen) -> Iterator[str]:
    """A ratio that is printed for Apertus."""
    ratio = seen.claim("p1.disc.hyp2.ratio")
    if ratio.falls:
        yield (
            f"Apertus' asymmetry on scientific facts is {ratio} its asymmetry on business, not "
            f"{ratio.printed}."
        )


@findings("p1.sample_size")
def sample_size(seen: Seen) -> Iterator[str]:
    """The sizes of the categories."""
    size = seen.claim("p1.limits.sample_size")
    if size.falls:
        yield f"The dataset has {size}, not {size.printed}."


@findings("p1.slips")
def slips_of_supplement(seen: Seen) -> Iterator[str]:
    """Sums and a factor of the supplement, and annotations that there are not."""
    for quantity, name in (
        ("sum of Llama", "llama.total"),
        ("sum of Apertus", "apertus.total"),
        ("factor of the divergence", "divergence.ratio"),
    ):
        number = seen.claim(f"p1.ext.page.{name}")
        if number.falls:
            yield f"The supplement prints the {quantity} as {number.printed}; it is {number}."
    if seen.claim("p1.appendix.annotations").falls:
        yield "The dataset has no annotations of equivalence."
