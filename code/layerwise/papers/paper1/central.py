"""What is said of the central claims of Paper 1.

Each function tells of one claim, a sentence a `yield`; what a sentence states is the condition of
its branch.
"""

from collections.abc import Iterator

from layerwise.engine.seen import Claimed, Detail, InRow, Seen, Sentences, listed

NAMES = {"gemma": "Gemma", "llama": "Llama", "mistral": "Mistral", "apertus": "Apertus"}
MODELS = tuple(NAMES)
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
    by_mean = most.reading(WITHIN_ZONE)
    zone = "the only category for which it defines a neutral zone"
    if most.falls and by_mean.value == most.value:
        yield (
            f"The paper prints '{most.printed}'. On lifestyle, {zone}, it is {most} "
            f"({calibrated}), and the same number by the mean over the neutral categories."
        )
    if most.falls and by_mean.value != most.value:
        yield (
            f"The paper prints '{most.printed}'. On lifestyle, {zone}, it is {most} "
            f"({calibrated}), by the mean over the neutral categories {by_mean}."
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
            "The data show of no model that its mean over the neutral categories lies in that "
            "zone: the interval of two one-sided tests would have to lie wholly within it, and "
            f"Llama's runs from {of_llama:+.3f}, Gemma's from {of_gemma:+.3f}."
        )
    llama = seen.claim("p1.table_stats.llama.status")
    without_business = seen.answer("calibration_effect", "llama", "category_out/business")
    if llama.value == PASS and without_business.value < -EFFECT:
        yield (
            f"If the category business is left out, Llama loses its {llama} "
            f"(Cohen's d = {without_business.value:.2f})."
        )
    mistral = seen.claim("p1.table_stats.mistral.status")
    without_tech = seen.answer("calibration_effect", "mistral", "category_out/tech_philosophy")
    if mistral.value == PASS and without_tech.value > EFFECT:
        yield (
            f"If tech philosophy is left out, Mistral loses its {mistral} "
            f"(Cohen's d = {without_tech.value:.2f})."
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
    at_once = {
        NAMES[model]: seen.answer("positive_on_neutral", model, "models_at_once")
        for model in ("gemma", "apertus")
    }
    for name, answer in at_once.items():
        if answer.ends.low <= 0:
            yield (
                "With the four models tested at once, of which these two were picked, that of "
                f"{name} includes zero ({answer.ends:+.3f})."
            )


@sentences("p1.numeric")
def numeric(seen: Seen) -> Iterator[str]:
    """The asymmetry on numeric facts, beside that of the other categories."""
    above = seen.claim("p1.abstract.gtnum_threshold")
    apertus = seen.claim("p1.table_main.apertus.gt_numeric")
    yield Claimed(
        f"On numeric facts the asymmetry is large ({above.printed}), and negative except in "
        f"Apertus ({apertus.printed})."
    )
    weakest, strongest = (seen.claim(f"p1.finding2.range_{end}") for end in ("hi", "lo"))
    answers = {NAMES[model]: seen.answer("numeric", model) for model in MODELS}
    below = [name for name, answer in answers.items() if answer.yes]
    if below:
        yield (
            f"In {listed(below)} it lies below the other five categories by more than these "
            "scatter."
        )
    for name, answer in answers.items():
        if answer.undecided:
            yield (
                f"In {name} it lies {answer.value:+.2f} ({answer.ends:+.2f}) from their mean, "
                "within their scatter."
            )
        if answer.no:
            yield f"In {name} it lies above them, by {answer.value:.2f} ({answer.ends:.2f})."
    if strongest.value <= weakest.value < 0 < apertus.value:
        yield (
            f"The asymmetry itself, recomputed from the mean cosines, is {weakest:+.3f} to "
            f"{strongest:+.3f} in three models and {apertus:+.3f} in Apertus."
        )
    if above.falls:
        yield f"By the recomputed values it is {above}, not {above.printed}."
    others = seen.claim("p1.abstract.gtnum_others_below")
    if others.falls:
        yield (
            f"The paper prints '{others.printed}' for the other models; by the recomputed values "
            f"it is '{others}'."
        )
    signs = seen.claim("p1.disc.inverted.three_vs_one")
    if signs.falls:
        yield f"By sign it is {signs}, not {signs.printed}."
    if answers[NAMES["apertus"]].known:
        yield (
            "The scatter of the other categories stands for the noise of a single one: an interval "
            "of its own needs the cosines of single pairs, and so the weights."
        )


@sentences("p1.apertus_facts")
def apertus_facts(seen: Seen) -> Iterator[str]:
    """The asymmetry of Apertus on scientific facts, beside that of the other models."""
    facts = seen.claim("p1.table_main.apertus.scientific_facts")
    ratio = seen.claim("p1.finding3.sci_ratio")
    yield Claimed(
        f"Apertus has a strong asymmetry on scientific facts ({facts.printed}), {ratio.printed} "
        "that of the other models, and its largest."
    )
    apart, at_once = (
        seen.answer("facts_above_models", "apertus", choice)
        for choice in ("published", "tests_at_once")
    )
    distance = f"{apart.value:+.3f} ({apart.ends:+.3f})"
    if apart.yes:
        yield (
            f"Apertus has {facts:+.3f}, {ratio} that of the others; it lies {distance} from their "
            "mean, farther above it than these models scatter."
        )
    if apart.unshown:
        yield (
            f"Apertus has {facts:+.3f}, {ratio} that of the others; it lies {distance} from their "
            "mean, within the scatter of these models."
        )
    if apart.yes and at_once.unshown:
        yield (
            "Among all categories and models, out of which this one was singled, such a distance "
            f"may be chance ({at_once.ends:+.2f} with all of them tested at once)."
        )
    lead = seen.answer("facts_largest", "apertus")
    if lead.value > 0:
        yield (
            f"It is the largest of Apertus' categories by {lead.value:.4f} ({lead.where}), a lead "
            "without an interval."
        )
    if lead.value == 0:
        yield f"Its size is that of another category too ({lead.where})."
    if lead.value < 0:
        yield (
            f"It is not the largest of Apertus' categories: its size less the largest is "
            f"{lead.value:+.4f} ({lead.where}), without an interval."
        )
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
            f"The supplement gives Mistral an asymmetry of {in_supplement.printed} on scientific "
            f"facts; it is {in_supplement:+.3f}."
        )
    if in_supplement.falls and in_supplement.reading("UA of lifestyle").gives:
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
def business(seen: Seen) -> Iterator[str]:
    """The asymmetry on business statements."""
    low, high = (seen.claim(f"p1.finding4.business_range_{end}") for end in ("lo", "hi"))
    place = seen.claim("p1.finding4.apertus_lowest")
    apertus = seen.claim("p1.table_main.apertus.business")
    yield Claimed(
        "On business statements every model has a positive asymmetry "
        f"({low.printed} to {high.printed}), and Apertus the {place.printed}."
    )
    mean = seen.answer("business_mean")
    apart = seen.answer("business_below_models", "apertus")
    if low.value > 0:
        yield f"All {mean.n} are positive, {low:+.3f} to {high:+.3f}."
    if low.value <= 0:
        yield f"Not all are positive: they run from {low:+.3f} to {high:+.3f}."
    if mean.yes:
        yield f"Their mean, {mean.value:+.3f} ({mean.ends:+.3f}), lies above zero."
    if mean.unshown:
        yield f"Their mean, {mean.value:+.3f} ({mean.ends:+.3f}), is not shown to lie above zero."
    if place.stands:
        yield f"Apertus' is the {place} ({apertus:+.3f})."
    if place.falls:
        yield f"Apertus' is {place}, not the {place.printed} ({apertus:+.3f})."
    if apart.yes:
        yield (
            f"It lies {apart.value:+.3f} ({apart.ends:+.3f}) from the mean of the others, farther "
            "below it than these models scatter."
        )
    if apart.undecided:
        yield (
            f"It lies {apart.value:+.3f} ({apart.ends:+.3f}) from the mean of the others, "
            "within the scatter of these models."
        )
    if apart.no:
        yield f"It lies above the others, by {apart.value:.3f} ({apart.ends:.3f})."
