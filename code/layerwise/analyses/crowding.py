"""Does the density of heads foretell whether a model damps? (Paper 3, section 5.4, appendix B)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.analyses.derivation import Document, Rule, Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.gain_files import (
    CLEAN,
    HUNT,
    SWEEP,
    density,
    final_gain,
    gain,
    gains_of,
    models,
)
from layerwise.statistics import gains
from layerwise.statistics.correlation import pearson_p, pearson_r

PAIR = ("pythia-6.9b", "gpt-j-6B")


def points(some: list[Entry]) -> tuple[list[float], list[float]]:
    """Densities and mean gains of models."""
    return [density(m) for m in some], gains_of(some)


def everyone(f: Entry) -> list[Entry]:
    """The models of a file."""
    return list(models(f).values())


def pooled(e: Evidence) -> list[Entry]:
    """Models of the hunt and the sweep; that of both has more prompts in the sweep."""
    return list((models(e[HUNT]) | models(e[SWEEP])).values())


def correlation(f: Entry) -> dict[str, float]:
    """r of density and gain, and its p."""
    densities, found = points(everyone(f))
    r = pearson_r(np.array(densities), np.array(found))
    return {"r": r, "p": float(pearson_p(r, len(found)))}


def accuracy(f: Entry) -> float:
    """Share of a file's models whose side the density foretells."""
    return gains.density_accuracy(*points(everyone(f)))


def percent(densities: list[float], found: list[float]) -> int | float:
    """Percent of models whose side the density foretells."""
    pairs = zip(densities, found, strict=True)
    return gains.percent([gains.density_accuracy([d], [g]) == 1 for d, g in pairs])


def as_foretold(f: Entry, high: bool) -> float:
    """Share of the models on one side of the limit that are what it foretells.

    Raises:
        LayerwiseError: if no model is on that side.
    """
    chosen = [m for m in everyone(f) if (density(m) >= gains.DENSITY_LIMIT) == high]
    return gains.share([gains.dampens(found) == high for found in gains_of(chosen)])


def ratio(f: Entry) -> float:
    """Density of the pair's first model over that of the second."""
    first, second = (density(models(f)[name]) for name in PAIR)
    return first / second


def over(select: Callable[[Any], list[Entry]]) -> dict[str, Rule]:
    """How right the density rule is on some models."""
    rules: Rules = {
        "accuracy_pct": lambda f: percent(*points(select(f))),
        "accuracy_pct_final_norm": lambda f: percent(
            [density(m) for m in select(f)], [final_gain(m) for m in select(f)]
        ),
        "constant_accuracy": lambda f: gains.constant_accuracy(gains_of(select(f))),
        "explains": lambda f: gains.density_explains(*points(select(f))),
    }
    return {f"density_rule/{name}": rule for name, rule in rules.items()}


OF_MODEL: Rules = {
    "rho": density,
    "class": lambda m: "DAMPEN" if gains.dampens(gain(m)) else "EXPAND",
}
OF_FAMILY = over(everyone) | {
    "analysis/rho_gain_correlation": lambda f: correlation(f)["r"],
    "analysis/correlation_p_value": lambda f: correlation(f)["p"],
    "analysis/high_rho_dampen_rate": lambda f: as_foretold(f, high=True),
    "analysis/low_rho_expand_rate": lambda f: as_foretold(f, high=False),
    "separating_interval": lambda f: gains.separating_interval(*points(everyone(f))),
}
OF_HUNT = over(everyone) | {
    "h25_accuracy": accuracy,
    "h25_verdict": lambda f: gains.density_verdict(accuracy(f)),
    "density_ratio": ratio,
    "rho_gain": correlation,
}
OF_PAIR = over(everyone) | {
    "h25_accuracy": lambda f: 100 * accuracy(f),
    "h25_verdict": lambda f: gains.density_verdict(accuracy(f)),
}
DOCUMENTS = {
    "family": Document(SWEEP, {"": OF_FAMILY, "models/*": OF_MODEL}),
    "hunt": Document(
        HUNT,
        {
            "": OF_HUNT,
            "tested_results/*": {
                **OF_MODEL,
                "h25_prediction_correct": lambda m: gains.density_accuracy(*points([m])) == 1,
            },
        },
    ),
    "clean": Document(
        CLEAN,
        {
            "": OF_PAIR,
            "results/*": {
                **OF_MODEL,
                "gain_no_ln_mean": gain,
                "gain_with_ln_mean": final_gain,
                "is_dampening_no_ln": lambda m: gains.dampens(gain(m)),
            },
        },
    ),
    "pooled": Document(None, {"": over(pooled) | {"n_models": lambda e: len(gains_of(pooled(e)))}}),
}
