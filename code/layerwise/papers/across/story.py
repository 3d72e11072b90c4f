"""What the three papers together leave a reader with, and what would surprise one most.

A sentence a `yield`; what it states is the condition of its branch. The first three surprises that
hold stand in the head of page, README, report and terminal.
"""

from collections.abc import Iterator

from layerwise.engine.answer_words import UNDECIDED
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN
from layerwise.engine.seen import Matter, Seen, listed, spell_p
from layerwise.papers.paper1.central import MODELS, NAMES
from layerwise.papers.paper2.central import APERTUS, GEMMA, LLAMA, PYTHIA, TEMPLATED
from layerwise.papers.paper2.central import NAMES as NAMES_OF_CURVES
from layerwise.papers.paper3.central import ALPHA

MAJORITY = 0.5
RIGHT_OFTEN = 50  # percent


def asymmetry_and_preference(seen: Seen) -> Iterator[str]:
    """Asymmetry by category, and the preference in early layers and with a template."""
    template, early = (seen.central(f"p2.{name}").mark for name in ("template", "early"))
    if template == HOLDS:
        highest = seen.answer("everywhere_negative", TEMPLATED).ends.high
        yield (
            "With its chat template the instruction-tuned Llama has a negative r in every sampled "
            "layer, also with all layers tested at once (the interval of the highest ends at "
            f"{highest:+.2f}). A single model cannot show whether the tuning or the template's own "
            "tokens cause this."
        )
    if template in (IN_PART, OPEN):
        yield (
            "That the instruction-tuned Llama has a negative r in every layer with its chat "
            "template is not shown under every analysis choice."
        )
    if template == FAILS:
        yield "With its chat template the instruction-tuned Llama has layers of positive r."
    if early == HOLDS:
        yield (
            "In early layers the three models that are said to invert tend to embed more tightly "
            "the framing that they find likelier, under every analysis choice that could be "
            "computed."
        )
    llama = seen.answer("early", LLAMA)
    first = [seen.answer("early", model, "first_layer") for model in (PYTHIA, LLAMA, APERTUS)]
    if early == IN_PART and llama.undecided and all(answer.yes for answer in first):
        yield (
            "At the first layer all three models that are said to invert tend to embed more "
            "tightly the framing that they find likelier; over the first third of the layers this "
            f"is not shown for Llama, where the interval of r runs from {llama.ends:+.2f}."
        )
    if seen.central("p1.neutral").mark != HOLDS:
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
    are_above = gemma.ends.low > 0 and apertus.ends.low > 0
    if seen.central("p1.positive").mark == HOLDS and are_above:
        yield "Gemma and Apertus lie above zero there, by intervals over the five categories."
    below = [NAMES[model] for model in MODELS if seen.answer("numeric", model).yes]
    if below:
        yield (
            f"On numeric facts the asymmetry of {listed(below)} lies below the other five "
            "categories by more than these scatter."
        )


def depth_of_curves(seen: Seen) -> Iterator[str]:
    """The change of r with depth."""
    late = seen.central("p2.late").mark
    llama, apertus, pythia = (seen.answer("late", model) for model in (LLAMA, APERTUS, PYTHIA))
    if late != HOLDS and llama.yes and apertus.yes and pythia.unshown:
        yield (
            "The mean r of the late layers is negative in two of the three models that are said to "
            f"invert, Llama ({llama.value:+.2f}) and Apertus ({apertus.value:+.2f})."
        )
    if late == HOLDS:
        yield "In late layers r is negative in all three models that are said to invert."
    if pythia.undecided:
        yield f"The interval of Pythia's late mean includes zero ({pythia.ends:+.2f})."
    last = seen.answer("late", PYTHIA, "last_layer").value
    others = seen.answer("late_inversion", PYTHIA, "without_last").value
    if last < 0 <= others:
        yield (
            f"Pythia's r is negative at only one late layer, the last ({last:+.2f}), which was "
            "read after the final norm; the change of sign may come from the norm and not from "
            "depth."
        )
    exception, gemma = seen.central("p2.gemma").mark, seen.answer("no_inversion", GEMMA)
    if exception != HOLDS and gemma.undecided:
        yield (
            "Gemma is no proven exception: by a one-sided test its lowest late r may be "
            f"{gemma.narrow.low:+.2f}, beyond the paper's weakest inversion."
        )
    if gemma.no:
        yield "Gemma is no exception: it has a late layer with a negative r as well."
    if exception == HOLDS:
        yield (
            "Gemma is an exception: none of its late layers reaches the paper's weakest inversion."
        )
    later = [
        NAMES_OF_CURVES[other]
        for other in (LLAMA, APERTUS)
        if seen.answer("turn_apart", f"{PYTHIA} and {other}").yes
    ]
    if later:
        yield f"Pythia's r turns negative at another layer than that of {listed(later)}."
    if seen.answer("turn_apart", f"{LLAMA} and {APERTUS}").undecided:
        yield "Whether Llama and Apertus turn at different layers is not shown."
    single, at_once = (
        seen.answer("category_inversion", PYTHIA, choice)
        for choice in ("published", "layers_at_once")
    )
    category = seen.central("p2.category_inversion").mark
    if category == IN_PART and single.yes and at_once.undecided:
        yield (
            "Over the six categories Pythia's r at the last layer is significant as a single test, "
            "but not if all sampled layers are tested at once."
        )
    last = seen.answer("below_other", "layer 32")
    if last.yes:
        yield (
            "Apertus inverts more strongly at layer 28 than at the last layer, by "
            f"{last.value:+.2f} ({last.ends:+.2f})."
        )
    if seen.answer("below_other", "layer 24").undecided:
        yield "That it does so most strongly there, and not four layers before, is not shown."


def depth_and_labs(seen: Seen) -> Iterator[str]:
    """The gain by depth and by lab, and its bound."""
    law, sizes = seen.central("p3.depth_gain").mark, seen.answer("depth_gain")
    if law == HOLDS and sizes.yes:
        yield (
            "Among the eight Pythia sizes deeper models have smaller gains "
            f"(r = {sizes.value:+.2f}), under every analysis choice that could be computed."
        )
    if law in (IN_PART, OPEN):
        yield (
            "That deeper Pythia models have smaller gains is not shown under every analysis choice "
            f"(r = {sizes.value:+.2f})."
        )
    if law == FAILS:
        yield (
            "Among the eight Pythia sizes deeper models have larger gains "
            f"(r = {sizes.value:+.2f})."
        )
    survey, both = (
        seen.answer("depth_gain_of_survey", choice=choice) for choice in ("published", "pooled")
    )
    if survey.ends.includes(0) and not sizes.yes:
        yield (
            "Over the models of Paper 3's survey neither direction is shown "
            f"(r = {survey.value:+.2f}, {survey.ends:+.2f})."
        )
    if survey.ends.includes(0) and sizes.yes:
        yield (
            "Over the models of Paper 3's survey this is not shown "
            f"(r = {survey.value:+.2f}, {survey.ends:+.2f}; with the Pythia sizes "
            f"{both.value:+.2f}, {both.ends:+.2f}): a finding on one family and not yet a law."
        )
    if survey.ends.high <= 0 and not sizes.yes:
        yield (
            "Over the models of Paper 3's survey deeper models have smaller gains "
            f"(r = {survey.value:+.2f}, {survey.ends:+.2f})."
        )
    if survey.ends.high <= 0 and sizes.yes:
        yield (
            "It holds over the models of Paper 3's survey as well "
            f"(r = {survey.value:+.2f}, {survey.ends:+.2f})."
        )
    heritage, p = seen.central("p3.heritage").mark, seen.answer("heritage")
    eleuther, others = (
        seen.answer(question).value for question in ("eleuther_damps", "others_expand")
    )
    are_most = eleuther > MAJORITY and others > MAJORITY
    if heritage != HOLDS and are_most and p.ends.includes(ALPHA):
        yield (
            "In the survey most of EleutherAI's models damp and most others expand, but whether "
            f"the lab decides is at the border: Fisher's p is {spell_p(p.value)}, and ranges from "
            f"{spell_p(p.ends.low)} to {p.ends.high:.3f}, depending on whether models whose "
            "gain cannot be distinguished from one count as damping or expanding."
        )
    difference = seen.answer("lab_difference")
    if difference.ends.high < 0:
        yield (
            "The sizes of the gains do differ between the labs: EleutherAI's mean gain is "
            f"{abs(difference.value):.2f} below that of the others "
            f"({abs(difference.ends.high):.2f} to {abs(difference.ends.low):.2f})."
        )
    if heritage == HOLDS:
        yield (
            "EleutherAI's models damp more often than the others, under every analysis choice that "
            "could be computed."
        )
    above = seen.statistic("power", "bound", "told_above")
    if seen.central("p3.bound").mark == FAILS and above != "":
        yield (
            "Some of the paper's own models exceed its bound on the gain; in "
            f"{above} the excess is larger than the noise of the prompts."
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
    if spectral != HOLDS and ratio.ends.includes(0):
        yield (
            "Over these few models a correlation of ratio and gain is neither shown nor ruled out "
            f"(r = {ratio.value:+.2f}, {ratio.ends:+.2f})."
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
        seen.answer("tuned_families"),
        seen.statistic("twins", "study", "n_damping_bases"),
    )
    if seen.central("p3.tuning").mark != HOLDS and damping < 1 and kept.value >= 1:
        yield (
            f"Instruction tuning left all {kept.n} families expanding, as their bases do; no "
            "damping model was tuned."
        )
    by_token = seen.answer("gain_order", "Mistral-7B < LLaMA-3.1-8B")
    if seen.central("p3.gains").mark == HOLDS and by_token.yes:
        yield (
            "By the norm of the last token the four benchmarked models stand in the printed order, "
            "prompt by prompt."
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
    reached: list[str] = []
    apart: list[str] = []
    for trained in seen.trained("numeric"):
        told = f"{trained.model} ({trained:+.3f}; random {trained.drawn:+.3f})"
        (reached if trained.is_reached else apart).append(told)
    if reached:
        but = f", but not in {listed(apart)}" if apart else ""
        yield (
            "The asymmetry of numeric facts lies as far below the other categories' with random "
            f"weights as with trained ones in {listed(reached)}{but}."
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
            f"The p of the Second law, {labs.value:.3f}, lies anywhere from {labs.ends:.3f}, "
            "depending on whether models with a gain near one count as damping or expanding."
        )
    ratio = seen.answer("spectral_predicts")
    if ratio.unshown:
        yield (
            f"The ratio that the Third law rests on has r = {ratio.value:+.2f} ({ratio.ends:+.2f}) "
            "with the gain that it predicts."
        )
