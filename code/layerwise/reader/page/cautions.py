"""What a reader of an own model's tables must know: warnings that its data call for."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layerwise.measures.values import Values
from layerwise.models.texts import StatementPairs
from layerwise.papers.shared.experiments.documents import Filled, Intervals
from layerwise.papers.shared.rules.categories import decisive_category, r_without_each_category
from layerwise.reader.page.sections import describe_decisive_category
from layerwise.statistics.bootstrap import MIN_KEPT, Draws, share_of_two_points

Around = tuple[Sequence[str], Sequence[str]]
MOST_UNKNOWN = 0.01  # share of unknown tokens that is worth a word
PAPERS_FEWEST = 20  # pairs of the papers' smallest category
SKIPPED = 0.01  # share of resamples without an r that is worth a word
# Of a loaded model in 16 bits: no file says whether loading rounded its weights.
WEIGHTS_AS_EXACT = (
    "The replicates take the weights of the loaded model as exact. If they were rounded to 16 bits "
    "when it was loaded, an answer moves by more than is said here; the model's folder, analyzed "
    "in their place, shows by how much."
)


def cautions(
    values: Values, pairs: StatementPairs, drawn: Filled, n_prompt_tokens: int, draws: Draws
) -> list[str]:
    """Return the warnings, a sentence or two each; none where nothing is amiss.

    Arguments:
        values: what the analyses were made from.
        drawn: and their intervals, drawn as `draws` says.
        n_prompt_tokens: tokens of all prompts together.
    """
    return [
        *_category_cautions(pairs, draws),
        *_skipped("categories", drawn.by_category, draws.n_resamples),
        *_bin_cautions(values),
        *_skipped("random bins", drawn.by_bins, draws.n_resamples),
        *_prompt_cautions(n_prompt_tokens, values.hidden_size),
    ]


def limit_cautions(pairs: StatementPairs, n_given: int) -> list[str]:
    """Say what --limit left out; nothing where all pairs were taken."""
    if len(pairs) == n_given:
        return []
    largest = int(np.bincount(pairs.category_of_pair).max())
    return [
        f"A first look: {len(pairs)} of {n_given} pairs, the first {largest} of each category "
        "(--limit). The answers are of these pairs alone."
    ]


def template_cautions(n_bos: int) -> list[str]:
    """Warn of what the statements' chat template means for the measurement.

    Arguments:
        n_bos: BOS tokens that a statement in its template begins with.
    """
    twice = (
        " Each begins with two BOS tokens, the template's and the tokenizer's, as Paper 2's did."
        if n_bos == 2
        else ""
    )
    return [
        "The statements stand in the model's own chat template: means over tokens include the "
        f"template's tokens, which all statements share.{twice}"
    ]


def prediction_cautions(mean_nll: float, n_embeddings: int) -> list[str]:
    """Warn of a model that predicts the statements worse than a guess among all tokens does.

    Arguments:
        mean_nll: over the statements, in nats per predicted token.
        n_embeddings: the tokens to guess from: a guess has the NLL log(n_embeddings).
    """
    guessed = math.log(n_embeddings)
    if mean_nll <= guessed:
        return []
    return [
        f"The model predicts the statements' tokens worse than a guess: {mean_nll:.1f} nats a "
        f"token, a guess among its {n_embeddings:,} tokens has {guessed:.1f}. As a rule the "
        "tokenizer is that of another model, or the weights are not trained."
    ]


def token_cautions(
    pairs: StatementPairs, ids: Sequence[Sequence[int]], unknown: int | None, around: Around
) -> list[str]:
    """Warn of what the tokenizer does to the statements that their texts do not show.

    Arguments:
        ids: of every statement, the A sides first.
        unknown: the id of the unknown token; None: the tokenizer has none.
        around: tokens put before and behind every text.
    """
    warned = []
    n_tokens = sum(len(text) for text in ids)
    n_unknown = sum(list(text).count(unknown) for text in ids) if unknown is not None else 0
    if n_unknown > MOST_UNKNOWN * n_tokens:
        warned.append(
            f"{n_unknown / n_tokens:.1%} of the statements' tokens are unknown to the tokenizer: "
            "different words look alike to the model. Use texts in a script that it knows."
        )
    sides = zip(ids[: len(pairs)], ids[len(pairs) :], pairs.side_a, pairs.side_b, strict=True)
    alike = sum(list(a) == list(b) and text_a != text_b for a, b, text_a, text_b in sides)
    if alike:
        warned.append(
            f"The two sides of {alike} of {len(pairs)} pairs differ, but have the same tokens: the "
            "model cannot tell them apart."
        )
    if around[1] or len(around[0]) > 1:
        warned.append(
            f"The tokenizer puts {' '.join(around[0]) or 'nothing'} before every text and "
            f"{' '.join(around[1]) or 'nothing'} behind it. All but the first of these tokens are "
            "part of every mean over tokens and of the NLL, as the texts' own are."
        )
    return warned


def _category_cautions(pairs: StatementPairs, draws: Draws) -> list[str]:
    """Warn of few categories, of repeated pairs, and of few different pairs in a category."""
    warned = []
    n = len(pairs.categories)
    share = share_of_two_points(n)
    # such resamples reach the interval's ends, with r = -1 or +1 by construction
    if share > (1 - draws.level) / 2:
        warned.append(
            f"There are {n} categories: {share:.1%} of their resamples hold at most two different "
            "ones, where r is -1, +1 or undefined whatever the data say. Intervals over categories "
            "are that wide by construction. Use six categories or more, as the papers do."
        )
    different = dict(zip(pairs.categories, pairs.different(), strict=True))
    given = np.bincount(pairs.category_of_pair).tolist()
    repeated = [
        f"{name} ({count} of {n_given})"
        for (name, count), n_given in zip(different.items(), given, strict=True)
        if count < n_given
    ]
    if repeated:
        warned.append(
            f"Some pairs are repeated or have equal sides; different pairs: {', '.join(repeated)}. "
            "Repeated pairs weigh more in every mean, and intervals are too narrow by them."
        )
    few = [f"{name} ({count})" for name, count in different.items() if count < PAPERS_FEWEST]
    if few:
        warned.append(
            f"Fewer than {PAPERS_FEWEST} different pairs, as the papers' smallest category has: "
            f"{', '.join(few)}. The intervals over categories take UA and preference of a category "
            "as exact, which they are not with so few pairs."
        )
    return warned


def _bin_cautions(values: Values) -> list[str]:
    """Warn of bins that hold too few pairs for an asymmetry."""
    used = int(np.sum(np.isfinite(values.stable_preference)))
    if used == values.k_stable:
        return []
    return [
        f"{used} of {values.k_stable} random bins hold two pairs or more; the others are left out "
        f"of the intervals over bins. {values.n_pairs} pairs are few for {values.k_stable} bins."
    ]


def _prompt_cautions(n_tokens: int, hidden_size: int) -> list[str]:
    """Warn of fewer tokens than dimensions; of nothing where no prompts were given."""
    if not 0 < n_tokens <= hidden_size:
        return []
    return [
        f"The prompts have {n_tokens} tokens together, a state has {hidden_size} dimensions: no "
        f"effective rank can exceed {n_tokens - 1}. Add prompts."
    ]


def _skipped(what: str, intervals: Intervals, n_resamples: int) -> list[str]:
    """Warn of resamples without an r, as the intervals counted them."""
    worst = min(interval.n_kept for interval in intervals.values())
    if worst < MIN_KEPT:
        return [
            f"Under {MIN_KEPT} of {n_resamples} resamples of the {what} have an r at some layer: "
            "its interval is the whole range from -1 to 1, which says nothing."
        ]
    if worst > (1 - SKIPPED) * n_resamples:
        return []
    return [
        f"Up to {n_resamples - worst} of {n_resamples} resamples of the {what} contain one point "
        "only, have no r, and were skipped; the intervals are of the others."
    ]


def document_cautions(
    documents: Mapping[str, Mapping[str, Any]], *, unused_template: bool
) -> list[str]:
    """Return the warnings that the numbers themselves call for.

    Arguments:
        documents: the result documents, by analysis.
        unused_template: the tokenizer brings a chat template, which no statement was put into.
    """
    warned, validation = [], documents["validation"]
    if (deciding := decisive_category(validation)) is not None:
        r = validation["_global_stats"]["ua_output_correlation"]
        warned.append(
            describe_decisive_category(deciding, r, r_without_each_category(validation)[deciding].r)
        )
    if unused_template:
        warned.append(
            "The tokenizer brings a chat template; the statements were given without it "
            "(--chat-template gives them in it). In Paper 2 an instruct model's r over the pairs "
            "is negative at every layer with its template, and without it is not."
        )
    return warned
