"""What is said of the central claims of Paper 1.

Each function tells of one claim, a sentence a `yield`; what a sentence states is the condition of
its branch.
"""

from collections.abc import Iterator

from layerwise.engine.questions.words import NO_SPREAD
from layerwise.engine.seen import Claimed, Detail, InRow, Seen, Sentences

MODELS = ("gemma", "llama", "mistral", "apertus")
PASS = "Pass"
EFFECT = 0.3  # |d|, under which a model may pass
CODE = "the released code's rule and words"
WITHIN_ZONE = "the mean UA over the neutral categories within the zone"

sentences = Sentences()


@sentences("p1.neutral")
def neutral(seen: Seen) -> Iterator[str]:
    """The mean asymmetry over the neutral categories, and the status of each model."""
    yield Claimed("On neutral statements the uniformity asymmetry lies near zero in most models.")
    most = seen.claim("p1.abstract.neutral_most_models")
    calibrated = seen.claim("p1.table_main.pattern.lifestyle")
    if most.known:
        yield InRow(f"On lifestyle, by which the paper judges, {most} lie in its zone.")
    if most.falls:
        by_mean = most.reading(WITHIN_ZONE)
        yield (
            f"The paper prints '{most.printed}'. On lifestyle, the only category for which it "
            f"defines a neutral zone, {most} are near zero ({calibrated}); by the mean over the "
            f"neutral categories {by_mean} are."
        )
    if most.stands:
        yield (
            "On lifestyle, the only category for which the paper defines a neutral zone, "
            f"{most} are near zero ({calibrated})."
        )
    answers = {model: seen.answer("calibration", model) for model in MODELS}
    if all(answer.unshown for answer in answers.values()):
        of_llama, of_gemma = answers["llama"].narrow, answers["gemma"].narrow
        yield (
            "No model can be shown to lie in that zone by its mean over the neutral categories: "
            "the interval of two one-sided tests would have to lie wholly within it, and Llama's "
            f"runs from {of_llama:+.3f}, Gemma's from {of_gemma:+.3f}."
        )
    llama = seen.claim("p1.table_stats.llama.status")
    without_business = seen.answer("calibration_effect", "llama", "category_out/business")
    if llama.value == PASS and without_business.value < -EFFECT:
        yield (
            f"If the category business is left out, Llama loses its {llama} "
            f"(d = {without_business.value:.2f})."
        )
    mistral = seen.claim("p1.table_stats.mistral.status")
    without_tech = seen.answer("calibration_effect", "mistral", "category_out/tech_philosophy")
    if mistral.value == PASS and without_tech.value > EFFECT:
        yield (
            f"If tech philosophy is left out, Mistral loses its {mistral} "
            f"(d = {without_tech.value:.2f})."
        )
    by_code = mistral.reading(CODE)
    if by_code.value != mistral.value:
        yield (
            f"Mistral's status is {mistral} by the rule in the paper and {by_code} by the rule in "
            "the released code."
        )
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


@sentences("p1.positive")
def positive(seen: Seen) -> Iterator[str]:
    """The same mean, above zero in two models."""
    gemma, apertus = (seen.claim(f"p1.table_stats.{model}.mean") for model in ("gemma", "apertus"))
    yield Claimed(
        f"On neutral statements Gemma and Apertus have a positive mean asymmetry ({gemma.printed} "
        f"and {apertus.printed})."
    )
    of_gemma, of_apertus = (
        seen.answer("positive_on_neutral", model) for model in ("gemma", "apertus")
    )
    if gemma.known and apertus.known:
        yield (
            f"Over the {of_gemma.n} neutral categories Gemma's mean is {gemma:+.3f} "
            f"({of_gemma.ends:+.3f}) and Apertus' {apertus:+.3f} ({of_apertus.ends:+.3f}), by "
            "Student's t."
        )
    if of_gemma.ends.low > 0 and of_apertus.ends.low > 0:
        yield "Both intervals lie above zero."
    if of_gemma.ends.low <= 0:
        yield "Gemma's interval includes zero."
    if of_apertus.ends.low <= 0:
        yield "Apertus' interval includes zero."


@sentences("p1.numeric")
def numeric(seen: Seen) -> Iterator[str]:
    """The asymmetry on numeric facts."""
    above = seen.claim("p1.abstract.gtnum_threshold")
    apertus = seen.claim("p1.table_main.apertus.gt_numeric")
    yield Claimed(
        f"On numeric facts the asymmetry is large ({above.printed}), and negative except in "
        f"Apertus ({apertus.printed})."
    )
    weakest, strongest = (seen.claim(f"p1.finding2.range_{end}") for end in ("hi", "lo"))
    if weakest.value < 0 and apertus.value > 0:
        yield (
            f"Recomputed from the mean cosines, it is {weakest:+.3f} to {strongest:+.3f} in three "
            f"models and {apertus:+.3f} in Apertus."
        )
    if above.falls:
        yield f"By the recomputed values it is {above}, not {above.printed}."
    below = seen.claim("p1.abstract.gtnum_others_below")
    if below.falls:
        yield f"In the other models it is {below}, not {below.printed}."
    signs = seen.claim("p1.disc.inverted.three_vs_one")
    if signs.falls:
        yield f"By sign it is {signs}, not {signs.printed}."
    if seen.answer("numeric", "apertus").word == NO_SPREAD:
        yield (
            "Each of these is a single number without an interval: an interval needs the cosines "
            "of single pairs, and so the weights."
        )


@sentences("p1.apertus_facts")
def apertus_facts(seen: Seen) -> Iterator[str]:
    """The asymmetry of Apertus on scientific facts."""
    facts = seen.claim("p1.table_main.apertus.scientific_facts")
    ratio = seen.claim("p1.finding3.sci_ratio")
    yield Claimed(
        f"Apertus has a strong asymmetry on scientific facts ({facts.printed}), {ratio.printed} "
        "that of the other models, and its largest."
    )
    lead = seen.answer("facts_largest", "apertus")
    if facts.known and ratio.known:
        strongest = seen.claim("p1.disc.apertus_strongest_sci")
        yield (
            f"Apertus has {facts:+.3f}, {ratio} that of the others; its largest asymmetry is on "
            f"{strongest}."
        )
    if lead.value > 0:
        yield f"It leads by {lead.value:.4f} ({lead.where}); neither number has an interval."
    if lead.value < 0:
        yield (
            f"Its size less that of the largest is {lead.value:+.4f} ({lead.where}); neither "
            "number has an interval."
        )
    if lead.word == NO_SPREAD:
        yield "An interval for a single category needs the weights."
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
    in_supplement = seen.claim("p1.ext.page.mistral.facts_ua")
    if in_supplement.falls:
        yield Detail(
            f"The supplement gives Mistral a UA of {in_supplement.printed} on scientific facts; it "
            f"is {in_supplement:+.3f}."
        )
    if in_supplement.falls and in_supplement.reading("UA of lifestyle").gives:
        yield Detail(
            "Of the six categories searched, Mistral's UA on lifestyle has the printed value."
        )
    tuning, masked = (seen.claim(f"p1.ext.page.{name}") for name in ("tuning", "masked_mistral"))
    if tuning.falls and masked.falls:
        yield Detail(
            "The supplement explains neutral embeddings by RLHF, but all four models are base "
            "models: these data cannot show what tuning does, and the labels that say that RLHF "
            "masks an asymmetry have no basis."
        )


@sentences("p1.business")
def business(seen: Seen) -> Iterator[str]:
    """The asymmetry on business statements."""
    low, high = (seen.claim(f"p1.finding4.business_range_{end}") for end in ("lo", "hi"))
    place = seen.claim("p1.finding4.apertus_lowest")
    apertus = seen.claim("p1.table_main.apertus.business")
    yield Claimed(
        "On business statements every model has a positive asymmetry "
        f"({low.printed} to {high.printed}), and Apertus the {place.printed}."
    )
    if low.value > 0:
        yield f"All four are positive, {low:+.3f} to {high:+.3f}."
    if low.value <= 0:
        yield f"Not all are positive: they run from {low:+.3f} to {high:+.3f}."
    if place.stands:
        yield f"Apertus' is the {place} ({apertus:+.3f})."
    if place.falls:
        yield f"Apertus' is {place}, not the {place.printed} ({apertus:+.3f})."
    if all(seen.answer("business", model).word == NO_SPREAD for model in MODELS):
        yield (
            "Each is a single number without an interval: an interval needs the cosines of single "
            "pairs, and so the weights."
        )
