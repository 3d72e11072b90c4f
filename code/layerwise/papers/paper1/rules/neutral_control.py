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
    """Cosines, float32: the file writes the numbers as text, with the digits of float32."""
    try:
        return np.array([[np.float32(pair[side]) for side in SIDES] for pair in group])
    except ValueError as error:
        file, key = group.cell
        raise Broken(
            f"{file}: a similarity of {key} is not a number ({error}); restore the table"
        ) from None


def asymmetries(group: Entry) -> Float32[np.ndarray, " pair"]:
    """Absolute differences of a pair's two cosines."""
    a, b = similarities(group).T
    return np.abs(a - b)


def ratio(f: Entry) -> float:
    """Return the mean UA of the political pairs over that of the neutral ones."""
    political, neutral = (np.mean(asymmetries(f[f"{g}_results"])) for g in ("political", "neutral"))
    return float(political / neutral)


def test(f: Entry) -> tuple[float, float]:
    """Student's t of the two groups, variances pooled, and its p."""
    return pooled_t(asymmetries(f.political_results), asymmetries(f.neutral_results))


def of_pair(pair: Entry) -> float:
    """Absolute difference of one pair's two cosines."""
    a, b = (np.float32(pair[side]) for side in SIDES)
    return float(abs(a - b))


def verdict(f: Entry) -> str:
    """The notebook's word: political pairs differ significantly, and by half again as much."""
    confirmed = all_of([test(f)[1] < 0.05, ratio(f) > 1.5])
    return "CONFIRMED" if confirmed else "INCONCLUSIVE"


def unrelated(f: Entry) -> str:
    """How many neutral pairs, but the one that is called parallel, lie as near to zero as it."""
    others = np.delete(asymmetries(f.neutral_results), CAPITALS)
    n = int(np.sum(others < NEAR))
    return f"{n} of {len(others)} near zero" if n else "high asymmetry"


RULES: Rules = {
    "summary_stats/neutral_mean": Rule(
        lambda f: np.mean(asymmetries(f.neutral_results)), "mean UA over the neutral pairs"
    ),
    "summary_stats/neutral_std": Rule(
        lambda f: np.std(asymmetries(f.neutral_results)),
        "population SD of UA over the neutral pairs",
    ),
    "summary_stats/political_mean": Rule(
        lambda f: np.mean(asymmetries(f.political_results)), "mean UA over the political pairs"
    ),
    "summary_stats/political_std": Rule(
        lambda f: np.std(asymmetries(f.political_results)),
        "population SD of UA over the political pairs",
    ),
    "summary_stats/effect_ratio": ratio,
    "summary_stats/t_statistic": Rule(lambda f: test(f)[0], "Student's t between the two groups"),
    "summary_stats/p_value": Rule(
        lambda f: test(f)[1], "two-sided p of Student's t between the two groups"
    ),
    "summary_stats/verdict": verdict,
    "n/neutral": Rule(lambda f: count(f.neutral_results, of_pair), "the neutral pairs"),
    "n/political": Rule(lambda f: count(f.political_results, of_pair), "the political pairs"),
    "pairs/first": Rule(lambda f: of_pair(f.neutral_results[0]), "UA of the first neutral pair"),
    "pairs/capitals": Rule(
        lambda f: of_pair(f.neutral_results[CAPITALS]), "UA of the pair about capitals"
    ),
    "pairs/unrelated": unrelated,
}
DOCUMENTS = {"mistral": Document(CONTROL, {"": RULES})}
