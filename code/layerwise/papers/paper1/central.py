"""Sentences on the central claims of Paper 1.

Each `describe_` function tells of one claim, and each `detail_` function of what else is printed on
it, a sentence a `yield`: what is claimed, then notes on the published data beside the answer. What
a note states is the condition of its branch.
"""

from collections.abc import Iterator

from layerwise.engine.answer_words import NEEDS_WEIGHTS
from layerwise.engine.published import PUBLISHED
from layerwise.engine.seen import Claimed, Detail, Seen, Sentences

NAMES = {"gemma": "Gemma", "llama": "Llama", "mistral": "Mistral", "apertus": "Apertus"}
MODELS = tuple(NAMES)
PASS, MARGINAL = "Pass", "MARGINAL"  # words of the paper, and of the released script
EFFECT = 0.3  # |d|, under which a model may pass
CODE = "the released code's rule and words"
WITHIN_ZONE = "the mean UA over the neutral categories within the zone"

sentences = Sentences()


@sentences("p1.neutral")
def describe_neutral(seen: Seen) -> Iterator[str]:
    """The mean asymmetry over the neutral categories, and the status of each model."""
    yield Claimed("On neutral statements the uniformity asymmetry lies near zero in most models.")
    most = seen.claim("p1.abstract.neutral_most_models")
    calibrated = seen.claim("p1.table_main.pattern.lifestyle")
    if most.falls and most.reading(WITHIN_ZONE).value == most.value:
        yield (
            f"The paper prints '{most.printed}'. On lifestyle, the only category for which it "
            f"defines a neutral zone, it is {most} ({calibrated}), and the same number by the "
            "mean over the neutral categories."
        )
    llama = seen.claim("p1.table_stats.llama.status")
    without_business = d_without(seen, "llama", "business")
    if llama.value == PASS and without_business <= -EFFECT:
        yield (
            f"If the category business is left out, Llama loses its {llama} "
            f"(Cohen's d = {without_business:.2f})."
        )
    mistral = seen.claim("p1.table_stats.mistral.status")
    without_tech = d_without(seen, "mistral", "tech_philosophy")
    if mistral.value == PASS and without_tech >= EFFECT:
        yield (
            f"If tech philosophy is left out, Mistral loses its {mistral} "
            f"(Cohen's d = {without_tech:.2f})."
        )
    code_status = mistral.reading(CODE)
    if mistral.value == PASS and code_status.value == MARGINAL:
        yield (
            f"Mistral's status is {mistral} by the rule in the paper and {code_status} by the rule "
            "in the released code."
        )
    yield from detail_neutral(seen)


def detail_neutral(seen: Seen) -> Iterator[str]:
    """Other printed statements on the neutral categories."""
    parity = seen.claim("p1.table_dataset.caption.parity")
    within = parity.reading("pairs that keep it")
    if parity.value != parity.published:
        yield Detail(
            f"Word counts within a pair differ by up to {parity}; {within} keep the "
            f"{parity.printed} that the writers of the pairs were told to keep, so the length is "
            "not held constant where the asymmetry is called neutral."
        )
    front, front_gemma, rule = (
        seen.claim(f"p1.readme.{name}")
        for name in ("mistral.status", "gemma.status", "effect_rule")
    )
    if front.falls and front_gemma.falls:
        yield Detail(
            f"The release's front page calls Mistral {front.printed} and Gemma "
            f"{front_gemma.printed}; the released script calls them {front} and {front_gemma}."
        )
    if rule.falls:
        yield Detail(
            f"The front page passes a model with {rule.printed}; the bound in the paper is more "
            "lenient."
        )


def d_without(seen: Seen, model: str, category: str) -> float:
    """Return a model's Cohen's d over the neutral categories without one of them."""
    group = ("_global_stats", "neutral_only", "d_without")
    cohens_d: float = seen.statistic("calibration", model, *group, category)
    return cohens_d


@sentences("p1.positive")
def describe_positive(seen: Seen) -> Iterator[str]:
    """The same mean, above zero in two models."""
    gemma, apertus = (seen.claim(f"p1.table_stats.{model}.mean") for model in ("gemma", "apertus"))
    yield Claimed(
        f"On neutral statements Gemma and Apertus have a positive mean asymmetry ({gemma.printed} "
        f"and {apertus.printed})."
    )
    gemma_answer, apertus_answer = (
        seen.answer("positive_on_neutral", model) for model in ("gemma", "apertus")
    )
    if gemma_answer.ends.low > 0 and apertus_answer.ends.low > 0 and apertus_answer.undecided:
        yield (
            f"Taken alone both intervals lie above zero at 95% ({gemma_answer.ends:+.3f}, "
            f"{apertus_answer.ends:+.3f}). The two models were picked by their result out of four, "
            f"so that intervals at {apertus_answer.level:.2%} decide."
        )
    gemma_interval, apertus_interval = (
        seen.answer("positive_on_neutral", model, PUBLISHED).ends for model in ("gemma", "apertus")
    )
    pairs = (gemma_interval, gemma_answer.ends), (apertus_interval, apertus_answer.ends)
    if all(own.low > student.low and own.high < student.high for own, student in pairs):
        yield (
            f"The paper's own intervals, by resamples of the {gemma_answer.n} categories, lie "
            f"within Student's at 95% ({gemma_interval:+.3f}, {apertus_interval:+.3f}): so few "
            "values vary less in resamples than further categories would."
        )


@sentences("p1.numeric")
def describe_numeric(seen: Seen) -> Iterator[str]:
    """The asymmetry on numeric facts, beside that of the other categories."""
    above = seen.claim("p1.abstract.gtnum_threshold")
    apertus = seen.claim("p1.table_main.apertus.gt_numeric")
    yield Claimed(
        f"On numeric facts the asymmetry is large ({above.printed}), and negative except in "
        f"Apertus ({apertus.printed})."
    )
    weakest, strongest = (seen.claim(f"p1.finding2.range_{end}") for end in ("hi", "lo"))
    if strongest.value <= weakest.value < 0 < apertus.value:
        yield (
            f"The asymmetry itself, recomputed from the mean cosines, is {weakest:+.3f} to "
            f"{strongest:+.3f} in three models and {apertus:+.3f} in Apertus."
        )
    gemma_value, llama_value, mistral_value, apertus_value = (
        seen.answer("numeric", model, PUBLISHED).value for model in MODELS
    )
    is_single = seen.central("p1.numeric").why == NEEDS_WEIGHTS
    if max(gemma_value, llama_value, mistral_value) < 0 < apertus_value and is_single:
        yield (
            f"From the mean of the other categories it lies {gemma_value:+.2f} in Gemma, "
            f"{llama_value:+.2f} in Llama, {mistral_value:+.2f} in Mistral and "
            f"{apertus_value:+.2f} in Apertus: values without an interval, as no number of a "
            "single pair was published."
        )


@sentences("p1.apertus_facts")
def describe_apertus_facts(seen: Seen) -> Iterator[str]:
    """The asymmetry of Apertus on scientific facts, beside that of the other models."""
    facts = seen.claim("p1.table_main.apertus.scientific_facts")
    ratio = seen.claim("p1.finding3.sci_ratio")
    yield Claimed(
        f"Apertus has a strong asymmetry on scientific facts ({facts.printed}), {ratio.printed} "
        "that of the other models, and its largest."
    )
    apart = seen.answer("facts_above_models", "apertus", PUBLISHED)
    is_single = seen.central("p1.apertus_facts").why == NEEDS_WEIGHTS
    if apart.value > 0 and is_single:
        yield (
            f"Apertus has {facts:+.3f}, {ratio} that of the others, and lies {apart.value:.3f} "
            "above their mean: a value without an interval, as no number of a single pair was "
            "published."
        )
    lead = seen.answer("facts_largest", "apertus", PUBLISHED)
    if lead.value > 0 and facts.value > 0 and is_single:
        yield (
            f"It is the largest of Apertus' categories by {lead.value:.4f} ({lead.where}), a lead "
            "without an interval."
        )
    yield from detail_facts(seen)


def detail_facts(seen: Seen) -> Iterator[str]:
    """Other printed statements on the scientific facts."""
    if seen.claim("p1.setup.alignment_labels").falls:
        yield Detail(
            "Paper 1 calls Gemma and Llama strongly aligned, but the models it ran are base "
            "models: alignment training cannot explain their results."
        )
    others = seen.claim("p1.finding3.others_near_zero")
    if others.falls:
        yield Detail(
            "On scientific facts not all of the other models are near zero "
            f"({others}, by the paper's own bound)."
        )
    supplement = seen.claim("p1.ext.page.mistral.facts_ua")
    if supplement.falls:
        yield Detail(
            f"The supplement gives Mistral an asymmetry of {supplement.printed} on scientific "
            f"facts; it is {supplement:+.3f}."
        )
    if supplement.falls and supplement.reading("UA of lifestyle").gives:
        yield Detail(
            "Of the six categories searched, Mistral's asymmetry on lifestyle has the printed "
            "value."
        )
    tuning, masked = (seen.claim(f"p1.ext.page.{name}") for name in ("tuning", "masked_mistral"))
    if tuning.falls and masked.falls:
        yield Detail(
            "The supplement explains neutral embeddings by RLHF, but all four models are base "
            "models: these data cannot show what tuning does, and the labels that say that RLHF "
            "masks an asymmetry have no basis."
        )


@sentences("p1.business")
def describe_business(seen: Seen) -> Iterator[str]:
    """The asymmetry on business statements."""
    low, high = (seen.claim(f"p1.finding4.business_range_{end}") for end in ("lo", "hi"))
    place = seen.claim("p1.finding4.apertus_lowest")
    yield Claimed(
        "On business statements every model has a positive asymmetry "
        f"({low.printed} to {high.printed}), and Apertus the {place.printed}."
    )
    mean = seen.answer("business_mean")
    if 0 < low.value <= high.value:
        yield f"All {mean.n} are positive, {low:+.3f} to {high:+.3f}."
    apart = seen.answer("business_lowest", "apertus", PUBLISHED)
    if apart.value < 0 and seen.central("p1.business").why == NEEDS_WEIGHTS:
        yield (
            f"Apertus' is the lowest, by {abs(apart.value):.3f} ({apart.where}), a lead without an "
            "interval."
        )
