"""Damping and expanding models by their lab (Paper 3, section 4.2).

The gains of GPT-2, which the paper counts with them, are means over 25 prompts of a notebook.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy  # and of it `stats`, half a second, where it is used

from layerwise.engine.derivation import Document, Rule, Rules, bind_each, count
from layerwise.engine.evidence import Entry, measured_among
from layerwise.engine.published import BEYOND, PROMPTS, NotMeasured
from layerwise.errors import LayerwiseError
from layerwise.measures.residual_gain import GainReading
from layerwise.models.registry import slug_of
from layerwise.papers.paper3.rules.gain_files import (
    Rows,
    dampens,
    damps,
    final_gain,
    gain,
    group_by_lab,
    mean_gains,
    models_by_name,
    percent_true,
    pooled_by_name,
    rows_reader,
    share,
)
from layerwise.papers.paper3.rules.prompts import categories_of, prompts_estimate
from layerwise.papers.shared.result_files import GPT2, HUNT, PAPER_3_TEXT, SWEEP
from layerwise.papers.shared.rules import join_sections
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

# --- the labs of the survey ---


def models_by_lab(hunt: Entry) -> dict[str, Models]:
    """Return the models of the survey by lab."""
    return group_by_lab(hunt.tested_results)


def models_of_others(hunt: Entry) -> Models:
    """Return the models of the labs other than EleutherAI, lab by lab."""
    others = [models for lab, models in models_by_lab(hunt).items() if lab != ELEUTHER]
    return [model for models in others for model in models]


def mean_of_gains(models: Models) -> float:
    """Return the mean gain of some models."""
    return float(np.mean(mean_gains(models)))


def signature(models: Models) -> str:
    """Return the survey's word: DAMPENER under 0.95, EXPANDER above 1.05, else NEUTRAL."""
    if mean_of_gains(models) < 0.95:
        return "DAMPENER"
    return "EXPANDER" if mean_of_gains(models) > 1.05 else "NEUTRAL"


def expand_percent(gains: Sequence[float], decimals: int | None = None) -> int | float:
    """Return the percent of the gains that expand."""
    return percent_true([not dampens(value, decimals) for value in gains])


def gain_over_prompts(model: Entry) -> Estimate:
    """Return a model's mean gain with Student's interval over its prompts, or their categories.

    The survey's file has the deviation of the gains alone; the sweep's, and a measurement, has
    every prompt's gain.
    """
    if "residual_gain_all" in model:
        return prompts_estimate(model.residual_gain_all[:], categories_of(model))
    slug = slug_of(str(model.model))
    if OURS in model.evidence and slug in model.of(OURS):
        return mean_estimate(model.of(OURS)[slug].gains[GainReading.PENULTIMATE][:], "prompts")
    return mean_estimate_from_moments(
        gain(model), model.gain_no_ln_std, prompts_of_survey(model), "prompts"
    )


def prompts_of_survey(hunt: Entry) -> int:
    """Return the number of prompts that every model of this run read."""
    if OURS in hunt.evidence:
        (n,) = {count(model.gains[GainReading.PENULTIMATE]) for _, model in hunt.of(OURS).items()}
        return n
    return int(hunt.of(PROMPTS).rho_hunt.n_prompts)


def is_undecided(model: Entry) -> bool:
    """Return whether the interval of a mean gain over its prompts includes 1."""
    estimate = gain_over_prompts(model)
    return estimate.low <= 1 <= estimate.high


def lab_signature(models: Models) -> Rules:
    """The gains of a lab, and the survey's word for it."""
    return {
        "mean_gain": Rule(lambda: mean_of_gains(models), "the mean gain of the lab's models"),
        "std_gain": Rule(
            # 0 for a single model, whatever its gain is
            lambda: float(np.std(mean_gains(models))) if len(models) > 1 else 0.0,
            "the population SD of the gains",
        ),
        "dampen_pct": Rule(
            lambda: 100.0 * share([damps(model) for model in models]),
            "percent of the lab's models that damp",
        ),
        "signature": Rule(lambda: signature(models), "the survey's word for the mean gain"),
        "n_models": Rule(lambda: float(count(models, gain)), "the lab's models with a gain"),
    }


def shares_by_lab(hunt: Entry) -> Rules:
    """The models that damp or expand, by lab."""

    def by_lab(number: Callable[[Models], Any], says: str) -> Rule:
        return Rule(lambda: bind_each(number, models_by_lab(hunt)), says)

    def more_than_one_signature() -> str:
        signatures = {signature(models) for models in models_by_lab(hunt).values()}
        return "VALIDATED" if len(signatures) > 1 else "FALSIFIED"

    return {
        "h26_lab_signatures": by_lab(lab_signature, "signature by lab"),
        "h26_verdict": Rule(
            more_than_one_signature, "VALIDATED where the labs have more than one signature"
        ),
        "n_models": by_lab(
            lambda models: count(models, gain), "the number of models that have a gain"
        ),
        "expand_pct": by_lab(
            lambda models: expand_percent(mean_gains(models)), "percent that expand"
        ),
        "expand_pct_rounded": by_lab(
            lambda models: expand_percent(mean_gains(models), 2),
            "percent that expand, after rounding to two decimals",
        ),
        "expand_pct_final_norm": by_lab(
            lambda models: expand_percent([*map(final_gain, models)]),
            "percent that expand after the final norm",
        ),
    }


def shares_of_eleuther(hunt: Entry) -> Rules:
    """The models of EleutherAI that damp."""

    def eleuther() -> Models:
        return models_by_lab(hunt)[ELEUTHER]

    def damp_percent(models: Models) -> int | float:
        return percent_true([damps(model) for model in models])

    return {
        "dampen_pct": Rule(
            lambda: damp_percent(eleuther()), "percent of EleutherAI's models that damp"
        ),
        "dampen_pct_pooled": Rule(
            lambda: damp_percent([*eleuther(), *models_only_swept(hunt)]),
            "percent of EleutherAI's models that damp, with those of the sweep",
        ),
        "dampen_pct_swept": Rule(
            lambda: damp_percent(hunt.of(SWEEP).models), "percent of the sweep's models that damp"
        ),
    }


def shares_of_others(hunt: Entry) -> Rules:
    """The models of the other labs that expand, of Meta with GPT-2, and of every lab."""

    def others() -> list[float]:
        return mean_gains(models_of_others(hunt))

    def meta_and_gpt2() -> list[float]:
        gpt2 = last_gains_by_model(Rows(hunt.of(GPT2)))
        return mean_gains(models_by_lab(hunt)["Meta"]) + gpt2

    def labs_that_damp() -> list[str]:
        gains = {lab: mean_of_gains(models) for lab, models in models_by_lab(hunt).items()}
        return [lab for lab, gain in gains.items() if dampens(gain)]

    return {
        "expand_pct_others": Rule(
            lambda: expand_percent(others()), "percent of the other labs' models that expand"
        ),
        "n_others_undecided": Rule(
            lambda: sum(is_undecided(model) for model in models_of_others(hunt) if damps(model)),
            "the number of other labs' damping models whose mean gain may be 1",
        ),
        "expand_pct_others_rounded": Rule(
            lambda: expand_percent(others(), 2),
            "percent of the other labs' models that expand, gains rounded to two decimals",
        ),
        "expand_pct_meta_openai": Rule(
            lambda: expand_percent(meta_and_gpt2()),
            "percent of Meta's models and GPT-2 that expand",
        ),
        "expand_pct_meta_openai_rounded": Rule(
            lambda: expand_percent(meta_and_gpt2(), 2),
            "percent of Meta's models and GPT-2 that expand, gains rounded to two decimals",
        ),
        "only_eleuther_below_1": Rule(
            lambda: labs_that_damp() == [ELEUTHER],
            "whether EleutherAI's mean gain damps, and no other lab's",
        ),
    }


# --- EleutherAI against the other labs ---


def models_only_swept(hunt: Entry) -> Models:
    """Return the sweep's models that the survey did not test."""
    hunted = models_by_name(hunt)
    return [model for name, model in models_by_name(hunt.of(SWEEP)).items() if name not in hunted]


def signs(
    hunt: Entry,
    decimals: int | None = None,
    gain_of: Callable[[Entry], float] = gain,
    further: Sequence[Entry] = (),
) -> np.ndarray:
    """Return [damping, expanding] counts of EleutherAI, with further models, and of the others."""
    groups = [*models_by_lab(hunt)[ELEUTHER], *further], models_of_others(hunt)
    damping = [sum(dampens(gain_of(model), decimals) for model in group) for group in groups]
    return np.array([[n, len(group) - n] for n, group in zip(damping, groups, strict=True)])


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


def printed_p(p: float) -> str:
    """Return a p value as papers print it: `< 0.001`, else three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def lab_tests(hunt: Entry) -> Rules:
    """The tests of damping models at EleutherAI against damping models elsewhere."""

    def signs_in_print() -> np.ndarray:
        """Return the counts that the shares in print stand for, of as many models."""
        printed = hunt.of(PAPER_3_TEXT).heritage
        damping = np.array([printed.eleuther_dampen_pct, 100 - printed.others_expand_pct]) / 100
        n_models = signs(hunt).sum(axis=1)
        n_damping = np.rint(damping * n_models).astype(int)
        return np.column_stack([n_damping, n_models - n_damping])

    def fisher(says: str, **options: Any) -> Rule:
        return Rule(
            lambda: printed_p(fisher_p(signs(hunt, **options))), f"p of Fisher's exact test{says}"
        )

    return {
        "fisher/hunt": fisher(", EleutherAI against the other labs"),
        "fisher/p": Rule(lambda: fisher_p(signs(hunt)), "p of Fisher's exact test, in full"),
        "fisher/printed": Rule(
            lambda: printed_p(fisher_p(signs_in_print())),
            "p of Fisher's exact test of the shares that are printed",
        ),
        "fisher/rounded": fisher(" after rounding to two decimals", decimals=2),
        "fisher/final_norm": fisher(" after the final norm", gain_of=final_gain),
        "fisher/pooled": Rule(
            lambda: printed_p(fisher_p(signs(hunt, further=models_only_swept(hunt)))),
            "p of Fisher's exact test with the sweep's models",
        ),
        "chi_square_rounded": Rule(
            lambda: printed_p(chi_square_p(signs(hunt, 2))),
            "p of the chi-square test after rounding to two decimals",
        ),
    }


# --- the figures ---


def gpt2_gain(hunt: Entry) -> float:
    """Return the mean gain of GPT-2 over the survey's prompts.

    Raises:
        NotMeasured: for print, which has none.
    """
    if OURS not in hunt.evidence or "gpt2" not in hunt.of(OURS):
        raise NotMeasured("no run of the papers measured GPT-2 on the hunt's prompts")
    return float(np.mean(hunt.of(OURS).gpt2.gains[GainReading.PENULTIMATE][:]))


def drawn_model(model: Entry) -> Rules:
    """A model as our figure draws it."""

    def interval() -> list[float]:
        estimate = gain_over_prompts(model)
        return [estimate.low, estimate.high]

    return {
        "gain": Rule(lambda: gain(model), "the mean gain of the second-last block"),
        "interval": Rule(interval, "the 95% interval of the mean gain over the model's prompts"),
    }


def models_in_figure(hunt: Entry, names: Iterable[str]) -> dict[str, Entry]:
    """Return the models of a figure, from the sweep where it has them."""
    known = pooled_by_name(hunt.evidence)
    return {name: known[name] for name in names}


def figure_2(hunt: Entry) -> Rules:
    """The mean gains of labs that figure 2 draws, with their standard errors."""

    def eleuther_gains() -> list[float]:
        """Return the gains that figure 2 draws for EleutherAI, at its decimals."""
        return [round(gain(model), 3) for model in models_in_figure(hunt, FIGURE2).values()]

    def large_labs() -> dict[str, Models]:
        return {lab: models for lab, models in models_by_lab(hunt).items() if len(models) > 1}

    return {
        "figure2/mean": Rule(
            lambda: np.mean(eleuther_gains()), "mean of the gains that figure 2 draws"
        ),
        "figure2/se": Rule(
            lambda: scipy.stats.sem(eleuther_gains()),
            "standard error of the gains that figure 2 draws",
        ),
        "se": Rule(
            lambda: bind_each(
                lambda models: float(scipy.stats.sem(mean_gains(models))), large_labs()
            ),
            "the standard error of the mean gain of a lab with several models",
        ),
    }


def figure_3(hunt: Entry) -> Rules:
    """The sides of 1 that figure 3 gives to its models, by their gains and by their labs."""

    def side(mean_gain: float) -> str:
        return "DAMPEN" if dampens(mean_gain) else "EXPAND"

    def shown_labs() -> dict[str, Models]:
        labs = models_by_lab(hunt)
        return {model: labs[lab] for model, lab in FIGURE3.items()}

    return {
        "figure3": Rule(
            lambda: bind_each(
                lambda model: "UNDECIDED" if is_undecided(model) else side(gain(model)),
                models_in_figure(hunt, FIGURE3),
            ),
            "whether the mean gain damps or expands, as figure 3 says, if its interval over the "
            "prompts does",
        ),
        "figure3/gpt2": Rule(lambda: side(gpt2_gain(hunt)), "whether GPT-2 damps or expands"),
        "figure3_lab": Rule(
            lambda: bind_each(lambda models: side(mean_of_gains(models)), shown_labs()),
            "whether the lab's mean gain damps or expands",
        ),
    }


def drawn_labs(hunt: Entry) -> Rules:
    """The models that our figure of the labs draws: of a measurement, those that it reached."""

    def measured_groups() -> dict[str, Models]:
        """Return the measured models of EleutherAI and of the others; no group without models."""
        groups = {
            ELEUTHER: models_by_lab(hunt).get(ELEUTHER, []),
            OTHERS: models_of_others(hunt),
        }
        measured = {
            name: list(measured_among({model.model: model for model in models}, gain).values())
            for name, models in groups.items()
        }
        return {name: models for name, models in measured.items() if models}

    return {
        "drawn/models": Rule(
            lambda: bind_each(drawn_model, measured_among(models_by_name(hunt), gain)),
            "the measured models",
        ),
        "drawn/n_prompts": Rule(
            lambda: prompts_of_survey(hunt), "the number of prompts that every model read"
        ),
        "drawn/counts": Rule(
            lambda: bind_each(
                lambda models: {"n": len(models), "below": sum(map(damps, models))},
                measured_groups(),
            ),
            "the number of models, and of those that damp",
        ),
    }


# --- GPT-2 over its prompts ---


def last_gains_by_model(rows: Rows) -> list[float]:
    """Return the mean last gain over the prompts of each model in the rows."""
    return [float(np.mean(model["Last_Gain"])) for model in rows.by("Model").values()]


def gpt2_sizes(rows: Rows) -> Rules:
    """The last gains of the three GPT-2 sizes."""

    def mean_of_size(size: Rows) -> Rules:
        return {"mean": Rule(lambda: np.mean(size["Last_Gain"]), "the mean last gain")}

    return {
        "tests": Rule(lambda: bind_each(mean_of_size, rows.by("Model")), "the last gain of a size"),
        "expand_pct": Rule(
            lambda: percent_true([gain >= 1 for gain in last_gains_by_model(rows)]),
            "percent that expand",
        ),
    }


LAB_STATISTICS = join_sections(
    shares_by_lab,
    shares_of_eleuther,
    shares_of_others,
    lab_tests,
    figure_2,
    drawn_labs,
    figure_3,
)
MODEL_RULES: Rules = {
    "gain_no_ln_mean": gain,
    "gain_with_ln_mean": final_gain,
    "is_dampening": damps,
}
DOCUMENTS = {
    "hunt": Document(
        HUNT,
        {
            "": LAB_STATISTICS,
            "tested_results/*": MODEL_RULES,
        },
    ),
    "gpt2": Document(rows_reader(GPT2), {"": gpt2_sizes}, places={"/rows": (GPT2, "")}),
}
