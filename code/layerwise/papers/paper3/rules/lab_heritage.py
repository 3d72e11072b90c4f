"""Do the models of one lab damp or expand alike? (Paper 3, section 4.2)

And of what it rests on, GPT-2 and GPT-J against a gain of one, over 25 prompts (notebooks).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.engine.derivation import Document, Rule, Rules, combined, count, for_each_group
from layerwise.engine.evidence import Entry, measured_among
from layerwise.engine.published import BEYOND, PROMPTS, NotMeasured
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import (
    Rows,
    by_lab,
    dampens,
    damps,
    final_gain,
    gain,
    gains_of,
    models,
    percent,
    rows_of,
    share,
)
from layerwise.papers.shared.names.result_files import GPT2, GPTJ, HUNT, SWEEP
from layerwise.papers.shared.terms import ELEUTHER, OTHERS
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.estimates import (
    Estimate,
    mean_estimate,
    mean_estimate_from_moments,
    share_estimate,
)
from layerwise.statistics.samples import require_sample

# What figure 2 shows as EleutherAI: the sweep's gain for the Pythia sizes, the hunt's for others.
FIGURE2 = ("pythia-1.4b", "pythia-2.8b", "pythia-6.9b", "gpt-neo-1.3B", "gpt-j-6B")
FIGURE3 = {
    "pythia-160m": ELEUTHER,
    "pythia-410m": ELEUTHER,
    "gpt-neo-125M": ELEUTHER,
    "opt-125m": "Meta",
    "opt-350m": "Meta",
    "bloom-560m": "BigScience",
}
# What our runs measure and the paper's file lacks: every prompt's gain, and GPT-2 of figure 3.
OURS = f"{BEYOND}hunt"

Models = list[Entry]


def labs(f: Entry) -> dict[str, Models]:
    return by_lab(f.tested_results)


def others(f: Entry) -> Models:
    return [m for lab, some in labs(f).items() if lab != ELEUTHER for m in some]


def n_models(some: Models) -> int:
    """How many have a gain."""
    return count(some, gain)


def mean(some: Models) -> float:
    """Return the mean gain of some models."""
    return float(np.mean(gains_of(some)))


def spread(some: Models) -> float:
    """Population SD of the gains; of a single model 0, whatever the gain is."""
    return float(np.std(gains_of(some))) if len(some) > 1 else 0.0


def expand_percent(found: Sequence[float], decimals: int | None = None) -> int | float:
    """Percent of the gains that expand."""
    return percent([not dampens(one, decimals) for one in found])


def with_gpt2(f: Entry) -> list[float]:
    return gains_of(labs(f)["Meta"]) + means(Rows(f.of(GPT2)))


def undecided(m: Entry) -> bool:
    """Whether the interval of a mean gain over its prompts includes 1."""
    low, high = interval(m)
    return low <= 1 <= high


def signature(some: Models) -> str:
    """DAMPENER under 0.95, EXPANDER above 1.05, else NEUTRAL, of the mean gain (the survey)."""
    if mean(some) < 0.95:
        return "DAMPENER"
    return "EXPANDER" if mean(some) > 1.05 else "NEUTRAL"


def validated(f: Entry) -> str:
    """The survey's word: whether the labs have more than one signature."""
    signatures = {signature(some) for some in labs(f).values()}
    return "VALIDATED" if len(signatures) > 1 else "FALSIFIED"


# --- EleutherAI against the other labs ---


def damp_percent(some: Models, decimals: int | None = None) -> int | float:
    """Percent of the models that damp."""
    return percent([dampens(gain(m), decimals) for m in some])


def damp_percent_pooled(f: Entry) -> int | float:
    """The same of EleutherAI's models, the sweep's among them."""
    return damp_percent([*labs(f)[ELEUTHER], *only_swept(f)])


def n_others_undecided(f: Entry) -> int:
    """How many of the other labs' damping models have a mean gain that may be 1."""
    return sum(undecided(m) for m in others(f) if damps(m))


def only_eleuther_below_1(f: Entry) -> bool:
    """Whether EleutherAI's mean gain damps, and no other lab's."""
    return [lab for lab, some in labs(f).items() if dampens(mean(some))] == [ELEUTHER]


def signs(
    f: Entry,
    decimals: int | None = None,
    of: Callable[[Entry], float] = gain,
    more: Sequence[Entry] = (),
) -> np.ndarray:
    """[damping, expanding] of EleutherAI (and of more models) and of the other labs."""
    groups = [*labs(f)[ELEUTHER], *more], others(f)
    damping = [sum(dampens(of(m), decimals) for m in group) for group in groups]
    return np.array([[n, len(group) - n] for n, group in zip(damping, groups, strict=True)])


def only_swept(f: Entry) -> Models:
    """The sweep's models that the hunt did not test."""
    hunted = models(f)
    return [m for name, m in models(f.of(SWEEP)).items() if name not in hunted]


def fisher_p(table: np.ndarray) -> float:
    """p of Fisher's exact test; 1 with an empty row or column, as no other table has such sums."""
    return float(scipy.stats.fisher_exact(table).pvalue)


def chi_square_p(table: np.ndarray) -> float:
    """p of Pearson's chi-square, one degree of freedom, without continuity correction."""
    if not (table.sum(axis=0).all() and table.sum(axis=1).all()):
        raise LayerwiseError(
            f"a chi-square test needs no empty row or column, found {table.tolist()}; use Fisher's"
        )
    return float(scipy.stats.chi2_contingency(table, correction=False).pvalue)


def p_text(p: float) -> str:
    """A p value as papers print it: `< 0.001`, else three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


# --- the figures ---


def word(mean_gain: float) -> str:
    """What the figures call a mean gain."""
    return "DAMPEN" if dampens(mean_gain) else "EXPAND"


def models_drawn(f: Entry, names: Iterable[str]) -> dict[str, Entry]:
    """The models whose gains figures 2 and 3 draw: the sweep's where it has one of the name."""
    there = models(f) | models(f.of(SWEEP))
    return {name: there[name] for name in names}


def figure2(f: Entry) -> list[float]:
    """What figure 2 draws of EleutherAI, at its decimals."""
    return [round(gain(m), 3) for m in models_drawn(f, FIGURE2).values()]


def measured_models(some: Models) -> Models:
    """Those whose gain was measured."""
    return list(measured_among({m.model: m for m in some}, gain).values())


def drawn_models(f: Entry) -> dict[str, Entry]:
    """The models whose gain was measured, by name."""
    return measured_among(models(f), gain)


def n_prompts(f: Entry) -> int:
    """The prompts that every model of this run read."""
    if OURS in f.evidence:
        (n,) = {count(m.gains.penultimate) for _, m in f.of(OURS).items()}
        return n
    return int(f.of(PROMPTS).rho_hunt.n_prompts)


def over_prompts(m: Entry) -> Estimate:
    """A model's mean gain with Student's interval over its prompts.

    The paper's file has the deviation of the gains alone; a measurement has every prompt's gain.
    """
    slug = m.model.rpartition("/")[2].lower().replace(".", "p")
    if OURS in m.evidence and slug in m.of(OURS):
        return mean_estimate(m.of(OURS)[slug].gains.penultimate[:], "prompts")
    return mean_estimate_from_moments(gain(m), m.gain_no_ln_std, n_prompts(m), "prompts")


def interval(m: Entry) -> list[float]:
    """The 95% interval of a model's mean gain over its prompts."""
    found = over_prompts(m)
    return [found.low, found.high]


def groups(f: Entry) -> dict[str, Models]:
    """The measured models of EleutherAI and of the other labs."""
    found = {name: measured_models(some) for name, some in
             ((ELEUTHER, labs(f).get(ELEUTHER, [])), (OTHERS, others(f)))}  # fmt: skip
    return {name: some for name, some in found.items() if some}


def share_as_claimed(some: Models) -> dict[str, float]:
    """How many damp, and the share that lies where the paper says, in percent: EleutherAI's models
    below 1, the others above, with the exact interval of Clopper and Pearson.
    """
    damping = [damps(m) for m in some]
    below = some[0].lab == ELEUTHER
    found = share_estimate([one == below for one in damping], "models")
    ends = {"value": found.value, "low": found.low, "high": found.high}
    return {"n": found.n, "below": sum(damping)} | {name: 100 * end for name, end in ends.items()}


def standard_error(some: Models) -> float | None:
    """Of the mean gain; None of a single model."""
    return float(scipy.stats.sem(gains_of(some))) if len(some) > 1 else None


def gpt2_gain(f: Entry) -> float:
    """Mean gain of GPT-2 over the hunt's prompts."""
    if OURS not in f.evidence or "gpt2" not in f.of(OURS):
        raise NotMeasured("no run of the papers measured GPT-2 on the hunt's prompts")
    return float(np.mean(f.of(OURS).gpt2.gains.penultimate[:]))


# --- GPT-2 and GPT-J over the prompts ---


def last_gain(rows: Rows) -> float:
    """Return the mean last gain over the prompts."""
    return float(np.mean(rows["Last_Gain"]))


def means(rows: Rows) -> list[float]:
    return [last_gain(of) for of in rows.by("Model").values()]


def against_one(rows: Rows, **options: str) -> Any:
    return scipy.stats.ttest_1samp(require_sample(rows["Last_Gain"]), 1.0, **options)


def bentov(rows: Rows) -> Correlation:
    """The entropies with the gains' distance from 1."""
    return pearson(rows["Entropy"], np.abs(rows["Last_Gain"] - 1))


OF_MODEL: Rules = {
    "gain_no_ln_mean": gain,
    "gain_with_ln_mean": final_gain,
    "is_dampening": damps,
}
OF_LAB: Rules = {
    "mean_gain": mean,
    "std_gain": spread,
    "dampen_pct": Rule(
        lambda some: 100.0 * share([damps(m) for m in some]),
        "percent of the lab's models that damp",
    ),
    "signature": signature,
    "n_models": Rule(lambda some: float(n_models(some)), "the lab's models with a gain"),
}
OF_DRAWN: Rules = {"gain": gain, "interval": interval}
OVER_MODELS: Rules = {
    "h26_lab_signatures": for_each_group(labs, combined(OF_LAB)),
    "h26_verdict": validated,
    "n_models": for_each_group(labs, n_models),
    "expand_pct": for_each_group(
        labs, Rule(lambda some: expand_percent(gains_of(some)), "percent that expand")
    ),
    "expand_pct_rounded": for_each_group(
        labs,
        Rule(
            lambda some: expand_percent(gains_of(some), 2),
            "percent that expand, after rounding to two decimals",
        ),
    ),
    "expand_pct_final_norm": for_each_group(
        labs,
        Rule(
            lambda some: expand_percent([final_gain(m) for m in some]),
            "percent that expand behind the final norm",
        ),
    ),
    "dampen_pct": Rule(
        lambda f: damp_percent(labs(f)[ELEUTHER]), "percent of the lab's models that damp"
    ),
    "dampen_pct_pooled": damp_percent_pooled,
    "dampen_pct_swept": Rule(
        lambda f: damp_percent(f.of(SWEEP).models), "percent of the sweep's models that damp"
    ),
    "expand_pct_others": Rule(
        lambda f: expand_percent(gains_of(others(f))),
        "percent of the other labs' models that expand",
    ),
    "n_others_undecided": n_others_undecided,
    "expand_pct_others_rounded": Rule(
        lambda f: expand_percent(gains_of(others(f)), 2), "the same after rounding to two decimals"
    ),
    "expand_pct_meta_openai": Rule(
        lambda f: expand_percent(with_gpt2(f)), "percent of Meta's models and GPT-2 that expand"
    ),
    "expand_pct_meta_openai_rounded": Rule(
        lambda f: expand_percent(with_gpt2(f), 2), "the same after rounding to two decimals"
    ),
    "only_eleuther_below_1": only_eleuther_below_1,
    "fisher/hunt": Rule(
        lambda f: p_text(fisher_p(signs(f))),
        "p of Fisher's exact test, EleutherAI against the other labs",
    ),
    "fisher/p": Rule(lambda f: fisher_p(signs(f)), "p of Fisher's exact test, in full"),
    "fisher/rounded": Rule(
        lambda f: p_text(fisher_p(signs(f, 2))),
        "p of Fisher's exact test after rounding to two decimals",
    ),
    "fisher/final_norm": Rule(
        lambda f: p_text(fisher_p(signs(f, of=final_gain))),
        "p of Fisher's exact test behind the final norm",
    ),
    "fisher/pooled": Rule(
        lambda f: p_text(fisher_p(signs(f, more=only_swept(f)))),
        "p of Fisher's exact test with the sweep's models",
    ),
    "chi_square_rounded": Rule(
        lambda f: p_text(chi_square_p(signs(f, 2))),
        "p of the chi-square test after rounding to two decimals",
    ),
    "figure2/mean": Rule(lambda f: np.mean(figure2(f)), "mean of the gains that figure 2 draws"),
    "figure2/se": Rule(
        lambda f: scipy.stats.sem(figure2(f)), "standard error of the gains that figure 2 draws"
    ),
    "se": for_each_group(
        lambda f: {lab: some for lab, some in labs(f).items() if len(some) > 1}, standard_error
    ),
    "drawn/models": for_each_group(drawn_models, combined(OF_DRAWN)),
    "drawn/n_prompts": n_prompts,
    "drawn/shares": for_each_group(groups, share_as_claimed),
    "figure3": for_each_group(
        lambda f: models_drawn(f, FIGURE3),
        Rule(lambda m: word(gain(m)), "whether the mean gain damps or expands, as figure 3 says"),
    ),
    "figure3/gpt2": Rule(lambda f: word(gpt2_gain(f)), "whether GPT-2 damps or expands"),
    "figure3_lab": for_each_group(
        lambda f: {m: labs(f)[lab] for m, lab in FIGURE3.items()},
        Rule(lambda some: word(mean(some)), "whether the lab's mean gain damps or expands"),
    ),
}
OF_PROMPTS: Rules = {
    "mean": last_gain,
    "sd": Rule(lambda rows: np.std(rows["Last_Gain"], ddof=1), "sample SD of the last gain"),
    "min": Rule(lambda rows: np.min(rows["Last_Gain"]), "the smallest last gain"),
    "max": Rule(lambda rows: np.max(rows["Last_Gain"]), "the largest last gain"),
    "t": Rule(lambda rows: against_one(rows).statistic, "t of the last gains against 1"),
    "p_less": Rule(
        lambda rows: against_one(rows, alternative="less").pvalue,
        "one-sided p of the last gains below 1",
    ),
    "bentov_r": Rule(lambda rows: bentov(rows).r, "r of entropy and the gain's distance from 1"),
    "bentov_p": Rule(lambda rows: bentov(rows).p, "p of that r"),
}
TESTS = {"tests": for_each_group(lambda rows: rows.by("Model"), combined(OF_PROMPTS))}
DOCUMENTS = {
    "hunt": Document(HUNT, {"": OVER_MODELS, "tested_results/*": OF_MODEL}),
    "gpt2": Document(
        rows_of(GPT2),
        {
            "": TESTS
            | {
                "expand_pct": Rule(
                    lambda rows: percent([g >= 1 for g in means(rows)]), "percent that expand"
                ),
            }
        },
        places={"/rows": (GPT2, "")},
    ),
    "gptj": Document(
        rows_of(GPTJ),
        {"": TESTS | {"categories": for_each_group(lambda rows: rows.by("Category"), last_gain)}},
        places={"/rows": (GPTJ, "")},
    ),
}
