"""The ledger: rows, printed values, errors with their place; and the verdicts."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judged import ledger as committed_ledger
from layerwise.engine.claims import Claim, read_ledger
from layerwise.engine.judged import (
    AS_RANDOM,
    NO_CONTROL,
    NO_NOISE,
    TOLERANCES,
    TOO_NOISY,
    NoisyWord,
    OtherReading,
)
from layerwise.engine.judging import note_shift
from layerwise.engine.origins import Origins
from layerwise.engine.published import Published, leaves, pointer
from layerwise.engine.verdicts import STORED, Statistics, equal, judge
from layerwise.errors import LayerwiseError
from layerwise.models.registry import read_models
from layerwise.papers.across.together import PAPERS

VALUES = {"/4/r": 0.25, "/8/label": "FLAT", "/list/0": 1, "/list/1": 2}
MODELS = read_models(Path(__file__).parents[2] / "models.yaml")
PUBLISHED = Published({("f.json", key): value for key, value in VALUES.items()})
ROW = {"id": "p2.a", "where": "table 1", "quantity": "r", "printed": "3", "answer": "layers:m:/r"}
QUOTE = {"text": "tuned models", "file": "a.tex", "line": 3}


def write_table(path, rows, *, end="\n", encoding="utf-8"):
    path.parent.mkdir(exist_ok=True)
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, dict.fromkeys(name for row in rows for name in row), "")
    table.writer.writerow(table.fieldnames)
    table.writerows(rows)
    path.write_bytes(text.getvalue().replace("\r\n", end).encode(encoding))


def read_rows(tmp_path, *rows, readings=(), denied=None, **file):
    """Read the ledger of some rows, each like `ROW` but for what it gives."""
    folder = tmp_path / "paper2"
    write_table(folder / "paper.csv", [ROW | row for row in rows], **file)
    if readings:
        header = ("id", "reading", "statistic")
        write_table(folder / "readings.csv", [dict(zip(header, r, strict=True)) for r in readings])
    if denied:
        (folder / "denied.yaml").write_text(json.dumps(denied))
    return read_ledger(tmp_path, PUBLISHED)


@pytest.mark.parametrize("file", [{}, {"end": "\r\n"}, {"encoding": "utf-8-sig"}])
def test_a_row_is_a_claim(tmp_path, file):
    """As a spreadsheet saves it, too."""
    row = {"why": "a, b", "where": " abstract; table 1 ", "tolerance": "measured", "unit": "%"}
    (claim,) = read_rows(tmp_path, row, **file)
    assert claim == Claim(
        id="p2.a",
        paper=2,
        document="paper",
        where="abstract; table 1",
        quantity="r",
        printed=3,
        unit="%",
        tolerance="measured",
        statistic="layers:m:/r",
        why="a, b",
    )
    assert claim.place.endswith("paper2/paper.csv, line 2")


def test_the_file_of_a_row_says_its_document(tmp_path):
    names = ("notebooks.csv", "supplement.csv", "paper.csv")
    for paper, name in [(3, "paper.csv"), *((1, name) for name in names)]:
        row = ROW | {"id": f"p{paper}.{name}"}
        write_table(tmp_path / f"paper{paper}" / name, [row])
    kinds = [(claim.paper, claim.document) for claim in read_ledger(tmp_path, PUBLISHED)]
    assert kinds == [(1, "paper"), (1, "supplement"), (1, "notebook"), (3, "paper")]


@pytest.mark.parametrize(
    ("printed", "decimals", "value"),
    [
        ("DISCREPANCY", "", "DISCREPANCY"),
        ("+0.060", "3", 0.06),
        ("21", "", 21),
        ("21", "0", 21),
        ("300", "-2", 300),
        ("1.5e-07", "full", 1.5e-07),
        ("5e-05", "full", 5e-05),
        ("[0.3, 0.4]", "1", [0.3, 0.4]),
        ("[[0.30, 1.50], [-0.07, 1.00]]", "2", [[0.3, 1.5], [-0.07, 1.0]]),
        ("true", "", True),
        ("TRUE", "", "TRUE"),
        ("0-8", "", "0-8"),
        ("***", "", "***"),
    ],
)
def test_printed_forms(tmp_path, printed, decimals, value):
    (claim,) = read_rows(tmp_path, {"printed": printed, "decimals": decimals})
    assert claim.printed == value
    assert type(claim.printed) is type(value)


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ({"answer": "cell f.json#/4/r"}, {"statistic": None, "cell": "f.json#/4/r"}),
        (
            {"printed": "FLAT", "source": "f.json#/8/label"},
            {"source_file": "f.json", "source_key": "/8/label"},
        ),
        ({"printed": "[1, 2]", "source": "f.json#/list"}, {"source_key": "/list"}),
        ({"printed": "FLAT: no change", "source": "f.json#/x"}, {"source_key": "/x"}),
        ({"source": "notebook 1"}, {"source_file": "notebook 1", "source_key": None}),
        ({"kind": "declared"}, {"kind": "declared", "identity": False}),
        ({"kind": "identity"}, {"kind": "computed", "identity": True}),
        ({"kind": "unpublished"}, {"kind": "computed", "unpublished": True}),
        ({"answer": "", "why": "no rule"}, {"statistic": None, "why": "no rule"}),
    ],
)
def test_what_a_cell_says(tmp_path, row, fields):
    (claim,) = read_rows(tmp_path, row)
    assert {name: getattr(claim, name) for name in fields} == fields


def test_readings_and_denials_stand_beside_the_rows(tmp_path):
    denied = {"p2.b": {"quote": QUOTE, "against": ["f.json#/8/label", "the paper", QUOTE]}}
    first, second = read_rows(
        tmp_path,
        {},
        {"id": "p2.b", "answer": ""},
        readings=[("p2.a", "cut off", "layers:m:/cut"), ("p2.a", "rounded", "layers:m:/r3")],
        denied=denied,
    )
    assert first.readings == {"cut off": "layers:m:/cut", "rounded": "layers:m:/r3"}
    assert (first.quote, second.readings) == (None, {})
    assert second.quote == QUOTE
    assert second.against == ["f.json has FLAT at /8/label", "the paper", QUOTE]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"colour": "red"}, "line 1: a column must be one of id, .* found 'colour'; remove"),
        ({"where": ""}, "line 2: claim p2.a: .* its `where` is empty; fill it in"),
        ({"id": "p2/a"}, "line 2: claim p2/a: id: "),
        ({"printed": "0.25"}, "decimals of its row, found '0.25' with none; write"),
        ({"printed": "0.25", "decimals": "3"}, "found '0.25' with 3; "),
        ({"printed": "0.25", "decimals": "1"}, "found '0.25' with 1; "),
        ({"printed": "2.5e-1", "decimals": "1"}, "found '2.5e-1' with 1; "),
        ({"printed": "310", "decimals": "-2"}, "found '310' with -2; "),
        ({"printed": "[0.3, 0.45]", "decimals": "1"}, "found '0.45' with 1; "),
        ({"printed": "[[1, 2], [3, 0.5]]"}, "found '0.5' with none; "),
        ({"printed": "\u22120.25", "decimals": "2"}, "found '\u22120.25' with 2; "),
        ({"printed": "10,000", "decimals": "0"}, "found '10,000' with 0; "),
        ({"decimals": "two"}, "a whole number, `full`, or empty .* found 'two'; correct"),
        ({"decimals": "21"}, "found '3' with 21; "),
        ({"printed": "[0.3, "}, "printed: "),
        ({"answer": "layers/m"}, "a statistic is analysis:document:/json/pointer, found 'layers/m"),
        ({"answer": "cell f.json#/9/r"}, "a cell must be .* published .* found 'f.json#/9/r'"),
        ({"printed": "4", "source": "f.json#/list/0"}, "/list/0 of f.json is 1, found 4; correct"),
        ({"printed": "[1, 2, 3]", "source": "f.json#/list"}, r"is \[1, 2\], found \[1, 2, 3\]"),
        ({"source": "f.json#/nowhere"}, "no number '/nowhere' of f.json"),
        ({"kind": "settled"}, "declared, identity, unpublished or empty, found 'settled'"),
        ({"answer": ""}, "without an answer must say `why`, or be denied"),
    ],
)
def test_malformed_row_refused(tmp_path, row, message):
    with pytest.raises(LayerwiseError, match=message) as error:
        read_rows(tmp_path, row)
    assert "paper2/paper.csv, line " in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,where,where,quantity,printed\n", "line 1: a column .* 'where' does 2 times; remove"),
        ("id,where,quantity\n", "line 1: the header must name .* 'printed' is missing; add it"),
        ("id;where;quantity;printed\n", "line 1: a column must be one of"),
        ("id,where,quantity,printed\na,b,c,0,5\n", "line 2: a row .* 4 columns, found 5; quote"),
        ('id,where,quantity,printed\na,"b"c,d,1\n', "line 2: not valid CSV .*; quote"),
        ("", "line 1: the header must name"),
    ],
)
def test_malformed_table_refused(tmp_path, text, message):
    path = tmp_path / "paper1" / "supplement.csv"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(LayerwiseError, match=rf"paper1/supplement\.csv, {message}"):
        read_ledger(tmp_path, PUBLISHED)


def test_an_id_twice_refused(tmp_path):
    with pytest.raises(LayerwiseError, match=r"paper\.csv, line 3: .*\(also in .*csv, line 2\)"):
        read_rows(tmp_path, {}, {})
    write_table(tmp_path / "paper1" / "notebooks.csv", [ROW])
    with pytest.raises(LayerwiseError, match=r"paper2.*line 2: .* \(also in .*notebooks\.csv, "):
        read_rows(tmp_path, {})


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"readings": [("p2.z", "x", "layers:m:/r")]}, r"readings\.csv, line 2: .* found 'p2.z'; "),
        ({"readings": [("p2.a", "x", "layers")]}, r"readings\.csv, line 2: a statistic is "),
        (
            {"readings": [("p2.a", "x", "layers:m:/r"), ("p2.a", "x", "layers:m:/q")]},
            r"readings\.csv, line 3: .* 'x' of claim p2.a is there twice; remove one",
        ),
        (
            {"denied": {"p2.z": {"quote": QUOTE, "against": ["it"]}}},
            r"denied\.yaml: an id must .* found 'p2.z'; correct",
        ),
        (
            {"denied": {"p2.a": {"quote": QUOTE | {"text": "x " * 26}, "against": ["it"]}}},
            r"denied\.yaml: p2.a.quote.text: a quotation has at most 25 words, found 26; correct",
        ),
        ({"denied": {"p2.a": {"quote": QUOTE}}}, r"denied\.yaml: p2.a.against: missing; add it"),
        ({"denied": {"p2.a": {"quote": QUOTE, "against": []}}}, r"denied\.yaml: p2.a.against: "),
        (
            {"denied": {"p2.a": {"quote": QUOTE, "against": ["f.json#/nowhere"]}}},
            "line 2: claim p2.a: published/: no number '/nowhere'",
        ),
    ],
)
def test_malformed_beside_the_rows_refused(tmp_path, beside, message):
    with pytest.raises(LayerwiseError, match=message):
        read_rows(tmp_path, {}, **beside)


@pytest.mark.parametrize("name", ["claims.csv", "paper.yaml"])
def test_another_file_of_the_ledger_refused(tmp_path, name):
    """It would be left out without a word."""
    (tmp_path / "paper2").mkdir()
    (tmp_path / "paper2" / name).write_text("")
    with pytest.raises(LayerwiseError, match=f"paper2/{name}: .* one of paper.csv, .*; rename it"):
        read_rows(tmp_path, {})


@pytest.mark.parametrize("name", ["paper4", "paper_1", "paper.csv"])
def test_another_folder_of_the_ledger_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(LayerwiseError, match=f"{name}: .* paper1, paper2, paper3; rename the"):
        read_rows(tmp_path, {})


def test_no_ledger_refused(tmp_path):
    with pytest.raises(LayerwiseError, match=r"no ledger .*; restore the folder"):
        read_ledger(tmp_path, PUBLISHED)


def test_committed_ledger(root):
    """The claims of three papers, each in the file of its document."""
    claims = committed_ledger(root)
    assert {claim.paper for claim in claims} == {1, 2, 3}
    assert {claim.document for claim in claims} == {"paper", "supplement", "notebook"}
    assert len({claim.id for claim in claims}) == len(claims) > 600


# --- verdicts follow from values alone ----------------------------------------------------------

CLAIM = Claim(
    id="p2.x",
    paper=2,
    document="paper",
    where="table",
    quantity="r",
    kind="computed",
    printed=0.123,
    decimals=3,
    tolerance="measured",
    statistic="layers:m:/r",
    source_file="f.json",
    source_key="/r",
    model="m",
)


def published(value, derived=True, cells=None):
    inputs = [f"f.json#{key}" for key in cells or {"/a": 0}]
    return Statistics(
        "published",
        {} if value is None else {"layers": {"m": {"r": value}}},
        {"layers:m:/r": inputs} if derived else {},
        published=Published({("f.json", key): stored for key, stored in (cells or {}).items()}),
    )


def of_runs(dtype="float32", replicates=5, draws=5):
    """What measured the cell /a; /b is counted in the texts, without a model."""
    sweep = {"dtype": dtype, "fragments": {"f.json": {"/a": 1.0}}}
    runs = {"runs": {"sweep": sweep}, "absent": {}}
    gpt2 = {**runs, "noise": [runs] * replicates, "control": [runs] * draws}
    texts = {"runs": {"pairs": {"fragments": {"f.json": {"/b": 1.0}}}}, "absent": {}}
    return Origins({"gpt2": gpt2, "texts": texts}, MODELS, Published({}))


def measured(value, origins=None, cell="/a"):
    documents = {} if value is None else {"layers": {"m": {"r": value}}}
    derived = {} if value is None else {"layers:m:/r": [f"f.json#{cell}"]}
    return Statistics("measured", documents, derived, origins=origins or of_runs())


def draws_of(*values):
    return [measured(value) for value in values]


def verdict(claim, statistics):
    return judge(claim, statistics, draws=draws_of(9.0)).verdict


def given_not_derived(value):
    return published(value, derived=False)


FULL = {"printed": 0.5, "decimals": "full"}


@pytest.mark.parametrize(
    ("change", "statistics", "word", "shown"),
    [
        # it agrees exactly when the print is the rounding, and is shown unrounded
        ({}, published(0.1234), "agrees", 0.1234),
        ({}, published(0.12251), "agrees", 0.12251),
        ({}, published(0.1236), "differs", 0.1236),
        ({"printed": 26, "decimals": 0}, published(26.48), "agrees", 26.48),
        ({"printed": 26, "decimals": 0, "tolerance": "exact"}, published(26.48), "differs", 26.48),
        ({"printed": 300, "decimals": -2}, published(338.0), "agrees", 338.0),
        # full precision is one part in 1e12
        (FULL, published(0.5 * (1 + 5e-13)), "agrees", 0.5 * (1 + 5e-13)),
        (FULL, published(0.5 * (1 + 5e-12)), "differs", 0.5 * (1 + 5e-12)),
        # a given number is not its own recomputation, but it may be rounded
        (FULL, given_not_derived(0.5), "needs weights", None),
        ({}, given_not_derived(0.1234), "follows", 0.1234),
        ({}, given_not_derived(0.2), "differs", 0.2),
        # a copy is no recomputation
        (FULL, published(0.5, cells={"/a": 0.5}), "same number", 0.5),
        ({"printed": 0.5}, published(0.5, cells={"/a": 0.5}), "follows", 0.5),
        (FULL, published(0.5, cells={"/a": 0.25, "/b": 0.25}), "agrees", 0.5),
        (FULL, published(0.5, cells={"/a": 0.5, "/b": 2}), "agrees", 0.5),  # the smallest, say
        (FULL, published(0.5, cells={"/r": 0.4, "/b": 2}), "same number", 0.5),  # on print itself
        (FULL | {"printed": 0.75}, published(0.5, cells={"/a": 0.5}), "differs", 0.5),
        ({"identity": True}, published(0.123), "same number", 0.123),
        # without numbers, print or rule
        ({"unpublished": True}, published(None), "needs weights", None),
        ({"unpublished": True, "printed": None}, published(None), "needs weights", None),
        ({"statistic": None}, published(0.5), "not checkable", None),
        ({"kind": "declared"}, published(9.0), "declared", 9.0),
        # from the weights
        ({}, measured(0.1234), "reproduced", 0.1234),
        ({}, measured(0.1237), "differs", 0.1237),
        ({"tolerance": "exact"}, measured(0.1237), "differs", 0.1237),
        ({}, measured(None), "not measured", None),
    ],
)
def test_a_verdict_and_what_is_shown(change, statistics, word, shown):
    record = judge(replace(CLAIM, **change), statistics, draws=draws_of(9.0))
    assert (record.verdict, record.recomputed) == (word, shown)


SHOWN = {"layers": {"m": {"r": 0.1234, "p": 0.5}}}


@pytest.mark.parametrize(
    ("printed", "decimals", "word"),
    [(0.123, 3, "follows"), (0.124, 3, "differs"), (0.1234, "full", "same number")],
)
def test_a_claim_that_repeats_a_stored_number_names_its_cell(printed, decimals, word):
    statistics = Statistics("published", SHOWN, given={"layers:m:": "f.json#/results"})
    repeats = {"statistic": None, "cell": "f.json#/results/r", "source_key": None}
    claim = replace(CLAIM, printed=printed, decimals=decimals, **repeats)
    record = judge(claim, statistics)
    assert (record.verdict, record.recomputed) == (word, 0.1234)
    assert record.provenance.statistic == "layers:m:/r"
    assert record.provenance.inputs == [claim.cell]


def test_a_cell_that_no_document_shows_as_it_stands_refused():
    """A rule that derives what stands there is a statistic, and the claim names it."""
    claim = replace(CLAIM, statistic=None, cell="f.json#/r")
    derived = Statistics(
        "published", SHOWN, {"layers:m:/r": ["f.json#/a"]}, {"layers:m:": "f.json#"}
    )
    for statistics in (derived, Statistics("published", SHOWN)):
        with pytest.raises(LayerwiseError, match="no document shows"):
            judge(claim, statistics)


@given(st.floats(-10, 10), st.integers(1, 6))
def test_a_rounded_number_agrees_with_itself(value, decimals):
    printed = float(f"{value:.{decimals}f}")
    assert equal(printed, value, decimals, STORED)
    assert not equal(printed, printed + 1.1 * 10.0**-decimals, decimals, STORED)


def test_differs_says_what_the_values_do_not_say_and_readings_stand_on_every_verdict():
    statistics = published(0.9)
    statistics.documents["layers"]["m"]["cut"] = 0.123
    statistics.derived["layers:m:/cut"] = ["f.json#/b"]
    statistics.documents["layers"]["other"] = {"none": 0.5}  # what one model lacks another has
    readings = {"cut off": "layers:m:/cut", "none": "layers:m:/none"}
    claim = replace(CLAIM, why="a typed table", readings=readings)
    record = judge(claim, statistics)
    assert record.cause == "cut off would give the printed value; a typed table"
    assert judge(CLAIM, statistics).cause is None
    assert judge(replace(claim, printed=0.9), statistics).readings == [
        OtherReading("cut off", 0.123, False, ["f.json#/b"]),
        OtherReading("none", None, False, []),
    ]


def test_a_part_of_what_was_derived_was_derived_from_the_same():
    """A statistics file says it once, of the whole."""
    whole = replace(published(0.1234), derived={"layers:m:": ["f.json#/a", "f.json#/b"]})
    record = judge(CLAIM, whole)
    assert record.verdict == "agrees"
    assert record.provenance.inputs == ["f.json#/a", "f.json#/b"]


def test_a_statement_is_contradicted_with_the_place():
    quote = {"text": "tuned", "file": "a.tex", "line": 3}
    denials = (
        "/x of f says 'base'",
        {"text": "base", "file": "b.md", "line": 4, "commit": "c" * 40},
    )
    denied = replace(CLAIM, statistic=None, quote=quote, against=denials, why="so it is")
    record = judge(denied, measured(None))
    assert record.verdict == "contradicted"
    assert record.cause == (
        "“tuned” (a.tex, line 3); but /x of f says 'base'; “base” (b.md at ccccccc, line 4); "
        "so it is"
    )
    assert verdict(replace(denied, statistic="layers:m:/r"), measured(0.123)) == "reproduced"


def test_a_p_value_has_no_absolute_band():
    """3.4e-13 is not 1.9e-3, whatever r may do."""
    assert not equal(3.4e-13, 1.9e-3, None, TOLERANCES["p"])
    assert not equal(0.5, 0.0, None, TOLERANCES["p"])
    assert equal(3.4e-13, 3.41e-13, None, TOLERANCES["p"])


def test_every_p_value_of_the_ledger_is_compared_on_its_own_scale(root):
    claims = committed_ledger(root)
    of_p = [c for c in claims if re.search(r"(^|[^a-z])p([^a-z]|$)", c.quantity)]
    numbers = [c for c in of_p if isinstance(c.printed, float) and c.tolerance != "exact"]
    assert numbers
    assert {c.id for c in numbers if c.tolerance != "p"} == set()


@pytest.mark.parametrize("name", TOLERANCES)
@given(st.floats(1e-9, 1e-2), st.floats(1e-9, 1e-2))
def test_no_band_spans_a_sign(name, printed, value):
    assert not equal(printed, -value, None, TOLERANCES[name])
    assert not equal(-printed, value, 9, TOLERANCES[name]) or printed + value < 1e-9


@pytest.mark.parametrize(
    ("printed", "value", "same"),
    [
        (True, True, True),
        (True, 1, False),
        ("OTHER", "OTHER", True),
        ("OTHER", "DECOUPLED", False),
        ([8, 12], [8, 12], True),
        ([8, 12], [8, 12, 16], False),
        (6, 6.0, True),
        (6, 7, False),
        (1.0, None, False),
        (float("nan"), float("nan"), False),
    ],
)
def test_labels_counts_and_lists_are_exact(printed, value, same):
    assert equal(printed, value, None, STORED) is same


def test_what_a_draw_of_random_weights_gives_too_is_no_evidence():
    """Whether it does is asked with the band of the claim; the record says how many do."""
    none, some = draws_of(0.5, 0.6, 0.7, None, 0.5), draws_of(0.5, 0.1225, 0.7, 0.5, 0.123)
    assert judge(CLAIM, measured(0.1232), draws=none).verdict == "reproduced"
    record = judge(CLAIM, measured(0.1232), draws=some)
    assert record.verdict == AS_RANDOM
    assert (record.control.draws, record.control.give) == (5, 2)
    assert judge(CLAIM, measured(0.5), draws=some).verdict == "differs"


def test_without_a_control_nothing_is_reproduced():
    """Neither where none was asked for, nor where one of the draws failed."""
    origins = of_runs(draws=0)
    record = judge(CLAIM, measured(0.1232, origins))
    assert (record.verdict, record.cause) == (
        NO_CONTROL,
        "gpt2/sweep: there is none; measure.control of params.yaml says how many",
    )
    failed = of_runs()
    failed.measurements["gpt2"]["control"][3:] = [{"runs": {}, "absent": {"sweep": "a gate"}}]
    record = judge(CLAIM, measured(0.1232, failed), draws=draws_of(0.5, 0.5, 0.5, 0.5))
    assert (record.verdict, record.cause) == (NO_CONTROL, "gpt2/sweep, control 3: a gate")


def test_a_count_of_texts_is_compared_and_has_no_control():
    """No weight enters it: that random weights give it too says nothing."""
    texts = measured(0.1232, cell="/b")
    assert judge(CLAIM, texts, draws=draws_of(0.1232)).verdict == "agrees"
    assert judge(CLAIM, measured(0.13, cell="/b")).verdict == "differs"


FAR = (9.0,) * 5  # draws of random weights that give no claim


def with_noise(value, *replicates, dtype="float16", claim=CLAIM, draws=FAR, printed_by=None):
    """Judge what a run with KERNELS measured; print records the setting `printed_by`."""
    again = [measured(one) for one in replicates]
    origins = of_runs(dtype, replicates=len(replicates))
    origins.measurements["gpt2"]["runs"]["sweep"].update(KERNELS)
    cells = leaves("/_run", printed_by or {}, texts=True)
    origins.published.cells.update({("f.json", key): value for key, value in cells})
    return judge(claim, measured(value, origins), again, draws_of(*draws))


MOVED = (0.004, -0.001, 0.002, -0.003, 0.0)  # by five replicates: root mean square sqrt(6) 10^-3
WIDTH = float(stats.t.ppf(0.975, 5)) * math.sqrt(6) * 1e-3  # of runs that share kernels
WIDTH_APART = math.sqrt(2) * WIDTH
KERNELS = {
    "attention": {"states": "sdpa", "traces": "sdpa", "maps": "eager"},
    "arithmetic": {"float32": "ieee", "sdpa": ["math"]},
    "tokens_per_batch": 2048,
    "smaller_batches": [],
}


def test_replicates_give_a_16_bit_number_its_band():
    """sqrt(2) t(0.975, 5) times their root mean square, and half a unit of the print."""
    moved = [0.13 + step for step in MOVED]
    near = replace(CLAIM, printed=0.13 + WIDTH_APART + 0.0004)
    assert with_noise(0.13, *moved, claim=near).verdict == "reproduced"
    record = with_noise(0.13, *moved, claim=replace(CLAIM, printed=0.13 + WIDTH_APART + 0.0006))
    assert record.verdict == "differs"
    assert record.noise.band == pytest.approx(WIDTH_APART)
    assert with_noise(0.13, *moved, dtype="float32").verdict == "differs"


@pytest.mark.parametrize(
    ("printed_by", "width"),
    [
        (KERNELS, WIDTH),
        (KERNELS | {"device": "another"}, WIDTH),  # a matrix kernel of its own is covered
        (None, WIDTH_APART),
        ({"device": "cpu"}, WIDTH_APART),
        (KERNELS | {"tokens_per_batch": 512}, WIDTH_APART),
        (KERNELS | {"attention": {**KERNELS["attention"], "states": "eager"}}, WIDTH_APART),
        ({name: KERNELS[name] for name in ("attention", "arithmetic")}, WIDTH_APART),
    ],
)
def test_a_record_of_the_same_kernels_narrows_the_band(printed_by, width):
    moved = [0.13 + step for step in MOVED]
    record = with_noise(0.13, *moved, printed_by=printed_by)
    assert record.noise.band == pytest.approx(width)
    between = replace(CLAIM, printed=0.13 + (WIDTH + WIDTH_APART) / 2)
    verdict = with_noise(0.13, *moved, claim=between, printed_by=printed_by).verdict
    assert verdict == ("differs" if width == WIDTH else "reproduced")


def test_a_record_of_one_file_says_nothing_of_another():
    """A value may rest on several files: each has to name the kernels of its run."""
    both = {"f.json": {"/a": 1.0}, "g.json": {"/a": 1.0}}
    run = {"dtype": "float16", "fragments": both, **KERNELS}
    cells = {("f.json", key): value for key, value in leaves("/_run", KERNELS, texts=True)}
    origins = Origins({"gpt2": {"runs": {"sweep": run}, "absent": {}}}, MODELS, Published(cells))
    assert origins.share_kernels(["f.json#/a"])
    assert not origins.share_kernels(["f.json#/a", "g.json#/a"])
    assert not origins.share_kernels([])


def test_a_shift_by_16_bits_is_noted_beside_the_noise():
    record = with_noise(0.13, *[0.13 + step for step in MOVED])
    assert note_shift(record, {"layers": ["r"]}).noise == replace(record.noise, shift=True)
    assert note_shift(record, {"layers": ["n"], "pairs": ["r"]}) == record
    exact = with_noise(0.123, dtype="float32")
    assert note_shift(exact, {"layers": ["r"]}) == exact


def test_what_16_bits_shift_is_what_the_rules_give(works):
    for analysis, names in PAPERS.shifted.items():
        derived = {key.rpartition(":")[2] for key in works[analysis].derived}
        assert {pointer(name) for name in names} <= derived


@pytest.mark.parametrize("side", [-1, 1])
def test_draws_of_random_weights_are_compared_within_the_noise_band(side):
    """A draw within the band of a 16-bit claim gives it, one beyond does not."""
    half_unit = 0.0005
    inside, outside = (0.13 + side * (WIDTH_APART + share * half_unit) for share in (0.9, 1.1))
    replicates, claim = [0.13 + step for step in MOVED], replace(CLAIM, printed=0.13)
    some = (outside, outside, inside, outside, inside)
    record = with_noise(0.13, *replicates, claim=claim, draws=some)
    assert (record.verdict, record.control.give) == (AS_RANDOM, 2)
    none = [outside] * 5
    assert with_noise(0.13, *replicates, claim=claim, draws=none).verdict == "reproduced"


def test_what_ran_in_16_bits_without_replicates_is_not_judged():
    assert with_noise(0.123).verdict == NO_NOISE
    assert with_noise(0.123, 0.123, dtype="bfloat16").verdict == "reproduced"


@pytest.mark.parametrize(
    ("printed", "value", "replicates", "word"),
    [
        (0.02, 0.021, [0.05, -0.01, 0.03, -0.02, 0.02], TOO_NOISY),  # its sign is not known
        (0.02, 0.7, [0.72, 0.69, 0.71, 0.7, 0.7], "differs"),  # far beyond the noise
        (0.02, 0.02, [0.02, None, 0.02, 0.02, 0.02], TOO_NOISY),  # a replicate has no number
        ("inverts", "inverts", ["inverts"] * 5, "reproduced"),
        ("inverts", "inverts", ["inverts"] * 4 + ["flat"], TOO_NOISY),
        ("inverts", "flat", ["inverts"] + ["flat"] * 4, TOO_NOISY),
        ("inverts", "flat", ["flat"] * 5, "differs"),
        ([0.5, 0.25], [0.5001, 0.2502], [[0.501, 0.2501]] * 5, "reproduced"),
        ([0.5, 0.25], [0.5001, 0.2502], [[0.5011, 0.2501], [0.5, -0.9]] * 2, TOO_NOISY),
    ],
)
def test_where_noise_exceeds_what_is_claimed_nobody_can_tell(printed, value, replicates, word):
    claim = replace(CLAIM, printed=printed)
    assert with_noise(value, *replicates, claim=claim).verdict == word


def test_a_count_is_a_word_to_noise():
    """A layer that is another one in a replicate is not known."""
    layer = replace(CLAIM, printed=28, decimals=0, tolerance="exact")
    assert with_noise(28, 28, 28, 28, claim=layer).verdict == "reproduced"
    record = with_noise(28, 28, 24, 28, claim=layer)
    assert (record.verdict, record.noise) == (TOO_NOISY, NoisyWord(2, 3))


def test_the_noise_of_a_p_value_is_that_of_its_logarithm():
    tiny = replace(CLAIM, printed=3e-13, decimals="full", tolerance="p")
    again = [3.3e-13, 2.8e-13, 3.1e-13, 2.9e-13, 3.2e-13]
    assert with_noise(3.4e-13, *again, claim=tiny).verdict == "reproduced"
    assert (
        with_noise(1.9e-3, *[1.9e-3 * (1 + n / 50) for n in range(5)], claim=tiny).verdict
        == "differs"
    )
    large = replace(tiny, printed=0.9)
    assert with_noise(0.8, 0.95, 0.6, 0.9, 0.7, 0.85, claim=large).verdict == TOO_NOISY


def test_a_claim_waits_for_a_model_where_that_has_no_number_for_it(tmp_path):
    """Not where its cause names the model: a replicate is missing, or the ledger says why."""
    (tmp_path / "gpt2").mkdir()
    (tmp_path / "gpt2" / "measured.json").write_text("{}")
    too_large = {"runs": {}, "absent": {"sweep": "too large", "scaling": "too large"}}
    gpt2 = {**of_runs("float16", 0).measurements["gpt2"], "absent": {"scaling": "a gate"}}
    origins = Origins({"gpt2": gpt2, "gpt2-medium": too_large}, MODELS, Published({}))
    without, with_number = measured(None, origins), measured(0.123, origins)
    records = [
        judge(replace(CLAIM, **about), statistics)
        for about, statistics in (
            ({"model": "GPT-2-medium"}, without),
            ({"model": "gpt2-medium", "printed": 0.5}, without),
            ({"model": "gpt2"}, without),
            ({"model": "gpt2-large"}, without),  # nobody says why it has none
            ({"model": "gpt2", "unmeasured": "as (gpt2: large) in gpt2-medium"}, without),
            ({"model": "gpt2"}, with_number),
        )
    ]
    assert [record.waits_for for record in records] == [
        *("gpt2-medium", "gpt2-medium", "gpt2"),
        *(None, "", ""),
    ]
    assert records[-1].cause.startswith("gpt2/sweep")
    failed = origins.behind(records, tmp_path).failed
    assert {slug: entry.claims for slug, entry in failed.items()} == {
        "gpt2": 1,
        "gpt2-medium": 2,
    }


EMPTY = {"derived": {"layers:m:/changes": ["f#/r"]}}
NO_CHANGE = {"undefined": {"layers:m:/changes/0": "no sign change"}}
MISSING = {"missing": {"layers:m:/changes/0": "f#/r"}}


@pytest.mark.parametrize(
    ("source", "known", "word", "cause"),
    [
        ("published", EMPTY, "differs", "/changes has 0 entries"),
        ("published", NO_CHANGE, "differs", "no sign change"),
        ("measured", EMPTY, "differs", "/changes has 0 entries"),
        ("measured", NO_CHANGE, "differs", "no sign change"),
        ("measured", MISSING, "not measured", ""),
        ("measured", {}, "not measured", ""),
    ],
)
def test_a_curve_without_what_is_printed_differs(source, known, word, cause):
    """It was computed, and does not cross zero: that is no missing number."""
    claim = replace(CLAIM, statistic="layers:m:/changes/0/layer", decimals=None)
    origins = of_runs() if source == "measured" else None
    statistics = Statistics(source, {"layers": {"m": {"changes": []}}}, **known, origins=origins)
    record = judge(claim, statistics)
    assert (record.verdict, record.recomputed) == (word, None)
    assert cause in (record.cause or "")
    if source == "measured":
        elsewhere = replace(claim, unmeasured="another definition")
        assert verdict(elsewhere, statistics) == "not measured"


@pytest.mark.parametrize(
    ("change", "value", "message"),
    [
        ({}, None, "layers:m:/r matches no statistic"),
        ({}, {"a": 1, "b": 2}, "matches 2 statistics"),
        (
            {"readings": {"x": "layers:n:/r"}},
            1.0,
            "reading layers:n:/r matches no statistic",
        ),
    ],
)
def test_judge_refused(change, value, message):
    for claim, where in [
        (CLAIM, "^"),
        (replace(CLAIM, place="paper.csv, line 3"), r"^paper\.csv, line 3: "),
    ]:
        with pytest.raises(LayerwiseError, match=rf"{where}claim p2\.x: .*{message}"):
            judge(replace(claim, **change), published(value))
