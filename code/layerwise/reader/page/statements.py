"""Pair by pair: both statements, asymmetry, preference, and what the pair adds to r."""

from typing import Any

import numpy as np
from jaxtyping import Float

from layerwise.engine.words import category_labels
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values
from layerwise.models.texts import StatementPairs
from layerwise.papers.shared.names.curves import METRIC
from layerwise.present.tables import Table, Value, significant
from layerwise.present.values import rounded
from layerwise.statistics.correlation import shares_of_r

MOST_SHOWN = 1000  # pairs on the page; the CSV file has all


def pair_asymmetries(values: Values) -> Float[np.ndarray, "layer pair"]:
    """Return the asymmetry of each pair that the figures show, at every sampled layer."""
    return values.pair_metrics[:, list(METRICS).index(METRIC)]


def pair_numbers(values: Values) -> dict[str, Any]:
    """Return what the scatter of asymmetry against preference draws, as a document."""
    labels = category_labels(values.categories)
    return {
        "category": [labels[values.categories[n]] for n in values.category_of_pair.tolist()],
        "preference": values.preferences.tolist(),
        "asymmetry": {
            str(layer): asymmetries.tolist()
            for layer, asymmetries in zip(values.layers, pair_asymmetries(values), strict=True)
        },
    }


def tabulate_pairs(values: Values, pairs: StatementPairs | None) -> Table:
    """Tabulate the numbers of every pair, each with its statements.

    Arguments:
        pairs: the statements; None: they are private, and left out.
    """
    last, layer = values.pair_metrics[-1], values.layers[-1]
    earlier = pair_asymmetries(values)[:-1]
    shares = shares_of_r(pair_asymmetries(values)[-1], values.preferences)
    statements = () if pairs is None else (pairs.side_a, pairs.side_b)
    rows: list[list[Value]] = []
    for pair, (category, number) in enumerate(_numbered(values)):
        nll = values.nll[:, pair].tolist()
        of_pair = [*nll, float(values.preferences[pair]), *last[:, pair].tolist()]
        of_pair += [float(shares[pair]), *earlier[:, pair].tolist()]
        texts = [side[pair] for side in statements]
        rows.append([category, number, *texts, *of_pair])
    columns = ["category", "pair", *([] if pairs is None else ("statement A", "statement B"))]
    columns += ["NLL A (nats)", "NLL B (nats)", "preference (nats)"]
    columns += [f"{name.replace('_', ' ')} (layer {layer})" for name in METRICS]
    columns += [f"share of r (layer {layer})"]
    columns += [f"{METRIC.replace('_', ' ')} (layer {at})" for at in values.layers[:-1]]
    caption = "Every pair, numbered from 0 within its category as in the file of the pairs."
    return Table("by-pair", caption, dict.fromkeys(columns), rows)


def _numbered(values: Values) -> list[tuple[str, int]]:
    """Return category and number of every pair, as the file of the pairs has them."""
    seen = dict.fromkeys(values.categories, 0)
    numbered = []
    for category in (values.categories[n] for n in values.category_of_pair.tolist()):
        numbered.append((category, seen[category]))
        seen[category] += 1
    return numbered


def view_pairs(values: Values, pairs: StatementPairs | None) -> dict[str, Any]:
    """Return the view by statement: the pairs that make r the largest first.

    Arguments:
        pairs: the statements; None: they are private, and left out.
    """
    asymmetries = pair_asymmetries(values)[-1]
    shares = shares_of_r(asymmetries, values.preferences)
    labels, numbered = category_labels(values.categories), _numbered(values)
    decimals = len(str(values.n_pairs)) + 1  # shares are of the size 1 / n
    rows = []
    for pair in np.argsort(-np.abs(shares), kind="stable")[:MOST_SHOWN].tolist():
        category, number = numbered[pair]
        texts = {} if pairs is None else {"a": pairs.side_a[pair], "b": pairs.side_b[pair]}
        rows.append(
            {
                "pair": f"{labels[category]} {number}",
                "preference": rounded(float(values.preferences[pair]), 3, sign=True),
                "asymmetry": significant(float(asymmetries[pair]), 3),
                "share": rounded(float(shares[pair]), decimals, sign=True),
                **texts,
            }
        )
    return {
        "rows": rows,
        "n": values.n_pairs,
        "layer": values.layers[-1],
        "r": rounded(float(shares.sum()), 3, sign=True),
        "private": pairs is None,
    }
