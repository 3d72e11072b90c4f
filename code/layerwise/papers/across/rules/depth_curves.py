"""Curves over relative depth (layer over number of blocks) of the papers' models.

A curve is `[(depth, value), ...]`; curves are by quantity, then by model.
"""

from layerwise.engine.evidence import Evidence, by_layer
from layerwise.papers.across.curves import curve_over_depth, curves_by_quantity
from layerwise.papers.paper2.rules.pairs import read_curve
from layerwise.papers.paper3.rules.gain_files import models_by_name, short_name
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.names import NAMES, SLUG
from layerwise.papers.shared.result_files import CATEGORIES
from layerwise.papers.shared.terms import PAIRWISE
from layerwise.present.figures.numbers import Curves, DepthCurve


def curves_of_papers(evidence: Evidence) -> Curves:
    """Return the curves of the papers' models."""
    curves: dict[str, dict[str, DepthCurve]] = {
        CATEGORIES: {
            name: curve_over_depth(
                {n: test.correlation for n, test in by_layer(size.layer_results).items()},
                size.n_layers,
            )
            for name, size in evidence[files.SCALING].models.items()
        },
        PAIRWISE: {
            name: curve_over_depth(curve.r(), curve.layers[-1])
            for slug, name in NAMES.items()
            for curve in [read_curve(slug, evidence)]
        },
    }
    tests = by_layer(evidence[files.PAIRS].results)
    for metric in tests[0]:  # the other measures of a pair: of one model alone
        curve = curve_over_depth({n: test[metric].r for n, test in tests.items()}, max(tests))
        curves.setdefault(metric, {NAMES[SLUG]: curve})
    measured = [
        (NAMES[slug], "anisotropy", evidence[file]) for slug, file in files.PROFILES.items()
    ]
    measured += [
        (name, "gains", model) for name, model in models_by_name(evidence[files.SWEEP]).items()
    ]
    measured += [
        (short_name(model), "spectral", model) for model in evidence[files.SPECTRAL].results
    ]
    for name, analysis, entry in measured:
        for quantity, curve in curves_by_quantity({analysis: entry}).items():
            curves.setdefault(quantity, {})[name] = curve
    return curves
