"""Sentences on the central claims of Paper 2 and of its notebooks.

Each `describe_` function tells of one claim, and each `detail_` function of what else is printed on
it, a sentence a `yield`; what a sentence states is the condition of its branch.
"""

from collections.abc import Iterator
from typing import Any

from layerwise.engine.published import PUBLISHED
from layerwise.engine.seen import Claimed, Detail, Seen, Sentences, equal_p, listed
from layerwise.papers.shared.names import Choice
from layerwise.papers.shared.result_files import METRIC
from layerwise.papers.shared.terms import NO_STARS

LATE = (24, 28, 32)  # sampled layers of Pythia
LAST = LATE[-1]
PYTHIA, LLAMA, APERTUS, GEMMA = "pythia-6p9b", "llama-3p1-8b", "apertus-8b", "gemma-2b"
TEMPLATED = "llama-3p1-8b-instruct-template"
BY_CATEGORY = "r over the six categories"
BY_DENSITY = "the mean of the kNN density measure, which fits no other phase,"
BY_DEPTH = "thirds of the depth"
ANY_DECREASE = "any mid mean nearer to zero than the early one or of the other sign"
ALPHA = 0.05
ONE_LAYER = "a single layer"
NO_TURN = "---"  # in the place of the layers between which r turns negative

sentences = Sentences()


def r_of_pythia(seen: Seen, layer: int) -> Any:
    """Return Pythia's r over the pairs at a layer."""
    return seen.statistic("pairs", PYTHIA, "results", layer, METRIC, "r")


def negative_late_layers(seen: Seen) -> list[int]:
    """Return Pythia's late layers where the published interval of r lies below zero."""
    ends = {
        layer: seen.statistic("pairs", PYTHIA, "results", layer, METRIC, "ci_upper")
        for layer in LATE
    }
    return [layer for layer, high in ends.items() if high < 0]


# --- curves over layers ---------------------------------------------------------------------------


@sentences("p2.early")
def describe_early(seen: Seen) -> Iterator[str]:
    """The mean r of the early layers."""
    low, high = (seen.claim(f"p2.abstract.early_range_{end}") for end in ("lo", "hi"))
    yield Claimed(
        "In early layers the asymmetry of a pair and its preference correlate positively "
        f"({low.printed} to {high.printed}) in the three models that are said to invert."
    )
    if low.value > 0 and high.value > 0 and not (low.falls or high.falls):
        yield (
            f"The printed range is that of layer 0: {low:+.2f} in Llama, {high:+.2f} in Apertus."
        )
    yield from describe_small_models(seen, "early")
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
def describe_late(seen: Seen) -> Iterator[str]:
    """The mean r of the late layers."""
    weak, strong = (seen.claim(f"p2.abstract.late_range_{end}") for end in ("weak", "strong"))
    p, ci = seen.claim("p2.abstract.late_p"), seen.claim("p2.abstract.late_ci")
    yield Claimed(
        "In late layers the correlation of asymmetry and preference turns negative: "
        f"r from {weak.printed} to {strong.printed}, {p.printed}, {ci.printed}."
    )
    r24, r28, r32 = (r_of_pythia(seen, layer) for layer in LATE)
    if weak.falls:
        yield (
            f"The weak end of the range is Pythia's late mean, printed as {weak.printed}. The "
            f"values of r at its late layers ({r24:+.2f}, {r28:+.2f}, {r32:+.2f} at layers 24, 28, "
            f"32) have the mean {weak:+.3f}, with {p} ({ci})."
        )
    if negative_late_layers(seen) == [LAST]:
        yield (
            "Of Pythia's late layers only the last has an r over all pairs that is shown to be "
            "negative, and only that layer was read after the final norm."
        )
    if strong.stands:
        yield f"The strong end of the range ({strong:+.2f}, Apertus, layer 28) is as printed."
    yield from describe_small_models(seen, "late")
    yield from detail_late(seen)


def describe_small_models(seen: Seen, question: str) -> Iterator[str]:
    """The difference that categories make in the small trained models."""
    within, over_all = seen.trained(question), seen.trained(question, Choice.ALL_PAIRS)
    means = [
        f"{within[model].value:+.2f} ({within[model].ends:+.2f}) within the categories and "
        f"{over_all[model].value:+.2f} over all pairs in {model}"
        for model in within
        if model in over_all and within[model].ends is not None
    ]
    if means:
        yield f"In the small trained models the same mean is {listed(means)}."


def detail_late(seen: Seen) -> Iterator[str]:
    """Other printed statements on the late layers."""
    late_mean = seen.claim("p2.table_phase.pythia.late")
    density_mean = late_mean.reading(BY_DENSITY)
    p_of_printed = seen.claim("p2.abstract.late_p").reading("the printed late mean of Pythia")
    if late_mean.falls and density_mean.gives:
        yield Detail(
            "Of the five measures searched, the late mean of the kNN density "
            f"({density_mean:+.3f}) is the printed one, but the early and mid means of that "
            "measure are not."
        )
    if not p_of_printed.gives:
        yield Detail(
            f"Even the printed mean, taken as one r over the pairs, has only {p_of_printed}."
        )
    yield from detail_late_intervals(seen)


def detail_late_intervals(seen: Seen) -> Iterator[str]:
    """Printed intervals, stars and descriptions of the late layers."""
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
def describe_three_of_four(seen: Seen) -> Iterator[str]:
    """The models that invert, by several meanings of the word."""
    three = seen.claim("p2.abstract.three_of_four")
    yield Claimed(f"{three.printed} of the models invert in late layers.")
    if three.known:
        yield (
            f"{three} of the models invert if a single late layer whose published interval lies "
            "below zero is enough."
        )
    lowest, mean = (
        seen.answer("late_inversion", PYTHIA, PUBLISHED),
        seen.answer("late", PYTHIA, PUBLISHED),
    )
    if lowest.yes and mean.undecided:
        yield (
            "Pythia's only such layer is the last, which was read after the final norm; the "
            "published interval of its late mean includes zero."
        )
    mid = seen.claim("p2.disc.mid_transition")
    if mid.falls:
        yield Detail(
            f"The paper says that the mid phase {mid.printed} in all three inverting models; by a "
            "bound of a tenth, which the paper does not state, Pythia's does neither."
        )
    if mid.falls and mid.reading(ANY_DECREASE).gives:
        yield Detail("If any decrease from the early mean counts, the statement holds.")


@sentences("p2.transition")
def describe_transition(seen: Seen) -> Iterator[str]:
    """The layers between which r turns negative."""
    pythia, llama, apertus = (
        seen.claim(f"p2.abstract.transition_{name}") for name in ("pythia", "llama", "apertus")
    )
    yield Claimed(
        f"The layer at which r turns negative differs between models: {pythia.printed} in Pythia, "
        f"{llama.printed} in Llama, {apertus.printed} in Apertus."
    )
    if llama.falls and llama.value != NO_TURN:
        yield f"Over all pairs Llama's r turns negative at {llama}, not {llama.printed}."
    if llama.falls and llama.reading(BY_CATEGORY).value == llama.published:
        yield "Computed over the six categories, Llama's turns negative where the paper says."
    if pythia.stands and apertus.stands:
        yield "Over all pairs Pythia's and Apertus' r turn negative where the paper says."


@sentences("p2.extremum")
def describe_extremum(seen: Seen) -> Iterator[str]:
    """The layer of Apertus' lowest r."""
    layer, r = seen.claim("p2.abstract.apertus_max_layer"), seen.claim("p2.abstract.apertus_l28")
    yield Claimed(
        f"Apertus inverts most strongly at {layer.printed} (r = {r.printed}) rather than at the "
        "last layer."
    )
    last = seen.statistic("cross_model", APERTUS, "results", 32, "r")
    if layer.stands and r.value < last:
        yield (
            f"Over all pairs r is lowest at layer 28, {r:+.2f}; at the last layer, which alone was "
            f"read after the final norm, it is {last:+.2f}."
        )


@sentences("p2.gemma")
def describe_gemma(seen: Seen) -> Iterator[str]:
    """The lowest late r of Gemma."""
    yield Claimed("Gemma-2B is the exception and shows no significant late inversion.")
    shown = seen.claim("p2.abstract.gemma_no_inversion")
    last, late_mean = (
        seen.claim("p2.results42.gemma_l18"),
        seen.claim("p2.table_phase.gemma.late"),
    )
    if shown.stands:
        yield (
            "As printed, no late layer of Gemma has a negative r whose published interval excludes "
            f"zero: r is {last:+.2f} at its last layer, {late_mean:+.2f} on average."
        )
    pythia = seen.statistic("phases", PYTHIA, "means", "late")
    if pythia > late_mean.value:
        yield (
            "By the mean of its late layers it is no more an exception than Pythia, whose mean is "
            f"{pythia:+.3f}."
        )
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
def describe_templated(seen: Seen) -> Iterator[str]:
    """The instruction-tuned Llama with its chat template."""
    weak, strong = (seen.claim(f"p2.abstract.template_range_{end}") for end in ("weak", "strong"))
    yield Claimed(
        "With its chat template the instruct model has a negative r in every layer "
        f"({weak.printed} to {strong.printed})."
    )
    uniform = seen.claim("p2.abstract.template_uniform")
    highest = seen.answer("everywhere_negative", TEMPLATED, PUBLISHED)
    if highest.yes and uniform.stands:
        yield (
            f"Over all pairs r is negative at every sampled layer, {highest.value:+.2f} "
            f"({highest.ends:+.2f}) at the highest; the means of the phases run from {weak:+.2f} "
            f"to {strong:+.2f}."
        )
    without = seen.claim("p2.table_template.without.early")
    if without.falls:
        yield (
            f"Without the template the early mean is {without:+.2f}, printed as {without.printed}."
        )
    base_mean = without.reading("the mean of the base model")
    if without.falls and base_mean.gives:
        yield Detail(
            "Of the six published curves searched, that of the base model has the printed early "
            f"mean ({base_mean:+.2f})."
        )


# --- of the notebooks: bins and categories --------------------------------------------------------


@sentences("p2.bins")
def describe_bins(seen: Seen) -> Iterator[str]:
    """r over random bins at the middle layers."""
    yield Claimed(
        "With random bins of pairs in place of the six categories, r at the middle layers is "
        "positive."
    )
    r8, r12 = (seen.statistic("bins", PYTHIA, "bootstrap_results", layer, "r") for layer in (8, 12))
    if r8 > 0 and r12 > 0:
        yield f"r is {r8:+.2f} at layer 8 and {r12:+.2f} at layer 12."
    if seen.claim("p2.nb000.comparison.mid_layer_now_significant").value:
        yield "By the notebook's intervals, each for one layer, some middle layer is significant."
    if seen.answer("mid_bins", PYTHIA).known:
        yield "This is one random grouping of the pairs; what others would give is not known."


@sentences("p2.layers")
def describe_category_layers(seen: Seen) -> Iterator[str]:
    """r over the six categories, from the middle layers to the last."""
    yield Claimed(
        "Over the six categories Pythia's r turns from positive at the middle layers to negative "
        "at the late ones."
    )
    mid = seen.answer("category_mid", PYTHIA, PUBLISHED)
    if mid.undecided:
        yield (
            f"At {mid.where} r is {mid.value:+.2f} ({mid.ends:+.2f} by the exact law of normal "
            "series)."
        )
    r0, r4 = (
        seen.statistic("category_bootstrap", PYTHIA, "layer_results", layer, "r")
        for layer in (0, 4)
    )
    if r0 < 0 and r4 < 0:
        yield f"At layers 0 and 4, before the middle ones, r is {r0:+.2f} and {r4:+.2f}."
    if seen.claim("p2.bootci.summary.any_mid_layer_stable").value is False:
        yield "By the notebook's own intervals no middle layer is stable."


@sentences("p2.scaling")
def describe_scaling(seen: Seen) -> Iterator[str]:
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
            f"{deviation:.0f}%; each is the largest of several r over six categories, so that much "
            "of the deviation may be noise."
        )
    if stable.value is False:
        yield "By the notebook's rule, a deviation of ten percent, they shift."


@sentences("p2.category_inversion")
def describe_category_inversion(seen: Seen) -> Iterator[str]:
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
    without, p_without = (
        seen.statistic("validation", PYTHIA, "_weakest", name) for name in ("r", "p")
    )
    if p_without >= ALPHA:
        yield (
            f"Without the category that matters most, r is {without:+.2f} (p {equal_p(p_without)})."
        )
    ranks = seen.answer("category_inversion", PYTHIA, "spearman")
    if ranks.known:
        yield (
            f"The rank correlation is {ranks.value:+.2f} "
            f"(p {equal_p(ranks.p)} by all permutations)."
        )
    small = seen.answer("category_inversion", "pythia-410m", PUBLISHED)
    if small.value < r.value < small.ends.high:
        yield (
            f"It is not the strongest effect: at its last layer Pythia-410M has r = "
            f"{small.value:+.3f}, although {n} points do not distinguish the two."
        )
    yield from detail_categories(seen)


def detail_categories(seen: Seen) -> Iterator[str]:
    """Other printed statements on r over the categories."""
    note = seen.claim("p2.method_note.category_no_pattern")
    if note.falls:
        yield Detail(
            f"Over the six categories Pythia's r by layer is {note}; the method section reports "
            f"{note.printed}, and so denies the strongest effect in the notebooks."
        )
    if note.falls and note.reading("Llama's category-level p values").gives:
        yield Detail("Of the two models with published p values, Llama's show no such pattern.")
