"""The ledger: every number, label or statement that a paper or a notebook prints or saves.

`claims/paperN/*.yaml` keeps tables as tables. An entry is one claim or a family of them: its `for`
names the variables that the id runs over, each an entry of `sets` (or an attribute of another
variable, written `size.layers`). In the templates `{size}` is the name of a member as it stands
in ids, `{size[slug]}` one of its attributes. `statistic` answers the claim; where the claim repeats
a stored number, `cell` names that instead, as FILE#/pointer. `readings` are other readings of the
claim's rule, as {text: statistic}: where the stated one differs from print, they say which one
gives it, if any. `where` is the place, or the list of all places that print one fact; `also` has
the further places of single members, as {id: [place, ...]}. `identity` is a number that no
measurement can change. A statement that the published material denies has its words in `quote`,
and in `against` what denies it: FILE#/pointer of a published label, a quotation, or a place in
words. An attribute `tolerance` of a member goes before that of the entry.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Required, get_args

from pydantic import AfterValidator, Field, ValidationError
from pydantic.dataclasses import dataclass
from typing_extensions import TypedDict

from layerwise.engine.published import Published, Value, pointer
from layerwise.errors import LayerwiseError
from layerwise.shapes import STRICT, Paper, Strict, explained, read_yaml, require_shape

FULL: Literal["full"] = "full"
MOST_QUOTED = 25  # words of a quotation
Printed = Value | list[Value | list[Value]]  # a list of intervals is the deepest
# How many are printed, below 0 of rounded thousands; or "full": every digit is published.
Decimals = Annotated[int, Field(ge=-20, le=20)] | Literal["full"]
Words = str | None
Sets = dict[Any, dict[Any, Any] | None] | list[int | float | str]  # members, with attributes


DocumentKind = Literal["paper", "supplement", "notebook"]
DOCUMENT_KINDS: tuple[DocumentKind, ...] = get_args(DocumentKind)  # in the order of lists


class Document(Strict):
    """The published document whose claims a file of the ledger lists.

    Attributes:
        file: its path in the papers' repository; a folder where the claims say which file.
        commit: of that repository, if the file is of another than the pinned one.
    """

    kind: DocumentKind
    title: str
    file: str
    commit: NotRequired[Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]]


class Ledger(Strict):
    """A file of the ledger."""

    paper: Paper
    document: Document
    sets: NotRequired[dict[str, Sets]]
    claims: list[dict[str, Any]]


class Place(Strict):
    """The place of a published number, or of a list of them."""

    file: str
    key: str


class Table(Strict):
    """Printed cells by the names of the variables, one level for each."""

    by: Annotated[list[str], Field(min_length=1)]
    cells: dict[Any, Any]


def _few_words(text: str) -> str:
    if len(text.split()) > MOST_QUOTED:
        raise ValueError(f"a quotation has at most {MOST_QUOTED} words, found {len(text.split())}")
    return text


class Quote(Strict):
    """Words of a document as they stand there, in one line.

    Attributes:
        file: its path in the papers' repository; of an entry by default the document's.
        commit: of that repository, if it is not the pinned one.
    """

    text: Annotated[str, AfterValidator(_few_words)]
    line: Annotated[int, Field(ge=1)]
    file: str
    commit: NotRequired[str]


Entry = TypedDict(
    "Entry",
    {
        "id": Required[str],
        "for": dict[str, str | Sets],
        "kind": Literal["computed", "declared"],
        "printed": Required[Any],
        "decimals": int | str | None,
        "tolerance": str,
        "readings": dict[str, str],
        "cell": str,
        "quote": dict[str, Any],
        "against": list[str | dict[str, Any]],
        "identity": bool,
        "unpublished": bool,
        "where": Words | list[str],
        "also": dict[str, list[str]],
        "quantity": Words,
        "statistic": Words,
        "source_file": Words,
        "source_key": Words,
        "model": Words,
        "unit": Words,
        "why": Words,
        "unmeasured": Words,
    },
    total=False,
)
Entry.__pydantic_config__ = STRICT  # type: ignore[attr-defined]


@dataclass(frozen=True, config=STRICT)
class Claim:
    """One printed number or label, and the statistic that answers it."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,100}$")]
    paper: Paper
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
    identity: bool = False
    quote: Quote | None = None  # of a statement that is denied; its file is always there
    against: Sequence[str | Quote] = ()  # what denies it
    unpublished: bool = False  # its statistic cannot be had from published numbers, even as given
    unmeasured: str | None = None  # why no measurement of ours can answer it


class _Member(dict[str, Any]):
    """A member of a set inside a template: `{x}` is its name, `{x[attribute]}` an attribute."""

    def __init__(self, name: Any, attributes: Mapping[str, Any]) -> None:
        super().__init__(attributes)
        self.name = name

    def __format__(self, _: str) -> str:
        return str(self.name)


def read_ledger(folder: Path, published: Published) -> list[Claim]:
    """Return every claim of `claims/paper*/*.yaml`: of each paper, then of what stands beside it.

    Raises:
        LayerwiseError: naming file and claim for an unknown field, kind or set, a template that
            names something unknown, a printed number that is not published, or an id twice.
    """
    claims: list[Claim] = []
    seen: dict[str, Path] = {}
    files = sorted(folder.glob("paper*/*.yaml"))
    if not files:
        raise LayerwiseError(
            f"{folder}: no ledger (paper1/paper.yaml, ...) here; restore the folder"
        )
    ledgers = [(path, require_shape(path, Ledger, read_yaml(path))) for path in files]
    ledgers.sort(key=lambda read: _order(read[1]))
    for path, document in ledgers:
        for entry in document["claims"]:
            require_shape(f"{path}: claim {entry.get('id', '(no id)')!s:.80}", Entry, entry)
            for claim in _expand(path, document, entry, published):
                if claim.id in seen:
                    raise LayerwiseError(
                        f"{path}: claim {claim.id} is listed twice (also in {seen[claim.id]}); "
                        "an id names one claim"
                    )
                seen[claim.id] = path
                claims.append(claim)
    return claims


def _order(ledger: Ledger) -> tuple[int, int]:
    """Return the place of a file in the ledger: by paper, then by the kind of its document."""
    return ledger["paper"], DOCUMENT_KINDS.index(ledger["document"]["kind"])


def _expand(
    path: Path, document: dict[str, Any], entry: dict[str, Any], published: Published
) -> list[Claim]:
    try:
        combinations = _combinations(document.get("sets", {}), entry.get("for", {}))
        claims = [_claim(document, entry, variables, published) for variables in combinations]
        _require_members(entry.get("also", {}), claims)
        return claims
    except ValidationError as error:
        problem = explained(error)
    except LayerwiseError as error:
        problem = str(error)
    raise LayerwiseError(f"{path}: claim {entry['id']:.80}: {problem}")


def _require_members(further: Iterable[str], claims: Sequence[Claim]) -> None:
    """Refuse further places of a claim that the entry does not have."""
    ids = {claim.id for claim in claims}
    if unknown := [name for name in further if name not in ids]:
        raise LayerwiseError(
            f"`also` must name claims of its entry, {unknown[0]!r:.80} is none of them; correct it"
        )


def _combinations(sets: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[dict[str, _Member]]:
    """Return every choice of members; a later variable's may depend on an earlier one's."""
    choices: list[dict[str, _Member]] = [{}]
    for variable, source in wanted.items():
        choices = [
            {**chosen, variable: member}
            for chosen in choices
            for member in _members(variable, source, sets, chosen)
        ]
    return choices


def _members(
    variable: str, source: Any, sets: Mapping[str, Any], chosen: Mapping[str, _Member]
) -> Iterator[_Member]:
    if isinstance(source, str):
        owner, _, attribute = source.partition(".")
        if attribute and attribute in chosen.get(owner, {}):
            source = require_shape(source, Sets, chosen[owner][attribute])
        elif source in sets:
            source = sets[source]
        else:
            raise LayerwiseError(f"no set {source!r}; add it to `sets`")
    members = source if isinstance(source, dict) else {member: {} for member in source}
    for member, attributes in members.items():
        if not isinstance(attributes, dict | None):
            raise LayerwiseError(
                f"{variable} {member!r:.40} must have attributes, found {attributes!r:.40}; "
                "correct the set"
            )
        empty = [key for key, value in (attributes or {}).items() if value is None]
        if empty:  # a comma in an unquoted text starts a new key
            raise LayerwiseError(
                f"{variable} {member!r} has keys without a value, {', '.join(map(repr, empty))}; "
                "quote texts that hold a comma"
            )
        yield _Member(member, attributes or {})


def _filled(template: Any, variables: Mapping[str, _Member]) -> Any:
    """Fill every text of a template, keys too, with the members' names and attributes."""
    if isinstance(template, str):
        try:
            return template.format(**variables)
        except (LookupError, AttributeError, TypeError, ValueError) as error:
            raise LayerwiseError(
                f"a template names its variables ({', '.join(variables) or 'none'}) and their "
                f"attributes, found {template!r:.80} ({error!s:.80}); correct it"
            ) from None
    if isinstance(template, dict):
        filled = {_filled(k, variables): _filled(v, variables) for k, v in template.items()}
        if len(filled) < len(template):
            raise LayerwiseError(
                f"templates of keys must give different ones, found {', '.join(template):.80}; "
                "name another variable in them"
            )
        return filled
    return [_filled(v, variables) for v in template] if isinstance(template, list) else template


def _claim(
    ledger: Mapping[str, Any],
    entry: dict[str, Any],
    variables: dict[str, _Member],
    published: Published,
) -> Claim:
    printed, file, key = _printed(entry.get("printed"), variables, published)
    if printed is None:
        raise LayerwiseError(
            "a claim must have a printed value, found none; what was never saved is no claim, "
            "remove it"
        )
    apart = ("for", "printed", "also", "quote", "against")
    given = {k: v for k, v in entry.items() if k not in apart and v is not None}
    filled = {name: value for name, value in _filled(given, variables).items() if value != ""}
    fields = {"source_file": file, "source_key": key, **filled}
    places = fields.get("where", "")
    further = entry.get("also", {}).get(fields["id"], [])
    fields["where"] = "; ".join([*([places] if isinstance(places, str) else places), *further])
    if isinstance(fields.get("decimals"), str):  # of a template
        fields["decimals"] = _number_or_text(fields["decimals"])
    tolerances = [member["tolerance"] for member in variables.values() if "tolerance" in member]
    if tolerances:
        fields["tolerance"] = tolerances[0]
    if ("against" in entry) != ("quote" in entry):
        raise LayerwiseError(
            "a denied statement has its words in `quote` and what denies them in `against`, found "
            "one of the two; add the other"
        )
    own = {k: v for k, v in ledger["document"].items() if k in ("file", "commit")}
    denials = _filled(entry.get("against", []), variables)
    fields["against"] = [
        _said_by(denial, published) if isinstance(denial, str) else _quote(denial, own)
        for denial in denials
    ]
    if "quote" in entry:
        fields["quote"] = _quote(_filled(entry["quote"], variables), own)
    if "cell" in fields:
        _require_cell(fields, published)
    for statistic in (fields.get("statistic"), *fields.get("readings", {}).values()):
        if statistic is not None:
            statistic_parts(statistic)
    kind = ledger["document"]["kind"]
    return Claim(**fields, paper=ledger["paper"], document=kind, printed=printed)


def _require_cell(fields: Mapping[str, Any], published: Published) -> None:
    """Refuse a cell that is not published, or that stands beside a statistic."""
    file, _, key = fields["cell"].partition("#")
    if "statistic" in fields or not any(
        f"{stored}/".startswith(f"{key}/") for stored in published.keys(file)
    ):
        raise LayerwiseError(
            "a cell is the FILE#/pointer of a published number, in place of a statistic, found "
            f"{fields['cell']!r:.120}; correct it"
        )


def _quote(filled: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return a quotation with its file, by default the document's own, and its line as a number."""
    place = own if "file" not in filled else {}
    line = filled.get("line")
    return {**place, **filled, "line": _number_or_text(line) if isinstance(line, str) else line}


def _said_by(place: str, published: Published) -> str:
    """Return what denies a statement, with what stands there if it is a published label."""
    file, at_pointer, key = place.partition("#")
    return f"{file} has {published[file, key]} at {key}" if at_pointer else place


def _printed(
    printed: Any, variables: dict[str, _Member], published: Published
) -> tuple[Printed, str | None, str | None]:
    """Return the value in print, and the published file and key it stands in."""
    if isinstance(printed, dict) and "cells" in printed:
        require_shape("printed", Table, printed)
        printed = _cell(printed["by"], printed["cells"], variables)
    printed = _filled(printed, variables)
    if isinstance(printed, str):
        return _number_or_text(printed), None, None
    if not isinstance(printed, dict):
        return printed, None, None
    require_shape("printed", Place, printed)
    return published.value(printed["file"], printed["key"]), printed["file"], printed["key"]


def _cell(axes: Sequence[str], cells: Any, variables: Mapping[str, _Member]) -> Any:
    """Return the cell of a table: nested mappings, one level per variable."""
    for variable in axes:
        name = variables[variable].name if variable in variables else None
        if not isinstance(cells, dict) or name not in cells:
            raise LayerwiseError(
                f"a table of printed cells must have one for every member of "
                f"{', '.join(axes):.80}, "
                f"found none for {variable} {name!r:.40}; add it"
            )
        cells = cells[name]
    return cells


def _number_or_text(text: str) -> Value:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def statistic_parts(statistic: str) -> tuple[str, str, str]:
    """Return analysis, document and JSON Pointer of analysis:document:/pointer."""
    parts = statistic.split(":", 2)
    if len(parts) != 3 or not parts[2].startswith(pointer("")):
        raise LayerwiseError(
            f"a statistic is analysis:document:/json/pointer, found {statistic!r:.80}; correct it"
        )
    return parts[0], parts[1], parts[2]
