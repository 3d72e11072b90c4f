"""How long a whole run has taken and will take: estimates of its stages, held to what they took."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from layerwise.models import needs
from layerwise.models.registry import read_models
from layerwise.shapes import read_choices

STAGE = 15.0  # seconds of a stage beside what is estimated: DVC, imports, files


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

    def said(self, stage: str) -> str:
        """The time so far, and what is left before a stage begins."""
        so_far = time.monotonic() - self.begun
        by_estimate = sum(self.estimated[name] for name in self.ran)
        rate = so_far / by_estimate if self.ran else 1.0
        left = rate * sum(of for name, of in self.estimated.items() if name not in self.seen)
        self.seen.add(stage)
        self.ran.add(stage)
        return f"{tqdm.format_interval(so_far)} so far, about {tqdm.format_interval(left)} left"

    def skip(self, stage: str) -> None:
        """A stage is up to date."""
        self.seen.add(stage)


def estimated(stages: Mapping[str, str], root: Path = Path()) -> dict[str, float]:
    """Seconds by stage: of a model by `needs`, with all that params.yaml asks to be run of it."""
    chosen = read_choices(root / "params.yaml", "measure")
    again = {name: chosen[name] for name in ("replicates", "control")}
    models = read_models(root / "models.yaml")
    of_model = {
        f"measure@{slug}": needs.seconds_on(chosen["device"], model, **again)
        for slug, model in models.items()
        if not model.skipped
    }
    return {name: STAGE + of_model.get(name, 0.0) for name in stages}
