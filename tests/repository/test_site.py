"""The site that `make site` wrote, opened from a disk."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from browser import Browser

# How far the page and its tables reach beyond what is seen, and what cannot be scrolled there.
CUT = """
const seen = document.documentElement.clientWidth;
const boxed = (one) => {
  for (let box = one; box !== document.body; box = box.parentElement) {
    const ends = box.getBoundingClientRect().right;
    if (getComputedStyle(box).overflowX === "auto" && ends <= seen) return true;
  }
  return false;
};
const wide = [...document.querySelectorAll("article :is(table, pre, img)")];
const cut = wide.filter((one) => one.getBoundingClientRect().right > seen && !boxed(one));
const beyond = document.documentElement.scrollWidth - seen;
return [beyond, ...cut.map((one) => one.outerHTML.slice(0, 80))];
"""


@pytest.fixture(scope="module")
def site(root: Path) -> Path:
    if not (root / "site" / "index.html").is_file():
        pytest.skip("there is no site/: `make site` builds it")
    return root / "site"


def test_no_page_asks_the_network_or_is_wider_than_a_phone(site: Path, window: Browser) -> None:
    window.open("about:blank")
    window.size(390, 844)
    window.console()
    window.requests()
    pages = sorted(site.glob("*.html"))
    assert len(pages) > 20
    for page in pages:
        window.open(page.as_uri())
        window.run_later("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        assert window.run(CUT) == [0], page.name
        asked = {address for address in window.requests() if not address.startswith("data:")}
        if page.name != "404.html":  # a server gives it, at any address
            assert window.console() == [], page.name
            others = [address for address in asked if not address.startswith(site.as_uri())]
            assert others == [], page.name
        window.console()


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
@pytest.mark.parametrize("page", ["index", "answers", "api", "notebook-own-model"])
def test_a_page_of_the_site_is_accessible(
    window: Browser, site: Path, page: str, scheme: str, width: int
) -> None:
    window.scheme(scheme)
    window.size(width, 900)
    window.open((site / f"{page}.html").as_uri())
    ground = window.run("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    assert window.violations() == []


def test_every_link_of_the_site_leads_somewhere(site: Path, root: Path) -> None:
    assert dead_links_of(root)(site) == []


def test_a_dead_link_is_found(root: Path, tmp_path: Path) -> None:
    body = (
        '<a href="b.html#there">1</a> <a href="b.html#gone">2</a> <a href="c.html">3</a>'
        '<img src="../outside.svg"> <a href="https://example.org/gone">4</a> <a href="#a">5</a>'
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "outside.svg").write_text("")
    (tmp_path / "in" / "a.html").write_text(body)
    (tmp_path / "in" / "b.html").write_text('<p id="there">')
    dead = dead_links_of(root)(tmp_path / "in")
    named = ("b.html#gone", "c.html", "../outside.svg", "#a")
    assert dead == [f"a.html: {link}" for link in named]


def dead_links_of(root: Path) -> Any:
    return runpy.run_path(str(root / "docs" / "dead_links.py"))["dead_links"]
