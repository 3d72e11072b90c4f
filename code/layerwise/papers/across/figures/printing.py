"""Figures as files, drawn by other processes: who asks for them does without matplotlib."""

from collections.abc import Iterable, Iterator

from layerwise import workers
from layerwise.present.figures.numbers import Numbers
from layerwise.present.figures.picture import Picture


def print_all(numbers: Numbers, names: Iterable[str], *, narrow: bool = False) -> Iterator[Picture]:
    """Yield figures as their files, in order.

    Arguments:
        narrow: draw them for a phone too.
    """
    return workers.results_in_order(_print, ((name, numbers, narrow) for name in names))


def _print(name: str, numbers: Numbers, narrow: bool) -> Picture:
    from layerwise.papers.across.figures.drawing import draw_picture

    return draw_picture(name, numbers, narrow)
