"""The numbers of an extraction, from its hidden states: without torch, for another process."""

from pathlib import Path

from layerwise.engine.experiment import PairSubject
from layerwise.engine.measured import Fragments
from layerwise.engine.published import Published
from layerwise.measuring.reduction import measure
from layerwise.models.registry import Model
from layerwise.models.store import open_states
from layerwise.models.texts import StatementPairs
from layerwise.papers.experiments.table import fill_experiments
from layerwise.shapes import Measuring
from layerwise.statistics.bootstrap import Draws


def numbers_of_states(
    folder: Path,
    pairs: StatementPairs,
    model: Model,
    name: str,
    published: Published,
    choices: Measuring,
    draws: Draws,
    is_whole: bool,
) -> Fragments:
    """Return what the states in `folder` fill of the published files.

    Args:
        name: of the extraction, in the registry.
        published: gives the places of numbers, never a value.
        choices: `seed` and `bins`, as in params.yaml.
        is_whole: whether these are the pairs of all categories.

    Raises:
        LayerwiseError: as for `measure`.
    """
    extraction = model.extractions[name]
    values = measure(
        open_states(folder),
        pairs,
        layer_step=extraction.layer_step,
        seed=choices["seed"],
        **choices["bins"],
    )
    subject = PairSubject(model.slug, extraction, values, published, draws)
    return fill_experiments(subject, name, is_whole=is_whole)
