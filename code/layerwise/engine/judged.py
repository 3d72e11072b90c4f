"""A judged claim: one record, from `judge` to claims.json to whatever shows it."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from layerwise.engine.claims import Decimals, DocumentKind, Printed
from layerwise.shapes import PaperNumber

AS_RANDOM = "reproduced, as by random weights"
TOO_NOISY, NO_NOISE, NO_CONTROL = "too noisy to tell", "noise missing", "control missing"
VERDICTS = {  # and what each means, in the order of lists
    "agrees": "recomputed by the stated method from published values, or counted in the texts, and "
    "equal at the printed decimals",
    "reproduced": "measured from the weights and equal within its tolerance, while no draw of "
    "random weights gives it",
    AS_RANDOM: "random weights of the same architecture give it too, in at least one draw: no "
    "evidence",
    NO_CONTROL: "measured as printed, but no random-weight control was measured beside it",
    NO_NOISE: "measured in 16 bits, but the effect of rounding on it was not measured",
    TOO_NOISY: "rounding alone moves it by as much as the claim asserts, or changes the word",
    "differs": "the stated method gives another value; both are shown",
    "same number": "two places print one stored number: they are equal, and nothing was recomputed",
    "follows": "the rounding of a published number that itself can only be measured from the "
    "weights",
    "needs weights": "nothing is published from which it could be recomputed",
    "not measured": "this source holds no measurement of it",
    "contradicted": "a statement of fact that the published material contradicts",
    "not checkable": "there is no rule for it, or nothing was saved to compare with",
    "declared": "a setting, not a result",
}
UNSHOWN = ("needs weights", "not checkable", "contradicted", "declared")
UNCOMPARED = ("not measured", *UNSHOWN)
STANDING = ("agrees", "reproduced", "follows")  # those that confirm a claim
FALLS = ("differs", "contradicted")


class Band(NamedTuple):
    """The distance from print that a value may have: relative or absolute, whichever is wider."""

    relative: float
    absolute: float
    of_log: bool = False  # of the natural logarithm

    def __str__(self) -> str:
        parts = [f"{self.relative:.3g} relative"] if self.relative else []
        parts += [f"{self.absolute:.3g} absolute"] if self.absolute else []
        return (" or ".join(parts) or "equal") + (" of ln p" if self.of_log else "")


# Of a measurement against print. What kernels, batches and threads do in float32 is the least; what
# ran in 16 bits has the wider band that its own replicates give it.
TOLERANCES: Mapping[str, Band] = {
    "exact": Band(0.0, 0.0),
    "float64": Band(1e-12, 0.0),
    "measured": Band(1e-5, 1e-7),
    "p": Band(1e-3, 0.0, of_log=True),
}

if TYPE_CHECKING:
    Word = str
    Tolerance = str
else:
    Word, Tolerance = Literal[tuple(VERDICTS)], Literal[tuple(TOLERANCES)]


@dataclass(frozen=True)
class OtherReading:
    """What another reading of a claim's words gives; `gives`: whether that is the printed value."""

    text: str
    value: Printed
    gives: bool
    inputs: list[str]


@dataclass(frozen=True)
class Provenance:
    """Where a claim stands, the statistic that answers it, and the cells behind that.

    runs: those that measured the cells, of a measured source.
    """

    file: str | None
    key: str | None
    statistic: str | None
    inputs: list[str]
    runs: list[str] = field(default_factory=list)

    @property
    def analysis(self) -> str | None:
        """The analysis that the statistic belongs to."""
        return None if self.statistic is None else self.statistic.partition(":")[0]


@dataclass(frozen=True)
class NoisyNumber:
    """How far rounding moves a number or each of a list, by replicates; None: without limit.

    shift: 16 bits can move it further, to one side.
    """

    band: float | list[float | None] | None
    replicates: int
    shift: bool = False

    @property
    def widths(self) -> list[float | None]:
        """The band of every entry: one of a number."""
        return self.band if isinstance(self.band, list) else [self.band]


@dataclass(frozen=True)
class NoisyWord:
    """How many replicates give the same word or count."""

    same: int
    replicates: int
    shift: bool = False


@dataclass(frozen=True)
class RandomDraws:
    """What draws of random weights give, and how many of them give the claim."""

    draws: int
    give: int
    values: list[Printed]


@dataclass(frozen=True, kw_only=True)
class JudgedClaim:
    """A printed value, the value computed again, and the verdict; docs/glossary.md defines them.

    noise, control: of a number that was measured in 16 bits, and of one that random weights were
        drawn for.
    waits_for: where a number was not measured, the model that lacks it, None where none says why;
        empty elsewhere.
    """

    id: str
    paper: PaperNumber
    document: DocumentKind
    where: str
    quantity: str
    model: str | None
    unit: str | None
    kind: str
    decimals: Decimals | None
    published: Printed
    recomputed: Printed
    noise: NoisyNumber | NoisyWord | None = None
    control: RandomDraws | None = None
    waits_for: str | None = ""
    verdict: Word
    tolerance: Tolerance
    cause: str | None
    readings: list[OtherReading]
    provenance: Provenance

    @property
    def stands(self) -> bool | None:
        """Whether the verdict confirms the claim; None where it says nothing."""
        return True if self.verdict in STANDING else False if self.verdict in FALLS else None


Group = TypeVar("Group", bound=Hashable)


def count_verdicts(
    claims: Iterable[JudgedClaim], group: Callable[[JudgedClaim], Group]
) -> dict[Group, Counter[str]]:
    """Return how often each verdict was given, by what `group` says of a claim."""
    counts: dict[Group, Counter[str]] = {}
    for claim in claims:
        counts.setdefault(group(claim), Counter())[claim.verdict] += 1
    return counts


def files_behind(claims: Iterable[JudgedClaim]) -> set[str]:
    """Return the published files that claims and their other readings rest on."""
    files = set()
    for claim in claims:
        rests_on: list[Provenance | OtherReading] = [claim.provenance, *claim.readings]
        files |= {cell.partition("#")[0] for source in rests_on for cell in source.inputs}
    return files
