"""The neutral control: asymmetry of unrelated and of political pairs (Mistral-7B)."""

import numpy as np
from jaxtyping import Float32

from layerwise.engine.derivation import Document, Rule, Rules, all_of, count
from layerwise.engine.evidence import Broken, Entry
from layerwise.papers.shared.result_files import CONTROL
from layerwise.statistics.samples import pooled_t

CAPITALS = 9  # the pair that is quoted as parallel: two capitals
NEAR = 0.005  # is 0.00 at the printed decimals
SIDES = ("sim_a", "sim_b")


def control_statistics(control: Entry) -> Rules:
    """UA of the political pairs beside that of the neutral ones."""

    def pairs_of(kind: str) -> Entry:
        return control[f"{kind}_results"]

    def ua_of(kind: str) -> Float32[np.ndarray, " pair"]:
        """Return the absolute difference of each pair's two cosines.

        The file has them as text with float32's digits.
        """
        pairs = pairs_of(kind)
        try:
            a, b = np.array([[np.float32(pair[side]) for side in SIDES] for pair in pairs]).T
        except ValueError as error:
            file, key = pairs.cell
            raise Broken(
                f"{file}: a similarity of {key} is not a number ({error}); restore the table"
            ) from None
        return np.abs(a - b)

    def ua_of_pair(pair: Entry) -> float:
        a, b = (np.float32(pair[side]) for side in SIDES)
        return float(abs(a - b))

    def effect_ratio() -> float:
        return float(np.mean(ua_of("political")) / np.mean(ua_of("neutral")))

    def t_and_p() -> tuple[float, float]:
        return pooled_t(ua_of("political"), ua_of("neutral"))

    def notebook_verdict() -> str:
        confirmed = all_of([t_and_p()[1] < 0.05, effect_ratio() > 1.5])
        return "CONFIRMED" if confirmed else "INCONCLUSIVE"

    def unrelated_near_zero() -> str:
        others = np.delete(ua_of("neutral"), CAPITALS)
        n = int(np.sum(others < NEAR))
        return f"{n} of {len(others)} near zero" if n else "high asymmetry"

    def of_kind(kind: str) -> Rules:
        return {
            f"summary_stats/{kind}_mean": Rule(
                lambda: np.mean(ua_of(kind)), f"mean UA over the {kind} pairs"
            ),
            f"summary_stats/{kind}_std": Rule(
                lambda: np.std(ua_of(kind)), f"population SD of UA over the {kind} pairs"
            ),
        }

    return {
        **of_kind("neutral"),
        **of_kind("political"),
        "summary_stats/effect_ratio": Rule(
            effect_ratio, "the mean UA of the political pairs over that of the neutral ones"
        ),
        "summary_stats/t_statistic": Rule(
            lambda: t_and_p()[0], "Student's t between the two groups"
        ),
        "summary_stats/p_value": Rule(
            lambda: t_and_p()[1], "two-sided p of Student's t between the two groups"
        ),
        "summary_stats/verdict": Rule(
            notebook_verdict, "the notebook's word: p < 0.05 and a ratio of the means above 1.5"
        ),
        "n/neutral": Rule(lambda: count(pairs_of("neutral"), ua_of_pair), "the neutral pairs"),
        "n/political": Rule(
            lambda: count(pairs_of("political"), ua_of_pair), "the political pairs"
        ),
        "pairs/first": Rule(
            lambda: ua_of_pair(pairs_of("neutral")[0]), "UA of the first neutral pair"
        ),
        "pairs/capitals": Rule(
            lambda: ua_of_pair(pairs_of("neutral")[CAPITALS]), "UA of the pair about capitals"
        ),
        "pairs/unrelated": Rule(
            unrelated_near_zero,
            "how many neutral pairs lie near zero, without the one that is called parallel",
        ),
    }


DOCUMENTS = {"mistral": Document(CONTROL, {"": control_statistics})}
