"""How a model is run: what was found to give what its own forward gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from layerwise.shapes import Loose, converted

VERSION = 1  # raise when layers, kernels or logits are taken by other rules
HEAD_ROWS = 256  # predicted tokens whose logits exist at once
ROWS, TOKENS = 3, 12  # of the texts that a model is probed on


def lengths_beside(lengths: Sequence[int], rows: int = TOKENS) -> list[int]:
    """Return a usual length of texts shorter than `rows` tokens, and of longer ones.

    Each is the median of its kind, the longest text and single tokens left out; so there may be
    none.
    """
    longest = max(lengths)
    others = sorted(length for length in lengths if 1 < length < longest)
    kinds = [n for n in others if n < rows], [n for n in others if n > rows]
    return [kind[len(kind) // 2] for kind in kinds if kind]


def tokens_of_probe(lengths: Sequence[int], widest: int) -> int:
    """Return the tokens of all calls of a probe, by the lengths of texts and the widest batch."""
    of_rows, beside = (5 * ROWS + 1 + TOKENS) * TOKENS, sum(lengths_beside(lengths))
    return of_rows + 2 * beside + 4 * max(lengths) + widest


class PassesRecord(Loose):
    """The way of the passes as documents hold it; `rules` is the `VERSION` that found it."""

    rules: int
    kernel: str
    logits: Literal["head", "model"]
    alone: bool
    before_norm: bool
    left_out: list[str]
    probed: int


@dataclass(frozen=True)
class Passes:
    """The way of the passes through one model.

    Attributes:
        kernel: the attention of hidden states.
        logits: of the last hidden states by the output embeddings (`head`), or of the whole
            forward (`model`), which may scale or bend them or bear a hook.
        alone: whether each text runs by itself, because its neighbours change it.
        before_norm: whether the last layer is also there before a final norm.
        left_out: shortcuts that would have changed a number, a sentence each.
        probed: tokens that this was found on; 0: nothing was tried.
    """

    kernel: str
    logits: Literal["head", "model"] = "head"
    alone: bool = False
    before_norm: bool = True
    left_out: tuple[str, ...] = ()
    probed: int = 0

    def tokens_per_batch(self, wanted: int) -> int:
        """Return the tokens of a batch: fewer where the logits of all of them exist at once."""
        if self.alone:
            return 1
        return min(wanted, HEAD_ROWS) if self.logits == "model" else wanted

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> "Passes":
        """Return the passes that an earlier run recorded."""
        passes: Passes = converted("the passes of an earlier run", cls, record, "measure again")
        return passes

    @property
    def record(self) -> PassesRecord:
        """What stands beside every number that was measured in this way."""
        return PassesRecord(
            rules=VERSION,
            kernel=self.kernel,
            logits=self.logits,
            alone=self.alone,
            before_norm=self.before_norm,
            left_out=list(self.left_out),
            probed=self.probed,
        )
