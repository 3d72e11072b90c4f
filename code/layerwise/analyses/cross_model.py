"""The models that Paper 2 compares with Pythia (Llama, Apertus, Gemma), and phases of any curve."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from layerwise.analyses.categories import OVER_PAIRS, asymmetries, categories, n_categories
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.pair_curves import (
    APERTUS_CURVE,
    GEMMA_CURVE,
    LLAMA,
    LLAMA_CURVE,
    SHORT,
    PairCurve,
)
from layerwise.analyses.validation import PAPER1
from layerwise.statistics import phases, rules
from layerwise.statistics.correlation import pearson_p, pearson_r

CONTRIBUTIONS = "extended_results/data/contribution_by_category.csv"
REFERENCE = "notebook Llama"  # it typed Pythia's r with two decimals
Source = Entry | Evidence
Label = Callable[[float, float, float], str]


def r_of(f: Source, curve: PairCurve, layers: Collection[int] | None = None) -> phases.Curve:
    """r by layer: of all sampled layers, or of some."""
    tests = curve.tests(f).items()
    return {layer: test.r for layer, test in tests if layers is None or layer in layers}


def ends_of(
    f: Source, curve: PairCurve, layers: Collection[int] | None = None
) -> Mapping[int, rules.Ends]:
    """Ends of the intervals by layer."""
    tests = curve.tests(f).items()
    return {
        layer: curve.ends_of(test) for layer, test in tests if layers is None or layer in layers
    }


def inverted(f: Source, curve: PairCurve, layers: Collection[int]) -> bool:
    """Whether some of the layers has a negative r and an interval that excludes zero."""
    return rules.some_stable(r_of(f, curve, layers), ends_of(f, curve, layers), positive=False)


def layers_of(f: Source, curve: PairCurve, phase: str) -> list[int]:
    """Sampled layers of a phase, with the notebooks' partition."""
    return phases.thirds_of_list(list(curve.tests(f)))[phase]


def mean(f: Source, curve: PairCurve, phase: str) -> float:
    """Mean r of a phase."""
    layers = layers_of(f, curve, phase)
    return phases.phase_mean(r_of(f, curve, layers), layers)


def means(f: Source, curve: PairCurve) -> tuple[float, float, float]:
    """Early, mid and late mean."""
    early, mid, late = (mean(f, curve, phase) for phase in phases.PHASES)
    return early, mid, late


def structure(curve: PairCurve, label: Label, start: str, suffix: str = "") -> Rules:
    """A notebook's phase means, and the label that it puts on them."""
    found: Rules = {
        f"{start}/{phase}{suffix}": lambda f, phase=phase: mean(f, curve, phase)  # type: ignore[misc]
        for phase in phases.PHASES
    }
    return {**found, f"{start}/pattern": lambda f: label(*means(f, curve))}


def r_of_last_layer(of_layer: Entry) -> float:
    """UA of Paper 1's run and the preferences of its follow-up: the same last layer."""
    rows = of_layer.of(CONTRIBUTIONS)
    preferences = [
        rows.row(model="llama", category=name).preference for name in categories(of_layer)
    ]
    return pearson_r(asymmetries(of_layer.of(PAPER1["llama"])), np.array(preferences))


def same_signs(f: Entry) -> int:
    """Layers at which Llama's r and the typed one of Pythia have the same sign."""
    r = r_of(f, LLAMA_CURVE)
    typed = f.of(REFERENCE).pythia_reference
    return phases.equal_signs({layer: typed[layer] for layer in r}, r)


EXCLUDES: Rules = {
    "sig": lambda test: not rules.includes_zero((test[SHORT[0]], test[SHORT[1]])),
}
OVER_CATEGORIES: Rules = {"p_value": lambda m: float(pearson_p(m.r, n_categories(m)))}
DOCUMENTS = {
    slug: Document(
        curve.file,
        {
            "": structure(curve, phases.thirds_label, "phase_structure", "_mean"),
            f"{curve.group}/*": EXCLUDES,
        },
    )
    for slug, curve in {"apertus-8b": APERTUS_CURVE, "gemma-2b": GEMMA_CURVE}.items()
} | {
    "llama-3p1-8b": Document(
        LLAMA,
        {
            "": {
                **structure(LLAMA_CURVE, phases.llama_label, "phase_structure", "_mean"),
                "pythia_comparison/same_sign_layers": same_signs,
                "pythia_comparison/total_compared": lambda f: len(LLAMA_CURVE.tests(f)),
            },
            "category_level_results/*": OVER_CATEGORIES,
            "category_level_results/32": {"r": r_of_last_layer},
            "pair_level_results/*/*": OVER_PAIRS,
        },
    )
}
