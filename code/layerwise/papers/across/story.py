"""What the three papers together leave a reader with, and what would surprise one most.

A sentence a `yield`; what it states is the condition of its branch. The first three surprises that
hold stand in the head of page, README, report and terminal.
"""

from collections.abc import Iterator

from layerwise.engine.answer_words import NEEDS_WEIGHTS, UNDECIDED
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN
from layerwise.engine.published import DECIDES, PUBLISHED
from layerwise.engine.seen import Matter, Seen
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.paper1.central import MODELS
from layerwise.papers.paper2.central import APERTUS, LLAMA, PYTHIA, TEMPLATED, r_of_pythia
from layerwise.papers.shared.names import Choice

MAJORITY = 0.5
RIGHT_OFTEN = 50  # percent
# The claims of Paper 2 on r over the pairs, layer by layer.
ON_LAYERS = ("early", "late", "three_of_four", "transition", "extremum", "gemma", "template")


def asymmetry_and_preference(seen: Seen) -> Iterator[str]:
    """Asymmetry by category, and what is published of its relation to the preference."""
    if seen.central("p1.neutral").mark == OPEN:
        most = seen.claim("p1.abstract.neutral_most_models")
        yield (
            "It is not shown that most models are near zero on neutral statements: on lifestyle, "
            f"the category by which the paper judges, the values of {most} lie in its neutral "
            "zone, and a value without an interval shows nothing."
        )
    if all(seen.answer("calibration", model).unshown for model in MODELS):
        yield (
            "Over the five neutral categories the data show of no model that it lies in that zone."
        )
    gemma, apertus = (seen.answer("positive_on_neutral", model) for model in ("gemma", "apertus"))
    if seen.central("p1.positive").mark == IN_PART and gemma.yes and apertus.undecided:
        yield (
            "Of the two models that are said to lie above zero there, Gemma does "
            f"({gemma.deciding:+.3f}), and Apertus varies too much between the categories "
            f"({apertus.deciding:+.3f})."
        )
    if all(seen.central(f"p2.{name}").why == NEEDS_WEIGHTS for name in ON_LAYERS):
        yield (
            "How asymmetry and preference correlate is open. Paper 2 published r over all pairs, "
            "and no pair; its pairs come in six categories, of which one can make any r over all "
            "of them. The run from the weights measures r within the categories."
        )


def depth_of_curves(seen: Seen) -> Iterator[str]:
    """The change of r over all pairs with depth, as published."""
    llama, apertus, pythia = (
        seen.answer("late", model, PUBLISHED) for model in (LLAMA, APERTUS, PYTHIA)
    )
    if llama.yes and apertus.yes and pythia.undecided:
        yield (
            "Taken over all pairs, as published, the mean r of the late layers is negative in two "
            f"of the three models that are said to invert, Llama ({llama.value:+.2f}) and Apertus "
            f"({apertus.value:+.2f}); the interval of Pythia's includes zero ({pythia.ends:+.2f})."
        )
    r24, r28, r32 = (r_of_pythia(seen, layer) for layer in (24, 28, 32))
    if r24 > 0 and r28 > 0 and r32 < 0:
        yield (
            f"Pythia's r is negative at only one late layer, the last ({r32:+.2f}), which was "
            "read after the final norm; the change of sign may come from the norm and not from "
            "depth."
        )
    template = seen.answer("everywhere_negative", TEMPLATED, PUBLISHED)
    if template.yes:
        yield (
            "With its chat template the instruction-tuned Llama has a negative r over all pairs in "
            f"every sampled layer (the highest is {template.value:+.2f}). A single model cannot "
            "show whether the tuning or the template's own tokens cause this."
        )


def depth_and_labs(seen: Seen) -> Iterator[str]:
    """The gain by depth and by lab, and its bound."""
    law, sizes = seen.central("p3.depth_gain").mark, seen.answer("depth_gain")
    if law == HOLDS:
        yield (
            "Among the eight Pythia sizes deeper models have smaller gains "
            f"(r = {sizes.value:+.2f}, {sizes.deciding:+.2f})."
        )
    survey, both = (
        seen.answer("depth_gain_of_survey", reading=reading) for reading in (DECIDES, Choice.POOLED)
    )
    if survey.ends.includes(0) and sizes.yes:
        yield (
            "Over the models of Paper 3's survey this is not shown "
            f"(r = {survey.value:+.2f}, {survey.ends:+.2f}; with the Pythia sizes "
            f"{both.value:+.2f}, {both.ends:+.2f}): a finding on one family and not yet a law."
        )
    heritage, shares = seen.central("p3.heritage").mark, seen.answer("heritage")
    if heritage != HOLDS and shares.undecided and shares.value > 0:
        yield (
            "In the survey a larger share of EleutherAI's models damps than of all others "
            f"({shares.where}), but whether the lab decides is open: the difference, "
            f"{shares.value:+.2f}, runs from {shares.deciding:+.2f}, depending on whether models "
            "whose gain cannot be distinguished from one count as damping or expanding."
        )
    if seen.central("p3.bound").mark == FAILS and seen.answer("bound", "pythia-1b").no:
        yield (
            "Some of the paper's own models exceed its bound on the gain; in pythia-1b the excess "
            "is larger than what the categories of prompts and the number of models explain."
        )


def weights_and_layers(seen: Seen) -> Iterator[str]:
    """What is meant to predict the gain and the critical layer: norms, heads, traces."""
    spectral, ratio = seen.central("p3.spectral").mark, seen.answer("spectral_predicts")
    right, constant = (
        seen.statistic("spectral_norms", "study", "prediction", name)
        for name in ("right", "constant")
    )
    if spectral != HOLDS and right <= constant:
        yield (
            "The ratio of the spectral norms sorts damping from expanding models no better than "
            f"calling them all alike: its best threshold is right for {right} of {ratio.n}."
        )
    if spectral != HOLDS and ratio.deciding.includes(0):
        yield (
            "Over these few models a correlation of ratio and gain is neither shown nor ruled out "
            f"(r = {ratio.value:+.2f}, {ratio.deciding:+.2f})."
        )
    family, dense = (
        seen.statistic("crowding", sample, "density_rule", "accuracy_pct")
        for sample in ("family", "hunt")
    )
    guess = seen.statistic("crowding", "hunt", "density_rule", "constant_accuracy")
    is_worse = dense < RIGHT_OFTEN and guess > MAJORITY
    if seen.central("p3.crowding").mark != HOLDS and is_worse:
        yield (
            f"The rule on the density of heads is right for {family:.0f}% of the Pythia sizes, but "
            f"over the survey's models for {dense:.0f}%, where calling them all alike is right "
            f"for {guess:.0%}."
        )
    equation = seen.claim("p3.sheaf.eq4")
    if equation.falls and equation.known:
        yield (
            "The printed formula of the sheaf trace contains an error: it gives a "
            f"{equation} wherever attention sums to one."
        )
    larger, pairs = (
        seen.statistic("sheaf_trace", "study", "expander_larger", name)
        for name in ("multihead", "pairs")
    )
    if seen.central("p3.trace").mark != HOLDS and larger < pairs:
        yield (
            "Whether the trace that the code computes separates damping from expanding models "
            "cannot be told from four models; head by head, the expanding model has the larger "
            f"trace in {larger} of {pairs} comparisons."
        )
    if seen.central("p3.lstar").why == UNDECIDED:
        n = seen.answer("lstar").n
        yield (
            f"Over {n} models the error of the formula for L* cannot be distinguished from that of "
            "half the depth."
        )
    if seen.central("p3.hierarchy").mark != HOLDS:
        yield (
            "Which of lab, density of heads and size matters most for the gain cannot be "
            "determined from these models."
        )


def tuning_and_order(seen: Seen) -> Iterator[str]:
    """What tuning does to the gain, and the order of the benchmarked models."""
    kept, damping = (
        seen.answer("tuning_never"),
        seen.statistic("twins", "study", "n_damping_bases"),
    )
    if seen.central("p3.tuning").mark != HOLDS and damping == 0 and kept.value >= 1:
        yield (
            f"Instruction tuning left all {kept.n} families expanding by their mean gains, as "
            "their bases do; no damping model was tuned."
        )
    llama = seen.answer("expansion", "LLaMA-3.1-8B", GainReading.SEQUENCE)
    if seen.answer("gain_order").yes and llama.no:
        yield (
            "By the norm of the last token the four benchmarked models stand in the printed order; "
            f"by that of the whole sequence Llama damps ({llama.value:.2f}, {llama.ends:.2f})."
        )


STORY = (
    Matter("asymmetry", "Asymmetry and preference", asymmetry_and_preference),
    Matter("depth", "Depth", depth_of_curves),
    Matter("gains", "Gains, depth and labs", depth_and_labs),
    Matter("weights", "What predicts the gain", weights_and_layers),
    Matter("tuning", "Tuned and benchmarked models", tuning_and_order),
)


# --- the surprises ---


def surprises(seen: Seen) -> Iterator[str]:
    """Yield a sentence for each surprise that the numbers bear out."""
    late = seen.answer("late", PYTHIA, PUBLISHED)
    weak = seen.claim("p2.abstract.late_range_weak")
    if weak.falls and late.unshown:
        yield (
            f"Pythia-6.9B's mean correlation over the late layers is printed as {weak.printed}; "
            f"its own layers give {weak:+.3f} ({late.ends:+.2f})."
        )
    law = seen.claim("p3.kleiber.r")
    holds = ", and the law holds" if seen.central("p3.depth_gain").mark == HOLDS else ""
    if law.falls and law.reading("density of heads instead of depth").gives:
        yield (
            f"The printed r of the First law, {law.printed}, is that of another quantity, the "
            f"density of heads; depth gives {law:+.2f}{holds}."
        )
    own = seen.answer("bound", "pythia-1b")
    if own.no:
        gain = seen.claim("p3.fig1.1b.gain")
        limit = seen.statistic("depth_gain", "family", "models", 3, "bound")
        yield (
            "Pythia-1B, one of the paper's own models, breaks the paper's bound on the gain: "
            f"{gain:.3f} where {limit:.3f} is allowed."
        )
    decides, by_means = seen.answer("heritage"), seen.answer("heritage", reading=Choice.BY_MEANS)
    if decides.undecided and by_means.yes:
        yield (
            "The Second law is shown where every model counts by its mean gain, and is not where "
            "models with a gain near one may count as damping or expanding "
            f"({decides.value:+.2f}, {decides.deciding:+.2f})."
        )
    ratio = seen.answer("spectral_predicts")
    if ratio.undecided:
        yield (
            f"The ratio that the Third law rests on has r = {ratio.value:+.2f} "
            f"({ratio.deciding:+.2f}) with the gain that it predicts."
        )
