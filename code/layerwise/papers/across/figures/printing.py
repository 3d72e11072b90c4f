"""Figures as files, drawn by other processes: who asks for them does without matplotlib."""

from collections.abc import Iterable, Iterator
from functools import partial

from layerwise import workers
from layerwise.present.figures.numbers import Numbers
from layerwise.present.figures.picture import Picture
from layerwise.progress import say


def print_all(numbers: Numbers, names: Iterable[str], *, narrow: bool = False) -> Iterator[Picture]:
    """Yield figures as their files, in order.

    Arguments:
        narrow: draw them for a phone too.
    """
    return workers.results_in_order(_print, ((name, numbers, narrow) for name in names))


def print_possible(numbers: Numbers, names: Iterable[str]) -> Iterator[Picture]:
    """Yield figures as their files, and say which are lost because a process ended."""
    futures = {
        name: workers.submit(_print, partial(tuple, (name, numbers, False))) for name in names
    }
    with workers.dropped(futures.values()):
        for name, future in futures.items():
            try:
                yield future.result()
            except workers.WorkerError as error:
                say(f"no figure {name}: {error}")


def _print(name: str, numbers: Numbers, narrow: bool) -> Picture:
    from layerwise.papers.across.figures.drawing import draw_picture

    return draw_picture(name, numbers, narrow)
