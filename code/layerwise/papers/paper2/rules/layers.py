"""Correlation of UA and preference by layer and by pooling (notebook 001)."""

from layerwise.engine.derivation import Document, Rule, Rules, for_each_group
from layerwise.engine.evidence import Entry
from layerwise.papers.paper2.rules.scaling import depth
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import LAYERS, own_file
from layerwise.papers.shared.rules.categories import last_layer_rule, p_over_categories
from layerwise.papers.shared.terms import strategies_by_layer
from layerwise.statistics import curves

BANDS = {
    -0.5: "INVERSE (strong negative)",
    -0.2: "Weak negative",
    0.2: "DECOUPLED (near zero)",
    0.5: "Weak positive",
}
MARGIN = 0.2  # of the last token's r and that of the mean over tokens


def r_by_layer(results: Entry) -> dict[int, float]:
    """Return r by sampled layer."""
    return {
        layer: strategy.correlation
        for layer, strategy in strategies_by_layer(results.strategies).items()
    }


def common_sign(r: dict[int, float]) -> str | None:
    """Return NEGATIVE or POSITIVE where all r are, `unclear` with a zero; None with both signs."""
    if curves.sign_changes(r, 1):
        return None
    if max(r.values()) < 0:
        return "NEGATIVE"
    return "POSITIVE" if min(r.values()) > 0 else "unclear"


def band_of_r(strategy: Entry) -> str | None:
    """Return the notebook's word for an r; None where there is no r."""
    r = strategy.correlation
    return None if r is None else curves.word_below(r, BANDS, "ALIGNED (strong positive)")


def p_value(strategy: Entry) -> float | None:
    """Return the two-sided p of an r over the categories; None where there is no r."""
    r = strategy.correlation
    return None if r is None else p_over_categories(strategy, r)


def pooling_verdict(strategies: Entry) -> str | None:
    """Say whether the last token correlates `more` or `less` than the mean, or about as it.

    The difference is signed: a weaker negative r counts as more.
    """
    if "last_token" not in strategies or strategies.last_token.correlation is None:
        return None
    last, pooled = strategies.last_token.correlation, strategies.mean_pooled.correlation
    if last > pooled + MARGIN:
        return "more"
    return "less" if last < pooled - MARGIN else "minimal"


# A token reading with one state in every statement, or one asymmetry in every category, has no r,
# so no p and no word.
RULES: dict[str, Rules] = {
    "": {
        "n_layers": depth,
        "summary/bands": for_each_group(lambda results: results.strategies, band_of_r),
        "summary/sign_changes": Rule(
            lambda results: curves.sign_changes(r_by_layer(results), depth(results)),
            "the layers at which r changes its sign",
        ),
        "summary/no_sign_change": Rule(
            lambda results: common_sign(r_by_layer(results)), "the common sign of all r"
        ),
        "summary/pooling_verdict": Rule(
            lambda results: pooling_verdict(results.strategies),
            "whether the last token correlates more or less than the mean of the tokens",
        ),
    },
    "strategies/*": {"p_value": p_value},
}
LAST: Rules = {"correlation": last_layer_rule(SLUG)}
DOCUMENTS = {
    SLUG: Document(LAYERS, {**RULES, "strategies/mean_pooled": LAST, "strategies/layer_32": LAST})
}
READER = Document(own_file("layers"), RULES)
READER_OF_STATES = Document(own_file("layers"), {"": {"n_layers": depth}})  # no preferences
