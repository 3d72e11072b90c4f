"""The page of an own model in a browser: the view by statement, and what it offers to save."""

import time
from pathlib import Path

import pytest

from browser import Browser
from layerwise.reader.result import Result

ROWS = """
return [...document.querySelectorAll(".statements tbody tr")].filter((row) => !row.hidden)
  .map((row) => [...row.cells].map((cell) => cell.textContent.replace("\\u2212", "-")));
"""
SAVING = 20  # seconds that a file of some kilobytes may take


@pytest.fixture
def view(window: Browser, analyzed: Result) -> Browser:
    assert analyzed.folder is not None
    window.size(1280, 900)
    window.open("about:blank")
    window.open((analyzed.folder / "index.html").as_uri())
    window.console()
    return window


def test_pairs_are_sorted_by_number_or_by_text(view: Browser) -> None:
    share, first = (f".statements thead th:{end}-child button" for end in ("last", "first"))
    view.click(share)
    shares = [float(row[-1]) for row in view.run(ROWS)]
    assert shares == sorted(shares, reverse=True)
    view.click(share)
    assert [float(row[-1]) for row in view.run(ROWS)] == sorted(shares)
    view.click(first)
    assert [row[0] for row in view.run(ROWS)] == sorted(row[0] for row in view.run(ROWS))
    sorts = (
        "return [...document.querySelectorAll('.statements th[aria-sort]')].map((h) => h.ariaSort)"
    )
    assert view.run(sorts) == ["ascending", *["none"] * 5]
    assert view.console() == []


def test_a_search_keeps_the_pairs_with_all_its_words(view: Browser) -> None:
    view.type(".search-pairs input", "Kitchen soup")
    assert [row[0] for row in view.run(ROWS)] == ["kitchen 0"]
    assert view.run("return document.querySelector('.search-pairs output').textContent") == (
        "1 of 18 pairs"
    )


def test_a_table_is_saved_from_the_page_alone(
    view: Browser, analyzed: Result, tmp_path: Path
) -> None:
    assert analyzed.folder is not None
    alone = tmp_path / "mailed.html"
    alone.write_bytes((analyzed.folder / "index.html").read_bytes())
    view.open(alone.as_uri())
    view.devtools("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    view.click("#statements a[download]")
    saved = tmp_path / "by-pair.csv"
    until = time.monotonic() + SAVING
    while not saved.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert saved.read_bytes() == (analyzed.folder / "tables" / "by-pair.csv").read_bytes()
