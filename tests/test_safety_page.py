"""Hostile texts on the page and in the terminal: all are shown, none is obeyed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser import Browser, browser, missing
from claim_records import folders, headline, judged, record
from hostile import BIDI, TEXTS, UNSEEN, is_unseen
from layerwise import cli
from layerwise.files import revealed
from layerwise.pages.html import embedded
from layerwise.steps import page as stage

FIELDS = ("quantity", "where", "model", "unit", "cause", "kind", "published", "recomputed")


def claims(texts: tuple[str, ...]) -> list[dict[str, Any]]:
    """Two claims per text that hold it wherever a text can stand; one has no statistics."""
    records = []
    for number, text in enumerate(texts):
        fields = dict.fromkeys(FIELDS, text)
        made = record(f"p2.{number}.{text}", file=text, key=text, **fields, verdict="differs")
        odd = record(f"p3.{number}", statistic=f"{text}:m:/x", recomputed=None, verdict="declared")
        records += [made, odd]
    return records


# --- the page -----------------------------------------------------------------------------------


class Skeleton(HTMLParser):
    """What a page is made of without its texts, and the texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[Any] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((tag, [name for name, _ in attrs]))
        self.links += [str(value) for name, value in attrs if name in ("href", "src", "action")]
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.parts.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.parts.append(("declaration", decl))

    def unknown_decl(self, data: str) -> None:
        self.parts.append(("section", data))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)


def texts_of(document: Any) -> Iterator[str]:
    """All texts and keys of a JSON document."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        yield from document
        yield from texts_of(list(document.values()))
    elif isinstance(document, list):
        for entry in document:
            yield from texts_of(entry)


def page_of(folder: Path, root: Path, texts: tuple[str, ...]) -> str:
    headlines = [
        headline(f"p2.{text}", says=text, where=text, reason=text, parts=[{"claim": text}])
        for text in texts
    ]
    made = folders(folder, root, claims(texts), headlines=headlines)
    stage.run(**made.arguments())
    return (made.out / "index.html").read_bytes().decode("utf-8")


def test_a_page_of_hostile_texts_has_the_elements_of_a_harmless_one(
    tmp_path: Path, root: Path
) -> None:
    hostile = Skeleton(page_of(tmp_path / "hostile", root, TEXTS))
    plain = tuple(f"text {number}" for number in range(len(TEXTS)))
    harmless = Skeleton(page_of(tmp_path / "harmless", root, plain))
    assert hostile.parts == harmless.parts
    assert hostile.scripts[1] == harmless.scripts[1]
    assert all(link.startswith(("#", "data:", "https://doi.org/10.")) for link in hostile.links)
    shown = "".join(hostile.words)
    assert [text for text in TEXTS if revealed(text, keep="\n") not in shown] == []


def test_a_page_holds_no_character_that_is_not_seen(tmp_path: Path, root: Path) -> None:
    page = page_of(tmp_path, root, TEXTS)
    assert {hex(ord(character)) for character in page if is_unseen(character)} == {"0xa"}
    data = json.loads(Skeleton(page).scripts[0])
    columns = data["claims"]["columns"]
    assert {character for character in "".join(texts_of(data)) if is_unseen(character)} == {"\n"}
    quantities = columns["quantity"][::2]
    assert quantities == [revealed(text, keep="\n") for text in TEXTS]


@given(st.text(st.characters()))
def test_embedded_json_stays_the_same_json(text: str) -> None:
    inside = embedded({text: [text]})
    assert json.loads(inside) == {text: [text]}
    assert not set("<>&\u2028\u2029") & set(inside)
    assert not [character for character in inside if is_unseen(character)]


UNFOLD = """
document.getElementById("more").click();
for (const button of document.querySelectorAll('tr.claim .toggle')) button.click();
return document.querySelectorAll('tr.about').length
"""


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Browser]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    with browser(tmp_path / "profile") as opened:
        yield opened


def test_a_browser_runs_nothing_of_a_hostile_page(
    window: Browser, tmp_path: Path, root: Path
) -> None:
    """A dialog would stop the driver; a refused script would be told on the console."""
    page_of(tmp_path, root, TEXTS)
    address = (tmp_path / "out" / "index.html").as_uri()
    window.open("about:blank")
    window.console()
    window.requests()
    window.open(address)
    unfolded = window.run(UNFOLD)
    drawn = window.run("return document.querySelectorAll('tr.claim').length")
    assert unfolded == drawn == 2 * len(TEXTS)
    texts = window.run(
        "return [...document.querySelectorAll('tr.claim small')].map(s => s.textContent)"
    )
    assert texts[::2] == [f"p2.{n}.{revealed(text, keep=chr(10))}" for n, text in enumerate(TEXTS)]
    assert window.run("return document.querySelectorAll('script, iframe, object').length") == 2
    assert window.console() == []
    asked = {asked.partition("#")[0] for asked in window.requests()}
    assert {asked for asked in asked if not asked.startswith("data:")} == {address}


# --- the terminal -------------------------------------------------------------------------------


def said(
    capsys: pytest.CaptureFixture[str], results: Path, *arguments: str
) -> tuple[int, str, str]:
    code = cli.main([*arguments, "--results", str(results)])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    (folder / "published").mkdir(parents=True)
    document = judged(claims(TEXTS))
    (folder / "published" / "claims.json").write_text(json.dumps(document))
    return folder


def test_no_text_commands_the_terminal(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = claims(TEXTS)
    code, listed, _ = said(capsys, results, "claims")
    assert code == 0
    told = [listed]
    plain = said(capsys, results, "trace", records[0]["id"])[1].count("\n")
    for entry in records[::2]:
        code, text, _ = said(capsys, results, "trace", entry["id"])
        assert (code, text.count("\n")) == (0, plain)
        told.append(text)
    for text in told:
        assert {character for character in text if is_unseen(character)} == {"\n"}


def test_json_for_programs_holds_the_very_texts(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = said(capsys, results, "claims", "--json")
    assert code == 0
    assert json.loads(out) == claims(TEXTS)
    assert {character for character in out if is_unseen(character)} == {"\n"}


@pytest.mark.parametrize("kind", UNSEEN)
def test_an_error_message_does_not_command_the_terminal(
    results: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    text = UNSEEN[kind].replace("\n", "")
    code, _, err = said(capsys, results / text.replace("\0", ""), "trace", text)
    assert code == 2
    assert {character for character in err if is_unseen(character)} == {"\n"}


def test_what_is_not_seen_is_written_as_in_json() -> None:
    assert revealed("a\u202eb\x1b[1m\x7f\nc") == "a\\u202eb\\u001b[1m\\u007f\\nc"
    assert revealed("a\nb\tc", keep="\n\t") == "a\nb\tc"
    assert revealed("\U000e0001") == "\\udb40\\udc01"
    assert revealed("\ud800") == "\\ud800"
    assert (
        revealed("λ ≤ 3 – it’s, and \u00a0 \u2009 spaces")
        == "λ ≤ 3 – it’s, and \u00a0 \u2009 spaces"
    )
    assert len(revealed(BIDI)) == 6 * len(BIDI)
