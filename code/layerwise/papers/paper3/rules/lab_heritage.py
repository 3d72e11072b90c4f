"""Damping and expanding models by their lab (Paper 3, section 4.2).

The gains of GPT-2, which the paper counts with them, are means over 25 prompts of a notebook.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.engine.derivation import Document, Rule, Rules, combined, count, for_each_group
from layerwise.engine.evidence import Entry, measured_among
from layerwise.engine.published import BEYOND, PROMPTS, NotMeasured
from layerwise.errors import LayerwiseError
from layerwise.measures.residual_gain import GainReading
from layerwise.papers.paper3.rules.gain_files import (
    Rows,
    dampens,
    damps,
    final_gain,
    gain,
    group_by_lab,
    mean_gains,
    models_by_name,
    percent,
    pooled_by_name,
    rows_reader,
    share,
    short_name,
)
from layerwise.papers.shared.names.models import slug_of
from layerwise.papers.shared.names.result_files import GPT2, HUNT, PAPER_3_TEXT, SWEEP
from layerwise.papers.shared.terms import ELEUTHER, OTHERS
from layerwise.statistics.estimates import (
    Estimate,
    mean_estimate,
    mean_estimate_from_moments,
)

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


def models_by_lab(hunt: Entry) -> dict[str, Models]:
    """Return the models of the survey by lab."""
    return group_by_lab(hunt.tested_results)


def other_models(hunt: Entry) -> Models:
    """Return the models of the labs other than EleutherAI, lab by lab."""
    others = [models for lab, models in models_by_lab(hunt).items() if lab != ELEUTHER]
    return [model for models in others for model in models]


def count_models(models: Models) -> int:
    """Return the number of models that have a gain."""
    return count(models, gain)


def mean_gain(models: Models) -> float:
    """Return the mean gain of some models."""
    return float(np.mean(mean_gains(models)))


def gain_sd(models: Models) -> float:
    """Return the population SD of the gains; 0 for a single model, whatever its gain is."""
    return float(np.std(mean_gains(models))) if len(models) > 1 else 0.0


def expand_percent(gains: Sequence[float], decimals: int | None = None) -> int | float:
    """Return the percent of the gains that expand."""
    return percent([not dampens(value, decimals) for value in gains])


def meta_and_gpt2_gains(hunt: Entry) -> list[float]:
    """Return the gains of Meta's models and of the three GPT-2 sizes."""
    return mean_gains(models_by_lab(hunt)["Meta"]) + last_gains(Rows(hunt.of(GPT2)))


def is_undecided(model: Entry) -> bool:
    """Return whether the interval of a mean gain over its prompts includes 1."""
    low, high = gain_interval(model)
    return low <= 1 <= high


def signature(models: Models) -> str:
    """Return the survey's word: DAMPENER under 0.95, EXPANDER above 1.05, else NEUTRAL."""
    if mean_gain(models) < 0.95:
        return "DAMPENER"
    return "EXPANDER" if mean_gain(models) > 1.05 else "NEUTRAL"


def signature_verdict(hunt: Entry) -> str:
    """Return VALIDATED where the labs have more than one signature (the survey)."""
    signatures = {signature(models) for models in models_by_lab(hunt).values()}
    return "VALIDATED" if len(signatures) > 1 else "FALSIFIED"


# --- EleutherAI against the other labs ---


def damp_percent(models: Models, decimals: int | None = None) -> int | float:
    """Return the percent of the models that damp."""
    return percent([dampens(gain(model), decimals) for model in models])


def damp_percent_pooled(hunt: Entry) -> int | float:
    """Return the percent of EleutherAI's models that damp, with those of the sweep."""
    return damp_percent([*models_by_lab(hunt)[ELEUTHER], *models_only_swept(hunt)])


def n_others_undecided(hunt: Entry) -> int:
    """Return the number of other labs' damping models whose mean gain may be 1."""
    return sum(is_undecided(model) for model in other_models(hunt) if damps(model))


def only_eleuther_below_1(hunt: Entry) -> bool:
    """Return whether EleutherAI's mean gain damps, and no other lab's."""
    gains = {lab: mean_gain(models) for lab, models in models_by_lab(hunt).items()}
    return [lab for lab, gain in gains.items() if dampens(gain)] == [ELEUTHER]


def signs(
    hunt: Entry,
    decimals: int | None = None,
    gain_of: Callable[[Entry], float] = gain,
    further: Sequence[Entry] = (),
) -> np.ndarray:
    """Return [damping, expanding] counts of EleutherAI, with further models, and of the others."""
    groups = [*models_by_lab(hunt)[ELEUTHER], *further], other_models(hunt)
    damping = [sum(dampens(gain_of(model), decimals) for model in group) for group in groups]
    return np.array([[n, len(group) - n] for n, group in zip(damping, groups, strict=True)])


def signs_in_print(hunt: Entry) -> np.ndarray:
    """Return the counts that the shares in print stand for, of as many models."""
    printed = hunt.of(PAPER_3_TEXT).heritage
    damping = np.array([printed.eleuther_dampen_pct, 100 - printed.others_expand_pct]) / 100
    n_models = signs(hunt).sum(axis=1)
    n_damping = np.rint(damping * n_models).astype(int)
    return np.column_stack([n_damping, n_models - n_damping])


def models_only_swept(hunt: Entry) -> Models:
    """Return the sweep's models that the survey did not test."""
    hunted = models_by_name(hunt)
    return [model for name, model in models_by_name(hunt.of(SWEEP)).items() if name not in hunted]


def fisher_p(table: np.ndarray) -> float:
    """Return p of Fisher's exact test; 1 with an empty row or column."""
    return float(scipy.stats.fisher_exact(table).pvalue)


def chi_square_p(table: np.ndarray) -> float:
    """Return p of Pearson's chi-square, one degree of freedom, without continuity correction."""
    if not (table.sum(axis=0).all() and table.sum(axis=1).all()):
        raise LayerwiseError(
            f"a chi-square test needs no empty row or column, found {table.tolist()}; use Fisher's"
        )
    return float(scipy.stats.chi2_contingency(table, correction=False).pvalue)


def p_text(p: float) -> str:
    """Return a p value as papers print it: `< 0.001`, else three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


# --- the figures ---


def figure_word(mean_gain: float) -> str:
    """Return the figures' word for a mean gain."""
    return "DAMPEN" if dampens(mean_gain) else "EXPAND"


def figure_word_of_model(model: Entry) -> str:
    """Return the figures' word for a model, UNDECIDED where its prompts allow either."""
    return "UNDECIDED" if is_undecided(model) else figure_word(gain(model))


def figure_models(hunt: Entry, names: Iterable[str]) -> dict[str, Entry]:
    """Return the models whose gains a figure draws, from the sweep where it has them."""
    known = pooled_by_name(hunt.evidence)
    return {name: known[name] for name in names}


def figure2_gains(hunt: Entry) -> list[float]:
    """Return the gains that figure 2 draws for EleutherAI, at its decimals."""
    return [round(gain(model), 3) for model in figure_models(hunt, FIGURE2).values()]


def measured_models(models: Models) -> Models:
    """Return the models whose gain was measured."""
    return list(measured_among({model.model: model for model in models}, gain).values())


def measured_by_name(hunt: Entry) -> dict[str, Entry]:
    """Return the models whose gain was measured, by name."""
    return measured_among(models_by_name(hunt), gain)


def n_prompts(hunt: Entry) -> int:
    """Return the number of prompts that every model of this run read."""
    if OURS in hunt.evidence:
        (n,) = {count(model.gains[GainReading.PENULTIMATE]) for _, model in hunt.of(OURS).items()}
        return n
    return int(hunt.of(PROMPTS).rho_hunt.n_prompts)


def gain_estimate(model: Entry) -> Estimate:
    """Return a model's mean gain with Student's interval over its prompts.

    The survey's file has the deviation of the gains alone; the sweep's, and a measurement, has
    every prompt's gain.
    """
    if "residual_gain_all" in model:
        return mean_estimate(model.residual_gain_all[:], "prompts")
    slug = slug_of(short_name(model))
    if OURS in model.evidence and slug in model.of(OURS):
        return mean_estimate(model.of(OURS)[slug].gains[GainReading.PENULTIMATE][:], "prompts")
    return mean_estimate_from_moments(
        gain(model), model.gain_no_ln_std, n_prompts(model), "prompts"
    )


def gain_interval(model: Entry) -> list[float]:
    """Return the 95% interval of a model's mean gain over its prompts."""
    estimate = gain_estimate(model)
    return [estimate.low, estimate.high]


def measured_groups(hunt: Entry) -> dict[str, Models]:
    """Return the measured models of EleutherAI and of the other labs; no group without models."""
    groups = {ELEUTHER: models_by_lab(hunt).get(ELEUTHER, []), OTHERS: other_models(hunt)}
    measured = {name: measured_models(models) for name, models in groups.items()}
    return {name: models for name, models in measured.items() if models}


def damping_counts(models: Models) -> dict[str, int]:
    """Return the number of models, and of those that damp."""
    return {"n": len(models), "below": sum(map(damps, models))}


def standard_error(models: Models) -> float | None:
    """Return the standard error of the mean gain; None for a single model."""
    return float(scipy.stats.sem(mean_gains(models))) if len(models) > 1 else None


def gpt2_gain(hunt: Entry) -> float:
    """Return the mean gain of GPT-2 over the survey's prompts.

    Raises:
        NotMeasured: for print, which has none.
    """
    if OURS not in hunt.evidence or "gpt2" not in hunt.of(OURS):
        raise NotMeasured("no run of the papers measured GPT-2 on the hunt's prompts")
    return float(np.mean(hunt.of(OURS).gpt2.gains[GainReading.PENULTIMATE][:]))


# --- GPT-2 over its prompts ---


def last_gain(rows: Rows) -> float:
    """Return the mean last gain over the prompts."""
    return float(np.mean(rows["Last_Gain"]))


def last_gains(rows: Rows) -> list[float]:
    """Return the mean last gain of each model in the rows."""
    return [last_gain(model_rows) for model_rows in rows.by("Model").values()]


MODEL_RULES: Rules = {
    "gain_no_ln_mean": gain,
    "gain_with_ln_mean": final_gain,
    "is_dampening": damps,
}
LAB_RULES: Rules = {
    "mean_gain": mean_gain,
    "std_gain": gain_sd,
    "dampen_pct": Rule(
        lambda models: 100.0 * share([damps(model) for model in models]),
        "percent of the lab's models that damp",
    ),
    "signature": signature,
    "n_models": Rule(lambda models: float(count_models(models)), "the lab's models with a gain"),
}
DRAWN_RULES: Rules = {"gain": gain, "interval": gain_interval}
HUNT_RULES: Rules = {
    "h26_lab_signatures": for_each_group(models_by_lab, combined(LAB_RULES)),
    "h26_verdict": signature_verdict,
    "n_models": for_each_group(models_by_lab, count_models),
    "expand_pct": for_each_group(
        models_by_lab,
        Rule(lambda models: expand_percent(mean_gains(models)), "percent that expand"),
    ),
    "expand_pct_rounded": for_each_group(
        models_by_lab,
        Rule(
            lambda models: expand_percent(mean_gains(models), 2),
            "percent that expand, after rounding to two decimals",
        ),
    ),
    "expand_pct_final_norm": for_each_group(
        models_by_lab,
        Rule(
            lambda models: expand_percent([final_gain(model) for model in models]),
            "percent that expand behind the final norm",
        ),
    ),
    "dampen_pct": Rule(
        lambda hunt: damp_percent(models_by_lab(hunt)[ELEUTHER]),
        "percent of EleutherAI's models that damp",
    ),
    "dampen_pct_pooled": damp_percent_pooled,
    "dampen_pct_swept": Rule(
        lambda hunt: damp_percent(hunt.of(SWEEP).models), "percent of the sweep's models that damp"
    ),
    "expand_pct_others": Rule(
        lambda hunt: expand_percent(mean_gains(other_models(hunt))),
        "percent of the other labs' models that expand",
    ),
    "n_others_undecided": n_others_undecided,
    "expand_pct_others_rounded": Rule(
        lambda hunt: expand_percent(mean_gains(other_models(hunt)), 2),
        "percent of the other labs' models that expand, gains rounded to two decimals",
    ),
    "expand_pct_meta_openai": Rule(
        lambda hunt: expand_percent(meta_and_gpt2_gains(hunt)),
        "percent of Meta's models and GPT-2 that expand",
    ),
    "expand_pct_meta_openai_rounded": Rule(
        lambda hunt: expand_percent(meta_and_gpt2_gains(hunt), 2),
        "percent of Meta's models and GPT-2 that expand, gains rounded to two decimals",
    ),
    "only_eleuther_below_1": only_eleuther_below_1,
    "fisher/hunt": Rule(
        lambda hunt: p_text(fisher_p(signs(hunt))),
        "p of Fisher's exact test, EleutherAI against the other labs",
    ),
    "fisher/p": Rule(lambda hunt: fisher_p(signs(hunt)), "p of Fisher's exact test, in full"),
    "fisher/printed": Rule(
        lambda hunt: p_text(fisher_p(signs_in_print(hunt))),
        "p of Fisher's exact test of the shares that are printed",
    ),
    "fisher/rounded": Rule(
        lambda hunt: p_text(fisher_p(signs(hunt, 2))),
        "p of Fisher's exact test after rounding to two decimals",
    ),
    "fisher/final_norm": Rule(
        lambda hunt: p_text(fisher_p(signs(hunt, gain_of=final_gain))),
        "p of Fisher's exact test behind the final norm",
    ),
    "fisher/pooled": Rule(
        lambda hunt: p_text(fisher_p(signs(hunt, further=models_only_swept(hunt)))),
        "p of Fisher's exact test with the sweep's models",
    ),
    "chi_square_rounded": Rule(
        lambda hunt: p_text(chi_square_p(signs(hunt, 2))),
        "p of the chi-square test after rounding to two decimals",
    ),
    "figure2/mean": Rule(
        lambda hunt: np.mean(figure2_gains(hunt)), "mean of the gains that figure 2 draws"
    ),
    "figure2/se": Rule(
        lambda hunt: scipy.stats.sem(figure2_gains(hunt)),
        "standard error of the gains that figure 2 draws",
    ),
    "se": for_each_group(
        lambda hunt: {
            lab: models for lab, models in models_by_lab(hunt).items() if len(models) > 1
        },
        standard_error,
    ),
    "drawn/models": for_each_group(measured_by_name, combined(DRAWN_RULES)),
    "drawn/n_prompts": n_prompts,
    "drawn/counts": for_each_group(measured_groups, damping_counts),
    "figure3": for_each_group(
        lambda hunt: figure_models(hunt, FIGURE3),
        Rule(
            figure_word_of_model,
            "whether the mean gain damps or expands, as figure 3 says, if its interval over the "
            "prompts does",
        ),
    ),
    "figure3/gpt2": Rule(
        lambda hunt: figure_word(gpt2_gain(hunt)), "whether GPT-2 damps or expands"
    ),
    "figure3_lab": for_each_group(
        lambda hunt: {model: models_by_lab(hunt)[lab] for model, lab in FIGURE3.items()},
        Rule(
            lambda models: figure_word(mean_gain(models)),
            "whether the lab's mean gain damps or expands",
        ),
    ),
}
GPT2_RULES: Rules = {
    "tests": for_each_group(lambda rows: rows.by("Model"), combined({"mean": last_gain})),
    "expand_pct": Rule(
        lambda rows: percent([gain >= 1 for gain in last_gains(rows)]), "percent that expand"
    ),
}
DOCUMENTS = {
    "hunt": Document(HUNT, {"": HUNT_RULES, "tested_results/*": MODEL_RULES}),
    "gpt2": Document(rows_reader(GPT2), {"": GPT2_RULES}, places={"/rows": (GPT2, "")}),
}
