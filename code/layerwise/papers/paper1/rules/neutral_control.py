"""The neutral control: asymmetry of unrelated and of political pairs (Mistral-7B)."""

import numpy as np
from jaxtyping import Float32

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.engine.evidence import Broken, Entry
from layerwise.papers.shared.names.result_files import CONTROL
from layerwise.statistics.samples import pooled_t

CAPITALS = 9  # the pair that is quoted as parallel: two capitals
NEAR = 0.005  # is 0.00 at the printed decimals
SIDES = ("sim_a", "sim_b")


def similarities(group: Entry) -> Float32[np.ndarray, "pair side"]:
    """Return the two cosines of each pair; the file has them as text with float32's digits."""
    try:
        return np.array([[np.float32(pair[side]) for side in SIDES] for pair in group])
    except ValueError as error:
        file, key = group.cell
        raise Broken(
            f"{file}: a similarity of {key} is not a number ({error}); restore the table"
        ) from None


def asymmetries(group: Entry) -> Float32[np.ndarray, " pair"]:
    """Return the absolute difference of each pair's two cosines."""
    a, b = similarities(group).T
    return np.abs(a - b)


def effect_ratio(control: Entry) -> float:
    """Return the mean UA of the political pairs over that of the neutral ones."""
    political, neutral = (
        np.mean(asymmetries(control[f"{kind}_results"])) for kind in ("political", "neutral")
    )
    return float(political / neutral)


def t_test(control: Entry) -> tuple[float, float]:
    """Return Student's t between the two groups, variances pooled, and its p."""
    return pooled_t(asymmetries(control.political_results), asymmetries(control.neutral_results))


def pair_asymmetry(pair: Entry) -> float:
    """Return the absolute difference of one pair's two cosines."""
    a, b = (np.float32(pair[side]) for side in SIDES)
    return float(abs(a - b))


def notebook_verdict(control: Entry) -> str:
    """Return the notebook's word: p < 0.05 and a ratio of the means above 1.5."""
    confirmed = all_of([t_test(control)[1] < 0.05, effect_ratio(control) > 1.5])
    return "CONFIRMED" if confirmed else "INCONCLUSIVE"


def unrelated_near_zero(control: Entry) -> str:
    """Say how many neutral pairs lie near zero, without the one that is called parallel."""
    others = np.delete(asymmetries(control.neutral_results), CAPITALS)
    n = int(np.sum(others < NEAR))
    return f"{n} of {len(others)} near zero" if n else "high asymmetry"


RULES: Rules = {
    "summary_stats/neutral_mean": Rule(
        lambda control: np.mean(asymmetries(control.neutral_results)),
        "mean UA over the neutral pairs",
    ),
    "summary_stats/neutral_std": Rule(
        lambda control: np.std(asymmetries(control.neutral_results)),
        "population SD of UA over the neutral pairs",
    ),
    "summary_stats/political_mean": Rule(
        lambda control: np.mean(asymmetries(control.political_results)),
        "mean UA over the political pairs",
    ),
    "summary_stats/political_std": Rule(
        lambda control: np.std(asymmetries(control.political_results)),
        "population SD of UA over the political pairs",
    ),
    "summary_stats/effect_ratio": effect_ratio,
    "summary_stats/t_statistic": Rule(
        lambda control: t_test(control)[0], "Student's t between the two groups"
    ),
    "summary_stats/p_value": Rule(
        lambda control: t_test(control)[1], "two-sided p of Student's t between the two groups"
    ),
    "summary_stats/verdict": notebook_verdict,
    "n/neutral": Rule(
        lambda control: count(control.neutral_results, pair_asymmetry), "the neutral pairs"
    ),
    "n/political": Rule(
        lambda control: count(control.political_results, pair_asymmetry), "the political pairs"
    ),
    "pairs/first": Rule(
        lambda control: pair_asymmetry(control.neutral_results[0]), "UA of the first neutral pair"
    ),
    "pairs/capitals": Rule(
        lambda control: pair_asymmetry(control.neutral_results[CAPITALS]),
        "UA of the pair about capitals",
    ),
    "pairs/unrelated": unrelated_near_zero,
}
DOCUMENTS = {"mistral": Document(CONTROL, {"": RULES})}
