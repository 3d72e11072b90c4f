"""What is said of the central claims of Paper 2 and of its notebooks.

Each function tells of one claim, a sentence a `yield`; what a sentence states is the condition of
its branch.
"""

from collections.abc import Iterator
from typing import Any

from layerwise.engine.seen import Claimed, Detail, InRow, Seen, Sentences, equal_p, listed, plural
from layerwise.papers.shared.result_files import METRIC
from layerwise.papers.shared.terms import NO_STARS

PYTHIA, LLAMA, APERTUS, GEMMA = "pythia-6p9b", "llama-3p1-8b", "apertus-8b", "gemma-2b"
NAMES = {PYTHIA: "Pythia", LLAMA: "Llama", APERTUS: "Apertus"}
OTHER_LAYERS = (0, 4, 8, 12, 16, 20, 24, 32)  # sampled of Apertus, beside 28
TEMPLATED = "llama-3p1-8b-instruct-template"
BY_CATEGORY = "r over the six categories"
BY_DENSITY = "the mean of the kNN density measure, which fits no other phase,"
BY_DEPTH = "thirds of the depth"
ANY_DECREASE = "any mid mean nearer to zero than the early one or of the other sign"
ALPHA = 0.05
ONE_LAYER = "a single layer"
NO_TURN = "---"  # in the place of the layers between which r turns negative
NOTEBOOK_BOUND = -0.1  # of a late mean

sentences = Sentences()


def r_of_pythia(seen: Seen, layer: int) -> Any:
    """Return Pythia's r over the pairs at a layer."""
    return seen.statistic("pairs", PYTHIA, "results", layer, METRIC, "r")


# --- curves over layers ---------------------------------------------------------------------------


@sentences("p2.early")
def early(seen: Seen) -> Iterator[str]:
    """The mean r of the early layers."""
    low, high = (seen.claim(f"p2.abstract.early_range_{end}") for end in ("lo", "hi"))
    yield Claimed(
        "In early layers the asymmetry of a pair and its preference correlate positively "
        f"({low.printed} to {high.printed}) in the three models that are said to invert."
    )
    if low.value > 0 and high.value > 0:
        yield (
            f"The printed range is that of layer 0: {low:+.2f} in Llama, {high:+.2f} in Apertus."
        )
    if low.value < 0:
        yield f"At layer 0 Llama has {low:+.2f}, which is not positive (Apertus {high:+.2f})."
    if high.value < 0:
        yield f"At layer 0 Apertus has {high:+.2f}, which is not positive (Llama {low:+.2f})."
    llama, mean = seen.answer("early", LLAMA), seen.statistic("phases", LLAMA, "means", "early")
    if llama.undecided:
        yield (
            f"Over the early layers Llama's mean is {mean:+.2f} ({llama.ends:+.2f}), an interval "
            "that includes zero."
        )
    if llama.known and not llama.undecided:
        yield f"Over the early layers Llama's mean is {mean:+.2f} ({llama.ends:+.2f})."
    if seen.claim("p2.method.centroid_follows").falls:
        yield Detail(
            "The centroid asymmetry is said to follow Paper 1, but Paper 1 has no centroids; the "
            "notebook calls it a new metric. What Paper 2 finds with it says nothing about the "
            "asymmetry of Paper 1."
        )
    if seen.claim("p2.method.pooling").falls:
        yield Detail(
            "Pooling is said to leave out special tokens, but the code only drops the first token: "
            "in Pythia a piece of the statement itself, while the tokens of a template stay in."
        )


@sentences("p2.late")
def late(seen: Seen) -> Iterator[str]:
    """The mean r of the late layers."""
    weak, strong = (seen.claim(f"p2.abstract.late_range_{end}") for end in ("weak", "strong"))
    p, ci = seen.claim("p2.abstract.late_p"), seen.claim("p2.abstract.late_ci")
    yield Claimed(
        "In late layers the correlation of asymmetry and preference turns negative: "
        f"r from {weak.printed} to {strong.printed}, {p.printed}, {ci.printed}."
    )
    llama, apertus, pythia = (seen.answer("late", model) for model in (LLAMA, APERTUS, PYTHIA))
    last = seen.answer("late", PYTHIA, "last_layer")
    others = seen.answer("late_inversion", PYTHIA, "without_last")
    if last.value < 0 and others.value >= 0:
        yield InRow(
            "Pythia's is negative at its last layer alone, which was read after the final norm."
        )
    if llama.yes and apertus.yes and pythia.unshown:
        yield (
            f"It holds for Llama, whose late mean is {llama.value:+.2f} ({llama.ends:+.2f}), and "
            f"for Apertus ({apertus.value:+.2f}, {apertus.ends:+.2f}), but is not shown for Pythia."
        )
    if llama.yes and apertus.yes and pythia.yes:
        yield (
            f"It holds for all three models, for Llama with {llama.value:+.2f} "
            f"({llama.ends:+.2f}) and for Apertus with {apertus.value:+.2f} ({apertus.ends:+.2f})."
        )
    if llama.unshown:
        yield f"For Llama it is not shown ({llama.value:+.2f}, {llama.ends:+.2f})."
    if apertus.unshown:
        yield f"For Apertus it is not shown ({apertus.value:+.2f}, {apertus.ends:+.2f})."
    r24, r28, r32 = (r_of_pythia(seen, layer) for layer in (24, 28, 32))
    at_layers = f"({r24:+.2f}, {r28:+.2f}, {r32:+.2f} at layers 24, 28, 32)"
    if weak.falls:
        yield (
            f"The weak end of the range is Pythia's late mean, printed as {weak.printed}. The "
            f"values of r at its late layers {at_layers} have the mean {weak:+.3f}, with {p} "
            f"({ci})."
        )
    if weak.stands:
        yield (
            f"The values of r at Pythia's late layers {at_layers} have the mean {weak:+.3f}, with "
            f"{p} ({ci})."
        )
    if r24 > 0 and r28 > 0 and r32 < 0:
        yield (
            "Of Pythia's late layers only the last has a negative r, and only that layer was read "
            "after the final norm."
        )
    if strong.stands:
        yield f"The strong end of the range ({strong:+.2f}, Apertus, layer 28) is as printed."
    if strong.falls:
        yield (
            f"The strong end of the range is {strong:+.2f} (Apertus, layer 28), not "
            f"{strong.printed}."
        )
    yield from late_in_print(seen)


def late_in_print(seen: Seen) -> Iterator[str]:
    """What else the paper prints on its late layers."""
    late_mean = seen.claim("p2.table_phase.pythia.late")
    by_density = late_mean.reading(BY_DENSITY)
    of_printed = seen.claim("p2.abstract.late_p").reading("the printed late mean of Pythia")
    if late_mean.falls and by_density.gives:
        yield Detail(
            f"Of the five measures searched, the late mean of the kNN density ({by_density:+.3f}) "
            "is the printed one, but the early and mid means of that measure are not."
        )
    if not of_printed.gives:
        yield Detail(
            f"Even the printed mean, taken as one r over the pairs, has only {of_printed}."
        )
    ends = seen.claims_like("p2.csv.pythia.L*.ci_*")
    n_other = sum(end.falls for end in ends)
    if n_other > 0 and seen.claim("p2.fig1.pythia_panel.intervals").falls:
        yield Detail(
            "In the consolidated table, as in figure 1, "
            f"{n_other} of the {len(ends)} ends of Pythia's intervals differ from those in its "
            "result file; their source is unknown."
        )
    low = seen.claim("p2.csv.pythia.L24.ci_lo")
    if seen.claim("p2.csv.pythia.L24.significant").falls and low.value < 0:
        yield Detail(
            "The table calls layer 24 significant because its interval starts at "
            f"{low.printed}; in the result file the interval starts at {low:+.3f} and includes "
            "zero."
        )
    if seen.claim("p2.fig1.pythia_panel.stars").falls:
        yield Detail("Figure 1 has a star at layer 24 too.")
    gradual = seen.claim("p2.disc.gradual")
    layers = gradual.reading("the layers of Pythia with a negative r")
    if gradual.falls and layers.value == ONE_LAYER:
        yield Detail(
            f"Late inversion is described as {gradual.printed}; Pythia inverts at {layers}, after "
            "the final norm."
        )
    if seen.claim("p2.method.significance").falls:
        yield Detail(
            "Significance is said to be judged by intervals, but no phase mean has an interval; "
            "the stars are bounds on p."
        )
    stars = seen.claim("p2.table_phase.pythia.late.stars")
    if stars.falls:
        yield Detail(
            f"The late mean of Pythia is printed with {stars.printed}; the p of the recomputed "
            f"mean earns it {'no star' if stars.value == NO_STARS else stars}."
        )


@sentences("p2.three_of_four")
def three_of_four(seen: Seen) -> Iterator[str]:
    """The models that invert, by several meanings of the word."""
    three = seen.claim("p2.abstract.three_of_four")
    yield Claimed(f"{three.printed} of the models invert in late layers.")
    lowest = seen.answer("late_inversion", PYTHIA)
    inner = seen.answer("late_inversion", PYTHIA, "without_last")
    if lowest.yes and inner.unshown:
        yield InRow("Pythia's only such layer is the last, which was read after the final norm.")
    if three.known:
        yield (
            f"{three} of the models invert if a single late layer whose interval lies below zero "
            "is enough."
        )
    if lowest.yes and inner.unshown:
        yield "Pythia's only such layer is the last, which was read after the final norm."
    means = {
        model: seen.answer("late_inversion", model, "phase_mean")
        for model in (PYTHIA, LLAMA, APERTUS, GEMMA)
    }
    if means[PYTHIA].undecided:
        yield "The interval of Pythia's late mean includes zero."
    far = [model for model, mean in means.items() if mean.value < NOTEBOOK_BOUND]
    below = [model for model, mean in means.items() if mean.value < 0]
    inverted = [model for model in means if seen.answer("late_inversion", model).yes]
    of_all = f"of {len(means)}"
    if far != inverted:
        yield (
            "If the late mean must lie below minus one tenth, the notebooks' own bound, "
            f"{len(far)} {of_all} invert."
        )
    if below != inverted and len(below) == len(inverted):
        yield (
            f"If the late mean only has to lie below zero, {len(below)} {of_all} invert, but not "
            "the same ones."
        )
    if len(below) != len(inverted):
        yield f"If the late mean only has to lie below zero, {len(below)} {of_all} invert."
    mid = seen.claim("p2.disc.mid_transition")
    if mid.falls:
        yield Detail(
            f"The paper says that the mid phase {mid.printed} in all three inverting models; by a "
            "bound of a tenth, which the paper does not state, Pythia's does neither."
        )
    if mid.falls and mid.reading(ANY_DECREASE).gives:
        yield Detail("If any decrease from the early mean counts, the statement holds.")


@sentences("p2.transition")
def transition(seen: Seen) -> Iterator[str]:
    """The layers between which r turns negative."""
    pythia, llama, apertus = (
        seen.claim(f"p2.abstract.transition_{name}") for name in ("pythia", "llama", "apertus")
    )
    yield Claimed(
        f"The layer at which r turns negative differs between models: {pythia.printed} in Pythia, "
        f"{llama.printed} in Llama, {apertus.printed} in Apertus."
    )
    turns = {
        pair: seen.answer("turn_apart", f"{pair[0]} and {pair[1]}")
        for pair in ((PYTHIA, LLAMA), (PYTHIA, APERTUS), (LLAMA, APERTUS))
    }
    for (one, other), apart in turns.items():
        if apart.yes:
            yield (
                f"{NAMES[one]} and {NAMES[other]} turn apart, as is seen at {apart.where} and "
                f"negative in the other (both intervals at least {apart.ends.low:.2f} from zero)."
            )
        if apart.no:
            yield f"{NAMES[one]} and {NAMES[other]} turn between the same sampled layers."
    before, after = (
        {model: seen.answer(question, model) for model in (PYTHIA, LLAMA, APERTUS)}
        for question in ("positive_before", "negative_after")
    )
    if turns[LLAMA, APERTUS].undecided:
        yield (
            "For Llama and Apertus this is not shown: at layer 8 r is "
            f"{after[LLAMA].value:+.2f} ({after[LLAMA].ends:+.2f}) in Llama and "
            f"{before[APERTUS].value:+.2f} ({before[APERTUS].ends:+.2f}) in Apertus."
        )
    if llama.value == NO_TURN:
        yield (
            "Between no two neighbouring sampled layers does Llama's r turn from positive to "
            f"negative (printed {llama.printed})."
        )
    if llama.falls and llama.value != NO_TURN:
        yield (
            f"Llama's r turns negative at {llama}, not {llama.printed}: at layer 4 it is "
            f"{before[LLAMA].value:+.2f} ({before[LLAMA].ends:+.2f})."
        )
    if llama.falls and llama.reading(BY_CATEGORY).value == llama.published:
        yield "Computed over the six categories, Llama's turns negative where the paper says."
    if pythia.stands and before[PYTHIA].undecided:
        yield (
            f"Pythia's r turns negative at {pythia}; at layer 28 its interval includes zero "
            f"({before[PYTHIA].ends:+.2f})."
        )
    if pythia.stands and before[PYTHIA].yes:
        yield f"Pythia's r turns negative at {pythia}."
    if pythia.falls and pythia.value != NO_TURN:
        yield f"Pythia's r turns negative at {pythia}, not {pythia.printed}."
    if pythia.value == NO_TURN:
        yield (
            "Between no two neighbouring sampled layers does Pythia's r turn from positive to "
            f"negative (printed {pythia.printed})."
        )
    if apertus.stands and after[APERTUS].undecided:
        yield (
            f"At layer 12 the interval of Apertus' r includes zero ({after[APERTUS].ends:+.2f})."
        )
    if apertus.falls:
        yield f"Apertus' r is first not positive at {apertus}, not {apertus.printed}."
    back = seen.answer("negative_after", APERTUS, "every_layer").value
    if back > 0:
        yield f"Apertus' r does not stay negative: the highest later one is {back:+.3f}."


@sentences("p2.extremum")
def extremum(seen: Seen) -> Iterator[str]:
    """The layer of Apertus' lowest r."""
    layer, r = seen.claim("p2.abstract.apertus_max_layer"), seen.claim("p2.abstract.apertus_l28")
    yield Claimed(
        f"Apertus inverts most strongly at {layer.printed} (r = {r.printed}) rather than at the "
        "last layer."
    )
    low, high = (
        seen.statistic("cross_model", APERTUS, "results", 28, end) for end in ("ci_lo", "ci_hi")
    )
    last = seen.answer("late", APERTUS, "last_layer")
    if layer.stands and r.known:
        yield (
            f"r is lowest at layer 28, {r:+.2f} ({low:+.2f} to {high:+.2f}); at the last layer, "
            f"32, it is {last.value:+.2f} ({last.ends:+.2f})."
        )
    if layer.falls and r.known:
        yield (
            f"r is lowest at {layer}, not at {layer.printed}; at layer 28 it is {r:+.2f} "
            f"({low:+.2f} to {high:+.2f}), at the last {last.value:+.2f} ({last.ends:+.2f})."
        )
    answers = {layer: seen.answer("below_other", f"layer {layer}") for layer in OTHER_LAYERS}
    shown = [str(layer) for layer, answer in answers.items() if answer.yes]
    unclear = [layer for layer, answer in answers.items() if answer.undecided]
    lower = [str(layer) for layer, answer in answers.items() if answer.no]
    if shown:
        yield (
            "Even with both errors in the worst direction r is lower at layer 28 than at "
            f"{plural('layer', shown)}."
        )
    if unclear:
        differences = (
            f"{answers[layer].value:+.2f} ({answers[layer].ends:+.2f})" for layer in unclear
        )
        yield (
            f"Against {plural('layer', [str(layer) for layer in unclear])} the difference may be "
            f"zero: {listed([*differences])}."
        )
    if lower:
        yield f"At {plural('layer', lower)} r is lower than at layer 28."
    if layer.known:
        yield "The last layer alone was read after the final norm."


@sentences("p2.gemma")
def gemma(seen: Seen) -> Iterator[str]:
    """The lowest late r of Gemma."""
    yield Claimed("Gemma-2B is the exception and shows no significant late inversion.")
    shown = seen.claim("p2.abstract.gemma_no_inversion")
    last, late_mean = (
        seen.claim("p2.results42.gemma_l18"),
        seen.claim("p2.table_phase.gemma.late"),
    )
    lowest, mean, inner = (
        seen.answer("no_inversion", GEMMA, choice)
        for choice in ("published", "phase_mean", "without_last")
    )
    if lowest.unshown and mean.yes:
        yield InRow("The mean of its late layers lies above that value.")
    if shown.stands:
        yield (
            "As printed, no late layer of Gemma has a negative r whose interval excludes zero: "
            f"r is {last:+.2f} at its last layer, {late_mean:+.2f} on average."
        )
    if shown.falls:
        yield (
            f"Gemma shows {shown}: r is {last:+.2f} at its last layer, {late_mean:+.2f} on average."
        )
    if lowest.yes:
        yield (
            "Its lowest late r is shown to lie above -0.17, the paper's weakest inversion as "
            f"printed, by a one-sided test ({lowest.narrow:+.2f})."
        )
    if lowest.undecided:
        yield (
            "To show that there is none, its lowest late r would have to lie above -0.17, the "
            "paper's weakest inversion as printed; by a one-sided test it may lie anywhere from "
            f"{lowest.narrow:+.2f}."
        )
    if lowest.no:
        yield f"Its lowest late r lies below zero ({lowest.ends:+.2f}): by this it inverts."
    if lowest.unshown and inner.yes and mean.yes:
        yield (
            "The mean of its late layers and the layers before the last are shown to lie above it."
        )
    pythia = seen.statistic("phases", PYTHIA, "means", "late")
    if pythia > late_mean.value:
        yield (
            "By the mean of its late layers it is no more an exception than Pythia, whose mean is "
            f"{pythia:+.3f}."
        )
    ci, overlap = seen.claim("p2.results42.gemma_l18.ci"), seen.claim("p2.ko2.gemma_12_18")
    if ci.falls:
        yield f"At the last layer its {ci}."
    if overlap.falls:
        yield f"Its layers from 12 on: {overlap}."
    first, middle, third = (
        seen.claim(f"p2.method.partition.{phase}_gemma") for phase in ("early", "mid", "late")
    )
    if first.falls and middle.falls and third.falls:
        yield Detail(
            f"Gemma's phase means average layers {first}, {middle} and {third}; the method section "
            f"names {first.printed}, {middle.printed} and {third.printed}."
        )
    if seen.claim("p2.table_phase.caption.gemma").falls and first.reading(BY_DEPTH).gives:
        yield Detail(
            "Thirds of the depth give the printed phases; the published means use thirds of the "
            "list of sampled layers."
        )
    tuned = seen.claim("p2.abstract.gemma_tuning")
    if tuned.falls:
        yield Detail(
            f"Gemma-2B is listed as a supervised model ({tuned.printed}); the result file names "
            "the base model, as all four are, so supervised tuning cannot explain the exception."
        )


@sentences("p2.template")
def template(seen: Seen) -> Iterator[str]:
    """The instruction-tuned Llama with its chat template."""
    weak, strong = (seen.claim(f"p2.abstract.template_range_{end}") for end in ("weak", "strong"))
    yield Claimed(
        "With its chat template the instruct model has a negative r in every layer "
        f"({weak.printed} to {strong.printed})."
    )
    uniform = seen.claim("p2.abstract.template_uniform")
    highest = seen.answer("everywhere_negative", TEMPLATED).value
    if highest < 0 and uniform.stands:
        yield (
            f"With the template r is negative at every sampled layer, {highest:+.2f} at the "
            f"highest; the means of the phases run from {weak:+.2f} to {strong:+.2f}."
        )
        yield (
            "The intervals behind this take the pairs as independent, which pairs of one category "
            "may not be."
        )
    if uniform.falls:
        yield (
            f"With the template the layers are {uniform}; the highest is {highest:+.2f}, the means "
            f"of the phases run from {weak:+.2f} to {strong:+.2f}."
        )
    layers = seen.claim("p2.ko3.all_layers_negative")
    if layers.falls:
        yield f"At {layers} the interval of r lies below zero."
    without = seen.claim("p2.table_template.without.early")
    if without.falls:
        yield (
            f"Without the template the early mean is {without:+.2f}, printed as {without.printed}."
        )
    of_base = without.reading("the mean of the base model")
    if without.falls and of_base.gives:
        yield Detail(
            "Of the six published curves searched, that of the base model has the printed early "
            f"mean ({of_base:+.2f})."
        )


# --- of the notebooks: bins and categories --------------------------------------------------------


@sentences("p2.bins")
def bins(seen: Seen) -> Iterator[str]:
    """r over random bins at the middle layers."""
    yield Claimed(
        "With random bins of pairs in place of the six categories, r at the middle layers is "
        "positive."
    )
    r8, r12 = (seen.statistic("bins", PYTHIA, "bootstrap_results", layer, "r") for layer in (8, 12))
    lower = seen.answer("mid_bins", PYTHIA)
    if lower.known:
        yield (
            f"Over {lower.n} bins r is {r8:+.2f} at layer 8 and {r12:+.2f} at layer 12; the "
            f"interval of the lower runs from {lower.ends:+.2f}."
        )
    if seen.claim("p2.nb000.comparison.mid_layer_now_significant").value:
        yield "By the notebook's intervals some middle layer is significant."
    if lower.yes:
        yield "This is one random binning: what other bins give needs the weights."


@sentences("p2.layers")
def category_layers(seen: Seen) -> Iterator[str]:
    """r over the six categories, from the middle layers to the last."""
    yield Claimed(
        "Over the six categories Pythia's r turns from positive at the middle layers to negative "
        "at the late ones."
    )
    mid, last = seen.answer("category_mid", PYTHIA), seen.answer("category_inversion", PYTHIA)
    if mid.value > 0 and last.value < 0:
        yield (
            f"At {mid.where} r is {mid.value:+.2f} ({mid.ends:+.2f}), "
            f"at the last {last.value:+.2f} ({last.ends:+.2f})."
        )
    if mid.ends.low <= 0 <= mid.ends.high:
        yield "Six categories do not show that the middle layers are positive."
    if seen.claim("p2.bootci.summary.any_mid_layer_stable").value is False:
        yield "By the notebook's own intervals no middle layer is stable."


@sentences("p2.scaling")
def scaling(seen: Seen) -> Iterator[str]:
    """The depth of the highest r over the categories, by size."""
    yield Claimed(
        "The depth at which r over the categories is highest shifts between the Pythia sizes."
    )
    deviation, mean = (
        seen.statistic("scaling", "family", "peak_analysis", f"{name}_peak_pct")
        for name in ("std", "mean")
    )
    shift, stable = seen.answer("peak_shift"), seen.claim("p2.nb002.peak.peaks_stable")
    if shift.known:
        yield (
            f"Over {shift.n} sizes the peaks lie at {mean:.0f}% of the depth, with a deviation of "
            f"{deviation:.0f}% ({shift.ends:.0f}%)."
        )
    if stable.value is False:
        yield "By the notebook's rule, a deviation of ten percent, they shift."
    if stable.value:
        yield "By the notebook's rule, a deviation of ten percent, they do not shift."
    if shift.known:
        yield (
            "Each peak is the largest of several r over six categories, so that much of the "
            "deviation may be noise."
        )


@sentences("p2.category_inversion")
def category_inversion(seen: Seen) -> Iterator[str]:
    """r over the six categories at the last layer."""
    title = seen.claim("p2.nb001.title_r")
    yield Claimed(
        "Over the six categories Pythia's asymmetry and preference correlate negatively at the "
        f"last layer (r = {title.printed}), which the notebook calls the strongest effect."
    )
    r, p = (
        seen.claim("p2.nb003.6.9b.global.ua_output_correlation"),
        seen.claim("p2.bootci.L32.p_value"),
    )
    n = seen.statistic("phases", "paper", "n_categories")
    if r.known:
        yield (
            f"r = {r:+.3f} over {n} categories, p {equal_p(p)} for one test (printed in a title as "
            f"{title:.2f})."
        )
    if seen.claim("p2.bootci.L32.includes_zero").value:
        yield "The interval of its resamples includes zero."
    if seen.answer("category_inversion", PYTHIA, "layers_at_once").undecided:
        yield "Corrected for the nine layers tested, the interval of r includes zero."
    without, p_without = (
        seen.statistic("validation", PYTHIA, "_weakest", name) for name in ("r", "p")
    )
    if p_without >= ALPHA:
        yield (
            f"Without the category that matters most, r is {without:+.2f} (p {equal_p(p_without)})."
        )
    if p_without < ALPHA:
        yield (
            f"Without any one category it remains, at {without:+.2f} at the weakest "
            f"(p {equal_p(p_without)})."
        )
    ranks = seen.answer("category_inversion", PYTHIA, "spearman")
    if ranks.known:
        yield (
            f"The rank correlation is {ranks.value:+.2f} "
            f"(p {equal_p(ranks.p)} by all permutations)."
        )
    small = seen.answer("category_inversion", "pythia-410m")
    if small.value < r.value < small.ends.high:
        yield (
            f"It is not the strongest effect: at its last layer Pythia-410M has r = "
            f"{small.value:+.3f}, although {n} points do not distinguish the two "
            f"({small.ends:+.2f})."
        )
    note = seen.claim("p2.method_note.category_no_pattern")
    if note.falls:
        yield Detail(
            f"Over the six categories Pythia's r by layer is {note}; the method section reports "
            f"{note.printed}, and so denies the strongest effect in the notebooks."
        )
    if note.falls and note.reading("Llama's category-level p values").gives:
        yield Detail("Of the two models with published p values, Llama's show no such pattern.")
