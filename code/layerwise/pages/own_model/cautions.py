"""What a reader of an own model's tables must know: warnings that its data call for."""

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np

from layerwise.analyses.categories import decisive_category, without_a_category
from layerwise.experiments.of_pairs.documents import Filled
from layerwise.measures.values import Values
from layerwise.pages.own_model.sections import made_by
from layerwise.statistics.bootstrap import MIN_KEPT, CorrelationInterval, Draws

PAPERS_FEWEST = 20  # pairs of the papers' smallest category
SKIPPED = 0.01  # share of resamples without an r that is worth a word


def cautions(values: Values, drawn: Filled, n_prompt_tokens: int, draws: Draws) -> list[str]:
    """One sentence or two per warning; none where nothing is amiss.

    Arguments:
        values: what the analyses were made from.
        drawn: and their intervals, drawn as `draws` says.
        n_prompt_tokens: tokens of all prompts together.
    """
    n, share = len(values.categories), share_of_two(len(values.categories))
    counts = zip(values.categories, np.bincount(values.category_of_pair).tolist(), strict=True)
    few = [f"{name} ({count})" for name, count in counts if count < PAPERS_FEWEST]
    used = int(np.sum(np.isfinite(values.stable_preference)))
    called_for = {
        # resamples with r = -1 or +1 by construction reach the interval's ends
        f"There are {n} categories: {share:.1%} of their resamples hold at most two different "
        "ones, where r is -1, +1 or undefined whatever the data say. Intervals over categories "
        "are that wide by construction. Use six categories or more, as the papers do.": (
            share > (1 - draws.level) / 2
        ),
        f"Fewer than {PAPERS_FEWEST} pairs, the papers' smallest category: {', '.join(few)}. The "
        "intervals over categories take UA and preference of a category as exact, which few pairs "
        "do not make them.": bool(few),
        **_skipped("categories", drawn.by_category, draws.n_resamples),
        f"{used} of {values.k_stable} random bins hold two pairs or more; the others are left out "
        f"of the intervals over bins. {values.n_pairs} pairs are few for {values.k_stable} bins.": (
            used < values.k_stable
        ),
        **_skipped("random bins", drawn.by_bins, draws.n_resamples),
        f"The prompts have {n_prompt_tokens} tokens together, a state has {values.hidden_size} "
        f"dimensions: no effective rank can exceed {n_prompt_tokens - 1}. Add prompts.": (
            0 < n_prompt_tokens <= values.hidden_size
        ),
    }
    return [sentence for sentence, holds in called_for.items() if holds]


def of_documents(documents: Mapping[str, Mapping[str, Any]], *, chat_template: bool) -> list[str]:
    """What the numbers themselves call for.

    Arguments:
        documents: the result documents, by analysis.
        chat_template: the tokenizer brings one, which no statement was put into.
    """
    found, validation = [], documents["validation"]
    if (deciding := decisive_category(validation)) is not None:
        r = validation["_global_stats"]["ua_output_correlation"]
        found.append(made_by(deciding, r, without_a_category(validation)[deciding].r))
    if chat_template:
        found.append(
            "The tokenizer brings a chat template; the statements were given without it. In Paper "
            "2 an instruct model's r over the pairs is negative at every layer with its template, "
            "and without it is not."
        )
    return found


def share_of_two(n: int) -> float:
    """Share of the resamples of n points that hold at most two different ones."""
    return (n + comb(n, 2) * (2**n - 2)) / n**n


def _skipped(
    what: str, intervals: Mapping[int, CorrelationInterval], n_resamples: int
) -> dict[str, bool]:
    """Resamples without an r: counted by the intervals, of the same stream."""
    worst = min(interval.n_kept for interval in intervals.values())
    return {
        f"Under {MIN_KEPT} of {n_resamples} resamples of the {what} have an r at some layer: its "
        "interval is the whole range from -1 to 1, which says nothing.": worst < MIN_KEPT,
        f"Up to {n_resamples - worst} of {n_resamples} resamples of the {what} hold one point "
        "only, have no r, and were skipped; the intervals are of the others.": (
            MIN_KEPT <= worst <= (1 - SKIPPED) * n_resamples
        ),
    }
