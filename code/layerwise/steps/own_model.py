"""A loaded checkpoint, pairs and prompts -> the papers' analyses of them."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import layerwise
from layerwise import workers
from layerwise.analyses import depth_curves, of_reader
from layerwise.analyses.evidence import Evidence
from layerwise.analyses.questions.answers import answers
from layerwise.errors import LayerwiseError
from layerwise.experiments import own_weights
from layerwise.experiments.of_pairs import reader
from layerwise.experiments.reduction import measure
from layerwise.extraction.hidden_states import extract
from layerwise.extraction.load import Checkpoint
from layerwise.figures.numbers import RANDOM
from layerwise.inputs.measured import alone
from layerwise.inputs.published import read_published
from layerwise.inputs.texts import StatementPairs
from layerwise.inputs.upstream import PUBLISHED
from layerwise.measures.values import Values, sampled_layers
from layerwise.pages.own_model import page
from layerwise.pages.own_model.cautions import cautions, of_documents
from layerwise.pages.own_model.sections import sections_of
from layerwise.pages.own_model.tables import by_pair
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
) -> Result:
    """The papers' documents on a checkpoint; its hidden states stay in `folder`, for a later run.

    `pairs_name` is what errors call the pairs: those of statistics are about them.

    Raises:
        LayerwiseError: for a layer that the model has not, or as for `extract` and `of_reader`.
    """
    sampled = sampled_layers(checkpoint.n_layers, layers=layers)
    states = extract(checkpoint, pairs.statements, texts, folder)
    draws = Draws(N_RESAMPLES, LEVEL, seed)
    published = read_published(PUBLISHED)
    spectra = {} if "spectral" in without else own_weights.begin_spectra(checkpoint)
    with workers.dropped(spectra.values()):
        with about(f"{pairs_name} with {checkpoint.name}"):
            values = measure(states, pairs, layers=sampled, seed=seed)
            drawn = reader.numbers(values, draws, published)
        of_weights, absent = own_weights.files(checkpoint, states, spectra, without)
    documents = of_reader(alone(drawn.files | of_weights), draws)
    has_template = bool(getattr(checkpoint.tokenizer, "chat_template", None))
    warned = cautions(values, drawn, sum(states.index["prompt_lengths"]), draws)
    warned += of_documents(documents, chat_template=has_template)
    is_random, in_print = checkpoint.has_random_weights, Evidence(published, draws)
    own = page.Own(
        checkpoint.display,
        _settings(values, states.index, pairs),
        [f"{RANDOM.capitalize()}."] * is_random + warned,
        absent,
        sections_of(documents),
        answers=answers(documents, in_print),
        further=[by_pair(values)],
        random_weights=is_random,
    )
    models = {checkpoint.display: documents}
    return Result(models, documents, own, depth_curves.published(in_print))


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
