"""How long a whole run has taken and will take: estimates of its stages, held to what they took."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from layerwise.models.registry import Model, read_models
from layerwise.shapes import read_choices

STAGE = 5.0  # seconds of a stage beside what is estimated: DVC, imports, files
TRUST = 600.0  # seconds of work after which what was seen counts as much as the estimate


@dataclass
class TimeLeft:
    """The clock of a run.

    Attributes:
        estimated: seconds by stage; a stage that turns out to be up to date takes none of them.
    """

    estimated: Mapping[str, float]
    begun: float = field(default_factory=time.monotonic)
    seen: set[str] = field(default_factory=set)
    ran: set[str] = field(default_factory=set)

    def describe(self, stage: str) -> str:
        """Return the time so far, and what is left before a stage begins.

        The estimate is scaled by how fast earlier stages were, as a mean with a prior of TRUST
        seconds at its own pace: a first stage that was quick or slow changes little.
        """
        so_far = time.monotonic() - self.begun
        by_estimate = sum(self.estimated[name] for name in self.ran)
        pace = (so_far + TRUST) / (by_estimate + TRUST)
        to_come = self.estimated.keys() - self.seen
        left = pace * sum(self.estimated[name] for name in to_come)
        self.seen.add(stage)
        self.ran.add(stage)
        return f"{tqdm.format_interval(so_far)} so far, about {tqdm.format_interval(left)} left"

    def skip(self, stage: str) -> None:
        """Leave out a stage that is up to date."""
        self.seen.add(stage)


def seconds_of_model(model: Model, choices: Mapping[str, Any]) -> float:
    """Return the seconds that a model takes with all that `measure` of params.yaml asks of it."""
    from layerwise.models import needs  # NumPy, of which the doctor says whether it is whole

    return needs.seconds_as_chosen(model, choices["device"], choices)


def estimated(stages: Iterable[str], root: Path = Path()) -> dict[str, float]:
    """Return seconds by stage: of a model by `needs`, with all that params.yaml asks of it.

    The stage of a model that is left out measures nothing, and is not among them.
    """
    choices = read_choices(root / "params.yaml", "measure")
    models = {f"measure@{slug}": model for slug, model in read_models(root / "models.yaml").items()}
    seconds = {}
    for name in stages:
        model = models.get(name)
        if model is None:
            seconds[name] = STAGE
        elif not model.skipped:
            seconds[name] = STAGE + seconds_of_model(model, choices)
    return seconds
