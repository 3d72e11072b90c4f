"""The neutral control: asymmetry of unrelated and of political pairs (Mistral-7B)."""

from functools import partial

import numpy as np
from jaxtyping import Float32

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.engine.evidence import Broken, Entry
from layerwise.papers.shared.result_files import CONTROL
from layerwise.papers.shared.rules import join_sections
from layerwise.statistics.samples import pooled_t

CAPITALS = 9  # the pair that is quoted as parallel: two capitals
NEAR = 0.005  # is 0.00 at the printed decimals
SIDES = ("sim_a", "sim_b")


def pair_asymmetry(pair: Entry) -> float:
    """Return the absolute difference of a pair's two cosines."""
    a, b = (np.float32(pair[side]) for side in SIDES)
    return float(abs(a - b))


def cosine_differences(control: Entry, kind: str) -> Float32[np.ndarray, " pair"]:
    """Return the absolute difference of the two cosines of each pair of a kind.

    The file has them as text with float32's digits.

    Raises:
        Broken: where one of them is not a number.
    """
    pairs = control[f"{kind}_results"]
    try:
        a, b = np.array([[np.float32(pair[side]) for side in SIDES] for pair in pairs]).T
    except ValueError as error:
        file, key = pairs.cell
        raise Broken(
            f"{file}: a similarity of {key} is not a number ({error}); restore the table"
        ) from None
    return np.abs(a - b)


def kind_statistics(control: Entry, kind: str) -> Rules:
    """UA over the pairs of a kind, `neutral` or `political`."""
    ua = partial(cosine_differences, control, kind)
    return {
        f"summary_stats/{kind}_mean": Rule(lambda: np.mean(ua()), f"mean UA over the {kind} pairs"),
        f"summary_stats/{kind}_std": Rule(
            lambda: np.std(ua()), f"population SD of UA over the {kind} pairs"
        ),
    }


def comparison_statistics(control: Entry) -> Rules:
    """UA of the political pairs beside that of the neutral ones."""
    political, neutral = (
        partial(cosine_differences, control, kind) for kind in ("political", "neutral")
    )

    def effect_ratio() -> float:
        """Return the mean UA of the political pairs over that of the neutral ones."""
        return float(np.mean(political()) / np.mean(neutral()))

    def t_and_p() -> tuple[float, float]:
        return pooled_t(political(), neutral())

    def notebook_verdict() -> str:
        """Return the notebook's word: p < 0.05 and a ratio of the means above 1.5."""
        confirmed = all_of([t_and_p()[1] < 0.05, effect_ratio() > 1.5])
        return "CONFIRMED" if confirmed else "INCONCLUSIVE"

    return {
        "summary_stats/effect_ratio": effect_ratio,
        "summary_stats/t_statistic": Rule(
            lambda: t_and_p()[0], "Student's t between the two groups"
        ),
        "summary_stats/p_value": Rule(
            lambda: t_and_p()[1], "two-sided p of Student's t between the two groups"
        ),
        "summary_stats/verdict": notebook_verdict,
    }


def pair_statistics(control: Entry) -> Rules:
    """The numbers of pairs, and UA of the neutral pairs that the text names."""

    def unrelated_near_zero() -> str:
        """Say how many neutral pairs lie near zero, without the one that is called parallel."""
        others = np.delete(cosine_differences(control, "neutral"), CAPITALS)
        n = int(np.sum(others < NEAR))
        return f"{n} of {len(others)} near zero" if n else "high asymmetry"

    return {
        "n/neutral": Rule(
            lambda: count(control.neutral_results, pair_asymmetry), "the neutral pairs"
        ),
        "n/political": Rule(
            lambda: count(control.political_results, pair_asymmetry), "the political pairs"
        ),
        "pairs/first": Rule(
            lambda: pair_asymmetry(control.neutral_results[0]), "UA of the first neutral pair"
        ),
        "pairs/capitals": Rule(
            lambda: pair_asymmetry(control.neutral_results[CAPITALS]),
            "UA of the pair about capitals",
        ),
        "pairs/unrelated": unrelated_near_zero,
    }


CONTROL_STATISTICS = join_sections(
    partial(kind_statistics, kind="neutral"),
    partial(kind_statistics, kind="political"),
    comparison_statistics,
    pair_statistics,
)
DOCUMENTS = {"mistral": Document(CONTROL, {"": CONTROL_STATISTICS})}
