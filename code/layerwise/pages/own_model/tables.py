"""The table of the pairs of a reader's own model."""

from layerwise.measures.pairwise import METRICS
from layerwise.measures.values import Values
from layerwise.pages.tables import Table


def by_pair(values: Values) -> Table:
    """A row per pair: what the statements themselves gave; their texts stay where they are."""
    last = values.pair_metrics[-1]
    first: dict[int, int] = {}
    rows = []
    for pair, category in enumerate(values.category_of_pair.tolist()):
        number = pair - first.setdefault(category, pair)
        nll = values.nll[:, pair].tolist()
        of_pair = [*nll, float(values.preferences[pair]), *last[:, pair].tolist()]
        rows.append([values.categories[category], number, *of_pair])
    columns = ("category", "pair", "NLL A (nats)", "NLL B (nats)", "preference (nats)")
    metrics = [f"{name.replace('_', ' ')} (layer {values.layers[-1]})" for name in METRICS]
    caption = "Every pair, numbered from 0 within its category as in the file of the pairs."
    return Table("by-pair", caption, dict.fromkeys((*columns, *metrics)), rows)
