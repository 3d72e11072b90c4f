"""Judged claims as people read them: page and terminal, which hostile texts cannot command."""

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import SVG, folders, headline, hostile_claims, judged, note_statistics, record
from hostile import BIDI, TEXTS, UNSEEN, is_unseen
from layerwise import cli
from layerwise.errors import LayerwiseError
from layerwise.files import revealed, write_json
from layerwise.ledger.findings import relative_difference
from layerwise.ledger.headlines import read_headlines
from layerwise.ledger.records import read_judged
from layerwise.ledger.verdicts import AS_RANDOM, VERDICTS
from layerwise.pages.html import embedded
from layerwise.pages.page import matrix
from layerwise.pages.pictures import Picture
from layerwise.pages.records import positions_by_analysis, view
from layerwise.pages.values import short_text, value_text
from layerwise.places.result_files import LAYERS
from layerwise.steps import page as stage
from parsed_page import Page


def built(made: Any, source: str = "published") -> str:
    stage.run(source, **vars(made))
    return (made.out / "index.html").read_bytes().decode("utf-8")


# --- values and records -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "recomputed", "gap"),
    [
        (2.0, 1.5, 0.25),
        (-2, -3, 0.5),
        ([1.0, 4.0], [1.0, 5.0], 0.25),
        (0, 0, 0.0),
        (0.0, 0.1, math.inf),
        ([1], [1, 2], math.inf),
        ("Pass", "Fail", None),
        (True, False, None),
        (None, 1.0, None),
        ([], [], None),
    ],
)
def test_relative_difference(published: Any, recomputed: Any, gap: float | None) -> None:
    assert relative_difference(published, recomputed) == gap


def test_shown_and_brief_by_kind() -> None:
    assert [value_text(value) for value in (None, True, "NOW")] == ["–", "yes", "NOW"]
    assert (value_text(0.25, 3), value_text(30, 0), value_text([8, 12])) == ("0.250", "30", "8, 12")
    assert value_text(math.nan) == "NaN"  # which notebooks saved
    assert short_text(0.34569159857148496, "full") == "0.345692"
    assert short_text(0.977, 3) == "0.977"
    assert short_text([0.5] * 33, "full") == "0.5, 0.5, 0.5, 0.5, 0.5, 0.5, … (33 values)"


def test_view_shows_more_digits_only_of_what_differs() -> None:
    close = {"published": 0.118, "recomputed": 0.11749110743}
    one = view(record("p3.a", where="Paper 3, appendix C", **close))
    assert (one["recomputed"], one["recomputed_full"]) == ("0.117", "0.11749110743")
    assert "published_full" not in one
    assert one["place"] == "Paper 3, appendix C"  # the paper is named once
    one = view(record("p2.a", where="table 2", verdict="differs", **close))
    assert (one["recomputed"], one["place"]) == ("0.11749", "Paper 2, table 2")
    assert json.dumps(view(record("p2.a", published=0.0, recomputed=1.0)), allow_nan=False)


def test_beside_puts_what_differs_first() -> None:
    records = [
        record("p2.none", recomputed=None, verdict="needs weights"),
        record("p2.both"),
        record("p2.other", statistic="pairs:pythia-6p9b:/n"),
        record("p2.differs", verdict="differs"),
        record("p2.no.rule", statistic=None, recomputed=None, verdict="not checkable"),
    ]
    assert positions_by_analysis(records) == {"layers": [3, 1, 0], "pairs": [2]}


PART = {"claim": ["p2.a"]}  # where an id must stand


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (judged([record("p2.a", verdict="maybe")]),
         r"claims\.0\.verdict: must be .*, found 'maybe'; judge the l"),
        (judged([record("p2.a") | {"provenance": {}}]),
         r"claims\.0\.provenance\.file: missing; judge the ledger again"),
        (judged([], headlines=[headline("p2.h", parts=[PART])]),
         r"headlines: 0\.parts\.0\.claim: must be a valid string, found \['p2"),
        (judged([], "measured"), r"of source 'published' .* for 'measured'; give"),
        (judged([record("p2.a")] * 2), r"claim 'p2\.a' is there 2 times"),
    ],
)  # fmt: skip
def test_judged_iv(tmp_path: Path, document: dict[str, Any], message: str) -> None:
    write_json(tmp_path / "claims.json", document)
    with pytest.raises(LayerwiseError, match=rf"claims\.json: .*{message}"):
        read_judged(tmp_path / "claims.json", "published")


def test_svg_iv() -> None:
    assert 'aria-label="&lt;About&gt; it"' in Picture("a", "a", "<About> it", SVG).inline
    for broken in ("", "<html>", SVG[:-3]):
        with pytest.raises(LayerwiseError, match="figure a: expected a whole SVG"):
            _ = Picture("a", "a", "", broken).inline


def test_a_question_leads_to_the_claims_that_ask_it(root: Path) -> None:
    late = {"id": "p2.late", "asked": ["late_inversion"], "claims": ["p2.a", "p2.b"]}
    both = [late, late | {"id": "p2.gemma", "claims": ["p2.b", "p2.c"]}]
    answers = {"published": {"word": "yes"}, "category_out": {"x_y": {"word": "no"}}}
    documents = {"late_inversion": {"models": {"m": answers}}}
    found = {row["name"]: row for row in matrix(documents, both, {})}
    row = found["late_inversion"]
    assert row["headlines"] == ["p2.late", "p2.gemma"]
    assert row["claims"] == ["p2.a", "p2.b", "p2.c"]
    assert row["choices"] == {
        "as the papers did": {"yes": ["m"]},
        "without one category": {"no": ["m without x y"]},
    }
    asked = {ask["question"] for one in read_headlines(root / "claims") for ask in one["asks"]}
    assert asked <= set(found)


# --- the page -----------------------------------------------------------------------------------


def test_page_holds_claims_counts_and_evidence(tmp_path: Path, root: Path) -> None:
    inputs = [f"{LAYERS}#/x/1", f"{LAYERS}#/x/2"]
    records = [
        record("p2.a", inputs=inputs),
        record("p2.b", inputs=inputs[1:], verdict="differs", cause="printed otherwise"),
        record("p3.c", statistic=None, recomputed=None, verdict="not checkable", file="Paper 3"),
    ]
    made = folders(tmp_path, root, records)
    page = Page(text := built(made))
    assert [claim["id"] for claim in page.data["claims"]] == ["p2.a", "p2.b", "p3.c"]
    assert page.data["cells"] == [[LAYERS, "/x/1", "1.5"], [LAYERS, "/x/2", "2.5"]]
    assert page.data["claims"][1]["inputs"] == [1]
    assert page.data["files"] == {LAYERS: "a" * 64}
    assert re.fullmatch("[0-9a-f]{64}", page.data["statistics"]["layers.json"])
    assert "bins (none published)" in "".join(page.words)  # the figure that is not there
    labels = {value for name, value in page.values if name == "aria-label"}
    assert {"Paper 2, differs: 1 claims", "Paper 3, not checkable: 1 claims"} <= labels
    assert built(made) == text


def test_page_of_random_weights_says_that_it_means_nothing(tmp_path: Path, root: Path) -> None:
    records = [record("p2.a", verdict="differs", recomputed=0.9, inputs=["beyond/ours#/x"])]
    for random_weights in (True, False):
        folder = tmp_path / str(random_weights)
        made = folders(folder, root, records, "measured", random_weights=random_weights)
        words = "".join(Page(built(made, "measured")).words)
        assert ("These numbers mean nothing." in words) == random_weights
        assert words.count("RANDOM") == 12 * random_weights


def test_page_of_measurements_names_what_measured_each(tmp_path: Path, root: Path) -> None:
    one = record("p2.a", verdict="reproduced", inputs=["beyond/ours#/x"])
    one["provenance"]["runs"] = ["pythia-70m/sweep"]
    made = folders(tmp_path, root, [one], "measured")
    document = json.loads(made.claims.read_text())
    how = {"dtype": "float16", "device": "H100", "driver": "580.65", "versions": {"torch": "2.13"}}
    how |= {"model": "EleutherAI/pythia-70m", "revision": "a39f36b1", "hub": None}
    failed = {"gpt2": {"reasons": {"sweep": "out of memory", "h4": "out of memory"}, "claims": 7}}
    document |= {"runs": {"pythia-70m/sweep": how}, "inputs": {"measured.json": "c" * 64}}
    document |= {"failed": failed, "left_out": {}}
    made.claims.write_text(json.dumps(document))
    page = Page(built(made, "measured"))
    assert page.data["claims"][0]["runs"] == ["pythia-70m/sweep"]
    assert page.data["runs"]["pythia-70m/sweep"].startswith("dtype float16, device H100, driver 58")
    said = {"H100", "580.65", "EleutherAI/pythia-70m a39f36b1 float16: sweep", "c" * 64}
    assert {*said, "gpt2, 7 claims", "sweep, h4: out of memory"} <= set(page.words)
    assert page.data["cells"][0][1:] == ["/x", "–"]


def test_page_says_what_random_weights_and_rounding_give(tmp_path: Path, root: Path) -> None:
    """How many draws and replicates, and what they give."""
    beside = {
        "control": {"draws": 3, "give": 1, "values": ["STRONG", "WEAK", None]},
        "noise": {"same": 4, "replicates": 5},
    }
    word = record("p2.a", verdict=AS_RANDOM, published="STRONG", recomputed="STRONG", **beside)
    number = record("p2.b", verdict="reproduced", noise={"band": 0.0123, "replicates": 5})
    page = Page(built(folders(tmp_path, root, [word, number], "measured"), "measured"))
    first, second = page.data["claims"]
    assert first["control"] == "1 of 3 draws give it: STRONG, WEAK, -"
    assert first["noise"] == "4 of 5 replicates give the same"
    assert "control" not in second
    assert second["noise"].startswith("0.0123 either way")


def test_page_counts_the_draws_that_answer_a_question(tmp_path: Path, root: Path) -> None:
    """In at least as many models as the papers' own."""
    made = folders(tmp_path, root, [record("p2.a")], "measured")
    path = made.statistics / "questions.json"
    draws = (made.statistics / "control" / str(number) / path.name for number in range(3))
    for place, models in zip((path, *draws), (2, 2, 1, 3), strict=True):
        answers = {f"gpt{n}": {"all_tokens": {"word": "yes"}} for n in range(models)}
        write_json(place, {"documents": {"sign_change": {"models": answers}}})
    note_statistics(made.claims, made.statistics)
    said = "".join(Page(built(made, "measured")).words)
    assert "of 3 draws of random weights 2 answer yes in as many models" in said


def test_page_has_a_colour_for_every_verdict(root: Path) -> None:
    style = (root / "report" / "templates" / "page.css").read_text()
    assert [word for word in VERDICTS if f".{re.sub('[, ]+', '-', word)}" not in style] == []


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("claims.json", '{"source": [', r"claims\.json: not valid JSON at line 1"),
        ("claims.json", None, r"claims\.json: the ledger was not judged for"),
        ("figures/pairs.svg", None, r"pairs\.svg: this figure is missing; draw the figures"),
        ("figures/figures.json", None, r"there are no figures \(figures\.json\) here"),
        ("published/paper2.csv", "file,key,value\n", r"claim p2\.a: .*no number '/x/1'"),
        ("templates/page.js", "write('</p>')", r"page\.js: an inlined file must not hold '</'"),
        ("templates/page.css", None, r"there is no page\.css"),
        ("templates/index.html.j2", "{{ nothing }}", r"index\.html\.j2: unknown name: 'nothing'"),
        ("templates/index.html.j2", "\n{% if %}", r"index\.html\.j2, line 2: "),
        ("templates/index.html.j2", None, r"there is no template index\.html\.j2"),
    ],
)
def test_page_iv(tmp_path: Path, root: Path, file: str, text: str | None, message: str) -> None:
    made = folders(tmp_path, root, [record("p2.a", inputs=[f"{LAYERS}#/x/1"])])
    made.templates = Path(shutil.copytree(made.templates, tmp_path / "templates"))
    (tmp_path / file).unlink()
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        stage.run("published", **vars(made))
    assert not made.out.exists()


# --- hostile texts: all are shown, none is obeyed -----------------------------------------------


def page_of(folder: Path, root: Path, texts: tuple[str, ...]) -> str:
    headlines = [
        headline(f"p2.{text}", says=text, where=text, reason=text, parts=[{"claim": text}])
        for text in texts
    ]
    return built(folders(folder, root, hostile_claims(texts), headlines=headlines))


def test_a_page_of_hostile_texts_has_the_elements_of_a_harmless_one(
    tmp_path: Path, root: Path
) -> None:
    text = page_of(tmp_path / "hostile", root, TEXTS)
    assert {hex(ord(character)) for character in text if is_unseen(character)} == {"0xa"}
    hostile = Page(text)
    plain = tuple(f"text {number}" for number in range(len(TEXTS)))
    harmless = Page(page_of(tmp_path / "harmless", root, plain))
    assert hostile.parts == harmless.parts
    assert hostile.scripts[1] == harmless.scripts[1]
    assert all(link.startswith(("#", "data:", "https://doi.org/10.")) for link in hostile.links)
    assert not [name for name, _ in hostile.values if name == "style" or name.startswith("on")]
    (policy,) = [value for name, value in hostile.values if value.startswith("default-src")]
    assert "default-src 'none'; img-src data:; base-uri" in policy
    assert "unsafe" not in policy
    shown = "".join(hostile.words)
    seen = [revealed(text, keep="\n") for text in TEXTS]
    assert [text for text in seen if text not in shown] == []
    data = hostile.data
    assert [claim["quantity"] for claim in data["claims"][::2]] == seen
    texts = [one for claim in data["claims"] for one in claim.values() if isinstance(one, str)]
    texts += [*data["files"], *map(str, data["search"])]
    assert {one for text in texts for one in text if is_unseen(one)} == {"\n"}


@given(st.text(st.characters()))
def test_embedded_json_stays_the_same_json(text: str) -> None:
    inside = embedded({text: [text]})
    assert json.loads(inside) == {text: [text]}
    assert not set("<>&\u2028\u2029") & set(inside)
    assert not [character for character in inside if is_unseen(character)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "published").mkdir()
    document = json.dumps(judged(hostile_claims(TEXTS)))
    (tmp_path / "published" / "claims.json").write_text(document)
    return tmp_path


def said(capsys: Any, results: Path, *arguments: str) -> tuple[int, str, str]:
    code = cli.main([*arguments, "--results", str(results)])
    return code, *capsys.readouterr()


def test_no_text_commands_the_terminal(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = hostile_claims(TEXTS)
    code, listed, _ = said(capsys, results, "claims")
    code_json, as_json, _ = said(capsys, results, "claims", "--json")
    assert (code, code_json) == (0, 0)
    assert json.loads(as_json) == records  # for programs: the very texts
    told = [said(capsys, results, "trace", entry["id"])[1] for entry in records[::2]]
    assert len({text.count("\n") for text in told}) == 1
    for text in (listed, as_json, *told):
        assert {character for character in text if is_unseen(character)} == {"\n"}


@pytest.mark.parametrize("kind", UNSEEN)
def test_an_error_message_does_not_command_the_terminal(
    results: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    text = UNSEEN[kind].replace("\n", "")
    code, _, err = said(capsys, results / text.replace("\0", ""), "trace", text)
    assert code == 2
    assert {character for character in err if is_unseen(character)} == {"\n"}


@pytest.mark.parametrize(
    ("text", "keep", "seen"),
    [
        ("a\u202eb\x1b[1m\x7f\nc", "", "a\\u202eb\\u001b[1m\\u007f\\nc"),
        ("a\nb\tc", "\n\t", "a\nb\tc"),
        ("\U000e0001\ud800", "", "\\udb40\\udc01\\ud800"),
        ("λ ≤ 3 – it’s, \u00a0 \u2009 spaces", "", "λ ≤ 3 – it’s, \u00a0 \u2009 spaces"),
        (BIDI, "", "".join(f"\\u{ord(character):04x}" for character in BIDI)),
    ],
)
def test_what_is_not_seen_is_written_as_in_json(text: str, keep: str, seen: str) -> None:
    assert revealed(text, keep=keep) == seen
