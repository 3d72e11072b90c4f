"""The models compared with Pythia in Paper 2: Llama (and its chat template), Apertus and Gemma."""

from collections.abc import Callable
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules
from layerwise.engine.evidence import Entry
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
)
from layerwise.papers.shared.rules.categories import (
    PAIR_TESTS,
    asymmetries,
    categories,
    p_over_categories,
)
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import pearson_r


def label_rule(curve: PairCurve, label: Callable[[float, float, float], str]) -> Rule:
    """Return the rule of a notebook's label of the three phase means."""
    return Rule(
        lambda results: label(*curve.of(results).means()),
        "the notebook's label of the three phase means",
    )


def template_rules(curve: PairCurve, start: str) -> Rules:
    """Return the rules of the template notebook's phase means, and of the label on them."""

    def mean(results: Entry, phase: str) -> float:
        """Return the mean r of a phase."""
        return curve.of(results).mean(phase)

    means: Rules = {f"{start}/{phase}": partial(mean, phase=phase) for phase in phases.PHASES}
    return {**means, f"{start}/pattern": label_rule(curve, phases.template_label)}


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


INTERVAL_RULES: Rules = {
    "sig": Rule(
        lambda test: not curves.includes_zero((test.ci_lo, test.ci_hi)),
        "whether the interval of r excludes zero",
    )
}
TEMPLATE_RULES: Rules = {
    **template_rules(WITH, "phase_with"),
    **template_rules(WITHOUT, "phase_without"),
    "verdict": template_verdict,
    "drawn/n_below_zero/with": partial(n_below_zero, WITH),
    "drawn/n_below_zero/without": partial(n_below_zero, WITHOUT),
}
DOCUMENTS = {
    slug: Document(
        curve.file,
        {
            "": {"phase_structure/pattern": label_rule(curve, phases.thirds_label)},
            f"{curve.group}/*": INTERVAL_RULES,
        },
    )
    for slug, curve in {"apertus-8b": APERTUS_CURVE, "gemma-2b": GEMMA_CURVE}.items()
} | {
    "llama-3p1-8b": Document(
        LLAMA,
        {
            "": {"phase_structure/pattern": label_rule(LLAMA_CURVE, phases.llama_label)},
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
