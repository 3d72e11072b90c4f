"""Which texts go through a model together: texts of equal length, so that nothing is padded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Batch:
    """Texts of one length in tokens that go through the model together."""

    kind: str  # "statements" or "prompts"
    members: tuple[int, ...]
    length: int

    def parts(self, size: int) -> list[Batch]:
        """Return the same texts, at most `size` at a time."""
        cuts = range(0, len(self.members), size)
        return [Batch(self.kind, self.members[cut : cut + size], self.length) for cut in cuts]


def plan_batches(kind: str, lengths: Sequence[int], tokens_per_batch: int) -> list[Batch]:
    """Sort texts by (length, index); cut where the length changes or the tokens run out.

    The composition depends on nothing else: half precision depends on the shape of a batch.
    """
    batches: list[Batch] = []
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for length, members in groupby(by_length, key=lengths.__getitem__):
        batches += Batch(kind, tuple(members), length).parts(max(1, tokens_per_batch // length))
    return batches


def widest_batch(lengths: Mapping[str, Sequence[int]], tokens_per_batch: int) -> Batch:
    """Return the batch of a run with the most texts, by the lengths of its texts of every kind."""
    batches = [
        batch
        for kind, of_kind in lengths.items()
        for batch in plan_batches(kind, of_kind, tokens_per_batch)
    ]
    return max(batches, key=lambda batch: len(batch.members))
