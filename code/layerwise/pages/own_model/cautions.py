"""What a reader of an own model's tables must know: warnings that its data call for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

import numpy as np

from layerwise.experiments.of_pairs.documents import Filled
from layerwise.measures.values import Values
from layerwise.statistics.bootstrap import MIN_KEPT, CorrelationInterval

PAPERS_FEWEST = 20  # pairs of the papers' smallest category
SKIPPED = 0.01  # share of resamples without an r that is worth a word


def cautions(
    values: Values, drawn: Filled, n_prompt_tokens: int, *, n_resamples: int, level: float
) -> list[str]:
    """One sentence or two per warning; none where nothing is amiss.

    Arguments:
        values: what the analyses were made from.
        drawn: and their intervals.
        n_prompt_tokens: tokens of all prompts together.
        n_resamples, level: of the intervals, as the analyses drew them.
    """
    found = [
        *_few_categories(len(values.categories), level),
        *_few_pairs(values.categories, np.bincount(values.category_of_pair).tolist()),
        *_skipped("categories", drawn.by_category, n_resamples),
        *_thin_bins(values),
        *_skipped("random bins", drawn.by_bins, n_resamples),
    ]
    if 0 < n_prompt_tokens <= values.hidden_size:
        found.append(
            f"The prompts have {n_prompt_tokens} tokens together, a state has {values.hidden_size} "
            f"dimensions: no effective rank can exceed {n_prompt_tokens - 1}. Add prompts."
        )
    return found


def share_of_two(n: int) -> float:
    """Share of the resamples of n points that hold at most two different ones."""
    return (n + comb(n, 2) * (2**n - 2)) / n**n


def _few_categories(n: int, level: float) -> list[str]:
    """Warn where resamples with r = -1 or +1 by construction reach the interval's ends."""
    share = share_of_two(n)
    if share <= (1 - level) / 2:
        return []
    return [
        f"There are {n} categories: {share:.1%} of their resamples hold at most two different "
        "ones, where r is -1, +1 or undefined whatever the data say. Intervals over categories are "
        "that wide by construction. Use six categories or more, as the papers do."
    ]


def _few_pairs(categories: Sequence[str], counts: Sequence[int]) -> list[str]:
    few = [
        f"{name} ({count})"
        for name, count in zip(categories, counts, strict=True)
        if count < PAPERS_FEWEST
    ]
    if not few:
        return []
    return [
        f"Fewer than {PAPERS_FEWEST} pairs, the papers' smallest category: {', '.join(few)}. The "
        "intervals over categories take UA and preference of a category as exact, which few pairs "
        "do not make them."
    ]


def _thin_bins(values: Values) -> list[str]:
    used = int(np.sum(np.isfinite(values.stable_preference)))
    if used == values.k_stable:
        return []
    return [
        f"{used} of {values.k_stable} random bins hold two pairs or more; the others are left out "
        f"of the intervals over bins. {values.n_pairs} pairs are few for {values.k_stable} bins."
    ]


def _skipped(
    what: str, intervals: Mapping[int, CorrelationInterval], n_resamples: int
) -> list[str]:
    """Warn of resamples without an r: counted by the intervals, of the same stream."""
    worst = min(interval.n_kept for interval in intervals.values())
    if worst < MIN_KEPT:
        return [
            f"Under {MIN_KEPT} of {n_resamples} resamples of the {what} have an r at some layer: "
            "its interval is the whole range from -1 to 1, which says nothing."
        ]
    if worst > (1 - SKIPPED) * n_resamples:
        return []
    return [
        f"Up to {n_resamples - worst} of {n_resamples} resamples of the {what} hold one point "
        "only, have no r, and were skipped; the intervals are of the others."
    ]
