"""A loaded checkpoint -> a `Result`: the pipeline's steps on one model, in order."""

from pathlib import Path

from layerwise.analyses import depth_curves, of_reader
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.questions.answers import Answer, answers, in_print
from layerwise.analyses.questions.beside import CONTROL, REPLICATES, controlled, replicated
from layerwise.experiments.of_own_model import Measured, Measuring
from layerwise.extraction.load import Checkpoint
from layerwise.extraction.rounding import rounds
from layerwise.inputs.published import read_published
from layerwise.inputs.upstream import PUBLISHED
from layerwise.pages.own_model.of_one import page_of
from layerwise.reader.request import Request
from layerwise.reader.result import Result
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, Draws


def analyze_checkpoint(
    checkpoint: Checkpoint, request: Request, states: Path, out: Path | None = None
) -> Result:
    """The papers' documents on a checkpoint, their questions asked of it, figures and page.

    Arguments:
        states: the folder of the hidden states, which stay there.
        out: the folder of the result files; None: none are written, and a figure is drawn when it
            is asked for.

    Raises:
        LayerwiseError: as for `Measuring.of`, or for a statistic that these numbers do not have.
    """
    choices, published = request.choices, read_published(PUBLISHED)
    draws = Draws(N_RESAMPLES, LEVEL, choices["seed"])  # as the papers drew, but for the seed
    papers = Evidence(published, draws)
    printed = in_print(papers)
    measuring = Measuring(
        request.pairs,
        request.prompts,
        request.pairs_name,
        choices["layers"],
        draws,
        published,
        choices["without"],
    )

    def ask(measured: Measured) -> list[Answer]:
        return answers(of_reader(measured.numbers, draws), printed)

    # fill: the lowest level of numbers, in the places of the published files
    measured = measuring.of(checkpoint, states)
    # analyse: documents, by the rules of the published files
    documents = of_reader(measured.numbers, draws)
    # ask: the papers' questions; again after rounding noise, and of random weights
    answered = answers(documents, printed)
    n_noisy = choices["replicates"] if rounds(checkpoint.dtype) else 0
    noisy = map(ask, measuring.replicates(checkpoint, n_noisy, states))
    random = map(ask, measuring.random_weights(checkpoint, choices["control"], states))
    beside = {
        REPLICATES: replicated(answered, list(noisy)),
        CONTROL: controlled(answered, list(random)),
    }
    documents |= {name: document for name, document in beside.items() if document}
    # page: what it says; in grey are the papers' curves
    page = page_of(checkpoint, measured, documents, answered, beside, request.pairs, draws)
    curves = depth_curves.published(papers)
    result = Result({checkpoint.display: documents}, documents, page, curves)
    # draw, and write everything
    return result if out is None else result.save(out)
