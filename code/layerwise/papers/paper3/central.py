"""What is said of the central claims of Paper 3 and of its notebooks.

Each function tells of one claim, a sentence a `yield`; what a sentence states is the condition of
its branch.
"""

from collections.abc import Iterator

from layerwise.engine.answer_words import TOO_FEW
from layerwise.engine.seen import (
    Claimed,
    Detail,
    InRow,
    Seen,
    Sentences,
    Value,
    equal_p,
    listed,
    spell_p,
    verb,
)

PYTHIA = "pythia-6p9b"
FAMILIES = ("Mistral-7B", "Gemma-7B", "LLaMA-3.1-8B")
FALSIFIED = "FALSIFIED"
ALPHA = 0.05
ENOUGH_POWER = 0.8
TWICE = 2  # the factor of the script's own rule on the trace
LEAST_MWU = 0.058  # the smallest p of its rank test of so few models, rounded up
DENSITY_R = -0.815, -0.805  # what rounds to the printed r
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
def depth_gain(seen: Seen) -> Iterator[str]:
    """The first law: r of depth and gain."""
    r, p = seen.claim("p3.kleiber.r"), seen.claim("p3.kleiber.p")
    yield Claimed(
        "The deeper a Pythia model, the smaller its residual gain "
        f"(r = {r.printed}, p = {p.printed}): the first law."
    )
    boxed, own = seen.claim("p3.kleiber.fig1.r"), seen.answer("depth_gain")
    boxed_text = f"{boxed:+.3f} to the three decimals of the figure"
    if r.falls and r.value < 0 and p.value < ALPHA:
        yield (
            f"Depth and gain over the eight sizes give r = {r:+.2f} ({own.ends:+.2f}; "
            f"{boxed_text}), p {equal_p(p)}: the direction holds."
        )
    density = seen.answer("density_gain").value
    if r.falls and DENSITY_R[0] < density < DENSITY_R[1]:
        yield (
            f"The printed pair ({r.printed}, {p.printed}) is that of the density of heads and the "
            f"gain ({density:+.3f})."
        )
    if r.stands:
        yield f"r = {r:+.2f} ({boxed_text}), p {equal_p(p)} over the eight sizes."
    if r.falls and p.value >= ALPHA:
        yield (
            f"Depth and gain over the eight sizes give r = {r:+.2f} ({boxed_text}), p {equal_p(p)}."
        )
    if r.falls and r.value >= 0 and p.value < ALPHA:
        yield (
            f"Depth and gain over the eight sizes give r = {r:+.2f} ({boxed_text}), p "
            f"{equal_p(p)}, the opposite direction."
        )
    survey = seen.answer("depth_gain_of_survey")
    if survey.ends.includes(0):
        yield (
            "Beyond this family it is not shown: over the models of the survey r is "
            f"{survey.value:+.2f} ({survey.ends:+.2f})."
        )
    if survey.ends.high <= 0:
        yield (
            "Over the models of the survey it holds too: r is "
            f"{survey.value:+.2f} ({survey.ends:+.2f})."
        )
    if survey.ends.low >= 0:
        yield (
            "Over the models of the survey deeper models gain more: r is "
            f"{survey.value:+.2f} ({survey.ends:+.2f})."
        )
    pooled = seen.answer("depth_gain_of_survey", choice="pooled")
    if pooled.known:
        yield (
            f"Over survey and Pythia sizes together it is {pooled.value:+.2f} ({pooled.ends:+.2f})."
        )
    ranks = seen.answer("depth_gain", choice="spearman")
    if ranks.known:
        yield (
            f"By ranks r = {ranks.value:+.2f} over the eight sizes (p {equal_p(ranks.p)} by all "
            "permutations)."
        )
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
def bound(seen: Seen) -> Iterator[str]:
    """The bound on the gain."""
    yield Claimed(
        "No gain exceeds 10^(1/L), where L is the number of blocks, so that no network gains more "
        "than tenfold."
    )
    law, gain = seen.claim("p3.kleiber.bound"), seen.claim("p3.fig1.1b.gain")
    for sample, models in (("family", "the Pythia sizes"), ("hunt", "the survey's models")):
        above = seen.statistic("depth_gain", sample, "bound", "above")
        if above:
            yield f"Of {models} {listed(above)} {verb(above, 'lies', 'lie')} above the bound."
        if above == []:
            yield f"None of {models} lies above the bound."
    told_above = seen.statistic("power", "bound", "told_above")
    if told_above:
        yield (
            "The excess is larger than the noise of the prompts, all models tested at once, in "
            f"{told_above}."
        )
    limit = seen.statistic("depth_gain", "family", "models", 3, "bound")
    if gain.value > limit:
        yield f"The gain of pythia-1b is {gain:.3f}, its bound {limit:.3f}."
    if gain.value < limit:
        yield f"The gain of pythia-1b is {gain:.3f}, under its bound of {limit:.3f}."
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
def gains(seen: Seen) -> Iterator[str]:
    """The benchmark's order of four models."""
    yield Claimed(
        "The gain of the last block orders four models (Pythia damps; Mistral, Llama and Gemma "
        "expand)."
    )
    llama = seen.claim("p3.bench.llama")
    of_sequence = seen.statistic("sequence_gains", "llama3.1-8b", "last_gain")
    if of_sequence < 1:
        yield InRow(
            f"By the norm of the whole sequence Llama damps ({of_sequence:.2f}; a single text, "
            "without an interval)."
        )
    order = seen.claim("p3.bench.order")
    order_of_sequence = seen.statistic("sequence_gains", "study", "order")
    pythia, gemma = seen.claim("p3.bench.pythia"), seen.claim("p3.bench.gemma")
    if order.known:
        yield (
            f"It rests on the norm of the last token, by which the order is {order} ({pythia:.2f} "
            f"to {gemma:.2f})"
            + (
                "; by that of the whole sequence, for one text in other notebooks of the paper, it "
                f"is {order_of_sequence}."
                if order_of_sequence != order.value
                else "."
            )
        )
    first, second, third = (
        seen.answer("gain_order", pair).ends.low
        for pair in (
            "Pythia-6.9B < Mistral-7B",
            "Mistral-7B < LLaMA-3.1-8B",
            "LLaMA-3.1-8B < Gemma-7B",
        )
    )
    if first > 0 and second > 0 and third > 0:
        yield (
            "Prompt by prompt, each step's interval excludes zero: the steps are at least "
            f"{first:.2f}, {second:.2f} and {third:.2f}."
        )
    if of_sequence < 1 and llama.value > 1:
        yield (
            f"By the norm of the whole sequence Llama damps: {of_sequence:.2f} instead of "
            f"{llama:.2f}. A single text gives no interval, so that norm answers nothing here."
        )
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
def tuning(seen: Seen) -> Iterator[str]:
    """Base models and their tuned versions."""
    change, kept = seen.claim("p3.twin.max_modulation"), seen.claim("p3.twin.sign_kept")
    yield Claimed(
        "Instruction tuning changes the size of the gain "
        f"(by up to {change.printed}%) and cannot change whether a model damps or expands."
    )
    damping, turned, prompts = (
        seen.statistic("twins", "study", name)
        for name in ("n_damping_bases", "n_prompts_turned", "n_prompt_pairs")
    )
    if damping < 1:
        yield InRow("No damping model was tuned.")
    if kept.value is True:
        base, tuned = seen.claim("p3.twin.gemma_base"), seen.claim("p3.twin.gemma_it")
        yield (
            "The mean gain of every tuned model stays on its base's side of 1; the largest change "
            f"is Gemma's, {base:.2f} to {tuned:.2f} ({change:.0f}%)."
        )
    if kept.value is False:
        yield (
            "The mean gain of a tuned model lies on the other side of 1 from its base's; the "
            f"largest change is {change:.0f}%."
        )
    if damping < 1:
        yield "All bases expand: no damping model was tuned."
    if damping >= 1:
        yield f"Of the bases {damping} damp."
    if turned > 0:
        yield (
            f"In {turned} of {prompts} comparisons (one prompt, a base model and its tuned "
            "version) the two gains lie on opposite sides of 1."
        )
    answers = {family: seen.answer("side_kept", family) for family in FAMILIES}
    crossed = [family for family, answer in answers.items() if answer.no]
    if crossed:
        yield (
            f"By its interval the tuned gain lies on the other side of 1 from its base's in "
            f"{listed(crossed)}: a claim that tuning never does this falls by one family."
        )
    families = seen.answer("tuned_families")
    if families.word == TOO_FEW and not crossed:
        yield (
            f"What tuning can do is a claim about models: over {families.n} families that all keep "
            "their side, the interval of the share that do begins at "
            f"{families.ends.low:.0%}."
        )
    correlation = seen.claim("p3.notebook.twin.correlation")
    if correlation.falls:
        r = correlation.reading("r over the three families")
        yield Detail(
            "The notebook's own criterion for this, a correlation "
            f"{correlation.printed}, was never computed; over the three families it is {r:.2f}."
        )


# --- over models: labs, density of heads, size ----------------------------------------------------


@sentences("p3.heritage")
def heritage(seen: Seen) -> Iterator[str]:
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
    if damp.known:
        openai = seen.claim("p3.heritage.openai_expand")
        yield (
            f"Of EleutherAI's models in the survey {damp:.0f}% damp. Of Meta's models {meta:.0f}% "
            f"expand, of those of all labs but EleutherAI {others:.0f}% (printed {others.printed}% "
            f"each); in a separate test {openai:.0f}% of OpenAI's expand."
        )
    with_gpt2 = seen.answer("heritage", choice="with_gpt2").value
    more = (
        f"with the Pythia sizes of the sweep {p.reading(BOTH)}, with the three GPT-2 sizes as well "
        f"{spell_p(with_gpt2)}."
    )
    if p.falls:
        yield f"Fisher's p is {p} (printed {p.printed}), {more}"
    if p.stands:
        yield f"Fisher's p is {p}, {more}"
    fisher = seen.answer("heritage")
    if fisher.ends.low < fisher.ends.high:
        yield (
            f"Some gains cannot be distinguished from 1 ({fisher.where}): over the likeliest ways "
            f"to count them p ranges from {spell_p(fisher.ends.low)} to {fisher.ends.high:.3f}."
        )
    behind = seen.answer("heritage", choice="final_norm")
    meta_behind = seen.statistic("lab_heritage", "hunt", "expand_pct_final_norm", "Meta")
    if fisher.unshown and behind.yes:
        yield (
            "By the gain after the final norm, which the paper itself excludes, p is "
            f"{spell_p(behind.value)} however these are counted; but {meta_behind:.0f}% of Meta's "
            "models expand by it."
        )
    difference = seen.answer("lab_difference")
    if difference.ends.includes(0):
        yield (
            f"The mean gains of the two groups differ by {difference.value:+.2f} "
            f"({difference.ends:+.2f} by all permutations), which may be zero."
        )
    if difference.ends.high <= 0:
        yield (
            "The sizes of the gains do differ: EleutherAI's mean gain is "
            f"{abs(difference.value):.2f} below that of the others "
            f"({abs(difference.ends.high):.2f} to {abs(difference.ends.low):.2f} by all "
            "permutations)."
        )
    own_mean = seen.claim("p3.fig2.EleutherAI.mean")
    if seen.claim("p3.heritage.only_mean_below_1").falls and own_mean.value < 1:
        yield "EleutherAI is not the only lab whose mean lies below 1."
    power, models, needed = (
        seen.statistic("power", "heritage", name) for name in ("power", "models", "needed")
    )
    significant = (
        f"If the observed shares are the true ones, Fisher's test of {models} models would be "
        f"significant in {power:.0%} of such surveys"
    )
    if power < ENOUGH_POWER:
        yield f"{significant}; 80% would take {needed:,} models in each group."
    if power >= ENOUGH_POWER:
        yield f"{significant}."
    yield from heritage_in_print(seen)


def heritage_in_print(seen: Seen) -> Iterator[str]:
    """What else the paper prints on labs."""
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
    of_shares = p.reading("the shares that are printed")
    if p.falls and p.reading(CHI_SQUARE).gives:
        yield Detail(
            "Of the five tests searched, rounded gains and a chi-square test without continuity "
            "correction give the printed p."
        )
    if not of_shares.gives:
        yield Detail(
            f"Even the printed shares, of five and eleven models, give only p = {of_shares}."
        )
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
def crowding(seen: Seen) -> Iterator[str]:
    """The density of heads and the sides of 1."""
    yield Claimed("Crowding of attention heads explains whether a model damps or expands.")
    own, pooled = (
        seen.statistic("crowding", sample, "density_rule", "accuracy_pct")
        for sample in ("family", "pooled")
    )
    constant, pooled_constant = (
        seen.statistic("crowding", sample, "density_rule", "constant_accuracy")
        for sample in ("hunt", "pooled")
    )
    if own >= 0:
        yield (
            "On the eight Pythia sizes the paper's rule, damping above a critical density of "
            f"heads, is right for {own:.0f}%."
        )
    family = seen.answer("crowding", choice="family")
    if family.yes:
        yield (
            f"There density and damping go together by Fisher's test (p {equal_p(family.value)}, "
            "on whichever side models with a gain near 1 count)."
        )
    if family.unshown and family.value < ALPHA <= family.ends.high:
        yield (
            f"There Fisher's p is {family.value:.3f} if each model counts by its mean gain, but "
            f"ranges from {spell_p(family.ends.low)} to {family.ends.high:.2f} if models whose "
            "gain cannot be distinguished from 1 may count on either side."
        )
    verdict = seen.claim("p3.hunt.h25_verdict")
    if verdict.value == FALSIFIED:
        yield (
            f"The survey's own result file says of the hypothesis that heads are crowded: "
            f"{verdict}."
        )
    explains = seen.claim("p3.crowding.explains")
    after, before = (seen.claim(f"p3.appB.acc_{side}") for side in ("after", "before"))
    if explains.falls and after.known:
        yield (
            f"On the survey's models it is right for {after:.0f}% (printed {after.printed}; "
            f"{before:.0f}% with the final norm), a constant guess for {constant:.0%}."
        )
    if explains.stands and after.known:
        yield (
            f"On the survey's models it is right for {after:.0f}%, a constant guess for "
            f"{constant:.0%}."
        )
    survey = seen.answer("crowding")
    if survey.undecided:
        yield (
            "Over the survey it is not shown that models with dense heads damp more often "
            f"(p = {survey.value:.2f})."
        )
    if survey.no:
        yield "In the survey models with dense heads damp less often than others."
    if pooled >= 0:
        yield (
            f"Over survey and Pythia sizes together it is right for {pooled:.0f}%, a constant "
            f"guess for {pooled_constant:.0%}."
        )
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
def hierarchy(seen: Seen) -> Iterator[str]:
    """Lab, density of heads and size, by their |r| with the gain."""
    yield Claimed(
        "For the gain, heritage counts more than geometry (the density of heads), and geometry "
        "more than scale."
    )
    lab, pooled = (
        seen.answer("heritage_over_geometry", choice=choice) for choice in ("published", "pooled")
    )
    density = seen.answer("geometry_over_scale")
    if lab.ends.low > 0:
        yield (
            f"Over the {density.n} models of the survey the gain correlates more closely with the "
            f"lab than with the density of heads: |r| is larger by {lab.value:.2f} "
            f"({lab.ends:+.2f})."
        )
    if lab.ends.low <= 0:
        yield (
            f"Over the {density.n} models of the survey the |r| of lab and gain differs by "
            f"{lab.value:+.2f} ({lab.ends:+.2f}) from that of density and gain."
        )
    if lab.ends.low > 0 and pooled.ends.low <= 0:
        yield (
            f"With the Pythia sizes the difference is {pooled.value:+.2f}, with an interval that "
            "includes zero."
        )
    against_size = (
        f"For density against size the difference is {density.value:+.2f} ({density.ends:+.2f}), "
        "in favour of"
    )
    if density.value < 0:
        yield f"{against_size} size."
    if density.value >= 0:
        yield f"{against_size} density."
    if density.ends.includes(0):
        yield "So few models cannot show which of these two counts more."
    if density.known:
        yield (
            "The paper tests no hierarchy. Size is taken here as 12 times the number of blocks "
            "times the squared width."
        )


# --- weights, traces, the critical layer ----------------------------------------------------------


@sentences("p3.spectral")
def spectral(seen: Seen) -> Iterator[str]:
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
    correlation = seen.answer("spectral_predicts")
    n = correlation.n
    if right <= constant:
        yield InRow(
            f"Its best threshold is right for {right} of {n} models, no better than calling all "
            "alike."
        )
    if right > constant:
        yield InRow(
            f"Its best threshold is right for {right} of {n} models, calling all alike for "
            f"{constant}."
        )
    predicts = seen.claim("p3.spectral.predicts")
    if predicts.falls and right <= constant:
        yield (
            "No threshold of the ratio, above which models would damp, is right for more than "
            f"{right} of the {n} models that have both numbers; calling all alike is "
            f"right for {constant}."
        )
    if predicts.stands and right > constant:
        yield (
            "The best threshold of the ratio, above which models would damp, is right for "
            f"{right} of the {n} models that have both numbers; calling all alike is "
            f"right for {constant}."
        )
    are_extremes = largest == "pythia-160m" and smallest == "gpt-neo-125M"
    expands = seen.answer("damping", "pythia-160m").no
    if are_extremes and expands and seen.answer("damping", "gpt-neo-125M").yes:
        yield (
            f"The model with the largest ratio, {largest}, expands, and the one with the smallest, "
            f"{smallest}, damps; the intervals of both gains exclude 1."
        )
    r_text = f"r = {correlation.value:+.2f}, {correlation.ends:+.2f}"
    if correlation.ends.includes(0):
        yield (
            f"With the size of the gain the ratio shows no correlation ({r_text}); so few "
            "models cannot rule one out."
        )
    if correlation.ends.high <= 0:
        yield f"The larger the ratio, the smaller the gain ({r_text})."
    if correlation.ends.low >= 0:
        yield f"The larger the ratio, the larger the gain ({r_text})."
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
    marked, opt = (seen.claim(f"p3.fig3.{model}.class") for model in ("pythia-160m", "opt-350m"))
    near_one = seen.answer("damping", "opt-350m").undecided
    if marked.falls:
        yield Detail(
            f"Figure 3 marks Pythia-160M as {marked.printed}; its measured gain says {marked}."
        )
    if opt.falls and near_one:
        yield Detail(
            f"Figure 3 marks OPT-350M as {opt.printed}; its gain is so near 1 that five prompts do "
            "not tell on which side it lies."
        )
    if opt.falls and not near_one:
        yield Detail(f"Figure 3 marks OPT-350M as {opt.printed}; its measured gain says {opt}.")
    if marked.falls and opt.falls and marked.reading(OF_LAB).gives and opt.reading(OF_LAB).gives:
        yield Detail(
            "The mean gain of each model's lab gives the printed mark: the figure shows labs, not "
            "gains."
        )
    if seen.claim("p3.heritage.all_p_below_05").falls:
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
def trace(seen: Seen) -> Iterator[str]:
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
    means = (
        f"the two kinds of model: the mean of the expanders is {ratio:.1f} times that of the "
        f"dampeners (saved by the script as {ratio.printed})."
    )
    if separates.falls:
        yield (
            "By the script's own rule, a factor over two, the code's trace does not separate "
            f"{means}"
        )
    if separates.stands:
        yield f"By the script's own rule, a factor over two, the code's trace separates {means}"
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
    if heads > TWICE and larger >= pairs:
        yield (
            f"Head by head the factor is {heads:.1f}, and every expander has the larger trace, of "
            "too few models for an interval."
        )
    if heads <= TWICE:
        yield f"Head by head the factor is {heads:.1f}, of too few models for an interval."
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
    if factor.known:
        yield (
            f"The factor {factor:.0f} compares GPT-2 with OPT-125m, both expanders by the gains "
            "that are typed into the script."
        )
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
def lstar(seen: Seen) -> Iterator[str]:
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
    if cross.falls:
        yield f"On six models the formula misses by {cross:.1f}% of depth, L/2 by {half:.1f}%."
    in_both = seen.statistic("critical_layer", "argmax", "n_seen")
    if in_both > 0:
        yield (f"{in_both} of the six models are among those that the formula was fitted to.")
    formula, half_unseen, models = (
        seen.statistic("critical_layer", "argmax", "unseen", name)
        for name in ("formula", "half_depth", "models")
    )
    on_others = f"On the others ({Value(models)}) the formula misses by {formula:.1f}%, L/2 by"
    if formula > half_unseen:
        yield f"{on_others} only {half_unseen:.1f}%."
    if formula <= half_unseen:
        yield f"{on_others} {half_unseen:.1f}%."
    difference = seen.answer("lstar")
    if difference.ends.includes(0):
        yield (
            "Over the six models the interval of the difference between the two errors runs from "
            f"{difference.ends:+.0f}% of depth."
        )
    if difference.ends.high <= 0:
        yield (
            f"Over the six models the formula's error is the smaller one ({difference.ends:+.0f}% "
            "of depth)."
        )
    if difference.ends.low >= 0:
        yield (
            f"Over the six models the error of L/2 is the smaller one ({difference.ends:+.0f}% of "
            "depth)."
        )
    in_percent = cross.reading("percent of L*")
    if in_percent.value > cross.value:
        yield (
            f"In percent of L* itself, as a mean absolute percentage error usually is, it is "
            f"{in_percent:.1f}%."
        )
    rounded = within.reading("the coefficients as they are printed")
    if within.stands and naive.known:
        yield (
            f"On the models that it was fitted to its error is {within:.1f}%, as printed, with "
            f"unrounded coefficients, {rounded:.1f}% with the printed ones; that of L/2 is "
            f"{naive:.1f}%."
        )
    if not within.stands and naive.known:
        yield (
            f"On the models that it was fitted to its error is {within:.1f}%, printed as "
            f"{within.printed}%; that of L/2 is {naive:.1f}%."
        )
    sign_change = cross.reading("the sign-change run's file")
    if sign_change.value > cross.value:
        yield Detail(f"In the sign-change run the formula's error is {sign_change:.1f}%.")
    by_bytes = [seen.claim(f"p3.h4ext.{model}.mean_trace_mh") for model in FOUR_BITS]
    coefficients = seen.claims_like("p3.lstar.coef_?")
    if all(number.stands for number in (*by_bytes, *coefficients)):
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
def anisotropy(seen: Seen) -> Iterator[str]:
    """The profile of the first component's share."""
    yield Claimed("Pythia's anisotropy rises to a peak and falls from there on.")
    peak = seen.claim("p3.aniso.L_star")
    slope = seen.statistic("anisotropy", PYTHIA, "phase2_slope")
    without_last = seen.statistic("anisotropy", PYTHIA, "without_last", "phase2_slope")
    peaks = f"The share of the first component peaks at layer {peak} and"
    if slope < 0 and without_last < 0:
        yield (
            f"{peaks} then changes by {slope:+.4f} a layer if the last layer, the only one read "
            f"after the final norm, is counted, and by {without_last:+.4f} if it is not."
        )
    if slope < 0 <= without_last:
        yield (
            f"{peaks} falls with the last layer alone ({slope:+.4f} a layer; {without_last:+.4f} "
            "without it)."
        )
    if slope >= 0:
        yield (
            f"{peaks} does not fall ({slope:+.4f} a layer; {without_last:+.4f} without the last)."
        )
    cosines = seen.statistic("anisotropy", PYTHIA, "avg_cos_sim")
    at_peak = seen.statistic("anisotropy", PYTHIA, "avg_cos_sim", peak.value)
    if cosines and None not in cosines and at_peak == min(cosines[1:-1]):
        yield (f"There the mean cosine is lowest of layers 1 to {len(cosines) - 2}: {at_peak:.3f}.")
    chance, without_chance = (
        seen.answer("bell", PYTHIA, choice).p for choice in ("published", "without_last")
    )
    if chance < ALPHA:
        yield (
            f"Against random walks with steps of these sizes p {equal_p(chance)} "
            f"({spell_p(without_chance)} without the last layer)."
        )
    if chance >= ALPHA:
        yield (
            "Random walks with steps of these sizes rise and fall as clearly: p "
            f"{equal_p(chance)} ({spell_p(without_chance)} without the last layer)."
        )
    if seen.claim("p3.aniso.is_bell_curve").value is False:
        yield "It is no bell by the notebook's rule."
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
    if gap.known and layer.stands:
        yield (
            f"The peak lies {gap} layers from layer {layer}, where Paper 2's r turns (the "
            f"notebook's word: {match})."
        )
    if layer.falls and layer.reading(STABLE_LAYER).gives:
        yield Detail(
            f"The printed layer {layer.printed} is the first at which the interval of r "
            "over the categories lies below zero."
        )
