"""Which texts go through a model together: texts of equal length, so that nothing is padded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Batch:
    """Texts of one length in tokens that go through the model together."""

    kind: str  # "statements" or "prompts"
    members: tuple[int, ...]
    length: int

    def parts(self, size: int) -> list[Batch]:
        """The same texts, at most `size` at a time."""
        cuts = range(0, len(self.members), size)
        return [Batch(self.kind, self.members[cut : cut + size], self.length) for cut in cuts]


def plan_batches(kind: str, lengths: Sequence[int], tokens_per_batch: int) -> tuple[Batch, ...]:
    """Texts sorted by (length, index), cut where the length changes or the tokens run out.

    The composition depends on nothing else: half precision depends on the shape of a batch.
    """
    batches: list[Batch] = []
    members: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        length = lengths[members[0]] if members else lengths[index]
        if members and (length != lengths[index] or (len(members) + 1) * length > tokens_per_batch):
            batches.append(Batch(kind, tuple(members), length))
            members = []
        members.append(index)
    if members:
        batches.append(Batch(kind, tuple(members), lengths[members[0]]))
    return tuple(batches)
