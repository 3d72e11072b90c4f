"""Paper 1's supplement: UA against the preference of the outputs, over categories and models."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from layerwise.analyses.categories import asymmetry
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.places.categories import FACTS, NUMERIC
from layerwise.places.result_files import (
    CLASSES,
    CONTRIBUTIONS,
    DIVERGENCE,
    OUTPUT_CORRELATION,
    PAPER1,
)
from layerwise.statistics.correlation import pearson_p, pearson_r

REGIMES = ("LIE_REGIME", "BULLSHIT_REGIME", "MIXED")
SCALE = 10  # of UA against the preference, in the gap


def ua(f: Entry, model: str, category: str) -> float:
    """UA in the supplement's run."""
    return f.of(CONTRIBUTIONS).row(model=model, category=category).ua


def preference(f: Entry | Evidence, model: str, category: str) -> float:
    """Mean preference, nats: NLL of B minus NLL of A."""
    row = f.of(CLASSES).row(model=model, category=category)
    return row.nll_b - row.nll_a


def categories(f: Entry, *without: str) -> list[str]:
    """The supplement's categories, in its order."""
    names = dict.fromkeys(row.category for row in f.of(CONTRIBUTIONS))
    return [name for name in names if name not in without]


def correlation(of_model: Entry, *without: str) -> tuple[float, int]:
    """r of UA and preference over the categories, and how many there are."""
    names = categories(of_model, *without)
    x, y = (
        np.array([of(of_model, of_model.called, name) for name in names]) for of in (ua, preference)
    )
    return pearson_r(x, y), len(names)


def p_value(of_model: Entry, *without: str) -> float:
    return float(pearson_p(*correlation(of_model, *without)))


def over_models(row: Entry, of: Callable[..., float], statistic: Callable[..., Any]) -> float:
    """A statistic of a row's category over the models."""
    return float(statistic([of(row, model, row.category) for model in PAPER1]))


SPLIT: Rules = {
    "full_r": lambda m: correlation(m)[0],
    "full_p": p_value,
    "r_without_numeric": lambda m: correlation(m, NUMERIC)[0],
    "p_without_numeric": lambda m: p_value(m, NUMERIC),
    "delta_r": lambda m: correlation(m, NUMERIC)[0] - correlation(m)[0],
}
GAP: Rules = {  # on scientific facts
    "gap": lambda m: SCALE * abs(ua(m, m.called, FACTS)) - abs(preference(m, m.called, FACTS))
}
OF_CATEGORY: Rules = {
    "ua_std": lambda row: over_models(row, ua, np.std),
    "ua_range": lambda row: over_models(row, ua, np.ptp),
    "pref_std": lambda row: over_models(row, preference, np.std),
    "pref_range": lambda row: over_models(row, preference, np.ptp),
    "total_divergence": lambda row: (
        over_models(row, ua, np.std) + over_models(row, preference, np.std)
    ),
}
REGIME_COUNTS: Rules = {
    regime: partial(lambda regime, f: sum(row.classification == regime for row in f), regime)
    for regime in REGIMES
}
# largest difference of a category's UA between Paper 1's run and the supplement's
NOISE: Rules = {
    model: partial(
        lambda model, f: max(
            abs(ua(f, model, name) - asymmetry(f.of(PAPER1[model])[name])) for name in categories(f)
        ),
        model,
    )
    for model in PAPER1
}
DOCUMENTS = {
    "correlation": Document(OUTPUT_CORRELATION, {"numeric_split/*": SPLIT, "rlhf_masking/*": GAP}),
    "divergence": Document(DIVERGENCE, {"*": OF_CATEGORY}),
    "classification": Document(CLASSES, {"": REGIME_COUNTS}, {}),
    "rerun": Document(CONTRIBUTIONS, {"": NOISE}, {}),
}
