"""Sentences on the central claims of Paper 3 and of its notebooks.

Each `describe_` function tells of one claim, and each `detail_` function of what else is printed on
it, a sentence a `yield`; what a sentence states is the condition of its branch.
"""

from collections.abc import Iterator

from layerwise.engine.seen import (
    Claimed,
    Detail,
    Seen,
    Sentences,
    Value,
    agree,
    equal_p,
    listed,
)
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.paper3.rules.thermodynamic_benchmark import CATEGORIES
from layerwise.papers.paper3.rules.twins import FAMILIES, VARIANTS
from layerwise.papers.shared.names import Choice

PYTHIA = "pythia-6p9b"
FALSIFIED = "FALSIFIED"
ALPHA = 0.05
ALL = 100  # percent
TWICE = 2  # the factor of the script's own rule on the trace
LEAST_MWU = 0.058  # the smallest p of its rank test of so few models, rounded up
ROUNDING = 1e-9  # percent
BY_DENSITY = "density of heads instead of depth"
BOTH = "survey and sweep together"
FOUR_BITS = ("pythia-1b", "Mistral-7B-v0.1", "gemma-2b")  # models of the extended trace run
WITH_NEO = "with GPT-Neo, EleutherAI's third model"
ROUNDED = "gains rounded to two decimals first"
UNSURE = "damping models of theirs that five prompts do not distinguish from 1"
CHI_SQUARE = "gains rounded and a chi-square without continuity correction"
TYPED_SET = "three Pythia sizes of the sweep, GPT-Neo-1.3B and GPT-J of the survey"
OF_LAB = "the mean gain of the model's lab"
OF_SEQUENCE = "the last gain of whole-sequence norms in other notebooks"
OTHER_NORM = "the mean over tokens after the final norm, from another notebook"
BY_HEADS = "the multi-head trace in place of the single-slice trace of the script's rule"
OFF_DIAGONAL = "what the code sums, the attention off the diagonal"
STABLE_LAYER = "the first late layer with a stably negative r over the categories"

sentences = Sentences()


# --- gains of single models -----------------------------------------------------------------------


@sentences("p3.depth_gain")
def describe_depth_gain(seen: Seen) -> Iterator[str]:
    """The first law: r of depth and gain."""
    r, p = seen.claim("p3.kleiber.r"), seen.claim("p3.kleiber.p")
    yield Claimed(
        "The deeper a Pythia model, the smaller its residual gain "
        f"(r = {r.printed}, p = {p.printed}): the first law."
    )
    density = r.reading(BY_DENSITY)
    if r.falls and p.falls and density.gives and p.reading(BY_DENSITY).gives:
        yield (
            f"The printed pair ({r.printed}, {p.printed}) is that of the density of heads and the "
            f"gain ({density:+.3f}); that of depth and gain is {r:+.3f}, p {equal_p(p)}."
        )
    survey = seen.answer("depth_gain_of_survey")
    if survey.ends.includes(0):
        yield (
            "Beyond this family it is not shown: over the models of the survey r is "
            f"{survey.value:+.2f} ({survey.ends:+.2f})."
        )
    pooled = seen.answer("depth_gain_of_survey", reading=Choice.POOLED)
    if pooled.known:
        yield (
            f"Over survey and Pythia sizes together it is {pooled.value:+.2f} ({pooled.ends:+.2f})."
        )
    ranks = seen.answer("depth_gain", reading=Choice.SPEARMAN)
    if ranks.known:
        yield (
            f"By ranks r = {ranks.value:+.2f} over the eight sizes (p {equal_p(ranks.p)} by all "
            "permutations)."
        )
    yield from detail_depth_gain(seen)


def detail_depth_gain(seen: Seen) -> Iterator[str]:
    """Other printed statements on depth and gain."""
    if seen.claim("p3.notebook.clean.block").falls:
        yield Detail(
            "Without the final norm the published gain is that of the second-last block, which the "
            "notebooks call the last: no published number of the Pythia sweep is the gain of the "
            "last block alone."
        )
    blocks = seen.claim("p3.eli5.every_layer")
    if blocks.falls:
        yield Detail(
            "A damping model is said to damp at every layer; in the damping Pythia sizes "
            f"{blocks} have a gain below 1."
        )
    behind, shrunk = (
        seen.claim(f"p3.notebook.{name}") for name in ("sweep.all_damp", "hunt.shrunk")
    )
    if behind.falls and shrunk.falls:
        yield Detail(
            "After the final norm all models are said to damp, with gains of "
            f"{shrunk.printed}; in the sweep {behind} do, and in the survey the gains run from "
            f"{shrunk:.2g}."
        )


@sentences("p3.bound")
def describe_bound(seen: Seen) -> Iterator[str]:
    """The bound on the gain."""
    yield Claimed(
        "No gain exceeds 10^(1/L), where L is the number of blocks, so that no network gains more "
        "than tenfold."
    )
    law, gain = seen.claim("p3.kleiber.bound"), seen.claim("p3.fig1.1b.gain")
    limit = seen.statistic("depth_gain", "family", "models", 3, "bound")
    if gain.value > limit:
        yield f"The gain of pythia-1b is {gain:.3f}, its bound {limit:.3f}."
    surveyed = seen.statistic("depth_gain", "hunt", "bound", "above")
    if surveyed:
        yield (
            f"Of the survey's models {listed(surveyed)} {agree(surveyed, 'lies', 'lie')} above the "
            "bound by the mean over five prompts, which come in no categories."
        )
    expanding, product = (
        seen.statistic("depth_gain", "family", "bound", name)
        for name in ("n_interior_expanding", "largest_interior_product")
    )
    if expanding > 0:
        sizes = seen.statistic("depth_gain", "family", "n_models")
        yield (
            "The gain is that of one block. The product over all blocks between the first and the "
            f"last is above 1 in {expanding} of {sizes} sizes, at most {product:.1f}."
        )
    if law.falls and law.reading("all sizes but Pythia-1B").gives:
        yield Detail("All other Pythia sizes keep the bound.")


@sentences("p3.gains")
def describe_gains(seen: Seen) -> Iterator[str]:
    """The benchmark's order of four models."""
    yield Claimed(
        "The gain of the last block orders four models (Pythia damps; Mistral, Llama and Gemma "
        "expand)."
    )
    llama = seen.claim("p3.bench.llama")
    sequence_gain = seen.answer("expansion", "LLaMA-3.1-8B", GainReading.SEQUENCE)
    if sequence_gain.no and llama.value > 1:
        texts = f", {sequence_gain.where}" if sequence_gain.where else ""
        yield (
            f"By the norm of the whole sequence Llama damps: {sequence_gain.value:.2f} "
            f"({sequence_gain.ends:.2f}; {sequence_gain.n} {sequence_gain.unit}{texts}) instead of "
            f"{llama:.2f}."
        )
    by_category = [
        seen.statistic("thermodynamic_benchmark", "Mistral-7B", "category", name, "gain")
        for name in CATEGORIES
    ]
    *others, nonsense = by_category
    are_known = all(gain > 0 for gain in by_category)
    if are_known and seen.answer("expansion", "Mistral-7B").undecided and nonsense > max(others):
        yield (
            f"Mistral's mean rests on the nonsense prompts, {nonsense:.2f}; over the other four "
            f"categories it is {min(others):.2f} to {max(others):.2f}."
        )
    order = seen.claim("p3.bench.order")
    order_of_sequence = seen.statistic("sequence_gains", "study", "order")
    pythia, gemma = seen.claim("p3.bench.pythia"), seen.claim("p3.bench.gemma")
    if order.known and order_of_sequence != order.value:
        yield (
            f"By the norm of the last token the order is {order} ({pythia:.2f} to {gemma:.2f}); by "
            "that of the whole sequence, for one text in other notebooks of the paper, it is "
            f"{order_of_sequence}."
        )
    yield from detail_gains(seen)


def detail_gains(seen: Seen) -> Iterator[str]:
    """Other printed statements on the benchmark."""
    llama = seen.claim("p3.bench.llama")
    if llama.value > 1 > llama.reading(OF_SEQUENCE).value:
        yield Detail(
            "The papers use five definitions of the gain, and the abstract does not say which one "
            "it means."
        )
    entropy = seen.claim("p3.bentov.pythia_direction")
    if entropy.falls:
        r = entropy.reading("r of entropy and gain")
        yield Detail(
            f"In Pythia a higher entropy is said to come with a {entropy.printed}; it comes with a "
            f"{entropy} (r = {r:.2f}). The page uses the distance of the gain from 1, which falls "
            "when a gain below 1 rises."
        )
    pangram, solved = (seen.claim(f"p3.notebook.inputdep.{name}") for name in ("pangram", "solved"))
    if pangram.falls and solved.falls:
        yield Detail(
            "Different prompts are said to explain why LLaMA contracts in one notebook and expands "
            "in another; with the second prompt the first notebook has "
            f"{pangram:.2f}, not {pangram.printed}."
        )
    if pangram.falls and pangram.reading(OTHER_NORM).gives:
        yield Detail(
            "The other notebook's norm, a mean over tokens after the final norm, gives the printed "
            "value: the two notebooks differ in their definition of the gain, not only in their "
            "text."
        )


@sentences("p3.tuning")
def describe_tuning(seen: Seen) -> Iterator[str]:
    """Base models and their tuned versions."""
    change, kept = seen.claim("p3.twin.max_modulation"), seen.claim("p3.twin.sign_kept")
    yield Claimed(
        "Instruction tuning changes the size of the gain "
        f"(by up to {change.printed}%) and cannot change whether a model damps or expands."
    )
    base, tuned = seen.claim("p3.twin.gemma_base"), seen.claim("p3.twin.gemma_it")
    if kept.value is True and change.known and tuned.known and base.value > 0:
        gemma_change = 100 * abs(1 - tuned.value / base.value)
        largest = ""
        if abs(gemma_change - change.value) < ROUNDING:
            largest = f"; the largest change is Gemma's, {base:.2f} to {tuned:.2f} ({change:.0f}%)"
        yield f"The mean gain of every tuned model stays on its base's side of 1{largest}."
    yield from tell_families_above_one(seen)
    damping, turned, prompts = (
        seen.statistic("twins", "study", name)
        for name in ("n_damping_bases", "n_prompts_turned", "n_prompt_pairs")
    )
    if damping == 0:
        yield "All bases expand by their mean gains: no damping model was tuned."
    if turned > 0:
        yield (
            f"In {turned} of {prompts} comparisons (one prompt, a base model and its tuned "
            "version) the two gains lie on opposite sides of 1."
        )
    correlation = seen.claim("p3.notebook.twin.correlation")
    if correlation.falls:
        r = correlation.reading("r over the three families")
        yield Detail(
            "The notebook's own criterion for this, a correlation "
            f"{correlation.printed}, was never computed; over the three families it is {r:.2f}."
        )


def tell_families_above_one(seen: Seen) -> Iterator[str]:
    """The families of which base and tuned model expand, by their intervals."""
    gains = {
        family: [seen.answer("expansion", f"{family} {variant}") for variant in VARIANTS]
        for family in FAMILIES
    }
    above = [
        f"{family} (tuned {tuned.value:.2f}, {tuned.ends:.2f})"
        for family, (base, tuned) in gains.items()
        if base.ends.low > 1 and tuned.ends.low > 1
    ]
    if above:
        yield f"By category of prompts base and tuned model both lie above 1 in {listed(above)}."


# --- over models: labs, density of heads, size ----------------------------------------------------


@sentences("p3.heritage")
def describe_heritage(seen: Seen) -> Iterator[str]:
    """The second law: labs and the sides of 1."""
    damp, meta, others = (
        seen.claim(f"p3.heritage.{name}")
        for name in ("eleuther_dampen", "meta_expand", "others_expand")
    )
    p = seen.claim("p3.heritage.fisher_p")
    yield Claimed(
        f"A lab's models damp or expand alike: {damp.printed}% of EleutherAI's damp, "
        f"{others.printed}% of all others expand, Fisher's p {p.printed}: the second law."
    )
    by_means, decides = seen.answer("heritage", reading=Choice.BY_MEANS), seen.answer("heritage")
    if by_means.yes and decides.undecided:
        yield (
            "Counted by the mean gains alone, as the paper counts, the difference is shown "
            f"({by_means.value:+.2f}, {by_means.deciding:+.2f}): it is open because some gains "
            "cannot be distinguished from 1."
        )
    if damp.known:
        openai = seen.claim("p3.heritage.openai_expand")
        yield (
            f"Of EleutherAI's models in the survey {damp:.0f}% damp. Of Meta's models {meta:.0f}% "
            f"expand, of those of all labs but EleutherAI {others:.0f}% (printed {others.printed}% "
            f"each); in a separate test {openai:.0f}% of OpenAI's expand."
        )
    if p.falls:
        yield (
            f"By those counts Fisher's p is {p} (printed {p.printed}), with the Pythia sizes of "
            f"the sweep {p.reading(BOTH)}."
        )
    labs = seen.statistic("lab_heritage", "hunt", "n_models")
    if labs and "EleutherAI" in labs:
        yield (
            f"Of the {len(labs)} labs of the survey one is EleutherAI: of labs in general nothing "
            "follows."
        )
    yield from detail_heritage(seen)


def detail_heritage(seen: Seen) -> Iterator[str]:
    """Other printed statements on the shares that damp, and their test."""
    others, bigscience, both = (
        seen.claim(f"p3.{name}")
        for name in ("heritage.others_expand", "heritage.bigscience_expand", "readme.meta_openai")
    )
    if others.falls and bigscience.falls and both.falls:
        unsure = others.reading(UNSURE)
        yield Detail(
            "Meta and BigScience each have one model with a mean gain just below 1, OPT-350M and "
            f"BLOOM-3B; over five prompts {unsure} of these means cannot be distinguished from 1."
        )
    if others.falls and others.reading(ROUNDED).gives:
        yield Detail("Gains that are rounded to two decimals first give the printed shares.")
    p = seen.claim("p3.heritage.fisher_p")
    p_of_shares = p.reading("the shares that are printed")
    if p.falls and p.reading(CHI_SQUARE).gives:
        yield Detail(
            "Of the five tests searched, rounded gains and a chi-square test without continuity "
            "correction give the printed p."
        )
    if not p_of_shares.gives:
        yield Detail(
            f"Even the printed shares, of five and eleven models, give only p = {p_of_shares}."
        )
    yield from detail_labs(seen)


def detail_labs(seen: Seen) -> Iterator[str]:
    """Other printed statements on the gains of labs and families."""
    mean, se = (seen.claim(f"p3.fig2.EleutherAI.{name}") for name in ("mean", "se"))
    if mean.falls and se.falls:
        yield Detail(f"EleutherAI's mean gain over the survey is {mean:.3f}, not {mean.printed}.")
    if mean.falls and mean.reading(TYPED_SET).gives:
        yield Detail(
            "The figure's script holds a set of five models that was typed by hand, three Pythia "
            "sizes of the sweep and two models of the survey: that set gives the printed mean."
        )
    damp = seen.claim("p3.heritage.eleuther_dampen")
    pooled, sizes = damp.reading(BOTH), damp.reading("the eight Pythia sizes of the sweep")
    if pooled.value < damp.value:
        yield Detail(
            f"With the Pythia sweep {pooled:.0f}% of EleutherAI's models damp; of its eight sizes "
            f"{sizes:.0f}%."
        )
    validated = seen.claim("p3.contrib.validated_across")
    if validated.falls:
        yield Detail(
            f"Three laws are said to be validated across {validated.printed}; they were tested on "
            f"{validated}."
        )
    family, pythia, alike = (
        seen.claim(f"p3.{name}") for name in ("motivation.consistent", "eli5.pythia", "eli5.alike")
    )
    if family.falls and pythia.falls and alike.falls:
        yield Detail(
            f"Each family is said to either damp or expand, but Pythia's sizes {family}: "
            f"{pythia:.0f}% damp. Pythia-160M and Pythia-12B, said to behave almost identically, "
            f"have gains {alike}."
        )


@sentences("p3.crowding")
def describe_crowding(seen: Seen) -> Iterator[str]:
    """The density of heads and the sides of 1."""
    yield Claimed("Crowding of attention heads explains whether a model damps or expands.")
    explains = seen.claim("p3.crowding.explains")
    after, before = (seen.claim(f"p3.appB.acc_{side}") for side in ("after", "before"))
    own, pooled = (
        seen.statistic("crowding", sample, "density_rule", "accuracy_pct")
        for sample in ("family", "pooled")
    )
    constant, pooled_constant = (
        seen.statistic("crowding", sample, "density_rule", "constant_accuracy")
        for sample in ("hunt", "pooled")
    )
    if explains.falls and after.known:
        yield (
            "On the survey's models the paper's rule, damping above a critical density of heads, "
            f"is right for {after:.0f}% (printed {after.printed}; {before:.0f}% with the final "
            f"norm), a constant guess for {constant:.0%}."
        )
    if own == ALL and pooled_constant > 0 and pooled <= ALL * pooled_constant:
        yield (
            f"On the eight Pythia sizes it is right for {own:.0f}%; over survey and sizes together "
            f"for {pooled:.0f}%, a constant guess for {pooled_constant:.0%}."
        )
    family = seen.answer("crowding", reading=Choice.FAMILY)
    if family.undecided:
        yield (
            f"Over the sizes alone the difference of the shares is {family.value:+.2f} "
            f"({family.ends:+.2f}; {family.where})."
        )
    verdict = seen.claim("p3.hunt.h25_verdict")
    if verdict.value == FALSIFIED:
        yield (
            f"The survey's own result file says of the hypothesis that heads are crowded: "
            f"{verdict}."
        )
    yield from detail_crowding(seen)


def detail_crowding(seen: Seen) -> Iterator[str]:
    """Other printed statements on the density of heads."""
    after = seen.claim("p3.appB.acc_after")
    if after.falls and after.reading("Pythia-6.9B and GPT-J alone").gives:
        yield Detail(
            "Of the three sets of models searched, the pair that the paper shows and the eight "
            "Pythia sizes give the printed accuracy."
        )
    critical = seen.claim("p3.crowding.rho_crit")
    if critical.falls:
        yield Detail(
            f"The critical density of the Pythia sizes lies in the range {critical:.2f}, not "
            f"{critical.printed}: Pythia-160M expands, although its density lies in the printed "
            "range."
        )


@sentences("p3.hierarchy")
def describe_hierarchy(seen: Seen) -> Iterator[str]:
    """Lab, density of heads and size, by their |r| with the gain."""
    yield Claimed(
        "For the gain, heritage counts more than geometry (the density of heads), and geometry "
        "more than scale."
    )
    pooled = seen.answer("heritage_over_geometry", reading=Choice.POOLED)
    if seen.answer("heritage_over_geometry").yes and pooled.undecided:
        yield (
            f"With the Pythia sizes the first difference is {pooled.value:+.2f} "
            f"({pooled.ends:+.2f}), which includes zero."
        )
    labs = seen.statistic("lab_heritage", "hunt", "n_models")
    if seen.answer("heritage_over_geometry").yes and labs:
        yield (
            f"One lab stands here against {len(labs) - 1}: of labs in general it says nothing, and "
            "where the models of each lab are alike, a yes is wrong more often than it should be."
        )
    if pooled.known:
        yield (
            "The paper tests no hierarchy. Size is taken here as 12 times the number of blocks "
            "times the squared width."
        )


# --- weights, traces, the critical layer ----------------------------------------------------------


@sentences("p3.spectral")
def describe_spectral(seen: Seen) -> Iterator[str]:
    """The third law: the ratio of W_V to W_O, labs and damping."""
    vo = seen.claim("p3.spectral.vo_ratio")
    yield Claimed(
        f"The ratio of W_V's and W_O's spectral norms differs {vo.printed}-fold between labs and "
        "predicts damping or expansion: the third law."
    )
    right, constant, largest, smallest = (
        seen.statistic("spectral_norms", "study", "prediction", name)
        for name in ("right", "constant", "largest", "smallest")
    )
    predicts, n = seen.claim("p3.spectral.predicts"), seen.answer("spectral_predicts").n
    if predicts.falls and right <= constant:
        yield (
            "No threshold of the ratio, above which models would damp, is right for more than "
            f"{right} of the {n} models that have both numbers; calling all alike is "
            f"right for {constant}."
        )
    first, last = (seen.answer("damping", name).ends for name in ("pythia-160m", "gpt-neo-125M"))
    if (largest, smallest) == ("pythia-160m", "gpt-neo-125M") and last.high < 1 < first.low:
        yield (
            f"The model with the largest ratio, {largest}, expands, and the one with the smallest, "
            f"{smallest}, damps; the intervals of both gains exclude 1."
        )
    yield from describe_norms_of_labs(seen)
    yield from detail_spectral(seen)


def describe_norms_of_labs(seen: Seen) -> Iterator[str]:
    """The norms of the labs: W_V alone, and its ratio to W_O."""
    vo = seen.claim("p3.spectral.vo_ratio")
    ratio, mwu = seen.claim("p3.spectral.wv_ratio"), seen.claim("p3.spectral.mwu_p")
    if ratio.known and mwu.known:
        yield (
            f"The norm of W_V by itself is {ratio:.1f} times as large at EleutherAI as at Meta; "
            f"against all other labs p {equal_p(mwu)}."
        )
    if ALPHA <= mwu.value < LEAST_MWU:
        yield (
            "This norm separates the two groups without overlap, and no two-sided rank test of so "
            "few models can give a smaller p."
        )
    with_neo = vo.reading(WITH_NEO)
    if with_neo.value < vo.value:
        yield (
            f"The factor {vo:.1f} is that of Pythia over OPT; with GPT-Neo, which is EleutherAI's "
            f"too, it is {with_neo:.1f}."
        )
    if vo.known:
        yield (
            "The published norms of Pythia's W_V are those of rows of the fused matrix that mix "
            "queries, keys and values."
        )


def detail_spectral(seen: Seen) -> Iterator[str]:
    """Other printed statements on the spectral norms."""
    marked, opt = (seen.claim(f"p3.fig3.{model}.class") for model in ("pythia-160m", "opt-350m"))
    near_one = seen.answer("damping", "opt-350m").ends.includes(1)
    if marked.falls:
        yield Detail(
            f"Figure 3 marks Pythia-160M as {marked.printed}; its measured gain says {marked}."
        )
    if opt.falls and near_one:
        yield Detail(
            f"Figure 3 marks OPT-350M as {opt.printed}; its gain is so near 1 that five prompts do "
            "not tell on which side it lies."
        )
    if marked.falls and opt.falls and marked.reading(OF_LAB).gives and opt.reading(OF_LAB).gives:
        yield Detail(
            "The mean gain of each model's lab gives the printed mark: the figure shows labs, not "
            "gains."
        )
    if seen.claim("p3.heritage.all_p_below_05").falls:
        mwu = seen.claim("p3.spectral.mwu_p")
        yield Detail(
            f"Not all three laws are significant: the spectral norms have p {equal_p(mwu)}."
        )
    contrast = seen.claim("p3.figA5.ratio")
    if contrast.falls:
        yield Detail(
            f"Figure A5's factor over the four other models is {contrast:.0f}, not "
            f"{contrast.printed}."
        )
    over_opt = contrast.reading("Pythia over the two OPT models")
    if contrast.falls and over_opt.gives:
        yield Detail(
            f"The factor over the two OPT models alone, {over_opt:.0f}, is the printed one to one "
            "digit: the contrast is with Meta's models, not with all others."
        )
    if seen.claim("p3.methods.per_head").falls:
        yield Detail(
            "Spectral norms are said to be those of each head, but the notebook decomposes the "
            "matrices of whole layers."
        )


@sentences("p3.trace")
def describe_trace(seen: Seen) -> Iterator[str]:
    """The sheaf trace of expanding and of damping models."""
    factor = seen.claim("p3.sheaf.ratio26")
    yield Claimed(
        "The trace of the sheaf Laplacian separates expanding from damping models, by a factor of "
        f"{factor.printed}."
    )
    equation = seen.claim("p3.sheaf.eq4")
    if equation.falls:
        yield (
            f"Equation 4 contains an error: as printed it gives a {equation} for every softmax "
            "attention, since its rows sum to one. The claim is judged by what the code sums."
        )
    separates, ratio = (
        seen.claim("p3.sheaf.discriminates"),
        seen.claim("p3.h4v2.finding.ratio"),
    )
    if separates.falls:
        yield (
            "By the script's own rule, a factor over two, the code's trace does not separate the "
            f"two kinds of model: the mean of the expanders is {ratio:.1f} times that of the "
            f"dampeners (saved by the script as {ratio.printed})."
        )
    yield from describe_overlap(seen)
    if factor.known:
        yield (
            f"The factor {factor:.0f} compares GPT-2 with OPT-125m, both expanders by the gains "
            "that are typed into the script."
        )
    yield from detail_trace(seen)


def describe_overlap(seen: Seen) -> Iterator[str]:
    """The traces of single models: by heads, and with the measured gains as kinds."""
    heads = seen.statistic("sheaf_trace", "study", "expand_over_dampen", "multihead")
    larger, pairs = (
        seen.statistic("sheaf_trace", "study", "expander_larger", name)
        for name in ("multihead", "pairs")
    )
    if heads > TWICE and larger < pairs:
        yield (
            f"Head by head the factor is {heads:.1f}, but the models overlap: an expander has the "
            f"larger trace in {larger} of {pairs} comparisons."
        )
    pythia = seen.answer("damping", "pythia-160m")
    full, by_heads = (
        seen.statistic("sheaf_trace", "study", "expand_over_dampen", f"{series}_by_gain")
        for series in ("full", "multihead")
    )
    if pythia.no:
        yield (
            "The script counts Pythia-160M as a dampener, but its mean gain in the sweep is "
            f"{pythia.value:.2f}: by the measured gains the expanders' mean is {full:.1f} times "
            f"that of the one dampener that is left, by heads {by_heads:.1f} times."
        )


def detail_trace(seen: Seen) -> Iterator[str]:
    """Other printed statements on the traces."""
    separates, equation = (seen.claim(f"p3.sheaf.{name}") for name in ("discriminates", "eq4"))
    if separates.falls and separates.reading(BY_HEADS).gives:
        yield Detail(
            "The multi-head trace passes the rule, but the rule names the single-slice trace: the "
            "script itself records the test as failed, the abstract reports it as passed."
        )
    if equation.falls and equation.reading(OFF_DIAGONAL).gives:
        yield Detail(
            "The code sums the attention off the diagonal: the published traces follow the code, "
            "not the formula in the paper."
        )
    if seen.claim("p3.sheaf.pair").falls:
        yield Detail(
            "The factor says nothing about damping against expanding. GPT-2's gain was typed by "
            "hand; no run measured it."
        )
    by_layer = seen.claim("p3.notebook.h4ext.gpt2")
    if by_layer.falls:
        yield Detail(
            f"GPT-2's trace is called {by_layer.printed} over the layers but goes {by_layer}."
        )


@sentences("p3.lstar")
def describe_lstar(seen: Seen) -> Iterator[str]:
    """The formula for the critical layer."""
    within, cross, naive = (
        seen.claim(f"p3.lstar.mape_{name}") for name in ("within", "cross", "naive")
    )
    yield Claimed(
        f"A formula of depth and heads gives the critical layer L* within {within.printed}% of "
        f"depth on its own models and {cross.printed}% on others."
    )
    half = seen.statistic("critical_layer", "argmax", "half_depth")
    if cross.stands:
        yield (
            f"The formula's error on six models is {cross:.1f}% of depth, as printed; that of L/2 "
            f"is {half:.1f}%."
        )
    yield from tell_unseen_models(seen)
    relative_error = cross.reading("percent of L*")
    if relative_error.value > cross.value:
        yield (
            f"In percent of L* itself, as a mean absolute percentage error usually is, it is "
            f"{relative_error:.1f}%."
        )
    rounded = within.reading("the coefficients as they are printed")
    if within.stands and naive.known:
        yield (
            f"On the models that it was fitted to its error is {within:.1f}%, as printed, with "
            f"unrounded coefficients, {rounded:.1f}% with the printed ones; that of L/2 is "
            f"{naive:.1f}%."
        )
    yield from detail_lstar(seen)


def tell_unseen_models(seen: Seen) -> Iterator[str]:
    """The formula on the models that it was fitted to, and on the others, beside L/2."""
    n_fitted = seen.statistic("critical_layer", "argmax", "n_seen")
    if n_fitted > 0:
        yield f"{n_fitted} of the six models are among those that the formula was fitted to."
    formula, half, models = (
        seen.statistic("critical_layer", "argmax", "unseen", name)
        for name in ("formula", "half_depth", "models")
    )
    if formula > half:
        yield (
            f"On the others ({Value(models)}) the formula misses by {formula:.1f}%, L/2 by only "
            f"{half:.1f}%."
        )


def detail_lstar(seen: Seen) -> Iterator[str]:
    """Other printed statements on the critical layer."""
    cross = seen.claim("p3.lstar.mape_cross")
    sign_change = cross.reading("the sign-change run's file")
    if sign_change.value > cross.value:
        yield Detail(f"In the sign-change run the formula's error is {sign_change:.1f}%.")
    packed_means = [seen.claim(f"p3.h4ext.{model}.mean_trace_mh") for model in FOUR_BITS]
    coefficients = seen.claims_like("p3.lstar.coef_?")
    if all(number.stands for number in (*packed_means, *coefficients)):
        yield Detail(
            "The extended trace run read packed bytes of four-bit weights as W_V: four of the "
            "eight L* values that the formula was fitted to come from these bytes, and two of "
            "these four are the layer of the first NaN."
        )
    if seen.claim("p3.notebook.signchange.same_method").falls:
        yield Detail(
            "The sign-change notebook says that it uses the calibration's method; its own file "
            "reports that none of four calibration layers is matched."
        )
    alibi = seen.claim("p3.lstar.alibi")
    if alibi.falls:
        without = alibi.reading("the mean error without them")
        yield Detail(
            f"Models with ALiBi are said to be {alibi.printed} from the formula's validation, but "
            f"BLOOM-560M is {alibi}; without it the mean error is {without:.1f}%."
        )


# --- of the notebooks: anisotropy -----------------------------------------------------------------


@sentences("p3.anisotropy")
def describe_anisotropy(seen: Seen) -> Iterator[str]:
    """The profile of the first component's share."""
    yield Claimed("Pythia's anisotropy rises to a peak and falls from there on.")
    peak = seen.claim("p3.aniso.L_star")
    slope = seen.statistic("anisotropy", PYTHIA, "phase2_slope")
    without_last = seen.statistic("anisotropy", PYTHIA, "without_last", "phase2_slope")
    if slope < 0 and without_last < 0:
        yield (
            f"Over all prompts together the share of the first component peaks at layer {peak} "
            f"and then changes by {slope:+.4f} a layer if the last layer, the only one read after "
            f"the final norm, is counted, and by {without_last:+.4f} if it is not."
        )
    cosines = seen.statistic("anisotropy", PYTHIA, "avg_cos_sim")
    at_peak = seen.statistic("anisotropy", PYTHIA, "avg_cos_sim", peak.value)
    if cosines and None not in cosines and at_peak == min(cosines[1:-1]):
        yield f"There the mean cosine is lowest of layers 1 to {len(cosines) - 2}: {at_peak:.3f}."
    layer, gap, match = (
        seen.claim(f"p3.aniso.{name}") for name in ("L_star_paper2", "gap", "match_verdict")
    )
    if gap.known and layer.falls:
        other_gap = seen.statistic("anisotropy", PYTHIA, "gap_of_pairs")
        yield (
            f"The peak lies {gap} layers from layer {layer.printed}, where Paper 2's r is said to "
            f"turn (the notebook's word: {match}); over the pairs r is first negative at layer "
            f"{layer}, {other_gap} from the peak."
        )
    if layer.falls and layer.reading(STABLE_LAYER).gives:
        yield Detail(
            f"The printed layer {layer.printed} is the first at which the interval of r "
            "over the categories lies below zero."
        )
