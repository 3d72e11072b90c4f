"""How far long work has come and how long it will still take: on stderr, never in a result.

On a terminal a bar; in a log one plain line a minute, so that work of less than a minute is quiet.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

from tqdm import tqdm

QUIET = 60.0  # seconds between two lines of a log
REDRAWN = 1.0  # seconds until a bar shows the time again
T = TypeVar("T")


@runtime_checkable
class Advance(Protocol):
    """Tells how much was done since the last call, and what is being done now."""

    def __call__(self, n: int = 1, note: str = "") -> None: ...


@contextlib.contextmanager
def meter(
    what: str, unit: str = "", total: int | None = None, *, shown: bool = True
) -> Iterator[Advance]:
    """Inside the block, show how far `what` has come; the block calls `advance`.

    Args:
        what: the work, e.g. a model.
        unit: what is counted, in the plural.
        total: how many there are; None: nobody knows, and only the time is shown.
        shown: False shows nothing: another process does, or nobody looks.
    """
    if not shown:
        yield lambda n=1, note="": None
    elif sys.stderr.isatty():
        with _bar(what, unit, total) as bar, _every(REDRAWN, bar.refresh):

            def advance(n: int = 1, note: str = "") -> None:
                bar.set_postfix_str(note, refresh=False)
                bar.update(n)

            yield advance
    else:
        state = _State(what, unit, total)
        with _every(QUIET, lambda: print(state.line(), file=sys.stderr, flush=True)):
            yield state.advance


def track(
    items: Iterable[T],
    what: str,
    unit: str,
    total: int,
    *,
    size: Callable[[T], int] = lambda item: 1,
    shown: bool = True,
) -> Generator[T, None, None]:
    """The items, one by one, counted by `size` once the next is asked for."""
    with meter(what, unit, total, shown=shown) as advance:
        for item in items:
            yield item
            advance(size(item))


def say(line: str) -> None:
    """A line on stderr, beside what a meter shows."""
    tqdm.write(line, file=sys.stderr)


class _State:
    """What a line of a log says."""

    def __init__(self, what: str, unit: str, total: int | None) -> None:
        self.what, self.unit, self.total = what, unit, total
        self.done, self.note = 0, ""
        self.started = time.monotonic()

    def advance(self, n: int = 1, note: str = "") -> None:
        self.done += n
        self.note = note

    def line(self) -> str:
        return progress_line(
            self.what,
            self.unit,
            self.done,
            self.total,
            time.monotonic() - self.started,
            self.note,
        )


def progress_line(
    what: str, unit: str, done: int, total: int | None, seconds: float, note: str = ""
) -> str:
    """`what: done of total unit (note), time left`; the time so far where none is known."""
    parts = [] if total is None else [f"{done} of {total} {unit}"]
    if total is None or done == 0:
        parts.append(f"{spell(seconds)} so far")
    else:
        parts.append(f"{spell(seconds / done * (total - done))} left")
    if note:
        parts[0] += f" ({note})"
    return f"{what}: {', '.join(parts)}"


def spell(seconds: float) -> str:
    """A time as a reader wants it: `40 s`, `3 min`, `2 h 5 min`."""
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _bar(what: str, unit: str, total: int | None) -> tqdm:
    counted = (
        f"{{l_bar}}{{bar}}| {{n_fmt}}/{{total_fmt}} {unit} [{{elapsed}}<{{remaining}}{{postfix}}]"
    )
    # smoothing=0: the mean rate of all that was done, as in a log
    return tqdm(
        total=total, desc=what, bar_format=counted if total is not None else _TIMED, smoothing=0,
        leave=False, dynamic_ncols=True, file=sys.stderr,
    )  # fmt: skip


_TIMED = "{desc}, {elapsed}{postfix}"


@contextlib.contextmanager
def _every(seconds: float, tell: Callable[[], object]) -> Iterator[None]:
    """Inside the block, call `tell` that often, beside the work."""
    over = threading.Event()

    def run() -> None:
        while not over.wait(seconds):
            tell()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
