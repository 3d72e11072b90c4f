"""Judged claims made up for tests, and the folders that a page is made of."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

from layerwise.engine.central import Central, Point
from layerwise.engine.judged import JudgedClaim, Provenance
from layerwise.engine.marks import DEPENDS, OPENNESS, QuestionPart
from layerwise.engine.published import HEADER, TYPED
from layerwise.engine.records import JudgedSource, as_json, count_by_paper, hashes_of, sealed
from layerwise.files import read_json, write_json
from layerwise.papers.fetching.upstream import DATA_FILES
from layerwise.papers.shared.result_files import LAYERS, TABLES
from layerwise.present.figures import INDEX
from layerwise.present.figures.picture import NARROW
from layerwise.present.html import TEMPLATES

FIELDS = ("quantity", "where", "model", "unit", "cause", "kind", "published", "recomputed")


def record(claim_id: str, **fields: Any) -> JudgedClaim:
    """One judged claim; `inputs`, `file`, `key`, `statistic`, `runs` go into its provenance."""
    provenance = {
        "file": LAYERS,
        "key": "/strategies/layer_8/p_value",
        "statistic": "layers:pythia-6p9b:/strategies/layer_8/p_value",
        "inputs": [],
        "runs": [],
    }
    for name in provenance:
        provenance[name] = fields.pop(name, provenance[name])
    made = {
        "id": claim_id,
        "paper": int(claim_id[1]),
        "document": "paper",
        "where": "notebook 001, saved results",
        "quantity": "two-sided p of r",
        "model": "pythia-6p9b",
        "unit": None,
        "kind": "computed",
        "decimals": 3,
        "published": 0.345,
        "recomputed": 0.34512345,
        "verdict": "agrees",
        "tolerance": "measured",
        "cause": None,
        "readings": [],
        "provenance": Provenance(**provenance),
    }
    return JudgedClaim(**made | fields)


def hostile_claims(texts: Sequence[str]) -> list[JudgedClaim]:
    """Two claims per text that hold it wherever a text can stand; one has no statistics."""
    records = []
    for number, text in enumerate(texts):
        fields = dict.fromkeys(FIELDS, text)
        made = record(f"p2.{number}.{text}", file=text, key=text, **fields, verdict="differs")
        odd = record(f"p3.{number}", statistic=f"{text}:m:/x", recomputed=None, verdict="declared")
        records += [made, odd]
    return records


def judged(records: Sequence[JudgedClaim], source: str = "published", **fields: Any) -> dict:
    """The document of a `claims.json`."""
    document = {
        "source": source,
        "counts": count_by_paper(records),
        "statistics": {},
        "inputs": {},
        "judged_from": {},
    }
    lists = ("central", "findings", "story", "surprises")
    claims = [as_json(entry, source) for entry in records]
    made = document | {name: [] for name in lists} | {"claims": claims} | fields
    return sealed(made)


def judged_source(records: Sequence[JudgedClaim], **fields: Any) -> JudgedSource:
    """The same as it is read."""
    made = {"source": "published", "counts": count_by_paper(records), "claims": [*records]}
    behind = ("statistics", "inputs", "judged_from")
    lists = ("central", "findings", "story", "surprises")
    empty = {**{name: {} for name in behind}, **{name: [] for name in lists}}
    return JudgedSource(**empty | made | fields)


def note_statistics(claims: Path, folder: Path) -> None:
    """Say that the claims were judged by what the folder holds now."""
    write_json(claims, sealed(read_json(claims) | {"statistics": hashes_of(folder)}))


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300" width="400" height="300">'
    "<text>drawn</text></svg>\n"
)


UNITS = {"n": 9, "unit": "models", "method": "Student's t"}
LEVEL = {"level": 0.95, "family": [1, 1]}
WORDS = {"holds": "yes", "in part": "undecided", "fails": "no", DEPENDS: "yes"}  # of a whole claim


def point(model: str, word: str = "yes", **fields: Any) -> dict[str, Any]:
    """An estimate that decides, which its paper takes as well."""
    ends = {"value": 0.5, "low": 0.25, "high": 0.75}
    taken = {name: fields.get(name, number) for name, number in ends.items()}
    published = {**taken, "word": word, **UNITS}
    limits = {"above": 0.0, "below": None}
    made = {"model": model, **ends, "word": word, **limits, **UNITS, **LEVEL}
    return made | {"published": published} | fields


def central_claim(name: str, given: str = "holds", **fields: Any) -> dict[str, Any]:
    """A central claim of Paper 2, as judged.

    Arguments:
        given: its mark, or why it is open; its word and its parts are such that they give it.
    """
    mark, why = ("open", given) if given in OPENNESS else (given, "")
    claim = fields.get("says", "r falls.").removesuffix(".")
    texts = {
        "says": "r falls.",
        "where": "abstract",
        "reason": ["It does."],
        "notes": ["So it is."],
    }
    about = {"claim": claim, "number": "r", "decimals": 2, "figure": "", "front": False}
    word = WORDS.get(given, given)
    words = ["yes", word] if given == "in part" else [word]
    rests = {
        "word": word,
        "parts": [
            {"question": "q", "model": f"model {n}", "word": one} for n, one in enumerate(words)
        ],
        "counts": {one: words.count(one) for one in ("yes", "no")}
        | {"open": sum(one not in ("yes", "no") for one in words)},
        "points": [point(claim)],
        "readings": [{"reading": "other", "text": "by ranks", "word": "no"}] * (given == DEPENDS),
        "printed": [],
        "as_printed": 1,
        "compared": 1,
        "caveats": [],
        "source": "paper",
    }
    return {"id": name, "paper": 2, "mark": mark, "why": why, **texts, **about, **rests} | fields


def made_central(name: str, given: str = "holds", **fields: Any) -> Central:
    """The same as it is read."""
    made = central_claim(name, given, **fields)
    parts = fields.get("parts") or [QuestionPart(**part) for part in made["parts"]]
    return Central(**made | {"parts": parts, "points": [Point(**one) for one in made["points"]]})


def folders(
    base: Path,
    records: Sequence[JudgedClaim],
    source: str = "published",
    *,
    random_weights: bool = False,
    central: Sequence[dict[str, Any]] = (),
    drawn: Mapping[str, str] = MappingProxyType({}),
) -> SimpleNamespace:
    """Everything a page needs below `base`, with the repository's templates, as its stage asks.

    Arguments:
        drawn: by central claim the figure that decides it.
    """
    made = SimpleNamespace(
        **{name: base / name for name in ("statistics", "figures", "published", "out")},
        claims=base / "claims.json",
        templates=TEMPLATES / "page",
    )
    for folder in (made.statistics, made.figures, made.published):
        folder.mkdir(parents=True)
    index = []
    for name in ("layers", "pairs", "bins"):
        left_out = "none published" if name == "bins" else None
        about = {"name": name, "analysis": name, "caption": f"About {name}.", "left_out": left_out}
        about |= {"title": "", "note": ""}
        index.append(about)
        for end in ("", NARROW):
            (made.figures / f"{name}{end}.svg").write_text(SVG)
        (made.figures / f"{name}.csv").write_text("point,value\n")
    write_json(made.figures / INDEX, {"random_weights": random_weights, "figures": index})
    for table in (*TABLES, TYPED):
        (made.published / table).write_text(",".join(HEADER) + "\n")
    with (made.published / "paper2.csv").open("a") as table_file:
        table_file.writelines(f"{LAYERS},/x/{number},{number}.5\n" for number in range(40))
    pins = (f"{path},{'a' * 64},9\n" for path in (*DATA_FILES, LAYERS))
    (made.published / "registry.csv").write_text("path,sha256,bytes\n" + "".join(pins))
    (made.published / "prompt_sets.csv").write_text("study,notebook,sha256,variable\n")
    for analysis in ("layers", "pairs"):
        write_json(made.statistics / f"{analysis}.json", {"analysis": analysis})
    write_json(made.statistics / "questions.json", {"documents": {}})
    behind = {"inputs": {LAYERS: "a" * 64}, "statistics": hashes_of(made.statistics)}
    shown = [claim | {"figure": drawn.get(claim["id"], "")} for claim in central]
    document = judged(records, source, central=shown, **behind)
    write_json(made.claims, document)
    return made
