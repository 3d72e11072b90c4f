"""A loaded checkpoint -> a `Result`: the pipeline's steps on one model, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from layerwise.engine.question import (
    ModelAnswers,
    Results,
    compare_replicates,
    numbers_of_draws,
)
from layerwise.errors import LayerwiseError
from layerwise.files import n_processes
from layerwise.measuring.reasons import reason_of
from layerwise.models.fitting import is_out_of_memory
from layerwise.models.load import Checkpoint
from layerwise.models.peft_objects import count_left_out, idle_adapters
from layerwise.models.plain_text import nll_of_paragraph
from layerwise.papers.across.analyses import analyse_reader
from layerwise.papers.across.answers import answers
from layerwise.papers.experiments.reader import Measured
from layerwise.reader.files import CONTROL, REPLICATES
from layerwise.reader.foreseen import first_statement, foresee_cautions
from layerwise.reader.measurement import Measurement
from layerwise.reader.page.cautions import (
    WEIGHTS_AS_EXACT,
    Predicted,
    idle_cautions,
    left_out_cautions,
    prediction_cautions,
    quantised_cautions,
)
from layerwise.reader.page.of_one import page_of
from layerwise.reader.papers import Papers, papers
from layerwise.reader.prepared import Prepared
from layerwise.reader.result import Result
from layerwise.reader.run_record import RunRecord, run_record, with_record
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, Draws


def analyze_checkpoint(
    checkpoint: Checkpoint, prepared: Prepared, states: Path, out: Path | None = None
) -> Result:
    """Return the papers' documents on a checkpoint, their questions asked of it, figures and page.

    Arguments:
        states: the folder of the hidden states, which stay there.
        out: the folder of the result files; None: none are written, and a figure is drawn when it
            is asked for.

    Raises:
        LayerwiseError: as for `Measurement.measure`, or for a statistic that these numbers lack.
    """
    choices = prepared.request.choices
    draws = Draws(N_RESAMPLES, LEVEL, choices["seed"])  # as the papers drew, but for the seed
    of_papers = papers(draws)
    measurement = Measurement(prepared, draws, of_papers.numbers)
    # what needs no pass comes first, so that nothing is lost where it fails
    foreseen, first = foresee_cautions(prepared), first_statement(prepared)
    measured = measurement.measure(checkpoint, states)
    documents = analyse_reader(measured.numbers, draws)
    answered = answers(documents, of_papers.printed)
    analysis = Analysis(checkpoint, prepared, draws, measured, documents, answered, first)
    warned = [*foreseen, *analysis.model_cautions()]
    # again after rounding noise, and of random weights
    ask = partial(_ask_all, of_papers, draws)
    n_replicates, n_draws = prepared.replicates, choices["control"]
    noisy = measurement.measure_replicates(checkpoint, n_replicates, states)
    noise, lost = ask(noisy, n_replicates, "replicates with rounding noise")
    beside = {REPLICATES: compare_replicates(answered, noise)}
    result = analysis.result(beside, [*warned, *lost], of_papers, out)
    if n_draws:  # whatever becomes of a second model in memory, this result is there
        drawn = measurement.measure_random(checkpoint, n_draws, states)
        control, lost_draws = ask(drawn, n_draws, "draws of random weights")
        beside |= {CONTROL: numbers_of_draws(answered, control)}
        result = analysis.result(beside, [*warned, *lost, *lost_draws], of_papers, out)
    return result


def _ask_all(
    of_papers: Papers, draws: Draws, runs: Iterator[Measured], n: int, what: str
) -> tuple[list[list[ModelAnswers]], list[str]]:
    """Ask the papers' questions of n runs: the answers, and a sentence on runs that are not there.

    One that fails ends them, and leaves the model's own results whole.
    """
    answered: list[list[ModelAnswers]] = []
    try:
        for measured in runs:
            answered.append(answers(analyse_reader(measured.numbers, draws), of_papers.printed))
    except Exception as error:
        is_foreseen = isinstance(error, LayerwiseError) or is_out_of_memory(error)
        if not is_foreseen or n_processes() > 1:  # where others would wait for this one
            raise
        return answered, [f"{len(answered)} of {n} {what} were measured: {reason_of(error)}."]
    return answered, []


@dataclass(frozen=True)
class Analysis:
    """A checkpoint, measured and analysed.

    Attributes:
        answered: the papers' questions on it.
        first: the first statement as the tokenizer is given it, and its token ids.
    """

    checkpoint: Checkpoint
    prepared: Prepared
    draws: Draws
    measured: Measured
    documents: Results
    answered: Sequence[ModelAnswers]
    first: tuple[str, str]

    @cached_property
    def predicted(self) -> Predicted:
        """How well the model predicts the statements, and a paragraph of plain text."""
        output = self.measured.values.known_output
        return Predicted(
            float(output.nll.mean()),
            nll_of_paragraph(self.checkpoint),
            self.checkpoint.declaration.n_embeddings,
        )

    def model_cautions(self) -> list[str]:
        """Return the warnings that the loaded model calls for."""
        checkpoint, warned = self.checkpoint, []
        if not checkpoint.has_random_weights:  # of which the page warns already
            warned += prediction_cautions(self.predicted)
        if checkpoint.in_memory:
            warned += left_out_cautions(count_left_out(checkpoint.model))
            warned += idle_cautions(idle_adapters(checkpoint.model))
            warned += quantised_cautions(checkpoint.quantised)
            warned += [WEIGHTS_AS_EXACT] if self.prepared.replicates else []
        return warned

    @property
    def record(self) -> RunRecord:
        """The record of the run, which each of its documents holds."""
        request = self.prepared.request
        limit = request.choices["limit"] if len(request.pairs) < request.n_given else None
        index, layers = self.measured.index, self.prepared.sampled
        return run_record(index, request.pairs, request.prompts, layers, self.draws, limit)

    def result(
        self,
        beside: Results,
        warned: Sequence[str],
        of_papers: Papers,
        out: Path | None,
    ) -> Result:
        """Return the result so far; drawn and written, where there is a folder for it.

        Arguments:
            beside: the documents of replicates and of random weights.
        """
        request = self.prepared.request
        has_template = bool(getattr(self.checkpoint.tokenizer, "chat_template", None))
        documents = {**self.documents, **{name: part for name, part in beside.items() if part}}
        recorded = with_record(documents, self.record)
        page = page_of(
            self.measured,
            documents,
            self.answered,
            beside,
            request.pairs,
            self.draws,
            self.first,
            self.predicted,
            random_weights=self.checkpoint.has_random_weights,
            foreseen=warned,
            unused_template=has_template and request.template == "none",
            private=request.choices["private_texts"],
        )
        # in grey are the papers' curves
        result = Result({self.checkpoint.display: recorded}, recorded, page, of_papers.curves)
        return result if out is None else result.save(out)
