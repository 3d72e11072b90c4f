"""Correlation of UA and preference by layer and by pooling (notebook 001)."""

from collections.abc import Mapping
from functools import partial

from layerwise.engine.derivation import Document, Rule, Rules, Section, bind_each
from layerwise.engine.evidence import Entry
from layerwise.papers.paper2.rules.scaling import depth
from layerwise.papers.shared.names import SLUG
from layerwise.papers.shared.result_files import LAYERS, own_file
from layerwise.papers.shared.rules import last_layer, p_over_categories
from layerwise.papers.shared.terms import strategies_by_layer
from layerwise.statistics import curves

BANDS = {
    -0.5: "INVERSE (strong negative)",
    -0.2: "Weak negative",
    0.2: "DECOUPLED (near zero)",
    0.5: "Weak positive",
}
MARGIN = 0.2  # of the last token's r and that of the mean over tokens


def depth_of_model(results: Entry) -> Rules:
    """The number of blocks, which rests on no preference: an embedding model has it too."""
    return {"n_layers": partial(depth, results)}


def r_by_layer(results: Entry) -> dict[int, float]:
    """Return r of the mean-pooled states by layer."""
    by_layer = strategies_by_layer(results.strategies)
    return {layer: strategy.correlation for layer, strategy in by_layer.items()}


def common_sign(results: Entry) -> str | None:
    """Return the common sign of all r.

    It is `unclear` with a zero, and None with both signs.
    """
    r = r_by_layer(results)
    if curves.sign_changes(r, 1):
        return None
    if max(r.values()) < 0:
        return "NEGATIVE"
    return "POSITIVE" if min(r.values()) > 0 else "unclear"


def pooling_verdict(results: Entry) -> str | None:
    """Say whether the last token correlates more or less than the mean of the tokens.

    The word is on the signed difference, so that a weaker negative r counts as more.
    """
    strategies = results.strategies
    if "last_token" not in strategies or strategies.last_token.correlation is None:
        return None
    last, pooled = strategies.last_token.correlation, strategies.mean_pooled.correlation
    if last > pooled + MARGIN:
        return "more"
    return "less" if last < pooled - MARGIN else "minimal"


def curve_and_poolings(results: Entry) -> Rules:
    """The notebook's words for r, by pooling and over the layers."""

    def band_of_r(strategy: Entry) -> str | None:
        r = strategy.correlation
        return None if r is None else curves.word_below(r, BANDS, "ALIGNED (strong positive)")

    return {
        **depth_of_model(results),
        "summary/bands": Rule(
            lambda: bind_each(band_of_r, dict(results.strategies.items())),
            "the notebook's word for an r; None where there is no r",
        ),
        "summary/sign_changes": Rule(
            lambda: curves.sign_changes(r_by_layer(results), depth(results)),
            "the layers at which r changes its sign",
        ),
        "summary/no_sign_change": partial(common_sign, results),
        "summary/pooling_verdict": partial(pooling_verdict, results),
    }


def strategy_test(strategy: Entry) -> Rules:
    """The test of one layer's or pooling's r.

    A token reading with one state in every statement, or one asymmetry in every category, has no
    r, so no p and no word.
    """

    def p_value() -> float | None:
        r = strategy.correlation
        return None if r is None else p_over_categories(strategy, r)

    says = "the two-sided p of an r over the categories; None where there is no r"
    return {"p_value": Rule(p_value, says)}


SECTIONS: Mapping[str, Section] = {"": curve_and_poolings, "strategies/*": strategy_test}
LAST = partial(last_layer, SLUG, "correlation")
DOCUMENTS = {
    SLUG: Document(
        LAYERS, {**SECTIONS, "strategies/mean_pooled": LAST, "strategies/layer_32": LAST}
    )
}
READER = Document(own_file("layers"), SECTIONS)
READER_OF_STATES = Document(own_file("layers"), {"": depth_of_model})
