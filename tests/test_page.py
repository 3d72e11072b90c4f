"""The page: what it takes, what it refuses, the order of findings, and escaping."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claim_records import HOSTILE, SVG, folders, judged, note_statistics, record
from layerwise.errors import LayerwiseError
from layerwise.files import write_json
from layerwise.inputs.result_files import LAYERS
from layerwise.ledger.findings import is_label, origin, relative_difference
from layerwise.ledger.headlines import read_headlines
from layerwise.ledger.records import read_judged
from layerwise.ledger.verdicts import VERDICTS
from layerwise.pages.html import embedded
from layerwise.pages.page import columns, matrix
from layerwise.pages.pictures import Picture
from layerwise.pages.records import beside, view
from layerwise.pages.values import brief, shown
from layerwise.steps import page as stage


class Page(HTMLParser):
    """Elements, their attributes, and the texts of script elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)

    @property
    def data(self) -> Any:
        """What the script reads, its claims as rows again."""
        data = json.loads(self.scripts[0])
        packed = data["claims"]
        data["claims"] = [{} for _ in range(packed["n"])]
        for name, column in packed["columns"].items():
            values = [column["of"][at] for at in column["at"]] if "of" in column else column
            for row, value in zip(data["claims"], values, strict=True):
                if value is not None:
                    row[name] = value
        return data


def built(made: Any, source: str = "published") -> str:
    stage.run(**made.arguments(source))
    return (made.out / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("where", "file", "expected"),
    [
        ("Paper 3, appendix C", None, "paper text"),
        ("Table 2", LAYERS, "paper text"),
        ("abstract", None, "paper text"),
        ("notebook 004, figure 2", None, "notebook or page"),
        ("summary page of notebook 004, table", None, "notebook or page"),
        ("repository's front page", None, "notebook or page"),
        ("appendix A and front page", None, "paper text"),
        ("caption of the main table", LAYERS, "paper text"),
        ("figures A3 and A4", LAYERS, "paper text"),
        ("phase summary table", LAYERS, "result file"),
        ("notebook 003, saved results", LAYERS, "result file"),
        ("benchmark CSV", None, "result file"),
        ("gains of the family", "paper3/Results/x.csv", "result file"),
    ],
)
def test_origin_of_a_claim(where: str, file: str | None, expected: str) -> None:
    assert origin(record("p3.a", where=where, file=file)) == expected


def test_relative_difference_by_hand() -> None:
    assert relative_difference(2.0, 1.5) == 0.25
    assert relative_difference(-2, -3) == 0.5
    assert relative_difference([1.0, 4.0], [1.0, 5.0]) == 0.25
    assert relative_difference(0.3, 0.3) == 0.0


def test_relative_difference_degenerate() -> None:
    assert relative_difference(0.0, 0.1) == math.inf
    assert relative_difference([1], [1, 2]) == math.inf
    assert relative_difference(0, 0) == 0.0
    assert relative_difference("Pass", "Fail") is None
    assert relative_difference(True, False) is None
    assert relative_difference(None, 1.0) is None
    assert relative_difference([], []) is None


def test_shown_and_brief_by_kind() -> None:
    assert shown(None) == "–"
    assert shown(True) == "yes"
    assert shown("NOW_SIGNIFICANT") == "NOW_SIGNIFICANT"
    assert shown(0.25, 3) == "0.250"
    assert shown(30, 0) == "30"
    assert shown([8, 12]) == "8, 12"
    assert brief(0.34569159857148496, "full") == "0.345692"
    assert brief(0.977, 3) == "0.977"
    assert shown(math.nan) == "NaN"  # which notebooks saved
    assert brief([0.5] * 33, "full") == "0.5, 0.5, 0.5, 0.5, 0.5, 0.5, … (33 values)"
    assert is_label(["a"])
    assert not is_label([1, 2.0])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_shown_in_full_loses_no_digit(value: float) -> None:
    assert float(shown(value)) == value


def test_view_shows_more_digits_only_of_what_differs() -> None:
    close = {"published": 0.118, "recomputed": 0.11749110743}
    assert view(record("p3.a", **close))["recomputed"] == "0.117"
    assert view(record("p3.a", verdict="differs", **close))["recomputed"] == "0.11749"
    assert view(record("p3.a", **close))["recomputed_full"] == "0.11749110743"
    assert "published_full" not in view(record("p3.a", **close))


def test_view_names_the_paper_once() -> None:
    assert view(record("p3.a", where="Paper 3, appendix C"))["place"] == "Paper 3, appendix C"
    assert view(record("p2.a", where="table 2"))["place"] == "Paper 2, table 2"


def test_view_has_no_infinity() -> None:
    assert json.dumps(view(record("p2.a", published=0.0, recomputed=1.0)), allow_nan=False)


def test_beside_puts_what_differs_first() -> None:
    records = [
        record("p2.none", recomputed=None, verdict="needs weights"),
        record("p2.both"),
        record("p2.other", statistic="pairs:pythia-6p9b:/n"),
        record("p2.differs", verdict="differs"),
        record("p2.no.rule", statistic=None, recomputed=None, verdict="not checkable"),
    ]
    assert beside(records) == {"layers": [3, 1, 0], "pairs": [2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"verdict": "maybe"},
            r"claims\.0\.verdict: must be .*, found 'maybe'; judge the l",
        ),
        (
            {"where": None},
            r"claims\.0\.where: must be a valid string, found None; judge the l",
        ),
        ({"provenance": {}}, r"claims\.0\.provenance\.file: missing; judge the ledger again"),
    ],
)
def test_judged_iv(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "claims.json"
    write_json(path, judged([record("p2.a") | change]))
    with pytest.raises(LayerwiseError, match=rf"claims\.json: {message}"):
        read_judged(path, "published")


def test_judged_iv_whole_document(tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    write_json(path, document := judged([record("p2.a"), record("p3.b", verdict="differs")]))
    assert read_judged(path, "published") == document
    with pytest.raises(LayerwiseError, match=r"of source 'measured' .* for 'published'; give"):
        read_judged(path, "measured")
    write_json(path, judged([record("p2.a")] * 2))
    with pytest.raises(LayerwiseError, match=r"claim 'p2\.a' is there 2 times"):
        read_judged(path, "published")


@given(st.text())
def test_embedded_json_cannot_end_its_element(text: str) -> None:
    inside = embedded({"label": text, "hostile": HOSTILE})
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == {"label": text, "hostile": HOSTILE}


def test_svg_iv() -> None:
    assert 'aria-label="&lt;About&gt; it"' in Picture("a", "a", "<About> it", SVG).inline
    for broken in ("", "<html>", SVG[:-3]):
        with pytest.raises(LayerwiseError, match="figure a: expected a whole SVG"):
            _ = Picture("a", "a", "", broken).inline


def test_a_row_of_the_matrix_leads_to_the_claims_that_it_asks_again(root: Path) -> None:
    late = {"id": "p2.late", "asked": ["late_inversion"], "claims": ["p2.a", "p2.b"]}
    both = [late, late | {"id": "p2.gemma", "claims": ["p2.b", "p2.c"]}]
    found = matrix([], both)
    assert found["headlines"]["late_inversion"] == ["p2.late", "p2.gemma"]
    assert found["claims"]["late_inversion"] == ["p2.a", "p2.b", "p2.c"]
    asked = {name for entry in read_headlines(root / "claims") for name in entry.get("asked", [])}
    assert asked == set(found["rows"])


def test_columns_say_the_same_as_the_rows() -> None:
    rows = [{"a": "x", "b": number, "c": [number]} for number in range(5)] + [{"a": "x"}]
    packed = columns(rows)
    assert packed == {
        "a": {"of": ["x"], "at": [0] * 6},
        "b": [0, 1, 2, 3, 4, None],
        "c": [[0], [1], [2], [3], [4], None],
    }


def test_page_holds_claims_counts_and_evidence(tmp_path: Path, root: Path) -> None:
    inputs = [f"{LAYERS}#/x/1", f"{LAYERS}#/x/2"]
    records = [
        record("p2.a", inputs=inputs),
        record("p2.b", inputs=inputs[1:], verdict="differs", cause="printed otherwise"),
        record("p3.c", statistic=None, recomputed=None, verdict="not checkable", file="Paper 3"),
    ]
    text = built(folders(tmp_path, root, records))
    page = Page(text)
    assert [claim["id"] for claim in page.data["claims"]] == ["p2.a", "p2.b", "p3.c"]
    assert page.data["cells"] == [[LAYERS, "/x/1", "1.5"], [LAYERS, "/x/2", "2.5"]]
    assert page.data["claims"][1]["inputs"] == [1]
    assert page.data["files"] == {LAYERS: "a" * 64}
    assert re.fullmatch("[0-9a-f]{64}", page.data["statistics"]["layers.json"])
    assert "bins (none published)" in "".join(page.words)  # the figure that is not there
    labels = {attrs.get("aria-label") for _, attrs in page.elements}
    assert {"Paper 2, differs: 1 claims", "Paper 3, not checkable: 1 claims"} <= labels


def test_page_is_the_same_each_time(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path, root, [record("p2.a"), record("p3.b", verdict="differs")])
    assert built(made) == built(made)


def test_page_escapes_every_text(tmp_path: Path, root: Path) -> None:
    texts = ("quantity", "where", "model", "unit", "cause", "key")
    hostile = record(f"p2.{HOSTILE}", verdict="differs", published=HOSTILE, recomputed=HOSTILE)
    hostile |= {name: HOSTILE for name in texts if name != "key"}
    hostile["provenance"]["key"] = HOSTILE
    plain = record("p2.plain", verdict="differs")
    inert = Page(built(folders(tmp_path / "plain", root, [plain])))
    page = Page(built(folders(tmp_path / "hostile", root, [hostile])))
    tags = [tag for tag, _ in page.elements]
    for tag in ("script", "img"):
        assert tags.count(tag) == [name for name, _ in inert.elements].count(tag)
    assert not [attrs for _, attrs in page.elements if any(name.startswith("on") for name in attrs)]
    assert page.data["claims"][0]["quantity"] == HOSTILE
    assert HOSTILE in "".join(page.words)


def test_page_asks_for_nothing(tmp_path: Path, root: Path) -> None:
    page = Page(built(folders(tmp_path, root, [record("p2.a", verdict="differs")])))
    addresses = [
        address
        for _, attrs in page.elements
        for name, address in attrs.items()
        if name in ("src", "href", "action", "srcset") and address
    ]
    assert addresses
    assert all(address.startswith(("data:", "#", "https://doi.org/10.")) for address in addresses)
    policies = [attrs["content"] for _, attrs in page.elements if "http-equiv" in attrs]
    assert len(policies) == 1
    assert "default-src 'none'; img-src data:; base-uri" in (policies[0] or "")
    assert "unsafe" not in (policies[0] or "")
    assert not [attrs for _, attrs in page.elements if "style" in attrs]


def test_page_of_random_weights_says_that_it_means_nothing(tmp_path: Path, root: Path) -> None:
    records = [record("p2.a", verdict="differs", recomputed=0.9, inputs=["beyond/ours#/x"])]
    made = folders(tmp_path / "m", root, records, "measured", random_weights=True)
    words = "".join(Page(built(made, "measured")).words)
    assert "These numbers mean nothing." in words
    assert words.count("RANDOM") >= 12
    made = folders(tmp_path / "w", root, records, "measured")
    for text in (built(made, "measured"), built(folders(tmp_path / "p", root, [record("p2.a")]))):
        words = "".join(Page(text).words)
        assert "mean nothing" not in words
        assert "RANDOM" not in words


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
    assert page.data["runs"]["pythia-70m/sweep"].startswith(
        "dtype float16, device H100, driver 580"
    )
    for word in (
        "H100", "580.65", "EleutherAI/pythia-70m a39f36b1 float16: sweep",
        "gpt2, 7 claims", "sweep, h4: out of memory",
    ):  # fmt: skip
        assert word in page.words
    (_, key, value) = page.data["cells"][0]
    assert (key, value) == ("/x", "–")
    assert "c" * 64 in page.words


def test_page_says_what_random_weights_give_too(tmp_path: Path, root: Path) -> None:
    """Beside a claim of print, and in the matrix of other choices."""
    one = record("p2.a", verdict="agrees", published="STRONG", recomputed="STRONG")
    other = one | {"id": "p2.b", "control": "WEAK"}
    made = folders(tmp_path, root, [one | {"control": "STRONG"}, other])
    path = made.statistics / "sensitivity.json"
    row = {"claim": "sign_change", "choice": "all_tokens", "choice_text": "all tokens pooled"}
    for place, models in ((path, 1), (made.statistics / "control" / path.name, 3)):
        counts = {"survives": ["gpt2"] * models, "lost": [], "appears": [], "absent": []}
        write_json(place, {"documents": {"summary": {"rows": [row | counts]}}})
    note_statistics(made.claims, made.statistics)
    page = Page(built(made))
    assert [claim["control"] for claim in page.data["claims"]] == ["STRONG", "WEAK"]
    said = "".join(page.words)
    assert "1 of the claims that stand are words or flags that random weights give as well" in said
    assert "(of random weights 3)" in said


def test_page_has_a_meaning_for_every_verdict(tmp_path: Path, root: Path) -> None:
    records = [record(f"p2.{number}", verdict=word) for number, word in enumerate(VERDICTS)]
    page = Page(built(folders(tmp_path, root, records)))
    style = "".join(page.words)
    for word in VERDICTS:
        assert "." + word.replace(" ", "-").replace(",", "") in style


def test_run_iv_claims(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path, root, [record("p2.a")])
    made.claims.write_text('{"source": "published", "claims": [')
    with pytest.raises(LayerwiseError, match=r"claims\.json: not valid JSON at line 1"):
        stage.run(**made.arguments())
    made.claims.unlink()
    with pytest.raises(LayerwiseError, match=r"claims\.json: the ledger was not judged for"):
        stage.run(**made.arguments())
    assert not made.out.exists()


def test_run_iv_figures(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path, root, [record("p2.a")])
    (made.figures / "pairs.svg").unlink()
    with pytest.raises(LayerwiseError, match=r"pairs\.svg: this figure is missing; draw the fig"):
        stage.run(**made.arguments())
    made.figures = tmp_path / "none"
    with pytest.raises(LayerwiseError, match=r"none: there are no figures \(figures\.json\) here"):
        stage.run(**made.arguments())


def test_run_iv_evidence(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path / "cell", root, [record("p2.a", inputs=[f"{LAYERS}#/y"])])
    with pytest.raises(LayerwiseError, match=r"claim p2\.a: .*no number '/y'"):
        stage.run(**made.arguments())


def test_run_iv_templates(tmp_path: Path, root: Path) -> None:
    made = folders(tmp_path, root, [record("p2.a")])
    copies = tmp_path / "templates"
    copies.mkdir()
    for path in made.templates.iterdir():
        (copies / path.name).write_bytes(path.read_bytes())
    made.templates = copies
    (copies / "page.js").write_text("document.write('</p>')")
    with pytest.raises(LayerwiseError, match=r"page\.js: an inlined file must not hold '</'"):
        stage.run(**made.arguments())
    (copies / "page.js").write_text("")
    (copies / "index.html.j2").write_text("{{ nothing }}")
    with pytest.raises(LayerwiseError, match=r"index\.html\.j2: unknown name: 'nothing'"):
        stage.run(**made.arguments())
    (copies / "index.html.j2").write_text("\n{% if %}")
    with pytest.raises(LayerwiseError, match=r"index\.html\.j2, line 2: "):
        stage.run(**made.arguments())
    (copies / "index.html.j2").unlink()
    with pytest.raises(LayerwiseError, match=r"there is no template index\.html\.j2"):
        stage.run(**made.arguments())
    (copies / "page.css").unlink()
    with pytest.raises(LayerwiseError, match=r"there is no page\.css"):
        stage.run(**made.arguments())


def test_run_leaves_no_half_page(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = folders(tmp_path, root, [record("p2.a")])
    whole = built(made)

    def killed(self: Path, text: str, encoding: str) -> None:
        self.write_bytes(text.encode()[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        stage.run(**made.arguments())
    assert [path.name for path in made.out.iterdir()] == ["index.html"]
    assert (made.out / "index.html").read_text(encoding="utf-8") == whole


def test_as_a_program(tmp_path: Path, root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = folders(tmp_path, root, [record("p2.a")])
    options = [f"--{name}={path}" for name, path in made.__dict__.items()]
    program = [sys.executable, "-m", "layerwise.steps.page"]
    assert subprocess.run([*program, "published", *options], check=False).returncode == 0
    assert "1 claims and 2 figures in" in capfd.readouterr().out
    assert subprocess.run([*program, "measured", *options], check=False).returncode == 2
    assert "claims of source 'measured' are wanted" in capfd.readouterr().err
