"""Judged claims as people read them: page and terminal, which hostile texts cannot command."""

import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import central_claim, folders, hostile_claims, judged, record
from hostile import SEEN, UNSEEN, WRITTEN, is_unseen
from layerwise.engine.judged import AS_RANDOM, NoisyNumber, NoisyWord, OtherReading, RandomDraws
from layerwise.engine.records import as_json as record_as_json
from layerwise.engine.records import hashes_judged_from, read_judged, sealed
from layerwise.engine.records import judged as judged_claims
from layerwise.engine.words import display_names, in_words, label_model
from layerwise.errors import LayerwiseError
from layerwise.files import revealed, write_json
from layerwise.home import REPOSITORY
from layerwise.models.registry import read_models
from layerwise.papers.fetching import upstream
from layerwise.papers.shared.result_files import LAYERS
from layerwise.present.html import TEMPLATES, prose
from layerwise.present.page import first_sentences
from layerwise.present.records import claims_in_words, relative_difference, view
from layerwise.present.values import short_text, value_text, with_signs
from layerwise.run import cli
from layerwise.run.steps import page as stage
from parsed_page import CURVED, Page


def built(made: Any, source: str = "published") -> str:
    stage.run(source, **vars(made))
    return (made.out / "index.html").read_bytes().decode("utf-8")


# --- values and records -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "recomputed", "gap"),
    [
        (2.0, 1.5, 0.25),
        ([1.0, 4.0], [1.0, 5.0], 0.25),
        (0, 0, 0.0),
        (0.0, 0.1, math.inf),
        ("Pass", "Fail", None),
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
    shown = view(record("p3.a", where="Paper 3, appendix C", **close))
    assert (shown.recomputed, shown.recomputed_full) == ("0.117", "0.11749110743")
    assert "published_full" not in shown.as_json()
    assert shown.place == "Paper 3, appendix C"  # the paper is named once
    shown = view(record("p2.a", where="table 2", verdict="differs", **close))
    assert (shown.recomputed, shown.place) == ("0.11749", "Paper 2, table 2")
    assert json.dumps(
        view(record("p2.a", published=0.0, recomputed=1.0)).as_json(), allow_nan=False
    )
    hundreds = {"published": 300, "recomputed": 337.74, "decimals": -2}
    assert view(record("p3.a", **hundreds)).recomputed == "300"
    assert view(record("p3.a", verdict="differs", **hundreds)).recomputed == "337.74"


@given(st.floats(-1e6, 1e6), st.integers(-4, 4))
def test_a_number_is_shown_to_its_printed_digit(value, decimals):
    """To tens and hundreds too, where print rounds so far: `decimals` -1 and -2."""
    shown, unit = float(value_text(value, decimals)), 10.0**-decimals
    assert abs(shown - value) <= 0.5 * unit * (1 + 1e-9)
    assert math.isclose(shown / unit, round(shown / unit), abs_tol=1e-6)
    assert value_text([value, 300], decimals) == f"{value_text(value, decimals)}, 300"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "-0.5, (-.3) [-1 to -2]; r = -0.874",
            "\u22120.5, (\u2212.3) [\u22121 to \u22122]; r = \u22120.874",
        ),
        ("p >= 0.05, p <= 1", "p ≥ 0.05, p ≤ 1"),
        ("layers 4-8, L4-8, opt-125m, 2026-01-02, 1e-05, 10*-3, a-1", None),
    ],
)
def test_a_hyphen_before_a_number_is_a_minus(typed: str, said: str | None) -> None:
    assert with_signs(typed) == (said or typed)


def test_formulas_of_a_sentence_are_set_and_nothing_else() -> None:
    assert prose("W_V and W_O; 10^(1/L), 10^12, eps^2") == (
        "W<sub>V</sub> and W<sub>O</sub>; 10<sup>1/L</sup>, 10<sup>12</sup>, eps<sup>2</sup>"
    )
    assert prose("<b>10^(<i>)</b>") == "&lt;b&gt;10^(&lt;i&gt;)&lt;/b&gt;"


def test_models_and_categories_have_the_names_that_readers_know(root: Path) -> None:
    names = display_names(read_models(root / "models.yaml"))
    for key, display in {
        **{"pythia-6p9b": "Pythia-6.9B", "gpt-j-6B": "GPT-J-6B", "llama": "Llama-3.1-8B"},
        **{"llama-3p1-8b-instruct-template": "Llama-3.1-8B-Instruct, template"},
        **{"pythia-6p9b < gemma-7b": "Pythia-6.9B < Gemma-7B", "GPT-4": "GPT-4", "": ""},
    }.items():
        assert label_model(key, names) == display
    said = "gt_numeric of opt-2.7b and gpt-j-6B, mean_pooled, not W_V or well-known"
    shown = "numeric facts of OPT-2.7B and GPT-J-6B, mean over the tokens, not W_V or well-known"
    code = "google/gemma-2b at /a/gemma-2b/b, gemma-7b-it/c"
    assert in_words(f"{said}; {code}", names) == f"{shown}; {code}"


@pytest.mark.parametrize("marks", ["“{}”", '"{}"'])
def test_a_quotation_keeps_the_names_that_it_has(root: Path, marks: str) -> None:
    names = display_names(read_models(root / "models.yaml"))
    quoted = marks.format("of gt_numeric than opt-125m, directly")
    said = f"opt-125m: {quoted} and {quoted} (gt_numeric)"
    assert in_words(said, names) == f"OPT-125M: {quoted} and {quoted} (numeric facts)"


def test_what_people_read_of_a_claim_has_names_and_what_programs_read_has_keys(root: Path) -> None:
    names = display_names(read_models(root / "models.yaml"))
    reading = OtherReading("of gt_numeric", "opt-2.7b", False, ["a#/opt-2.7b"])
    claim = record("p1.opt-2.7b", model="opt-2.7b", cause="as in gpt-j-6B", readings=[reading])
    (told,) = claims_in_words([claim], names)
    read = replace(reading, text="of numeric facts", value="OPT-2.7B")
    assert told == replace(claim, model="OPT-2.7B", cause="as in GPT-J-6B", readings=[read])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document["claims"][0].update(verdict="agrees"), "changed since; judge"),
        (lambda document: document["claims"].pop(), "changed since; judge"),
        (lambda document: document.pop("seal"), "changed since; judge"),
        (lambda document: document.update(format=0), "another version wrote these; judge"),
        (lambda document: document.clear(), "another version wrote these; judge"),
    ],
)
def test_an_edited_or_older_file_of_claims_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    document = judged([record("p2.a", verdict="differs"), record("p2.b")])
    write_json(tmp_path / "claims.json", document)
    assert read_judged(tmp_path / "claims.json", "published").claims[0].verdict == "differs"
    change(document)
    write_json(tmp_path / "claims.json", document)
    with pytest.raises(LayerwiseError, match=rf"claims\.json: .*{message}"):
        read_judged(tmp_path / "claims.json", "published")


def test_claims_of_another_source_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "claims.json", judged([], "measured"))
    with pytest.raises(LayerwiseError, match=r"of source 'published' .* for 'measured'; give"):
        read_judged(tmp_path / "claims.json", "published")


@pytest.fixture
def judged_repository(tmp_path: Path) -> Path:
    """A repository with a ledger, a published table, and what was judged from them."""
    for mark in (*REPOSITORY, "claims/paper1/paper.csv", "published/paper1.csv"):
        (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / mark).write_text("as it was")
    behind = hashes_judged_from(tmp_path / "claims", tmp_path / "published")
    write_json(tmp_path / "results/published/claims.json", judged([], judged_from=behind))
    return tmp_path


@pytest.mark.parametrize(
    "file", [None, "claims/paper1/paper.csv", "published/paper1.csv", "claims/paper2/paper.csv"]
)
def test_claims_judged_from_other_files_say_so(
    judged_repository: Path, capsys: pytest.CaptureFixture[str], file: str | None
) -> None:
    if file is not None:
        (judged_repository / file).parent.mkdir(exist_ok=True)
        (judged_repository / file).write_text("changed")
    results = judged_repository / "results"
    judged_claims("published", results)
    said = capsys.readouterr().err
    assert (file or "") in said
    assert bool(said) == (file is not None)
    (results / "published" / "statistics").mkdir()
    path = results / "published" / "claims.json"
    if file is None:
        read_judged(path, "published", results / "published" / "statistics")
    else:
        with pytest.raises(LayerwiseError, match=rf"judged from other files \({file}\)"):
            read_judged(path, "published", results / "published" / "statistics")


def test_outside_a_repository_no_file_is_compared(
    judged_repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wheel brings the judged claims, and of what they follow from some files only."""
    (judged_repository / "dvc.yaml").unlink()
    (judged_repository / "claims/paper1/paper.csv").unlink()
    judged_claims("published", judged_repository / "results")
    assert capsys.readouterr().err == ""


@given(
    st.lists(st.sampled_from(["It is 0.5.", "Two (n = 3) do.", "A and B do not."])),
    st.integers(1, 9),
)
def test_a_reason_is_parted_between_sentences(sentences: list[str], most: int) -> None:
    """The first is never folded, however long; of the others as many are shown as fit."""
    first, more = first_sentences(sentences, most)
    assert [*first, *more] == sentences
    assert first[:1] == sentences[:1]

    def n_words(shown: list[str]) -> int:
        return len(" ".join(shown).split())

    assert n_words(first) <= most or len(first) <= 1
    assert not more or n_words([*first, more[0]]) > most


# --- the page -----------------------------------------------------------------------------------


def test_page_holds_claims_counts_and_evidence(tmp_path: Path, root: Path) -> None:
    inputs = [f"{LAYERS}#/x/1", f"{LAYERS}#/x/2"]
    records = [
        record("p2.a", inputs=inputs),
        record("p2.b", inputs=inputs[1:], verdict="differs", cause="printed otherwise"),
        record("p3.c", statistic=None, recomputed=None, verdict="not checkable", file="Paper 3"),
    ]
    made = folders(tmp_path, records)
    page = Page(text := built(made))
    assert [claim["id"] for claim in page.data["claims"]] == ["p2.a", "p2.b", "p3.c"]
    cells = [{"file": LAYERS, "key": f"/x/{n}", "value": f"{n}.5"} for n in (1, 2)]
    assert page.data["cells"] == cells
    assert page.data["claims"][1]["inputs"] == [[1, 1]]
    assert page.data["files"] == {LAYERS: "a" * 64}
    assert re.fullmatch("[0-9a-f]{64}", page.data["statistics"]["layers.json"])
    labels = {value for name, value in page.values if name == "aria-label"}
    assert {"Paper 2, differs: 1 numbers", "Paper 3, not checkable: 1 numbers"} <= labels
    assert built(made) == text
    said = [*page.words, *(value for _, value in page.values)]
    said.append((TEMPLATES / "page/page.js").read_text(encoding="utf-8"))
    curved = [words for words in said if CURVED.search(words)]
    assert curved == []  # they are the PDF's


def test_page_holds_the_numbers_of_every_figure_and_table(tmp_path: Path, root: Path) -> None:
    records = [record("p2.a", model="gpt2"), record("p2.b", published=[1.0, 2.0])]
    printed = [{"claim": "p2.b", "verdict": "agrees"}]
    central = [central_claim("p2.x", printed=printed), central_claim("p2.y", points=[])]
    made = folders(tmp_path, records, central=central, drawn={"p2.x": "pairs"})
    saved = Page(built(made)).saved
    lines = {name: content.decode().splitlines() for name, content in saved.items()}
    assert lines["pairs.csv"] == (made.figures / "pairs.csv").read_text().splitlines()
    assert "pairs.svg" in lines
    assert [row.split(",")[0] for row in lines["central-claims.csv"]] == ["id", "p2.x", "p2.y"]
    assert [row.split(",")[0] for row in lines["claims.csv"]] == ["id", "p2.a", "p2.b"]
    assert [row.split(",")[0] for row in lines["claims-of-p2.x.csv"]] == ["id", "p2.b"]
    assert lines["verdicts.csv"][1].startswith("agrees,2,")
    assert {"small-models.csv", "claims-of-p2.y.csv"} & {*lines} == {"small-models.csv"}


def test_page_of_random_weights_says_that_it_means_nothing(tmp_path: Path, root: Path) -> None:
    records = [record("p2.a", verdict="differs", recomputed=0.9, inputs=["beyond/ours#/x"])]
    for random_weights in (True, False):
        folder = tmp_path / str(random_weights)
        made = folders(folder, records, "measured", random_weights=random_weights)
        page = Page(built(made, "measured"))
        assert ("These numbers mean nothing." in "".join(page.words)) == random_weights
        assert page.values.count(("data-word", "RANDOM")) == 12 * random_weights


def test_page_of_measurements_names_what_measured_each(tmp_path: Path, root: Path) -> None:
    runs = ["pythia-70m/sweep"]
    claim = record("p2.a", verdict="reproduced", inputs=["beyond/ours#/x"], runs=runs)
    made = folders(tmp_path, [claim], "measured")
    document = json.loads(made.claims.read_text())
    how = {"dtype": "float16", "device": "H100", "driver": "580.65", "versions": {"torch": "2.13"}}
    how |= {"model": "EleutherAI/pythia-70m", "revision": "a39f36b1", "hub": None}
    failed = {"gpt2": {"reasons": {"sweep": "out of memory", "h4": "out of memory"}, "claims": 7}}
    document |= {"runs": {"pythia-70m/sweep": how}, "inputs": {"measured.json": "c" * 64}}
    document |= {"failed": failed, "left_out": {}}
    write_json(made.claims, sealed(document))
    page = Page(built(made, "measured"))
    assert page.data["claims"][0]["runs"] == ["pythia-70m/sweep"]
    assert page.data["runs"]["pythia-70m/sweep"].startswith("dtype float16, device H100, driver 58")
    said = {"H100", "580.65", "EleutherAI/pythia-70m a39f36b1 float16: Pythia sizes", "c" * 64}
    assert {*said, "GPT-2, 7 claims", "Pythia sizes, sheaf trace: out of memory"} <= set(page.words)
    assert page.data["cells"][0] == {"file": "beyond/ours", "key": "/x", "value": "–"}


def test_page_says_what_random_weights_and_rounding_give(tmp_path: Path, root: Path) -> None:
    """How many draws and replicates, and what they give."""
    beside = {
        "control": RandomDraws(3, 1, ["STRONG", "WEAK", None]),
        "noise": NoisyWord(4, 5),
    }
    word = record("p2.a", verdict=AS_RANDOM, published="STRONG", recomputed="STRONG", **beside)
    number = record("p2.b", verdict="reproduced", noise=NoisyNumber(0.0123, 5))
    page = Page(built(folders(tmp_path, [word, number], "measured"), "measured"))
    first, second = page.data["claims"]
    assert first["control"] == "1 of 3 draws give it: STRONG, WEAK, -"
    assert first["noise"] == "4 of 5 replicates give the same"
    assert "control" not in second
    assert second["noise"].startswith("0.0123 either way")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("claims.json", '{"source": [', r"claims\.json: not valid JSON at line 1"),
        ("figures/pairs.svg", None, r"pairs\.svg: this file is missing; draw the figures"),
        ("published/paper2.csv", "file,key,value\n", r"claim p2\.a: .*no number '/x/1'"),
        ("templates/index.html.j2", "{{ nothing }}", r"index\.html\.j2: unknown name: 'nothing'"),
    ],
)
def test_page_refused(
    tmp_path: Path, root: Path, file: str, text: str | None, message: str
) -> None:
    made = folders(tmp_path, [record("p2.a", inputs=[f"{LAYERS}#/x/1"])])
    made.templates = Path(shutil.copytree(made.templates, tmp_path / "templates"))
    (tmp_path / file).unlink()
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        stage.run("published", **vars(made))
    assert not made.out.exists()


# --- hostile texts: all are shown, none is obeyed -----------------------------------------------


def part(number: int, text: str) -> dict[str, Any]:
    """Of a central claim: one of the hostile claims."""
    return {"claim": f"p2.{number}.{text}", "verdict": "differs"}


def test_a_card_has_all_that_is_said_of_its_claim(tmp_path: Path, root: Path) -> None:
    """The deciding sentence is whole and first, however long; every other stands once, too."""
    long = f"{'It is so, and so on, ' * 20}and ends."
    said = {
        "reason": [long, "Another reason."],
        "notes": ["A note."],
        "details": ["A detail."],
        "decide": "More of them would.",
        "caveats": ["The paper warns."],
        "readings": [{"reading": "ranks", "text": "by ranks", "word": "no"}],
    }
    made = folders(tmp_path, hostile_claims(("x",)), central=[central_claim("p2.x", **said)])
    page = built(made)
    assert f'<span class="deciding">{long}</span>' in page
    text = " ".join("".join(Page(page).words).split())
    for sentence in ("Another reason.", "A note.", "A detail.", "More of them would."):
        assert text.count(sentence) == 1
    assert "The paper warns." in text
    assert "No: by ranks." in text


def page_of(folder: Path, root: Path, texts: tuple[str, ...]) -> str:
    central = [
        central_claim(
            f"p2.{text}",
            "fails",
            says=text,
            where=text,
            reason=[text],
            notes=[text],
            details=[text],
            caveats=[text],
            decide=text,
            readings=[{"reading": text, "text": text, "word": "no"}],
            printed=[part(number, text)],
        )
        for number, text in enumerate(texts)
    ]
    return built(folders(folder, hostile_claims(texts), central=central))


def test_a_page_of_hostile_texts_has_the_elements_of_a_harmless_one(
    tmp_path: Path, root: Path
) -> None:
    text = page_of(tmp_path / "hostile", root, WRITTEN)
    assert {hex(ord(character)) for character in text if is_unseen(character)} == {"0xa"}
    hostile = Page(text)
    plain = tuple(f"text {number}" for number in range(len(WRITTEN)))
    harmless = Page(page_of(tmp_path / "harmless", root, plain))
    assert hostile.parts == harmless.parts
    assert hostile.scripts[-1] == harmless.scripts[-1]
    known = ("#", "data:", "https://doi.org/10.", f"{upstream.REPOSITORY}/tree/")
    assert all(link.startswith(known) for link in hostile.links)
    assert not [name for name, _ in hostile.values if name == "style" or name.startswith("on")]
    (policy,) = [value for name, value in hostile.values if value.startswith("default-src")]
    assert "default-src 'none'; img-src data:; base-uri" in policy
    assert "unsafe" not in policy
    shown = "".join(hostile.words)
    seen = [revealed(text, keep="\n") for text in WRITTEN]
    assert [text for text in seen if text not in shown] == []
    data = hostile.data
    assert [claim["quantity"] for claim in data["claims"][::2]] == seen
    texts = [one for claim in data["claims"] for one in claim.values() if isinstance(one, str)]
    texts += [*data["files"], *map(str, data["search"])]
    assert {one for text in texts for one in text if is_unseen(one)} == {"\n"}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "published").mkdir()
    document = json.dumps(judged(hostile_claims(WRITTEN)))
    (tmp_path / "published" / "claims.json").write_text(document)
    return tmp_path


def said(capsys: Any, results: Path, *arguments: str) -> tuple[int, str, str]:
    code = cli.main([*arguments, "--results", str(results)])
    return code, *capsys.readouterr()


def test_no_text_commands_the_terminal(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = hostile_claims(WRITTEN)
    code, listed, _ = said(capsys, results, "claims")
    code_json, as_json, _ = said(capsys, results, "claims", "--json")
    assert (code, code_json) == (0, 0)
    in_order = sorted(json.loads(as_json), key=lambda record: record["id"])
    written = [record_as_json(claim, "published") for claim in records]
    assert in_order == sorted(written, key=lambda record: record["id"])  # the very texts
    of_unseen = records[2 * len(SEEN) :: 2]
    told = [said(capsys, results, "trace", claim.id)[1] for claim in of_unseen]
    told_wrong = said(capsys, results, "trace", UNSEEN["terminal"])[2]
    assert len({text.count("\n") for text in told}) == 1
    for text in (listed, as_json, *told, told_wrong):
        assert {character for character in text if is_unseen(character)} == {"\n"}


@pytest.mark.parametrize(
    ("text", "keep", "seen"),
    [
        ("a\u202eb\x1b[1m\x7f\nc", "", "a\\u202eb\\u001b[1m\\u007f\\nc"),
        ("a\nb\tc", "\n\t", "a\nb\tc"),
        ("λ ≤ 3 – it’s, \u00a0 \u2009 spaces", "", "λ ≤ 3 – it’s, \u00a0 \u2009 spaces"),
    ],
)
def test_what_is_not_seen_is_written_as_in_json(text: str, keep: str, seen: str) -> None:
    assert revealed(text, keep=keep) == seen
