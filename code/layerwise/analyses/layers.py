"""r by layer and by pooling (notebook 001)."""

from layerwise.analyses.categories import SLUG, p_over_categories, r_over_categories
from layerwise.analyses.derivation import Document, Rules, each
from layerwise.analyses.evidence import Entry
from layerwise.analyses.scaling import depth
from layerwise.inputs.result_files import LAYERS, UA_FILES
from layerwise.statistics import curves

PREFIX = "layer_"


def curve(f: Entry) -> dict[int, float]:
    """r by layer, as sampled."""
    return {
        int(name.removeprefix(PREFIX)): strategy.correlation
        for name, strategy in f.strategies.items()
        if name.startswith(PREFIX)
    }


# A token reading with the same state in every statement has no r, so no p and no word.
RULES: dict[str, Rules] = {
    "": {
        "n_layers": depth,
        "summary/bands": each(
            lambda f: f.strategies,
            lambda s: None if s.correlation is None else curves.band(s.correlation),
        ),
        "summary/sign_changes": lambda f: curves.sign_changes(curve(f), depth(f)),
        "summary/no_sign_change": lambda f: curves.no_sign_change(curve(f)),
        # what the mean over tokens does, beside the last token alone
        "summary/pooling_verdict": lambda f: (
            None
            if f.strategies.last_token.correlation is None
            else curves.pooling_verdict(
                f.strategies.mean_pooled.correlation, f.strategies.last_token.correlation
            )
        ),
    },
    "strategies/*": {
        "p_value": lambda s: None if s.correlation is None else p_over_categories(s, s.correlation)
    },
}
# the states of the last layer are those that the file on UA is about
LAST: Rules = {"correlation": lambda strategy: r_over_categories(strategy.of(UA_FILES[SLUG]))}
DOCUMENTS = {
    SLUG: Document(LAYERS, {**RULES, "strategies/mean_pooled": LAST, "strategies/layer_32": LAST})
}
READER = Document(LAYERS, RULES)
