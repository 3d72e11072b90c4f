"""All that is measured on a reader's model: numbers of pairs, prompts and matrices, by file.

What `measuring.registered_models` is for the papers' models. A reader's numbers fill the roles in
which the rules that derive statistics from print ask for them.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from layerwise import workers
from layerwise.engine.published import Published
from layerwise.errors import prefix_errors
from layerwise.home import AGAIN
from layerwise.measuring.reduction import measure
from layerwise.models.hidden_states import extract
from layerwise.models.load import Checkpoint, with_random_weights
from layerwise.models.replicates import Replicates
from layerwise.models.store import HiddenStates
from layerwise.models.token_ids import digests_of_ids
from layerwise.papers.experiments import own_weights, reader
from layerwise.papers.experiments.reader import Measured
from layerwise.progress import step
from layerwise.reader.plan import seconds_of_passes
from layerwise.reader.prepared import Prepared
from layerwise.statistics.bootstrap import Draws

STEPS = 4  # of a measurement, as progress counts them


@dataclass(frozen=True)
class Measurement:
    """The measurement of a model, of replicates of it, and of random weights in its place.

    Attributes:
        published: for what the notebooks typed of other models.
    """

    prepared: Prepared
    draws: Draws
    published: Published

    def measure(self, checkpoint: Checkpoint, folder: Path) -> Measured:
        """Return the numbers of a checkpoint; its hidden states stay in `folder`, for a later run.

        Raises:
            LayerwiseError: for a layer that the model has not, a correlation that does not exist,
                or as for `extract`.
        """
        return self._measure(checkpoint, folder, self._left_out, 0)

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
            part, which = f"draw {number + 1} of {n}", self.prepared.times - n + number
            # no name for a draw: it would be there still when the next one is drawn
            yield self._measure(
                with_random_weights(checkpoint, number), place, self._left_out, which, part
            )

    @property
    def _left_out(self) -> Sequence[str]:
        """The parts that are not asked for, `gains` or `spectral`."""
        return self.prepared.request.choices["without"]

    def _extract(self, checkpoint: Checkpoint, folder: Path) -> HiddenStates:
        """Return the states of the requested texts, whose ids are those that were prepared."""
        prepared, request = self.prepared, self.prepared.request
        return extract(
            checkpoint,
            request.pairs.statements,
            request.prompts,
            folder,
            template=request.template,
            seconds=seconds_of_passes(prepared),
            token_ids_sha256=digests_of_ids(prepared.ids),
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
        prepared, request = self.prepared, self.prepared.request

        def begin(which: int) -> AbstractContextManager[None]:
            return step(STEPS * number + which, STEPS * prepared.times, part)

        with begin(1):
            states = self._extract(checkpoint, folder)
        spectra = {} if "spectral" in without else own_weights.begin_spectra(checkpoint)
        with workers.dropped(spectra.values()):
            with prefix_errors(f"{request.pairs_name} with {checkpoint.name}"):
                with begin(2):
                    values = measure(
                        states, request.pairs, layers=prepared.sampled, seed=self.draws.seed
                    )
                with begin(3):
                    files = reader.result_files(values, self.draws, self.published)
            with begin(4):
                of_weights, absent = own_weights.files(checkpoint, states, spectra, without)
        absent = reader.without_numbers(values) | absent
        return Measured(reader.tables(files | of_weights), absent, values, states.index)
