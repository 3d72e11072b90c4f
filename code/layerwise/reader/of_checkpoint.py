"""A loaded checkpoint -> a `Result`: the pipeline's steps on one model, in order."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from layerwise.engine.question import ModelAnswers, compare_replicates, numbers_of_draws
from layerwise.errors import LayerwiseError
from layerwise.files import n_processes
from layerwise.measuring.own_model import Measurement
from layerwise.measuring.reasons import reason_of
from layerwise.models.fitting import is_out_of_memory
from layerwise.models.load import Checkpoint
from layerwise.models.peft_objects import count_left_out, idle_adapters
from layerwise.models.plain_text import nll_of_paragraph
from layerwise.models.token_ids import digests_of_ids
from layerwise.papers.across.analyses import analyse_reader
from layerwise.papers.across.answers import answers
from layerwise.papers.experiments.reader import Measured
from layerwise.reader.files import CONTROL, REPLICATES
from layerwise.reader.foreseen import first_statement, foresee_cautions
from layerwise.reader.page.cautions import (
    WEIGHTS_AS_EXACT,
    Predicted,
    idle_cautions,
    left_out_cautions,
    prediction_cautions,
    quantised_cautions,
)
from layerwise.reader.page.of_one import page_of
from layerwise.reader.papers import papers
from layerwise.reader.plan import seconds_of_passes
from layerwise.reader.prepared import Prepared
from layerwise.reader.result import Result
from layerwise.reader.run_record import run_record, with_record
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
    request = prepared.request
    choices = request.choices
    draws = Draws(N_RESAMPLES, LEVEL, choices["seed"])  # as the papers drew, but for the seed
    of_papers = papers(draws)
    measurement = Measurement(
        request.pairs,
        request.prompts,
        request.pairs_name,
        choices["layers"],
        draws,
        of_papers.numbers,
        choices["without"],
        request.template,
        seconds_of_passes(prepared),
        prepared.times,
        digests_of_ids(prepared.ids),
    )

    def ask(measured: Measured) -> list[ModelAnswers]:
        return answers(analyse_reader(measured.numbers, draws), of_papers.printed)

    # foresee: what needs no pass comes first, so that nothing is lost where it fails
    warned, first = foresee_cautions(prepared), first_statement(prepared)
    # fill: the lowest level of numbers, in the places of the published files
    measured = measurement.measure(checkpoint, states)
    # analyse: documents, by the rules of the published files
    documents = analyse_reader(measured.numbers, draws)
    # ask: the papers' questions; again after rounding noise, and of random weights
    answered = answers(documents, of_papers.printed)
    lost: list[str] = []  # what of them is not there, and why

    def ask_all(runs: Iterator[Measured], n: int, what: str) -> list[list[ModelAnswers]]:
        """Ask n runs; one that fails ends them, and leaves the model's own results whole."""
        asked: list[list[ModelAnswers]] = []
        try:
            asked.extend(map(ask, runs))
        except Exception as error:
            is_foreseen = isinstance(error, LayerwiseError) or is_out_of_memory(error)
            if not is_foreseen or n_processes() > 1:  # where others would wait for this one
                raise
            lost.append(f"{len(asked)} of {n} {what} were measured: {reason_of(error)}.")
        return asked

    # page: what it says; in grey are the papers' curves
    has_template = bool(getattr(checkpoint.tokenizer, "chat_template", None))
    predicted = Predicted(
        float(measured.values.known_output.nll.mean()),
        nll_of_paragraph(checkpoint),
        checkpoint.declaration.n_embeddings,
    )
    if not checkpoint.has_random_weights:  # of which the page warns already
        warned += prediction_cautions(predicted)
    if checkpoint.in_memory:
        warned += left_out_cautions(count_left_out(checkpoint.model))
        warned += idle_cautions(idle_adapters(checkpoint.model))
        warned += quantised_cautions(checkpoint.quantised)
        warned += [WEIGHTS_AS_EXACT] if prepared.replicates else []
    limit = choices["limit"] if len(request.pairs) < request.n_given else None
    record = run_record(
        measured.index, request.pairs, request.prompts, prepared.sampled, draws, limit
    )

    def result(beside: Mapping[str, Mapping[str, Any]]) -> Result:
        """Return the result so far; drawn and written, where there is a folder for it."""
        present = documents | {name: document for name, document in beside.items() if document}
        whole = with_record(present, record)
        page = page_of(
            measured,
            present,
            answered,
            beside,
            request.pairs,
            draws,
            first,
            predicted,
            random_weights=checkpoint.has_random_weights,
            foreseen=[*warned, *lost],
            unused_template=has_template and request.template == "none",
            private=choices["private_texts"],
        )
        made = Result({checkpoint.display: whole}, whole, page, of_papers.curves)
        return made if out is None else made.save(out)

    noisy = measurement.measure_replicates(checkpoint, prepared.replicates, states)
    noise = ask_all(noisy, prepared.replicates, "replicates with rounding noise")
    beside = {REPLICATES: compare_replicates(answered, noise)}
    if n_draws := choices["control"]:
        result(beside)  # whatever becomes of a second model in memory, this is there
        drawn = measurement.measure_random(checkpoint, n_draws, states)
        answers_of_draws = ask_all(drawn, n_draws, "draws of random weights")
        beside |= {CONTROL: numbers_of_draws(answered, answers_of_draws)}
    return result(beside)
