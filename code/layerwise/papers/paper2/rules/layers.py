"""Correlation of UA and preference by layer and by pooling (notebook 001)."""

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry
from layerwise.papers.paper2.rules.scaling import depth
from layerwise.papers.shared.names.models import SLUG
from layerwise.papers.shared.names.result_files import LAYERS, own_file
from layerwise.papers.shared.rules.categories import last_layer_rule, p_over_categories
from layerwise.papers.shared.terms import strategies_by_layer
from layerwise.statistics import curves


def r_by_layer(results: Entry) -> dict[int, float]:
    """Return r by sampled layer."""
    return {
        layer: strategy.correlation
        for layer, strategy in strategies_by_layer(results.strategies).items()
    }


def p_value(strategy: Entry) -> float | None:
    """Return the two-sided p of an r over the categories; None where there is no r."""
    r = strategy.correlation
    return None if r is None else p_over_categories(strategy, r)


# A token reading with one state in every statement, or one asymmetry in every category, has no r,
# so no p.
RULES: dict[str, Rules] = {
    "": {
        "n_layers": depth,
        "summary/sign_changes": Rule(
            lambda results: curves.sign_changes(r_by_layer(results), depth(results)),
            "the layers at which r changes its sign",
        ),
    },
    "strategies/*": {"p_value": p_value},
}
LAST: Rules = {"correlation": last_layer_rule(SLUG)}
DOCUMENTS = {
    SLUG: Document(LAYERS, {**RULES, "strategies/mean_pooled": LAST, "strategies/layer_32": LAST})
}
READER = Document(own_file("layers"), RULES)
