"""Curves over relative depth (layer over number of blocks) of the papers' models.

A curve is `[(depth, value), ...]`; curves are by quantity, then by model.
"""

from layerwise.engine.curves import Curve, Curves
from layerwise.engine.evidence import Evidence, by_layer
from layerwise.papers.across.curves import curve_over_depth, of_model
from layerwise.papers.paper2.rules.pair_curves import CURVES
from layerwise.papers.paper3.rules.gain_files import models
from layerwise.papers.shared.names import result_files as files
from layerwise.papers.shared.names.curves import BINS, CATEGORIES
from layerwise.papers.shared.names.models import NAMES, SLUG
from layerwise.papers.shared.terms import PAIRWISE


def published(evidence: Evidence) -> Curves:
    """Of the papers' models."""
    first = NAMES[SLUG]
    bins = by_layer(evidence[files.BINS].bootstrap_results)
    found: dict[str, dict[str, Curve]] = {
        CATEGORIES: {
            name: curve_over_depth(
                {n: test.correlation for n, test in by_layer(of.layer_results).items()}, of.n_layers
            )
            for name, of in evidence[files.SCALING].models.items()
        },
        BINS: {first: curve_over_depth({n: test.r for n, test in bins.items()}, max(bins))},
        PAIRWISE: {
            name: curve_over_depth(curve.r(), curve.layers[-1])
            for slug, name in NAMES.items()
            for curve in [CURVES[slug].of(evidence)]
        },
    }
    tests = by_layer(evidence[files.PAIRS].results)
    for metric in tests[0]:  # the other measures of a pair: of one model alone
        curve = curve_over_depth({n: test[metric].r for n, test in tests.items()}, max(tests))
        found.setdefault(metric, {first: curve})
    measured = [(NAMES[slug], "anisotropy", evidence[of]) for slug, of in files.PROFILES.items()]
    measured += [(name, "gains", m) for name, m in models(evidence[files.SWEEP]).items()]
    measured += [(m.model.rpartition("/")[2], "spectral", m)
                 for m in evidence[files.SPECTRAL].results]  # fmt: skip
    for name, analysis, of in measured:
        for quantity, curve in of_model({analysis: of}).items():
            found.setdefault(quantity, {})[name] = curve
    return found
