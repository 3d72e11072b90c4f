"""The ledger: every number, label or statement that a paper or a notebook prints or saves.

A claim is a row of `claims/paperN/paper.csv`, `supplement.csv` or `notebooks.csv`, in the order of
the document. Beside the rows, `readings.csv` has other readings of a claim's rule, and
`denied.yaml` the statements that the published material denies. `claims/README.md` explains the
columns of each.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, get_args

from pydantic import AfterValidator, Field, ValidationError
from pydantic.dataclasses import dataclass

from layerwise.csv_rows import read_rows
from layerwise.engine.published import Published, Value, leaves, pointer
from layerwise.errors import LayerwiseError, prefix_errors
from layerwise.files import parse_json
from layerwise.shapes import STRICT, PaperNumber, Strict, explained, read_yaml, require_shape

DocumentKind = Literal["paper", "supplement", "notebook"]
DOCUMENT_KINDS: tuple[DocumentKind, ...] = get_args(DocumentKind)  # in the order of lists
ROWS: Mapping[str, DocumentKind] = {  # the files of claims, in the order in which they are read
    "paper.csv": "paper",
    "supplement.csv": "supplement",
    "notebooks.csv": "notebook",
}
READINGS, DENIED = "readings.csv", "denied.yaml"
FILES = (*ROWS, READINGS, DENIED)
REQUIRED = ("id", "where", "quantity", "printed")  # no row leaves them empty
OPTIONAL = (
    *("decimals", "unit", "tolerance", "answer", "model"),
    *("source", "kind", "unmeasured", "why"),
)
CELL = "cell "  # begins the answer of a claim that repeats a stored number
KINDS = ("declared", "identity", "unpublished")
FULL: Literal["full"] = "full"
MOST_QUOTED = 25  # words of a quotation
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.(?P<decimals>[0-9]+))?(?P<exponent>[eE][+-]?[0-9]+)?")

Printed = Value | list[Value | list[Value]]  # a list of intervals is the deepest
# How many are printed, below 0 of rounded thousands; or "full": every digit is published.
Decimals = Annotated[int, Field(ge=-20, le=20)] | Literal["full"]


def _few_words(text: str) -> str:
    if len(text.split()) > MOST_QUOTED:
        raise ValueError(f"a quotation has at most {MOST_QUOTED} words, found {len(text.split())}")
    return text


class Quote(Strict):
    """Words of a document as they stand there, in one line.

    Attributes:
        file: its path in the papers' repository.
        commit: of that repository, if it is not the pinned one.
    """

    text: Annotated[str, AfterValidator(_few_words)]
    line: Annotated[int, Field(ge=1)]
    file: str
    commit: NotRequired[Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]]


class Denial(Strict):
    """A statement that the published material denies.

    Attributes:
        quote: its words.
        against: what denies them: a quotation, FILE#/pointer of a published label, or a place in
            words.
    """

    quote: Quote
    against: Annotated[list[str | Quote], Field(min_length=1)]


@dataclass(frozen=True, config=STRICT)
class Claim:
    """One printed number or label, and the statistic that answers it."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,100}$")]
    paper: PaperNumber
    document: DocumentKind
    printed: Printed
    where: str = ""
    quantity: str = ""
    kind: str = "computed"
    decimals: Decimals | None = None  # None: not a number
    tolerance: str = "exact"
    statistic: str | None = None  # analysis:document:/json/pointer
    cell: str | None = None  # in place of a statistic, the FILE#/pointer of a stored number
    source_file: str | None = None
    source_key: str | None = None
    model: str | None = None
    unit: str | None = None
    why: str | None = None  # why nothing can be checked, or what a reader should know
    readings: Mapping[str, str] = field(default_factory=dict)  # other readings: their statistics
    identity: bool = False  # no measurement can change it
    quote: Quote | None = None  # of a statement that is denied
    against: Sequence[str | Quote] = ()  # what denies it
    unpublished: bool = False  # its statistic cannot be had from published numbers, even as given
    unmeasured: str | None = None  # why no measurement of ours can answer it
    place: str = field(default="", compare=False)  # the file and line of its row

    @property
    def name(self) -> str:
        """The claim as an error names it: by its row, where it has one, and its id."""
        return f"{self.place}: claim {self.id}" if self.place else f"claim {self.id}"


class LedgerRow(NamedTuple):
    """A row of the ledger: the file and line that it stands in, and its cells by column."""

    place: str
    document: DocumentKind
    cells: Mapping[str, str]

    @property
    def id(self) -> str:
        """The id of its claim."""
        return self.cells["id"]


def read_ledger(folder: Path, published: Published) -> list[Claim]:
    """Return every claim of a folder `claims`: of each paper, then of what stands beside it.

    Raises:
        LayerwiseError: naming file and line for a row that is no claim (a number of other decimals
            than it says, an unknown kind, an answer that is no statistic), or an id that is taken.
    """
    papers: Mapping[str, PaperNumber] = {f"paper{paper}": paper for paper in get_args(PaperNumber)}
    if unknown := sorted({path.name for path in folder.glob("paper*")} - papers.keys()):
        raise LayerwiseError(
            f"{folder / unknown[0]}: the ledger must stand in {', '.join(papers)}; rename the "
            "folder, or move it away"
        )
    claims: list[Claim] = []
    for name, paper in papers.items():
        claims += _read_paper(folder / name, paper, published)
    if not claims:
        raise LayerwiseError(
            f"{folder}: no ledger (paper1/paper.csv, ...) here; restore the folder"
        )
    places: dict[str, str] = {}
    for claim in claims:
        if claim.id in places:
            raise LayerwiseError(
                f"{claim.name} is listed twice (also in {places[claim.id]}); an id names one "
                "claim, rename one of them"
            )
        places[claim.id] = claim.place
    return claims


def _read_paper(folder: Path, paper: PaperNumber, published: Published) -> list[Claim]:
    """Return the claims of the folder of a paper; none where there is no such folder."""
    names = sorted(path.name for path in folder.glob("*") if path.suffix in (".csv", ".yaml"))
    if unknown := [name for name in names if name not in FILES]:
        raise LayerwiseError(
            f"{folder / unknown[0]}: a file of the ledger must be one of {', '.join(FILES)}; "
            "rename it, or move its rows there"
        )
    rows = [
        LedgerRow(f"{folder / name}, line {line}", document, cells)
        for name, document in ROWS.items()
        if name in names
        for line, cells in read_rows(folder / name, REQUIRED, OPTIONAL)
    ]
    ids = {row.id for row in rows}
    readings = _read_readings(folder / READINGS, ids) if READINGS in names else {}
    denials = _read_denials(folder / DENIED, ids) if DENIED in names else {}
    return [
        _read_claim(row, paper, readings.get(row.id, {}), denials.get(row.id), published)
        for row in rows
    ]


def _read_claim(
    row: LedgerRow,
    paper: PaperNumber,
    readings: Mapping[str, str],
    denial: Denial | None,
    published: Published,
) -> Claim:
    """Return the claim of a row, with what stands beside it."""
    try:
        fields = _fields(row.cells, published) | _denied(denial, published)
        _require_reason(fields)
        return Claim(
            paper=paper, document=row.document, place=row.place, readings=readings, **fields
        )
    except ValidationError as error:
        problem = explained(error)
    except LayerwiseError as error:
        problem = str(error)
    raise LayerwiseError(f"{row.place}: claim {row.id:.80}: {problem}")


def _read_readings(path: Path, ids: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the other readings of claims, {id: {words: statistic}}."""
    readings: dict[str, dict[str, str]] = {}
    for line, row in read_rows(path, ("id", "reading", "statistic")):
        place, of_claim = f"{path}, line {line}", readings.setdefault(row["id"], {})
        _require_known(place, row["id"], ids)
        if row["reading"] in of_claim:
            raise LayerwiseError(
                f"{place}: a reading must be listed once, {row['reading']!r:.80} of claim "
                f"{row['id']} is there twice; remove one"
            )
        with prefix_errors(place):
            statistic_parts(row["statistic"])
        of_claim[row["reading"]] = row["statistic"]
    return readings


def _read_denials(path: Path, ids: Collection[str]) -> dict[str, Denial]:
    """Return the statements that are denied, by the id of the claim."""
    denials: dict[str, Denial] = require_shape(path, dict[str, Denial], read_yaml(path))
    for claim_id in denials:
        _require_known(path, claim_id, ids)
    return denials


def _require_known(place: object, claim_id: str, ids: Collection[str]) -> None:
    """Refuse what stands beside the rows of a paper for a claim that none of them lists."""
    if claim_id not in ids:
        raise LayerwiseError(
            f"{place}: an id must be that of a row of {', '.join(ROWS)} beside it, found "
            f"{claim_id!r:.80}; correct it"
        )


def _fields(cells: Mapping[str, str], published: Published) -> dict[str, Any]:
    """Return the fields of a claim that its row gives.

    Raises:
        LayerwiseError: with the rule that a cell breaks.
    """
    if empty := [column for column in REQUIRED if not cells[column]]:
        raise LayerwiseError(
            f"a row must have {', '.join(REQUIRED)}, its `{empty[0]}` is empty; fill it in"
        )
    kind, answer = cells["kind"], cells["answer"]
    if kind and kind not in KINDS:
        raise LayerwiseError(
            f"a kind must be one of {', '.join(KINDS)} or empty, found {kind!r:.40}; correct it"
        )
    printed, decimals = _parse_printed(cells["printed"]), _parse_decimals(cells["decimals"])
    _require_decimals(cells["printed"], decimals)
    file, _, key = cells["source"].partition("#")
    if key:
        _require_transcribed(printed, file, key, published)
    if answer.startswith(CELL):
        _require_cell(answer.removeprefix(CELL), published)
    elif answer:
        statistic_parts(answer)
    return {
        **{name: cells[name] for name in ("id", "where", "quantity")},
        **{name: cells[name] or None for name in ("unit", "model", "unmeasured", "why")},
        "printed": printed,
        "decimals": decimals,
        "tolerance": cells["tolerance"] or "exact",
        "statistic": None if answer.startswith(CELL) else answer or None,
        "cell": answer.removeprefix(CELL) if answer.startswith(CELL) else None,
        "source_file": file or None,
        "source_key": key or None,
        "kind": "declared" if kind == "declared" else "computed",
        "identity": kind == "identity",
        "unpublished": kind == "unpublished",
    }


def _parse_printed(text: str) -> Any:
    """Return a printed value: a number, a boolean, a list in JSON, else the words themselves."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("["):
        return parse_json("printed", text)
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number["decimals"] or number["exponent"] else int(text)


def _parse_decimals(text: str) -> int | str | None:
    if text in ("", FULL):
        return text or None
    try:
        return int(text)
    except ValueError:
        raise LayerwiseError(
            f"decimals must be a whole number, `{FULL}`, or empty for words and counts, found "
            f"{text!r:.40}; correct them"
        ) from None


def _require_decimals(text: str, decimals: int | str | None) -> None:
    """Refuse a number with other decimals than its row says: they are how it is compared."""
    for number in _numbers_in(text):
        if not _has_decimals(number, decimals):
            raise LayerwiseError(
                f"a printed number must have the decimals of its row, found {number!r:.80} with "
                f"{'none' if decimals is None else decimals}; write it as it is printed, or "
                "correct `decimals`"
            )


def _numbers_in(printed: str) -> Iterator[str]:
    """Yield the numbers of a list as they are written; of anything else the text itself."""
    pending = [printed]
    if printed.startswith("["):
        pending = json.loads(printed, parse_int=str, parse_float=str)
    while pending:
        entry = pending.pop(0)
        if isinstance(entry, list):
            pending[:0] = entry
        elif isinstance(entry, str):
            yield entry


def _has_decimals(text: str, decimals: int | str | None) -> bool:
    """Return whether a number is written with these decimals; no words have any."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return decimals is None
    if decimals == FULL:
        return True
    stated, n_written = int(decimals or 0), len(number["decimals"] or "")
    if number["exponent"] or n_written != max(stated, 0):
        return False
    return stated >= 0 or round(int(text), stated) == int(text)  # 300 has -2, 310 has not


def _require_transcribed(printed: Any, file: str, key: str, published: Published) -> None:
    """Refuse a value that is not what the published tables hold in its place.

    They hold numbers and labels of one word, so longer texts stand in the ledger alone.
    """
    if next(leaves(key, printed), None) and published.value(file, key) != printed:
        raise LayerwiseError(
            f"the printed value must be the one of its source, {key} of {file} is "
            f"{published.value(file, key)!r:.80}, found {printed!r:.80}; correct one of them"
        )


def _require_cell(cell: str, published: Published) -> None:
    """Refuse the cell of a stored number that is not published."""
    file, _, key = cell.partition("#")
    if not any(f"{stored}/".startswith(f"{key}/") for stored in published.keys(file)):
        raise LayerwiseError(
            f"a cell must be the FILE#/pointer of a published number, found {cell!r:.120}; "
            "correct it"
        )


def _denied(denial: Denial | None, published: Published) -> dict[str, Any]:
    """Return the fields of a claim that is denied."""
    if denial is None:
        return {}
    against = [
        _said_by(passage, published) if isinstance(passage, str) else passage
        for passage in denial["against"]
    ]
    return {"quote": denial["quote"], "against": against}


def _said_by(place: str, published: Published) -> str:
    """Return what denies a statement, with what stands there if it is a published label."""
    file, at_pointer, key = place.partition("#")
    return f"{file} has {published[file, key]} at {key}" if at_pointer else place


def _require_reason(fields: Mapping[str, Any]) -> None:
    """Refuse a claim that nothing answers, and that does not say why."""
    if not any(fields.get(name) for name in ("statistic", "cell", "why", "quote")):
        raise LayerwiseError(
            f"a claim without an answer must say `why`, or be denied in {DENIED}; add one of them"
        )


def statistic_parts(statistic: str) -> tuple[str, str, str]:
    """Return analysis, document and JSON Pointer of analysis:document:/pointer."""
    parts = statistic.split(":", 2)
    if len(parts) != 3 or not parts[2].startswith(pointer("")):
        raise LayerwiseError(
            f"a statistic is analysis:document:/json/pointer, found {statistic!r:.80}; correct it"
        )
    return parts[0], parts[1], parts[2]
