"""Pair by pair: both statements, asymmetry, preference, and what the pair adds to r."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import numpy as np
from jaxtyping import Float

from layerwise.engine.words import category_labels
from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values
from layerwise.models.texts import StatementPairs
from layerwise.papers.shared import quantities
from layerwise.papers.shared.result_files import METRIC
from layerwise.present.csv_text import Value
from layerwise.present.tables import Table, significant
from layerwise.present.values import rounded
from layerwise.statistics.correlation import shares_of_r

MOST_SHOWN = 1000  # pairs on the page; the CSV file has all
TEXTS = ("statement A", "statement B")


def pair_asymmetries(values: Values) -> Float[np.ndarray, "layer pair"]:
    """Return the asymmetry of each pair that the figures show, at every sampled layer."""
    return values.pair_metrics[:, list(METRICS).index(METRIC)]


class PairNumbers(TypedDict):
    """What the scatter of asymmetry against preference draws: a number per pair."""

    category: list[str]
    preference: list[float]
    asymmetry: dict[str, list[float]]  # by layer


class PairRow(TypedDict):
    """A pair as the view by statement shows it; without statements where they are private."""

    pair: str
    numbers: list[str]
    a: NotRequired[str]
    b: NotRequired[str]


@dataclass(frozen=True)
class PairView:
    """The view by statement.

    Attributes:
        numbers: what the numbers of a row are.
        n: all pairs, of which `rows` may be some; `layer`: of the asymmetry.
        r: the sum of the shares; None without preferences.
    """

    rows: list[PairRow]
    numbers: list[str]
    n: int
    layer: int
    r: str | None
    private: bool


def pair_numbers(values: Values) -> PairNumbers:
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
    metric, layer = METRIC.replace("_", " "), values.layers[-1]
    series = {f"{name.replace('_', ' ')} (layer {layer})": row for name, row in _last(values)}
    if values.output is not None:
        nll = values.output.nll
        of_output = {"NLL A (nats)": nll[0], "NLL B (nats)": nll[1]}
        series = {**of_output, quantities.PREFERENCE: values.preferences, **series}
        series[f"share of r (layer {layer})"] = _shares(values)
    earlier = zip(values.layers[:-1], pair_asymmetries(values)[:-1], strict=True)
    series |= {f"{metric} (layer {at})": row for at, row in earlier}
    statements = () if pairs is None else (pairs.side_a, pairs.side_b)
    rows: list[list[Value]] = []
    for pair, (category, number) in enumerate(_numbered(values)):
        texts = [side[pair] for side in statements]
        rows.append([category, number, *texts, *(float(row[pair]) for row in series.values())])
    columns = ("category", "pair", *TEXTS[: len(statements)], *series)
    caption = "Every pair, numbered from 0 within its category as in the file of the pairs."
    return Table("by-pair", caption, dict.fromkeys(columns), rows)


def view_pairs(values: Values, pairs: StatementPairs | None) -> PairView:
    """Return the view by statement: the pairs that make r first, or those of most asymmetry.

    Arguments:
        pairs: the statements; None: they are private, and left out.
    """
    asymmetries = pair_asymmetries(values)[-1]
    labels, numbered = category_labels(values.categories), _numbered(values)
    shown = {"asymmetry": [significant(float(value), 3) for value in asymmetries]}
    weights, r = asymmetries, None
    if values.output is not None:
        weights = _shares(values)
        r = rounded(float(weights.sum()), 3, sign=True)
        decimals = len(str(values.n_pairs)) + 1  # shares are of the size 1 / n
        for name, numbers, places in (
            ("preference", values.preferences, 3),
            ("share of r", weights, decimals),
        ):
            shown[name] = [rounded(float(value), places, sign=True) for value in numbers]
    rows: list[PairRow] = []
    for pair in np.argsort(-np.abs(weights), kind="stable")[:MOST_SHOWN].tolist():
        category, number = numbered[pair]
        cells = [column[pair] for column in shown.values()]
        row: PairRow = {"pair": f"{labels[category]} {number}", "numbers": cells}
        if pairs is not None:
            row |= {"a": pairs.side_a[pair], "b": pairs.side_b[pair]}
        rows.append(row)
    return PairView(rows, list(shown), values.n_pairs, values.layers[-1], r, pairs is None)


def _last(values: Values) -> Iterable[tuple[str, Float[np.ndarray, " pair"]]]:
    """Return every measure of the pairs at the last layer, by name."""
    return zip(METRICS, values.pair_metrics[-1], strict=True)


def _shares(values: Values) -> Float[np.ndarray, " pair"]:
    """Return what each pair adds to r at the last layer."""
    return shares_of_r(pair_asymmetries(values)[-1], values.preferences)


def _numbered(values: Values) -> list[tuple[str, int]]:
    """Return category and number of every pair, as the file of the pairs has them."""
    seen = dict.fromkeys(values.categories, 0)
    numbered = []
    for category in (values.categories[n] for n in values.category_of_pair.tolist()):
        numbered.append((category, seen[category]))
        seen[category] += 1
    return numbered
