"""The shape of claims.json, for programs that read it: JSON Schema is generated from it.

What this version of the repository reads is held by a version and a seal (`records`); what others
read is promised here. A measured file has more fields than these.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, JsonValue, TypeAdapter

from layerwise.engine.central import Central
from layerwise.engine.records import FORMAT
from layerwise.engine.seen import Finding
from layerwise.engine.verdicts import TOLERANCES, VERDICTS
from layerwise.shapes import Loose, Paper, Strict

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "Judged claims of layerwise, results/SOURCE/claims.json"


class OtherReading(Strict):
    """What another reading of a claim's words gives; `gives`: whether that is the printed value."""

    text: str
    value: JsonValue
    gives: bool
    inputs: list[str]


class Provenance(Loose):
    """Where a claim stands, the statistic that answers it, and the cells behind that."""

    file: str | None
    key: str | None
    statistic: str | None
    inputs: list[str]
    runs: NotRequired[list[str]]


class JudgedClaim(Loose):
    """A printed value, the value computed again, and the verdict; docs/glossary.md defines them.

    `waits_for`, where a number was not measured: the model that lacks it; null: none says why.
    """

    id: str
    paper: Paper
    document: Literal["paper", "supplement", "notebook"]
    where: str
    quantity: str
    model: str | None
    unit: str | None
    kind: str
    decimals: int | str | None
    published: JsonValue
    recomputed: JsonValue
    verdict: Literal[tuple(VERDICTS)]  # type: ignore[valid-type]
    tolerance: Literal[tuple(TOLERANCES)]  # type: ignore[valid-type]
    cause: str | None
    waits_for: NotRequired[str | None]
    readings: list[OtherReading]
    provenance: Provenance


class StoryPart(Strict):
    """A question that the papers raise, its answer in a sentence, and what else is known."""

    id: str
    title: str
    answer: str
    text: str


class JudgedClaims(Loose):
    """All claims of the papers as one source answers them."""

    format: Annotated[int, Field(ge=FORMAT, le=FORMAT)]
    source: Literal["published", "measured"]
    counts: dict[str, dict[str, int]]
    statistics: dict[str, Sha256]
    judged_from: dict[str, Sha256]
    central: list[Central]
    findings: list[Finding]
    story: list[StoryPart]
    surprises: list[str]
    claims: list[JudgedClaim]
    seal: Sha256


def judged_schema() -> dict[str, Any]:
    """Return the JSON Schema of claims.json."""
    schema = TypeAdapter(JudgedClaims).json_schema()
    return {"$schema": DIALECT, **schema, "title": TITLE}
