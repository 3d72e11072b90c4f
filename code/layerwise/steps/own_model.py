"""A loaded checkpoint, pairs and prompts -> the papers' analyses of them."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import layerwise
from layerwise import workers
from layerwise.analyses import depth_curves, of_reader
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.questions.answers import answers, in_print
from layerwise.analyses.questions.beside import CONTROL, REPLICATES, controlled, replicated
from layerwise.errors import LayerwiseError
from layerwise.experiments import own_weights
from layerwise.experiments.of_pairs import reader
from layerwise.experiments.of_pairs.documents import Filled
from layerwise.experiments.reduction import measure
from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import Checkpoint, with_random_weights
from layerwise.extraction.replicates import disturbed
from layerwise.extraction.rounding import rounds
from layerwise.figures.numbers import RANDOM
from layerwise.inputs.measured import alone
from layerwise.inputs.published import Published, read_published
from layerwise.inputs.texts import StatementPairs
from layerwise.inputs.upstream import PUBLISHED
from layerwise.measures.values import Values, sampled_layers
from layerwise.pages.own_model import page
from layerwise.pages.own_model.cautions import cautions, of_documents
from layerwise.pages.own_model.sections import sections_of
from layerwise.pages.own_model.tables import by_pair
from layerwise.places.folders import AGAIN
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, Draws
from layerwise.steps.results import Result


def analyzed(
    checkpoint: Checkpoint,
    pairs: StatementPairs,
    texts: Sequence[str],
    folder: Path,
    pairs_name: str,
    *,
    layers: Sequence[int] | None,
    seed: int,
    without: Sequence[str],
    replicates: int = 0,
    control: int = 0,
) -> Result:
    """The papers' documents on a checkpoint; its hidden states stay in `folder`, for a later run.

    `pairs_name` is what errors call the pairs: those of statistics are about them. A model in 16
    bits is measured again as often as `replicates` says, with rounding noise; random weights in its
    place as often as `control` does.

    Raises:
        LayerwiseError: for a layer that the model has not, or as for `extract` and `of_reader`.
    """
    published = read_published(PUBLISHED)
    measuring = Measuring(pairs, texts, pairs_name, layers, seed, published)
    found = measuring.of(checkpoint, folder, without)
    papers = Evidence(published, measuring.draws)
    printed = in_print(papers)
    documents, answered = found.documents, answers(found.documents, printed)
    noisy = range(replicates if rounds(checkpoint.dtype) else 0)
    again = [measuring.again(checkpoint, number, folder) for number in noisy]
    drawn = [measuring.drawn(checkpoint, number, folder, without) for number in range(control)]
    beside = {
        REPLICATES: replicated(answered, [answers(of, printed) for of in again]),
        CONTROL: controlled(answered, [answers(of, printed) for of in drawn]),
    }
    documents |= {name: document for name, document in beside.items() if document}
    warned = cautions(found.values, found.filled, found.prompt_tokens, measuring.draws)
    has_template = bool(getattr(checkpoint.tokenizer, "chat_template", None))
    warned += of_documents(documents, chat_template=has_template)
    is_random = checkpoint.has_random_weights
    own = page.Own(
        checkpoint.display,
        _settings(found.values, found.index, pairs),
        [f"{RANDOM.capitalize()}."] * is_random + warned,
        found.absent,
        sections_of(documents),
        answers=answered,
        beside=beside,
        further=[by_pair(found.values)],
        random_weights=is_random,
    )
    models = {checkpoint.display: documents}
    return Result(models, documents, own, depth_curves.published(papers))


@dataclass(frozen=True)
class Found:
    """The documents of one measurement, and what they were made of."""

    documents: dict[str, Any]
    absent: dict[str, str]
    values: Values
    filled: Filled
    index: Mapping[str, Any]

    @property
    def prompt_tokens(self) -> int:
        return sum(self.index["prompt_lengths"])


@dataclass(frozen=True)
class Measuring:
    """What is measured of a model, of a replicate of it, and of random weights in its place."""

    pairs: StatementPairs
    texts: Sequence[str]
    pairs_name: str
    layers: Sequence[int] | None
    seed: int
    published: Published

    @property
    def draws(self) -> Draws:
        return Draws(N_RESAMPLES, LEVEL, self.seed)

    def of(self, checkpoint: Checkpoint, folder: Path, without: Sequence[str]) -> Found:
        """The documents of a checkpoint; its hidden states go to `folder`."""
        sampled = sampled_layers(checkpoint.n_layers, layers=self.layers)
        states = extract(checkpoint, self.pairs.statements, self.texts, folder)
        spectra = {} if "spectral" in without else own_weights.begin_spectra(checkpoint)
        with workers.dropped(spectra.values()):
            with about(f"{self.pairs_name} with {checkpoint.name}"):
                values = measure(states, self.pairs, layers=sampled, seed=self.seed)
                filled = reader.numbers(values, self.draws, self.published)
            of_weights, absent = own_weights.files(checkpoint, states, spectra, without)
        documents = of_reader(alone(filled.files | of_weights), self.draws)
        return Found(documents, absent, values, filled, states.index)

    def again(self, checkpoint: Checkpoint, number: int, folder: Path) -> dict[str, Any]:
        """The documents of a replicate; the matrices carry no noise of a pass."""
        with disturbed(checkpoint, number) as replicate:
            place = folder.parent / AGAIN / f"noise_{number}"
            return self.of(replicate, place, ["spectral"]).documents

    def drawn(
        self, checkpoint: Checkpoint, number: int, folder: Path, without: Sequence[str]
    ) -> dict[str, Any]:
        """The documents of a draw of random weights."""
        random = with_random_weights(checkpoint, number)
        place = folder.parent / AGAIN / f"random_{number}"
        return self.of(random, place, without).documents


@contextlib.contextmanager
def about(place: str) -> Iterator[None]:
    """Inside the block, an error names the place that it is about."""
    try:
        yield
    except LayerwiseError as error:
        raise LayerwiseError(f"{place}: {error}") from None


def _settings(
    values: Values, index: Mapping[str, Any], pairs: StatementPairs
) -> list[tuple[str, str]]:
    by_category = zip(pairs.categories, np.bincount(pairs.category_of_pair), strict=True)
    return [
        *((name, index[name]) for name in ("model", "revision", "dtype", "device")),
        ("pairs", "; ".join(f"{name}: {count}" for name, count in by_category)),
        ("prompts", str(index["n_prompts"])),
        ("layers", ", ".join(map(str, values.layers))),
        ("seed", str(values.seed)),
        ("resamples", f"{N_RESAMPLES} for an interval of {LEVEL:.0%}"),
        ("layerwise", layerwise.__version__),
        *((name, index[name]) for name in ("torch", "transformers")),
    ]
