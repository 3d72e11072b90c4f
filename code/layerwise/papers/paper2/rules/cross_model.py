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
    PAIR_TESTS,
    asymmetries,
    categories,
    p_over_categories,
)
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import pearson_r


def phase_rules(
    curve: PairCurve, label: Callable[[float, float, float], str], start: str, suffix: str = ""
) -> Rules:
    """Return the rules of a notebook's phase means, and of the label that it puts on them."""

    def mean(results: Entry, phase: str) -> float:
        """Return the mean r of a phase."""
        return curve.of(results).mean(phase)

    means: Rules = {f"{start}/{n}{suffix}": partial(mean, phase=n) for n in phases.PHASES}
    return {
        **means,
        f"{start}/pattern": Rule(
            lambda results: label(*curve.of(results).means()),
            "the notebook's label of the three phase means",
        ),
    }


def r_of_last_layer(of_layer: Entry) -> float:
    """Return r of Paper 1's UA and the supplement's preferences, both of the last layer."""
    rows = of_layer.of(CONTRIBUTIONS)
    preferences = [
        rows.row(model="llama", category=name).preference for name in categories(of_layer)
    ]
    return pearson_r(asymmetries(of_layer.of(PAPER1["llama"])), np.array(preferences))


def template_verdict(results: Entry) -> str:
    """Return what the chat template does to the label; equal labels hide every other difference."""
    tuned, bare = (phases.template_label(*curve.of(results).means()) for curve in (WITH, WITHOUT))
    if tuned == bare:
        return "TEMPLATE_INVARIANT"
    return "TEMPLATE_ENABLES_COUPLING" if bare == "DECOUPLED" else "TEMPLATE_CHANGES_PATTERN"


def n_below_zero(curve: PairCurve, results: Entry) -> int:
    """Return the number of layers whose interval of r lies below zero."""
    return sum(high < 0 for _, high in curve.of(results).ends().values())


def layers_like_pythia(results: Entry) -> int:
    """Return the number of layers at which Llama's r has the sign of the typed curve of Pythia."""
    return phases.equal_signs(
        LLAMA_CURVE.of(results).r(), by_layer(results.of(TYPED_CURVE).pythia_reference)
    )


INTERVAL_RULES: Rules = {
    "sig": Rule(
        lambda test: not curves.includes_zero((test.ci_lo, test.ci_hi)),
        "whether the interval of r excludes zero",
    )
}
TEMPLATE_RULES: Rules = {
    **phase_rules(WITH, phases.template_label, "phase_with"),
    **phase_rules(WITHOUT, phases.template_label, "phase_without"),
    "verdict": template_verdict,
    "drawn/n_below_zero/with": partial(n_below_zero, WITH),
    "drawn/n_below_zero/without": partial(n_below_zero, WITHOUT),
}
DOCUMENTS = {
    slug: Document(
        curve.file,
        {
            "": phase_rules(curve, phases.thirds_label, "phase_structure", "_mean"),
            f"{curve.group}/*": INTERVAL_RULES,
        },
    )
    for slug, curve in {"apertus-8b": APERTUS_CURVE, "gemma-2b": GEMMA_CURVE}.items()
} | {
    "llama-3p1-8b": Document(
        LLAMA,
        {
            "": {
                **phase_rules(LLAMA_CURVE, phases.llama_label, "phase_structure", "_mean"),
                "pythia_comparison/same_sign_layers": layers_like_pythia,
                "pythia_comparison/total_compared": Rule(
                    lambda results: count(LLAMA_CURVE.of(results).r()),
                    "the layers of Llama's curve",
                ),
            },
            "category_level_results/*": {
                "p_value": Rule(
                    lambda test: p_over_categories(test, test.r),
                    "two-sided p of r over the categories",
                )
            },
            "category_level_results/32": {"r": r_of_last_layer},
            "pair_level_results/*/*": PAIR_TESTS,
        },
    ),
    "llama-3p1-8b-instruct": Document(
        TEMPLATE,
        {
            "": TEMPLATE_RULES,
            f"{WITH.group}/*": INTERVAL_RULES,
            f"{WITHOUT.group}/*": INTERVAL_RULES,
        },
    ),
}
