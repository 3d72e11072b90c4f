"""Do a lab's models share the sign of the gain? (Paper 3, section 4.2)"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy import stats

from layerwise.analyses import layer_norm_tests
from layerwise.analyses.derivation import Document
from layerwise.analyses.evidence import Entry
from layerwise.analyses.gain_files import HUNT, SWEEP, final_gain, gain, gains_of, models
from layerwise.analyses.layer_norm_tests import GPT2
from layerwise.errors import LayerwiseError
from layerwise.inputs.published import NotMeasured
from layerwise.statistics import gains

ELEUTHER = "EleutherAI"
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
OURS = "beyond/hunt"  # figure 3 classes GPT-2 too, which no run of the papers measured; ours does
SUMMARY = ("mean_gain", "std_gain", "dampen_pct", "signature", "n_models")

Statistics = dict[str, Callable[[], object]]


def labs(f: Entry) -> dict[str, list[Entry]]:
    """The hunt's models by lab, in the file's order."""
    found: dict[str, list[Entry]] = {}
    for m in f.tested_results:
        found.setdefault(m.lab, []).append(m)
    return found


def others(f: Entry) -> list[Entry]:
    """The models of every lab but EleutherAI."""
    return [m for lab, some in labs(f).items() if lab != ELEUTHER for m in some]


def signs(f: Entry, decimals: int | None = None) -> np.ndarray:
    """[damping, expanding] of EleutherAI and of the other labs."""
    return gains.sign_table(gains_of(labs(f)[ELEUTHER]), gains_of(others(f)), decimals)


def signs_behind_norm(f: Entry) -> np.ndarray:
    """The same of the gains behind the final norm."""
    groups = labs(f)[ELEUTHER], others(f)
    eleuther, rest = ([final_gain(m) for m in group] for group in groups)
    return gains.sign_table(eleuther, rest)


def signs_with_sweep(f: Entry) -> np.ndarray:
    """The same with the sweep's models that the hunt did not test."""
    hunted = models(f)
    swept = [m for name, m in models(f.of(SWEEP)).items() if name not in hunted]
    return gains.sign_table(gains_of([*labs(f)[ELEUTHER], *swept]), gains_of(others(f)))


def fisher_p(table: np.ndarray) -> float:
    """p of Fisher's exact test; 1 with an empty row or column, as no other table has such sums."""
    return float(stats.fisher_exact(table).pvalue)


def chi_square_p(table: np.ndarray) -> float:
    """p of Pearson's chi-square, one degree of freedom, without continuity correction.

    Raises:
        LayerwiseError: for an empty row or column.
    """
    if not (table.sum(axis=0).all() and table.sum(axis=1).all()):
        raise LayerwiseError(
            f"a chi-square test needs no empty row or column, found {table.tolist()}; use Fisher's"
        )
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def expand_percent(found: Iterable[float], decimals: int | None = None) -> int | float:
    """Percent of the gains that expand."""
    return gains.percent([not gains.dampens(one, decimals) for one in found])


def with_gpt2(f: Entry) -> list[float]:
    """Gains of Meta's models and of the GPT-2 sizes."""
    return gains_of(labs(f)["Meta"]) + layer_norm_tests.means(f.of(GPT2))


def only_eleuther_damps(f: Entry) -> bool:
    """Whether the mean over EleutherAI's models alone is under 1."""
    average = {lab: float(np.mean(gains_of(some))) for lab, some in labs(f).items()}
    return [lab for lab, mean in average.items() if gains.dampens(mean)] == [ELEUTHER]


def word(found: Sequence[float]) -> str:
    """What the figures call a mean gain."""
    return "DAMPEN" if gains.dampens(float(np.mean(found))) else "EXPAND"


def drawn(f: Entry, model: str) -> float:
    """The gain of a model in figures 2 and 3."""
    swept = models(f.of(SWEEP))
    return gain(swept[model] if model in swept else models(f)[model])


def figure2(f: Entry) -> np.ndarray:
    """What figure 2 draws of EleutherAI, at its decimals."""
    return np.array([round(drawn(f, model), 3) for model in FIGURE2])


def gpt2_gains(f: Entry) -> np.ndarray:
    """Gains of GPT-2 over the hunt's prompts.

    Raises:
        NotMeasured: among published numbers, and if ours were not measured.
    """
    try:
        return f.of(OURS).gpt2.gains.penultimate[:]
    except LayerwiseError as error:
        raise NotMeasured("no run of the papers measured GPT-2 on the hunt's prompts") from error


def figure3(f: Entry) -> Statistics:
    """The words of figure 3."""
    words: Statistics = {m: lambda m=m: word([drawn(f, m)]) for m in FIGURE3}  # type: ignore[misc]
    return words | {"gpt2": lambda: word(gpt2_gains(f).tolist())}


def summary(some: list[Entry]) -> Statistics:
    """Of one lab's models."""
    rules: Statistics = {
        name: lambda name=name: gains.lab_summary(np.array(gains_of(some)))[name]  # type: ignore[misc]
        for name in SUMMARY
    }
    if len(some) == 1:
        rules["std_gain"] = lambda: 0.0  # whatever the one gain is
    return rules


def by_lab(compute: Callable[[list[Entry]], object]) -> Callable[[Entry], Statistics]:
    """A table of one statistic of every lab."""
    return lambda f: {lab: lambda some=some: compute(some) for lab, some in labs(f).items()}  # type: ignore[misc]


OF_MODEL = {
    "gain_no_ln_mean": gain,
    "gain_with_ln_mean": final_gain,
    "is_dampening": lambda m: gains.dampens(gain(m)),
}
OVER_MODELS = {
    "h26_lab_signatures": by_lab(summary),
    "h26_verdict": lambda f: gains.signatures_verdict(
        [gains.signature(float(np.mean(gains_of(some)))) for some in labs(f).values()]
    ),
    "n_models": by_lab(len),
    "expand_pct": by_lab(lambda some: expand_percent(gains_of(some))),
    "expand_pct_rounded": by_lab(lambda some: expand_percent(gains_of(some), 2)),
    "dampen_pct": lambda f: gains.percent([gains.dampens(gain(m)) for m in labs(f)[ELEUTHER]]),
    "expand_pct_others": lambda f: expand_percent(gains_of(others(f))),
    "expand_pct_others_rounded": lambda f: expand_percent(gains_of(others(f)), 2),
    "expand_pct_meta_openai": lambda f: expand_percent(with_gpt2(f)),
    "expand_pct_meta_openai_rounded": lambda f: expand_percent(with_gpt2(f), 2),
    "only_eleuther_below_1": only_eleuther_damps,
    "fisher/hunt": lambda f: gains.p_text(fisher_p(signs(f))),
    "fisher/rounded": lambda f: gains.p_text(fisher_p(signs(f, 2))),
    "fisher/final_norm": lambda f: gains.p_text(fisher_p(signs_behind_norm(f))),
    "fisher/pooled": lambda f: gains.p_text(fisher_p(signs_with_sweep(f))),
    "chi_square_rounded": lambda f: gains.p_text(chi_square_p(signs(f, 2))),
    "figure2/mean": lambda f: float(np.mean(figure2(f))),
    "figure2/se": lambda f: float(stats.sem(figure2(f))),
    "se": lambda f: {
        lab: lambda some=some: float(stats.sem(gains_of(some)))
        for lab, some in labs(f).items()
        if len(some) > 1
    },
    "figure3": figure3,
    "figure3_lab": lambda f: {
        m: lambda lab=lab: word(gains_of(labs(f)[lab])) for m, lab in FIGURE3.items()
    },
}
DOCUMENTS = {
    "hunt": Document(HUNT, {"": OVER_MODELS, "tested_results/*": OF_MODEL}),
    **layer_norm_tests.DOCUMENTS,
}
