"""The weights of the models to come, fetched and compared while one is measured."""

import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

AHEAD = 2  # models: the second only where there is room for it
COMMAND = [sys.executable, "-P", "-m", "layerwise.run.cli", "fetch", "--weights"]
LOOKS = 0.2  # seconds between looks at a process


class LookAhead:
    """Processes that fetch weights, one after the other; they end with the block."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)
        self.fetches: dict[str, Future[None]] = {}
        self.is_over = Event()

    def __enter__(self) -> "LookAhead":
        return self

    def fetch(self, slugs: Iterable[str]) -> None:
        """Have the weights of these models fetched in this order.

        That some cannot be had is their own stage's to say; those for which there was no room are
        tried again when they are named again.
        """
        for slug in slugs:
            if slug not in self.fetches or self.fetches[slug].done():
                self.fetches[slug] = self.pool.submit(self._run, slug)

    def wait_for(self, slug: str) -> None:
        """Wait until a model's weights are there, or refused, if they are on their way."""
        if slug in self.fetches:
            self.fetches[slug].result()

    def _run(self, slug: str) -> None:
        silent = subprocess.DEVNULL
        command = [*COMMAND, slug]
        with subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent) as process:
            while process.poll() is None and not self.is_over.wait(LOOKS):
                pass
            process.terminate()  # nothing, where it has ended

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.pool.shutdown(cancel_futures=True)
