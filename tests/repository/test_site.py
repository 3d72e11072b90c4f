"""The site that `make site` wrote, opened from a disk."""

from pathlib import Path

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
@pytest.mark.parametrize("page", ["index", "api"])
def test_a_page_of_the_site_is_accessible(
    window: Browser, site: Path, page: str, scheme: str, width: int
) -> None:
    window.scheme(scheme)
    window.size(width, 900)
    window.open((site / f"{page}.html").as_uri())
    ground = window.run("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    assert window.violations() == []
