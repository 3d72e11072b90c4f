"""The figures of readers' own models, their names made harmless for matplotlib."""

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from layerwise.engine.question import Results
from layerwise.engine.words import display_names, label_model
from layerwise.files import JsonObject
from layerwise.home import find_home
from layerwise.models.registry import read_models
from layerwise.papers.across.rules import drawn
from layerwise.papers.shared.terms import OVER_MODELS
from layerwise.present.figures.numbers import OWN, Curves, Numbers
from layerwise.reader.files import FIGURES, FIGURES_ACROSS
from layerwise.reader.page.statements import PairNumbers

OF_ONE, ACROSS = FIGURES, FIGURES_ACROSS
LONGEST = 26  # characters of a name: three fit beside each other below a panel
LEFT_OUT = "_without_one"  # of the validation: r by the category that is left out
NO_GLYPH = "\u25a1"


def label(name: str) -> str:
    """Return a name as a label: no mathematics, cut short, a box for what the font lacks."""
    from matplotlib import font_manager

    from layerwise.present.figures.style import house_style

    with house_style():
        font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    drawn = "".join(sign if font.get_char_index(ord(sign)) else NO_GLYPH for sign in short)
    return drawn.replace("$", r"\$")


def labels(names: Sequence[str]) -> dict[str, str]:
    """Return a different label for every name; none begins with an underscore."""
    made: dict[str, str] = {}
    for number, name in enumerate(names, start=1):
        short = label(name).lstrip("_")  # matplotlib hides entries that begin with one
        made[name] = f"{short} ({number})" if short in made.values() else short
    return made


@cache
def _displays() -> dict[str, str]:
    return display_names(read_models(find_home() / "models.yaml"))


def display_name(name: str) -> str:
    """Return the name that texts and labels give one of the papers' models."""
    return label_model(name, _displays())


def numbers_of(
    models: Mapping[str, Results],
    *,
    random_weights: bool = False,
    beside: Curves | None = None,
    by_pair: Mapping[str, PairNumbers] = MappingProxyType({}),
) -> Numbers:
    """Return the numbers of readers' models, as figures read them.

    Arguments:
        models: by display name, then by analysis, as the JSON files hold them.
        random_weights: mark each: its numbers mean nothing.
        beside: the papers' curves.
        by_pair: the numbers of single pairs, which no result document holds, by display name.
    """
    statistics: dict[str, dict[str, JsonObject]] = {OVER_MODELS: drawn.drawn_over_models(models)}
    for display, documents in models.items():
        for analysis, document in drawn.add_drawn(documents).items():
            named = LABELLED[analysis](document) if analysis in LABELLED else document
            statistics.setdefault(analysis, {})[display] = named
    if by_pair:
        statistics["by_pair"] = {display: _by_pair(entry) for display, entry in by_pair.items()}
    in_grey = {
        quantity: {display_name(name): curve for name, curve in curves.items()}
        for quantity, curves in (beside or {}).items()
    }
    return Numbers(
        OWN, statistics, labels(list(models)), random_weights=random_weights, beside=in_grey
    )


def _by_pair(document: PairNumbers) -> PairNumbers:
    """Return the document with labels for the names of categories."""
    names = labels([*dict.fromkeys(document["category"])])
    return {**document, "category": [names[name] for name in document["category"]]}


def _sensitivity(document: JsonObject) -> JsonObject:
    """Return the document with labels for names."""
    by_layer = document.get("within_categories") or {}
    names = labels(
        [*dict.fromkeys(name for row in by_layer.values() for name in row["by_category"])]
    )
    shown = {
        layer: {**row, "by_category": {names[name]: r for name, r in row["by_category"].items()}}
        for layer, row in by_layer.items()
    }
    return {**document, "within_categories": shown or None}


def _validation(document: JsonObject) -> JsonObject:
    """Return the document with labels for names."""
    names = labels([name for name in document if not name.startswith("_")])
    shown = {names.get(name, name): entry for name, entry in document.items()}
    if LEFT_OUT in document:
        shown[LEFT_OUT] = {names[name]: r for name, r in document[LEFT_OUT].items()}
    return shown


# Documents in which names of categories stand, which a figure writes.
LABELLED = {"validation": _validation, "sensitivity": _sensitivity}
