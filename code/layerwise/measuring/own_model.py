"""All that is measured on a reader's model: numbers of pairs, prompts and matrices, by file.

What `registered_models` is for the papers' models. A reader's numbers fill the roles in which the
rules that derive statistics from print ask for them.
"""

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from layerwise import workers
from layerwise.engine.published import Published
from layerwise.errors import LayerwiseError
from layerwise.home import AGAIN
from layerwise.measures.values import sampled_layers
from layerwise.measuring.reduction import measure
from layerwise.models.hidden_states import extract
from layerwise.models.load import Checkpoint, with_random_weights
from layerwise.models.replicates import Replicates
from layerwise.models.texts import StatementPairs
from layerwise.models.token_ids import Wrapping
from layerwise.papers.experiments import own_weights, reader
from layerwise.papers.experiments.reader import Measured
from layerwise.progress import step
from layerwise.statistics.bootstrap import Draws

STEPS = 4  # of a measurement, as progress counts them


@dataclass(frozen=True)
class Measurement:
    """The measurement of a model, of replicates of it, and of random weights in its place.

    Attributes:
        pairs_name: what errors call the pairs: those of statistics are about them.
        layers: the sampled ones; None: every 4th and the last.
        published: for what the notebooks typed of other models.
        without: the parts to leave out, `gains` or `spectral`.
        template: what every statement is put into.
        seconds: how long the passes over all texts are expected to take.
        times: how often all of it is measured, with replicates and draws: progress counts to it.
        token_ids_sha256: of the ids that were planned and probed, for each kind of text.
    """

    pairs: StatementPairs
    prompts: Sequence[str]
    pairs_name: str
    layers: Sequence[int] | None
    draws: Draws
    published: Published
    without: Sequence[str] = ()
    template: Wrapping = "none"
    seconds: float | None = None
    times: int = 1
    token_ids_sha256: Sequence[str] | None = None

    def measure(self, checkpoint: Checkpoint, folder: Path) -> Measured:
        """Return the numbers of a checkpoint; its hidden states stay in `folder`, for a later run.

        Raises:
            LayerwiseError: for a layer that the model has not, a correlation that does not exist,
                or as for `extract`.
        """
        return self._measure(checkpoint, folder, self.without, 0)

    def measure_replicates(
        self, checkpoint: Checkpoint, n: int, folder: Path
    ) -> Iterator[Measured]:
        """Yield the same with rounding noise, n times; the matrices carry no noise of a pass."""
        replicates = Replicates(checkpoint)
        for number in range(n):
            with replicates.disturbed(number) as replicate:
                place = folder.parent / AGAIN / f"noise_{number}"
                part = f"replicate {number + 1} of {n}"
                measured = self._measure(replicate, place, ["spectral"], 1 + number, part)
            yield measured

    def measure_random(self, checkpoint: Checkpoint, n: int, folder: Path) -> Iterator[Measured]:
        """Yield the same of n draws of random weights."""
        for number in range(n):
            place = folder.parent / AGAIN / f"random_{number}"
            part, times = f"draw {number + 1} of {n}", self.times - n + number
            # no name for a draw: it would be there still when the next one is drawn
            yield self._measure(
                with_random_weights(checkpoint, number), place, self.without, times, part
            )

    def _measure(
        self,
        checkpoint: Checkpoint,
        folder: Path,
        without: Sequence[str],
        number: int,
        part: str = "",
    ) -> Measured:
        """Take the steps: states, measures of pairs, statistics, what needs the weights.

        Arguments:
            number: of the measurement, of `times`; `part`: what progress calls it.
        """

        def begin(which: int) -> AbstractContextManager[None]:
            return step(STEPS * number + which, STEPS * self.times, part)

        sampled = sampled_layers(checkpoint.n_layers, layers=self.layers)
        with begin(1):
            states = extract(
                checkpoint,
                self.pairs.statements,
                self.prompts,
                folder,
                template=self.template,
                seconds=self.seconds,
                token_ids_sha256=self.token_ids_sha256,
            )
        spectra = {} if "spectral" in without else own_weights.begin_spectra(checkpoint)
        with workers.dropped(spectra.values()):
            with prefix_errors(f"{self.pairs_name} with {checkpoint.name}"):
                with begin(2):
                    values = measure(states, self.pairs, layers=sampled, seed=self.draws.seed)
                with begin(3):
                    files = reader.result_files(values, self.draws, self.published)
            with begin(4):
                of_weights, absent = own_weights.files(checkpoint, states, spectra, without)
        absent = reader.without_numbers(values) | absent
        return Measured(reader.tables(files | of_weights), absent, values, states.index)


@contextlib.contextmanager
def prefix_errors(place: str) -> Iterator[None]:
    """Inside the block, an error names the place that it is about."""
    try:
        yield
    except LayerwiseError as error:
        raise LayerwiseError(f"{place}: {error}") from None
