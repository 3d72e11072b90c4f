"""The models compared with Pythia in Paper 2: Llama (and its chat template), Apertus and Gemma."""

from collections.abc import Callable
from functools import partial

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Entry, by_layer
from layerwise.papers.paper2.rules.pairs import (
    APERTUS_CURVE,
    GEMMA_CURVE,
    LLAMA_CURVE,
    WITH,
    WITHOUT,
    PairCurve,
    read_curve,
)
from layerwise.papers.shared.result_files import (
    CONTRIBUTIONS,
    CURVES,
    LLAMA,
    PAPER1,
    TEMPLATE,
    TYPED_CURVE,
)
from layerwise.papers.shared.rules import (
    asymmetries,
    categories,
    p_over_categories,
    pair_test,
)
from layerwise.statistics import curves, phases
from layerwise.statistics.correlation import pearson_r


def phase_rules(
    curve: PairCurve, label: Callable[[float, float, float], str], start: str, suffix: str = ""
) -> Rules:
    """A notebook's phase means, and the label that it puts on them."""
    means: Rules = {
        f"{start}/{phase}{suffix}": Rule(partial(curve.mean, phase), "the mean r of a phase")
        for phase in phases.PHASES
    }
    pattern = Rule(lambda: label(*curve.means()), "the notebook's label of the three phase means")
    return {**means, f"{start}/pattern": pattern}


def thirds(model: str, results: Entry) -> Rules:
    """The phases of Apertus or Gemma, by thirds of the sampled layers."""
    curve = read_curve(model, results)
    return phase_rules(curve, phases.thirds_label, "phase_structure", "_mean")


def llama_and_pythia(results: Entry) -> Rules:
    """Llama's phases, and the sign of its r beside that of Pythia's typed curve."""
    llama = read_curve(LLAMA_CURVE, results)

    def layers_of_same_sign() -> int:
        pythia = by_layer(results.of(TYPED_CURVE).pythia_reference)
        return phases.equal_signs(llama.r(), pythia)

    return {
        **phase_rules(llama, phases.llama_label, "phase_structure", "_mean"),
        "pythia_comparison/same_sign_layers": Rule(
            layers_of_same_sign,
            "the number of layers at which Llama's r has the sign of the typed curve of Pythia",
        ),
        "pythia_comparison/total_compared": Rule(
            lambda: count(llama.r()), "the layers of Llama's curve"
        ),
    }


def template_statistics(results: Entry) -> Rules:
    """The effect of the chat template on Llama's curve."""
    templated, bare = read_curve(WITH, results), read_curve(WITHOUT, results)

    def verdict() -> str:
        label, bare_label = (phases.template_label(*curve.means()) for curve in (templated, bare))
        if label == bare_label:
            return "TEMPLATE_INVARIANT"
        uncoupled = bare_label == "DECOUPLED"
        return "TEMPLATE_ENABLES_COUPLING" if uncoupled else "TEMPLATE_CHANGES_PATTERN"

    def n_below_zero(curve: PairCurve) -> Rule:
        return Rule(
            lambda: sum(high < 0 for _, high in curve.ends().values()),
            "the number of layers whose interval of r lies below zero",
        )

    return {
        **phase_rules(templated, phases.template_label, "phase_with"),
        **phase_rules(bare, phases.template_label, "phase_without"),
        "verdict": Rule(
            verdict,
            "what the chat template does to the label; equal labels hide every other difference",
        ),
        "drawn/n_below_zero/with": n_below_zero(templated),
        "drawn/n_below_zero/without": n_below_zero(bare),
    }


def interval_flag(test: Entry) -> Rules:
    """The flag that a layer's interval gives to its r."""
    return {
        "sig": Rule(
            lambda: not curves.includes_zero((test.ci_lo, test.ci_hi)),
            "whether the interval of r excludes zero",
        )
    }


def category_test_of_llama(test: Entry) -> Rules:
    """The test of r over Llama's categories at one layer."""
    p_value = Rule(lambda: p_over_categories(test, test.r), "two-sided p of r over the categories")
    return {"p_value": p_value}


def last_category_test_of_llama(test: Entry) -> Rules:
    """The r of the last layer, from Paper 1's UA and the supplement's preferences."""

    def r_of_last_layer() -> float:
        rows = test.of(CONTRIBUTIONS)
        preferences = [
            rows.row(model="llama", category=name).preference for name in categories(test)
        ]
        return pearson_r(asymmetries(test.of(PAPER1["llama"])), np.array(preferences))

    says = "r of Paper 1's UA and the supplement's preferences, both of the last layer"
    return {"r": Rule(r_of_last_layer, says)}


DOCUMENTS = {
    model: Document(
        CURVES[model].file,
        {"": partial(thirds, model), f"{CURVES[model].group}/*": interval_flag},
    )
    for model in (APERTUS_CURVE, GEMMA_CURVE)
} | {
    LLAMA_CURVE: Document(
        LLAMA,
        {
            "": llama_and_pythia,
            "category_level_results/*": category_test_of_llama,
            "category_level_results/32": last_category_test_of_llama,
            "pair_level_results/*/*": pair_test,
        },
    ),
    "llama-3p1-8b-instruct": Document(
        TEMPLATE,
        {
            "": template_statistics,
            f"{CURVES[WITH].group}/*": interval_flag,
            f"{CURVES[WITHOUT].group}/*": interval_flag,
        },
    ),
}
