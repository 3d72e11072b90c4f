"""How far long work has come and how long it will still take: on stderr, never in a result.

On a terminal a bar; in a log one plain line a minute, so that work of less than a minute is quiet.
"""

import contextlib
import io
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, MutableMapping
from contextvars import ContextVar
from typing import Any, TypeVar

from tqdm import tqdm

from layerwise.files import is_first_process

QUIET = 60.0  # seconds between two lines of a log
PRIOR = 0.1  # of the work: how much the expected time weighs beside what was seen
REDRAWN = 1.0  # seconds until a bar shows the time again
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} {unit} [{elapsed}<{remaining}{postfix}]"
LINE = "{desc}: {n_fmt} of {total_fmt} {unit}, {elapsed} so far, {remaining} left{postfix}"
TIME = "{desc}: {elapsed} so far{postfix}"  # where nobody knows how much there is
T = TypeVar("T")
_STEP = ContextVar("step", default="")


Advance = Callable[..., None]  # (n=1, note=""): how many more are done, and what is under way


class _Bar(tqdm):
    """A bar whose time left begins with an estimate, and leaves it as far as work is done.

    The estimate counts as a part `PRIOR` of the work that was done at its rate; without one the
    rate is the mean of all that was done.
    """

    expected: float | None = None  # seconds

    @property
    def format_dict(self) -> MutableMapping[str, Any]:
        state = super().format_dict
        if self.expected and self.total:
            done = state["n"] + PRIOR * self.total
            state["rate"] = done / (state["elapsed"] + PRIOR * self.expected)
        return state


@contextlib.contextmanager
def step(number: int, total: int, part: str = "") -> Iterator[None]:
    """Inside the block every meter begins with "step 3 of 8", and the part that it belongs to."""
    prefix = f"step {number} of {total}, {part}: " if part else f"step {number} of {total}: "
    token = _STEP.set(prefix)
    try:
        yield
    finally:
        _STEP.reset(token)


@contextlib.contextmanager
def meter(
    what: str, unit: str = "", total: int | None = None, seconds: float | None = None
) -> Iterator[Advance]:
    """Inside the block, the first process shows how far `what` has come; the block calls `advance`.

    Args:
        what: the work, e.g. a model.
        unit: what is counted, in the plural.
        total: how many there are; None: nobody knows, and only the time is shown.
        seconds: how long all of it is expected to take.
    """
    if not is_first_process():
        yield lambda n=1, note="": None
        return
    drawn = sys.stderr.isatty()
    # smoothing=0: the time left is by the mean rate of all that was done
    with _Bar(
        total=total,
        desc=f"{_STEP.get()}{what}",
        unit=unit,
        smoothing=0,
        leave=False,
        dynamic_ncols=True,
        bar_format=TIME if total is None else BAR if drawn else LINE,
        file=sys.stderr if drawn else io.StringIO(),
    ) as bar:
        bar.expected = seconds

        def advance(n: int = 1, note: str = "") -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update(n)

        def tell() -> None:
            print(bar, file=sys.stderr, flush=True)

        with _call_every(*((REDRAWN, bar.refresh) if drawn else (QUIET, tell))):
            yield advance


def track(items: Iterable[T], what: str, unit: str, total: int) -> Generator[T, None, None]:
    """Yield the items one by one, counted once the next is asked for."""
    with meter(what, unit, total) as advance:
        for item in items:
            yield item
            advance()


def say(line: str) -> None:
    """Print a line on stderr, beside what a meter shows."""
    tqdm.write(line, file=sys.stderr)


@contextlib.contextmanager
def _call_every(seconds: float, tell: Callable[[], object]) -> Iterator[None]:
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
