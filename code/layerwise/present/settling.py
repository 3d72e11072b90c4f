"""What would settle the open central claims, as a terminal shows it: a table, then a claim each."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from layerwise.engine.central import Central
from layerwise.engine.settling import Settling, targets, units_text
from layerwise.engine.words import names_here
from layerwise.errors import LayerwiseError
from layerwise.present.records import central_claims
from layerwise.present.strip import mark_of
from layerwise.present.terminal import grid, line, prose, said
from layerwise.present.trace import ALIKE, NEAR
from layerwise.present.values import NOTHING, with_signs

HEADS = (
    "id",
    "measure",
    "dtype",
    "min",
    "GB",
    "units",
    "interval",
    "chance",
    "80% takes",
    "answer",
)
NUMBERS = ("min", "GB", "interval", "chance", "80% takes")
WIDE = 120  # characters of the whole table
IN_WORDS = ("dtype", "units", "interval")
MODELS = ("model", "dtype", "min", "GB", "stage")
NOTE = (
    "Cheapest first. min, GB: of these stages on a GPU of 50 TFLOP/s, as `layerwise models` "
    "estimates them; a stage measures all that is asked of its model. interval: half its width. "
    "chance: that measuring settles the claim as the papers asked it, if the printed values are "
    "right. 80% takes: the units that settle it with a chance of 80%; answer: what they would most "
    "likely say."
)


def open_claims(judged: dict[str, Any], claim_id: str | None) -> list[Central]:
    """Return the open central claims with what would settle them, the cheapest to measure first.

    Arguments:
        claim_id: of one of them; None: all.

    Raises:
        LayerwiseError: for an id that no central claim has, and a claim that is not open.
    """
    claims = {claim.id: claim for claim in central_claims(judged, names_here())}
    found = [claim for claim in claims.values() if claim.settling is not None]
    if claim_id is None:
        return sorted(found, key=lambda claim: _settling(claim)["minutes"])
    if claim_id not in claims:
        near = difflib.get_close_matches(claim_id, claims, n=NEAR, cutoff=ALIKE)
        known = ", ".join(claim.id for claim in found)
        help_ = f"did you mean {', '.join(near)}?" if near else f"open are {known}"
        raise LayerwiseError(f"no central claim {claim_id!r:.80}; {help_}")
    claim = claims[claim_id]
    if claim.settling is None:
        raise LayerwiseError(
            f"only what is open can be settled, {claim_id} is {mark_of(claim)}; "
            "`layerwise headlines` lists the marks"
        )
    return [claim]


def as_document(claims: Sequence[Central]) -> list[dict[str, Any]]:
    """Return open claims for another program."""
    return [
        {
            "id": claim.id,
            "claim": claim.claim,
            "why": claim.why,
            "says": claim.settle,
            "targets": targets(_settling(claim)),
            **_settling(claim),
        }
        for claim in claims
    ]


@dataclass(frozen=True)
class SettleTable:
    """A row per claim; in a narrow terminal without what the words below say too."""

    claims: Sequence[Central]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = [head for head in HEADS if options.max_width >= WIDE or head not in IN_WORDS]
        table = grid(heads, [head for head in NUMBERS if head in heads])
        for claim in self.claims:
            cells = dict(zip(HEADS, _cells(claim), strict=True))
            table.add_row(*(said(cells[head]) for head in heads))
        yield table


def as_table(claims: Sequence[Central]) -> RenderableType:
    """Return a row per claim, then what each takes in words, with the stages to run."""
    if not claims:
        return said("No central claim is open.")
    below: list[RenderableType] = []
    for claim in claims:
        stages = " ".join(targets(_settling(claim)))
        title = Text.assemble(said(claim.id, "bold"), said(f"  {claim.claim}: {mark_of(claim)}"))
        below += ["", title, _indented(prose(said(with_signs(claim.settle))))]
        below += [line(f"  dvc repro {stages}")] if stages else []  # padding would cut it
    return Group(SettleTable(claims), *below, "", prose(said(NOTE)))


def as_card(claim: Central) -> RenderableType:
    """Return the same of one claim, with a row per model."""
    models = _settling(claim)["measure"]
    table = grid(MODELS, ("min", "GB"))
    for model in models:
        cost = f"{model['minutes']:.1f}", f"{model['gigabytes']:.1f}"
        name, dtypes = model["model"], ", ".join(model["dtypes"])
        table.add_row(*map(said, (name, dtypes, *cost, f"measure@{name}")))
    law = next((part["law"] for part in _settling(claim)["questions"] if part["law"]), "")
    by: list[RenderableType] = ["", prose(said(f"Chances by: {law}."))] if law else []
    below: list[RenderableType] = ["", table] if models else []
    return Group(as_table([claim]), *by, *below)


def _settling(claim: Central) -> Settling:
    assert claim.settling is not None  # of `open_claims`
    return claim.settling


def _indented(what: RenderableType) -> RenderableType:
    return Padding(what, (0, 0, 0, 2))


def _cells(claim: Central) -> list[str]:
    """Return the row of a claim."""
    settling = _settling(claim)
    models, questions = settling["measure"], settling["questions"]
    dtypes = dict.fromkeys(dtype for model in models for dtype in model["dtypes"])
    wide = [part["half_width"] for part in questions]
    needed = [part["needed"] for part in questions]
    return [
        claim.id,
        models[0]["name"] if len(models) == 1 else f"{len(models)} models",
        ", ".join(dtypes),
        f"{settling['minutes']:.0f}" if settling["minutes"] >= 1 else "1",
        f"{settling['gigabytes']:.0f}",
        "no answer" if settling["left_out"] else ", ".join(map(_units, questions)),
        ", ".join(NOTHING if half is None else f"±{half:.2g}" for half in wide),
        NOTHING if settling["chance"] is None else f"{settling['chance']:.0%}",
        ", ".join(NOTHING if n is None else units_text(n) for n in needed),
        settling["answer"] or NOTHING,
    ]


def _units(part: Any) -> str:
    """Return the units that a measurement gives: the same ones, or more."""
    same = "the same " if part["again"] else ""
    return f"{same}{part['units']} {part['unit']}"
