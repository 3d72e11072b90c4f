"""The models compared with Pythia in Paper 2: Llama (and its chat template), Apertus and Gemma."""

from collections.abc import Callable
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Entry, by_layer
from layerwise.papers.paper2.rules.pair_curves import (
    APERTUS_CURVE,
    GEMMA_CURVE,
    LLAMA_CURVE,
    WITH,
    WITHOUT,
    PairCurve,
)
from layerwise.papers.shared.names.result_files import (
    CONTRIBUTIONS,
    LLAMA,
    PAPER1,
    TEMPLATE,
    TYPED_CURVE,
)
from layerwise.papers.shared.rules.categories import (
    OVER_PAIRS,
    asymmetries,
    categories,
    p_over_categories,
)
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import pearson_r


def structure(
    curve: PairCurve, label: Callable[[float, float, float], str], start: str, suffix: str = ""
) -> Rules:
    """A notebook's phase means, and the label that it puts on them."""

    def mean(f: Entry, phase: str) -> float:
        """Return the mean r of a phase."""
        return curve.of(f).mean(phase)

    means: Rules = {f"{start}/{n}{suffix}": partial(mean, phase=n) for n in phases.PHASES}
    return {
        **means,
        f"{start}/pattern": Rule(
            lambda f: label(*curve.of(f).means()), "the notebook's label of the three phase means"
        ),
    }


def r_of_last_layer(of_layer: Entry) -> float:
    """UA of Paper 1's run and the preferences of its follow-up: the same last layer."""
    rows = of_layer.of(CONTRIBUTIONS)
    preferences = [
        rows.row(model="llama", category=name).preference for name in categories(of_layer)
    ]
    return pearson_r(asymmetries(of_layer.of(PAPER1["llama"])), np.array(preferences))


def template_verdict(f: Entry) -> str:
    """What the chat template does to the label; equal labels hide every other difference."""
    tuned, bare = (phases.template_label(*curve.of(f).means()) for curve in (WITH, WITHOUT))
    if tuned == bare:
        return "TEMPLATE_INVARIANT"
    return "TEMPLATE_ENABLES_COUPLING" if bare == "DECOUPLED" else "TEMPLATE_CHANGES_PATTERN"


def n_below_zero(curve: PairCurve, f: Entry) -> int:
    """At how many layers the interval of r lies below zero."""
    return sum(high < 0 for _, high in curve.of(f).ends().values())


def like_pythia(f: Entry) -> int:
    """Layers at which Llama's r has the sign of Pythia's, as the notebook typed that curve."""
    return phases.equal_signs(LLAMA_CURVE.of(f).r(), by_layer(f.of(TYPED_CURVE).pythia_reference))


EXCLUDES: Rules = {
    "sig": Rule(
        lambda test: not curves.includes_zero((test.ci_lo, test.ci_hi)),
        "whether the interval of r excludes zero",
    )
}
OF_TEMPLATE: Rules = {
    **structure(WITH, phases.template_label, "phase_with"),
    **structure(WITHOUT, phases.template_label, "phase_without"),
    "verdict": template_verdict,
    "drawn/n_below_zero/with": partial(n_below_zero, WITH),
    "drawn/n_below_zero/without": partial(n_below_zero, WITHOUT),
}
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
                "pythia_comparison/same_sign_layers": like_pythia,
                "pythia_comparison/total_compared": Rule(
                    lambda f: count(LLAMA_CURVE.of(f).r()), "the layers of Llama's curve"
                ),
            },
            "category_level_results/*": {
                "p_value": Rule(
                    lambda test: p_over_categories(test, test.r),
                    "two-sided p of r over the categories",
                )
            },
            "category_level_results/32": {"r": r_of_last_layer},
            "pair_level_results/*/*": OVER_PAIRS,
        },
    ),
    "llama-3p1-8b-instruct": Document(
        TEMPLATE, {"": OF_TEMPLATE, f"{WITH.group}/*": EXCLUDES, f"{WITHOUT.group}/*": EXCLUDES}
    ),
}
