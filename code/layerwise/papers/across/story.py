"""Answers to the questions that the three papers raise together, and the surprises among them.

Each of the three questions that the papers raise has an answer, one sentence made of marks, words
and numbers whatever they are, and what else is known, a sentence a `yield`; what a `yield` states
is the condition of its branch. Answers and the first three surprises that hold stand in the head of
page, README, report and terminal.
"""

from collections.abc import Iterator, Sequence

from layerwise.engine.answer_words import NEEDS_WEIGHTS, NO, UNDECIDED
from layerwise.engine.answers import number_text
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, OPEN
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.engine.seen import Matter, Seen, SeenAnswer, agree, capital
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.paper1.central import MODELS
from layerwise.papers.paper2.central import (
    APERTUS,
    LAST,
    LLAMA,
    PYTHIA,
    TEMPLATED,
    negative_late_layers,
    r_of_pythia,
)
from layerwise.papers.shared.names import Choice

MAJORITY = 0.5
RIGHT_OFTEN = 50  # percent
BASE_MODELS = (PYTHIA, LLAMA, APERTUS)  # that are said to turn
LARGEST = "largest"  # the model with the largest number
NUMBERS = ("none", "one", "two", "three", "four")

# --- does asymmetry tell preference? ---


def base_model_correlations(seen: Seen, question: str) -> tuple[list[SeenAnswer], str]:
    """Return the answers of the base models, those that say yes first, and their numbers.

    They are of r within the categories; where the source lacks the pairs, of r over all of them.
    """
    by_model = {model: seen.answer(question, model, choose_reading(seen)) for model in BASE_MODELS}
    known = [model for model in BASE_MODELS if by_model[model].known]
    ordered = sorted(known, key=lambda model: not by_model[model].yes)
    answers = [by_model[model] for model in ordered]
    numbers = [
        f"{model} {number_text(answer.value, 2, sign=True)} ({answer.deciding:+.2f})"
        for model, answer in zip(ordered, answers, strict=True)
    ]
    return answers, ", ".join(numbers)


def choose_reading(seen: Seen) -> str:
    """Return `DECIDES`; `PUBLISHED` where r within the categories is not known, as in print."""
    is_known = any(seen.answer("early", model).known for model in BASE_MODELS)
    return DECIDES if is_known else PUBLISHED


def spell_count(answers: Sequence[SeenAnswer]) -> str:
    """Return how many answers say yes, in words: "two of three"."""
    return f"{NUMBERS[len([True for answer in answers if answer.yes])]} of {NUMBERS[len(answers)]}"


def answer_on_preference(seen: Seen) -> str:
    """Answer whether asymmetry predicts preference, from the early layers."""
    answers, numbers = base_model_correlations(seen, "early")
    if not answers:
        return ""
    if choose_reading(seen) == PUBLISHED:
        return (
            f"In the early layers of {spell_count(answers)} base models they correlate positively "
            f"over the papers' {answers[0].n} pairs of statements: {numbers}. The pairs come in "
            "six categories, and the published numbers cannot tell whether this is more than a "
            "difference between them."
        )
    return (
        f"In the early layers of {spell_count(answers)} base models they correlate positively "
        f"within the categories of statements: {numbers}."
    )


def asymmetry_of_categories(seen: Seen) -> Iterator[str]:
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


# --- does the sign flip with depth? ---


def answer_on_depth(seen: Seen) -> str:
    """Answer whether r is negative in late layers, and in all of them with a chat template."""
    answers, numbers = base_model_correlations(seen, "late")
    if not answers:
        return ""
    reading = choose_reading(seen)
    sentences = [
        f"In the late layers of {spell_count(answers)} base models the correlation is negative: "
        f"{numbers}."
    ]
    template = seen.answer("everywhere_negative", TEMPLATED, reading)
    if template.known:
        is_negative = "is" if template.yes else "is not" if template.no else "is not shown to be"
        sentences.append(
            f"With a chat template Llama-3.1-8B-Instruct's {is_negative} negative in every layer; "
            f"the highest is {template.value:+.2f} ({template.deciding:+.2f})."
        )
    if reading == PUBLISHED:
        sentences.append(
            "Here too the published numbers cannot tell whether this is more than a difference "
            "between categories."
        )
    return " ".join(sentences)


def depth_of_curves(seen: Seen) -> Iterator[str]:
    """The change of r over all pairs with depth, as published."""
    if negative_late_layers(seen) == [LAST]:
        yield (
            "Pythia's r is shown to be negative at only one late layer, the last "
            f"({r_of_pythia(seen, LAST):+.2f}), which was read after the final norm; the change of "
            "sign may come from the norm and not from depth."
        )
    if seen.answer("everywhere_negative", TEMPLATED, PUBLISHED).yes:
        yield (
            "A single model cannot show whether the tuning or the chat template's own tokens make "
            "r negative in every layer."
        )
    if seen.central("p2.late").why == NEEDS_WEIGHTS:
        yield (
            "Paper 2 published r over all pairs, and no pair; one of the six categories can make "
            "any r over all of them. The run from the weights measures r within the categories."
        )


# --- are there laws? ---


LAWS = {  # by claim: of which question and model the number is, and what it says
    "p3.depth_gain": (
        *("depth_gain", OVER_MODELS),
        "deeper Pythia models have smaller gains (r = {value:+.2f}, {ends:+.2f}; {n} sizes)",
    ),
    "p3.bound": (
        *("bound", LARGEST),
        "no gain exceeds 10^(1/L) in L blocks ({model}'s is {value:.2f} times that, {ends:.2f})",
    ),
    "p3.heritage": (
        *("heritage", OVER_MODELS),
        "EleutherAI's models damp more often than others (difference of shares {value:+.2f}, "
        "{ends:+.2f}; {n} models)",
    ),
    "p3.spectral": (
        *("spectral_predicts", OVER_MODELS),
        "the norms of two weight matrices, W_V over W_O, predict the gain (r = {value:+.2f}, "
        "{ends:+.2f}; {n} models)",
    ),
}
FARES = {  # one of them, several
    HOLDS: ("holds", "hold"),
    IN_PART: ("holds in part", "hold in part"),
    FAILS: ("fails", "fail"),
    OPEN: ("cannot be told", "cannot be told"),
}


def answer_on_laws(seen: Seen) -> str:
    """Return the marks of the three laws and of the bound, each with its number."""
    parts = []
    for mark, forms in FARES.items():
        laws = [claim for claim in LAWS if seen.central(claim).mark == mark]
        if laws:
            fares = agree(laws, *forms)
            descriptions = ", and that ".join(describe_law(seen, claim) for claim in laws)
            parts.append(f"{NUMBERS[len(laws)]} {fares}: that {descriptions}.")
    first, *others = parts
    sentences = " ".join([first, *map(capital, others)])
    return f"Of three laws of the gain and a bound on it {sentences}"


def describe_law(seen: Seen, claim: str) -> str:
    """Return a law with the number that decides, its interval and n."""
    question, model, says = LAWS[claim]
    model = model_of_largest(seen, claim) if model == LARGEST else model
    answer = seen.answer(question, model)
    name = seen.name(model)
    return says.format(model=name, value=answer.value, ends=answer.deciding, n=answer.n)


def model_of_largest(seen: Seen, claim: str) -> str:
    """Return the model with the largest number, of those that refute the claim if there are any."""
    parts = seen.central(claim).parts
    refuting = [part for part in parts if part.word == NO]
    largest = max(refuting or parts, key=lambda part: seen.answer(part.question, part.model).value)
    return largest.model


def gains_and_weights(seen: Seen) -> Iterator[str]:
    """Further results on the gain and the critical layer: depth, lab, weights and tuning."""
    yield from depth_and_labs(seen)
    yield from norms_and_density(seen)
    yield from traces_and_layers(seen)
    yield from tuning_and_order(seen)


def depth_and_labs(seen: Seen) -> Iterator[str]:
    """The gain by depth and by lab."""
    sizes = seen.answer("depth_gain")
    survey, both = (
        seen.answer("depth_gain_of_survey", reading=reading) for reading in (DECIDES, Choice.POOLED)
    )
    if survey.ends.includes(0) and sizes.yes:
        yield (
            "Over the models of Paper 3's survey a smaller gain in deeper models is not shown "
            f"(r = {survey.value:+.2f}, {survey.ends:+.2f}; with the Pythia sizes "
            f"{both.value:+.2f}, {both.ends:+.2f}): a finding on one family and not yet a law."
        )
    heritage, shares = seen.central("p3.heritage").mark, seen.answer("heritage")
    if heritage != HOLDS and shares.undecided and shares.value > 0:
        yield (
            "In the survey a larger share of EleutherAI's models damps than of all others "
            f"({shares.where}), but whether the lab decides is open: the interval of the "
            f"difference, {shares.value:+.2f}, is {shares.deciding:+.2f}."
        )


def norms_and_density(seen: Seen) -> Iterator[str]:
    """The norms of the weights and the density of heads as predictors of the gain."""
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


def traces_and_layers(seen: Seen) -> Iterator[str]:
    """The trace of the sheaf Laplacian, the critical layer and the order of the predictors."""
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
    """The effect of tuning on the gain, and the order of the benchmarked models."""
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
    Matter(
        "preference",
        "Does asymmetry tell preference?",
        asymmetry_of_categories,
        answer_on_preference,
    ),
    Matter("depth", "Does the sign flip with depth?", depth_of_curves, answer_on_depth),
    Matter("laws", "Are there laws?", gains_and_weights, answer_on_laws),
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
    holds = ", and the claim stands" if seen.central("p3.depth_gain").mark == HOLDS else ""
    if law.falls and law.reading("density of heads instead of depth").gives:
        yield (
            f"Paper 3 prints r = {law.printed} for depth and gain; that is the r of another "
            "variable, the number of attention heads over the width of one. Depth gives "
            f"{law:+.2f}{holds}."
        )
    own = seen.answer("bound", "pythia-1b")
    if own.no:
        yield (
            "Pythia-1B, one of the paper's own models, exceeds the paper's bound on the gain by "
            f"{own.value - 1:.0%} ({own.deciding.low - 1:.0%} to {own.deciding.high - 1:.0%})."
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
