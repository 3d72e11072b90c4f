"""r by layer and by pooling (notebook 001)."""

from functools import partial

from layerwise.analyses.categories import SLUG, n_categories, r_over_categories
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry
from layerwise.analyses.scaling import depth
from layerwise.inputs.result_files import LAYERS, UA_FILES
from layerwise.statistics import curves
from layerwise.statistics.correlation import pearson_p

PREFIX = "layer_"


def p_value(strategy: Entry) -> float | None:
    """Two-sided p over the categories; None where there is no r (see `band`)."""
    r = strategy.correlation
    return None if r is None else float(pearson_p(r, n_categories(strategy)))


def band(strategy: Entry) -> str | None:
    """Word for r; None where a token reading has the same state in every statement."""
    r = strategy.correlation
    return None if r is None else curves.band(r)


def bands(f: Entry) -> Rules:
    """A word for every r."""
    return {name: partial(band, strategy) for name, strategy in f.strategies.items()}


def curve(f: Entry) -> dict[int, float]:
    """r by layer, as sampled."""
    return {
        int(name.removeprefix(PREFIX)): strategy.correlation
        for name, strategy in f.strategies.items()
        if name.startswith(PREFIX)
    }


def pooling(f: Entry) -> str | None:
    """What the mean over tokens does, beside the last token alone."""
    mean, last = f.strategies.mean_pooled.correlation, f.strategies.last_token.correlation
    return None if last is None else curves.pooling_verdict(mean, last)


RULES: dict[str, Rules] = {
    "": {
        "n_layers": depth,
        "summary/bands": bands,
        "summary/sign_changes": lambda f: curves.sign_changes(curve(f), depth(f)),
        "summary/no_sign_change": lambda f: curves.no_sign_change(curve(f)),
        "summary/pooling_verdict": pooling,
    },
    "strategies/*": {"p_value": p_value},
}
# the states of the last layer are those that the file on UA is about
LAST: Rules = {"correlation": lambda strategy: r_over_categories(strategy.of(UA_FILES[SLUG]))}
DOCUMENTS = {
    SLUG: Document(LAYERS, {**RULES, "strategies/mean_pooled": LAST, "strategies/layer_32": LAST})
}
READER = Document(LAYERS, RULES)
