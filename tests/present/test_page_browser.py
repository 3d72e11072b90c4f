"""The page in a browser: filters, sort, links to a claim, keyboard, phone, print."""

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import Browser
from claim_records import central_claim, folders, hostile_claims, record
from hostile import WRITTEN
from layerwise.engine.judged import JudgedClaim
from layerwise.files import revealed
from layerwise.papers.shared.result_files import LAYERS
from layerwise.present.search import search_claims
from layerwise.run.steps import page as stage

N = 2500
VERDICT_CYCLE = ("agrees", "agrees", "follows", "differs", "needs weights")
DRAWN = "return document.querySelectorAll('tr.claim').length"
STATUS = "return document.querySelector('.status').textContent"
NOTHING_FITS = "No printed number fits. Take words out of the search, or clear the filters."
IDS = "return [...document.querySelectorAll('tr.claim')].slice(0, 5).map(row => row.dataset.claim)"
ROW = "tr.claim"
CENTRAL = "p1.table_3.row.3"  # what a central claim rests on; it differs
FIGURES = {"p1.folded": "layers", "p2.other": "pairs"}
OPEN = """
const panel = document.querySelector("dialog");
return [panel.open, panel.querySelector("h2")?.textContent ?? null];
"""
SETTLED = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
HEIGHT = "return document.documentElement.scrollHeight"
FOCUSED = "return document.activeElement.closest('tr')?.dataset.claim"
CHOOSE = """
const select = document.querySelector(`.filters [name=${arguments[0]}]`);
select.value = arguments[1];
select.dispatchEvent(new Event("input", { bubbles: true }));
"""


@functools.cache
def made_up() -> list[JudgedClaim]:
    """Claims of three papers; the last one has an id that addresses escape."""
    records = []
    for number in range(N - 4):
        paper = 1 + number % 3
        analysis = ("layers", "pairs")[number % 2]
        records.append(
            record(
                f"p{paper}.table_{number % 7}.row.{number}",
                where=(f"Paper {paper}, table {number % 7}", "notebook 002")[number % 2],
                quantity=f"quantity {number} of {'even' if number % 2 == 0 else 'odd'} kind",
                model=f"model-{number % 11}" if number % 13 else None,
                published=(N - number) / 1000,
                recomputed=number / 1000 if number % 5 != 4 else None,
                verdict=VERDICT_CYCLE[number % 5],
                statistic=f"{analysis}:m:/n/{number}",
                inputs=[f"{LAYERS}#/x/{number % 40}", f"{LAYERS}#/x/{(number + 1) % 40}"],
                cause="a known cause" if number % 5 == 3 else None,
            )
        )
    printed = [
        record("p2.printed.r", quantity="r over the pairs", where="table 3", published=-0.874),
        record("p2.printed.p", quantity="p of r", where="table 1", published="p < 0.001"),
        record("p2.printed.figure", quantity="slope", where="figure 1, box", published=0.8741),
    ]
    last = record("p3.last%", published="word", recomputed="other", where="Paper 3, section 9")
    return [*records, *printed, last]


def central() -> list[dict[str, Any]]:
    """Two central claims; the first rests on one of them."""
    part = {"claim": CENTRAL, "verdict": "differs"}
    return [
        central_claim("p1.folded", "fails", printed=[part]),
        central_claim("p2.other", says="r rises."),
    ]


def first_shown() -> list[JudgedClaim]:
    """The claims as the table opens: what is central and differs, what differs, the rest."""
    rest = [entry for entry in made_up() if entry.verdict != "differs"]
    differing = [entry for entry in made_up() if entry.verdict == "differs"]
    return sorted(differing, key=lambda entry: entry.id != CENTRAL) + rest


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[str, str]:
    """Addresses of a page per source; what is measured is of random weights."""
    addresses = {}
    for source in ("published", "measured"):
        base = tmp_path_factory.mktemp(source)
        random = source == "measured"
        made = folders(
            base,
            made_up(),
            source,
            random_weights=random,
            central=central(),
            drawn=FIGURES,
        )
        stage.run(source, **vars(made))
        addresses[source] = (made.out / "index.html").as_uri()
    return addresses


@contextlib.contextmanager
def opened(window: Browser, address: str) -> Iterator[Browser]:
    """A page, freshly opened; afterwards nothing was said or asked for."""
    window.open("about:blank")
    window.size(1200, 900)
    window.console()
    window.requests()
    window.open(address)
    yield window
    assert window.console() == []
    asked = {asked.partition("#")[0] for asked in window.requests()}
    assert {asked for asked in asked if not asked.startswith("data:")} == {address}


@pytest.fixture
def page(window: Browser, pages: dict[str, str]) -> Iterator[Browser]:
    with opened(window, pages["published"]) as page:
        yield page


def test_rows_are_drawn_as_needed(page: Browser) -> None:
    assert page.run(STATUS) == f"{N} printed numbers"
    assert page.run(DRAWN) == 10
    page.run("document.getElementById('provenance').scrollIntoView()")
    assert page.run(DRAWN) == 10  # who jumps past the table gets there
    page.type("[name=words]", "odd")
    assert page.run(DRAWN) == 60  # of what is found more are drawn than are seen at once
    page.click("button[type=reset]")
    assert page.run(DRAWN) == 10
    page.click("#more")
    assert page.run(DRAWN) == N
    assert page.run(FOCUSED) == first_shown()[10].id
    page.click("th[data-key=published] button")
    assert page.run(DRAWN) == N  # who asked for all keeps all


def test_a_figure_is_drawn_and_saved_from_what_the_page_holds(page: Browser) -> None:
    drawn = "return document.querySelectorAll('#figure-layers svg').length"
    assert page.run(drawn) == 1
    links = "return [...document.querySelectorAll('a.file')]"
    assert page.run(f"{links}.every(link => !link.hidden && link.href.startsWith('blob:'))")
    page.size(390, 800)
    page.run_later(SETTLED)
    assert page.run(drawn) == 1
    assert page.run("return document.querySelector('#figure-layers .drawing.narrow') !== null")


@pytest.mark.parametrize(
    ("field", "value", "select"),
    [
        (
            "link",
            "paper=3&verdict=follows",
            lambda claim: (claim.paper, claim.verdict) == (3, "follows"),
        ),
        ("paper", "2", lambda claim: claim.paper == 2),
        ("place", "Paper 3, table 4", lambda claim: claim.where == "Paper 3, table 4"),
    ],
)
def test_filter(page: Browser, field: str, value: str, select: Any) -> None:
    if field == "link":  # of a count, in a fold
        page.click("#claims > details > summary")
        page.click(f"a[href='#claims?{value}']")
    else:
        page.run(CHOOSE, field, value)
    expected = [entry.id for entry in first_shown() if select(entry)]
    assert page.run(STATUS).split()[0] == str(len(expected))
    assert page.run(IDS) == expected[:5]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("r = -0.874", {"p2.printed.r"}),
        ("r = −0.874***", {"p2.printed.r"}),
        ("QUANTITY 2404 even", {"p2.table_3.row.2404"}),
        ("QUANTITY 2404 even no-such-word", set()),
    ],
)
def test_search_finds_what_is_printed(page: Browser, query: str, ids: set[str]) -> None:
    page.type("[name=words]", query)
    assert set(page.run(IDS)) == ids
    assert page.run(STATUS) == (f"{len(ids)} of {N} printed numbers" if ids else NOTHING_FITS)
    page.click("button[type=reset]")
    assert page.run(STATUS) == f"{N} printed numbers"


def test_search_orders_as_the_terminal_does(page: Browser) -> None:
    page.type("[name=words]", "quantity 24")
    assert page.run(IDS) == [claim.id for claim in search_claims(made_up(), "quantity 24")][:5]


def test_filters_stand_in_the_address(page: Browser, pages: dict[str, str]) -> None:
    page.run(CHOOSE, "paper", "1")
    page.run(CHOOSE, "verdict", "needs weights")
    page.run(CHOOSE, "order", "published down")
    page.type("[name=words]", "odd")
    state = [page.run(STATUS), page.run(IDS), page.run("return location.hash")]
    expected = [
        entry.id
        for entry in made_up()
        if (entry.paper, entry.verdict) == (1, "needs weights") and "odd" in entry.quantity
    ]
    assert state[:2] == [f"{len(expected)} of {N} printed numbers", expected[:5]]
    assert state[2] == "#claims?words=odd&paper=1&verdict=needs+weights&order=published+down"
    page.open("about:blank")
    page.open(pages["published"] + state[2])
    assert [page.run(STATUS), page.run(IDS), page.run("return location.hash")] == state


def test_sort_by_head(page: Browser) -> None:
    order = "return document.querySelector('th[data-key=published]').ariaSort"
    numbers = [entry for entry in made_up() if not isinstance(entry.published, str)]
    rising = sorted(numbers, key=lambda entry: entry.published)  # words come after numbers
    orders = (("none", first_shown()), ("ascending", rising), ("descending", rising[::-1]))
    for said, claims in orders:
        assert page.run(order) == said
        assert page.run(IDS) == [entry.id for entry in claims[:5]]
        page.click("th[data-key=published] button")
    assert page.run(order) == "none"
    assert page.run(IDS) == [entry.id for entry in first_shown()[:5]]


def test_a_claim_opens_alone_to_its_provenance(page: Browser) -> None:
    height = page.run(HEIGHT)
    page.click(f"{ROW} a")
    assert page.run(OPEN) == [True, "quantity 3 of odd kind"]
    about = page.run("return document.querySelector('dialog').innerText")
    for part in (
        *(LAYERS, "/strategies/layer_8/p_value", "pairs:m:/n/3", "/x/3\t3.5", "/x/4\t4.5"),
        *("sha256 " + "a" * 64, "half a unit of the last printed digit, 0.0005"),
        *(CENTRAL, f"layerwise trace {CENTRAL} --source published", "a known cause", "r falls"),
    ):
        assert part in about
    assert page.run("return location.hash") == f"#{CENTRAL}"
    page.click("dialog .close")
    page.run_later(SETTLED)
    assert page.run(OPEN) == [False, None]
    assert page.run("return location.hash") == ""
    assert page.run(FOCUSED) == CENTRAL
    assert page.run(HEIGHT) == height


def test_keyboard_alone(page: Browser) -> None:
    page.press("Tab")
    skip = page.run("return document.activeElement.className")
    assert skip == "skip"
    page.press("Enter")
    page.press("Tab")
    fold = "return document.activeElement.matches('#claims > details > summary')"
    assert page.run(fold)  # of the verdicts; the search is next
    page.press("Tab")
    searched = "return [document.activeElement.name, document.activeElement.value]"
    assert page.run(searched) == ["words", ""]
    page.run("document.activeElement.blur()")
    page.press(*"/2404")  # the slash leads to the search, and is no part of it
    assert page.run(searched) == ["words", "2404"]
    page.press(*["Tab"] * 17)
    assert page.run(FOCUSED) == "p2.table_3.row.2404"
    width = "return parseFloat(getComputedStyle(document.activeElement).outlineWidth)"
    assert page.run(width) >= 2
    page.press("Enter")
    page.run_later(SETTLED)
    assert page.run(OPEN) == [True, "quantity 2404 of even kind"]
    page.press("Tab")
    assert page.run("return document.activeElement.className") == "close"
    page.press("Escape")
    page.run_later(SETTLED)
    assert page.run(OPEN) == [False, None]
    assert page.run(FOCUSED) == "p2.table_3.row.2404"


@pytest.mark.parametrize(("how", "width"), [("address", 390), ("hashchange", 1200)])
def test_a_link_opens_one_claim_and_draws_no_row(
    page: Browser, pages: dict[str, str], how: str, width: int
) -> None:
    claim = "p2.table_3.row.2404"
    page.size(width, 800)
    before = [page.run(HEIGHT), page.run(DRAWN), page.run(STATUS)]
    if how == "address":
        page.open("about:blank")
        page.open(f"{pages['published']}#{claim}")
    else:
        page.run_later(
            "addEventListener('hashchange', () => arguments[1]()); location.hash = arguments[0]",
            claim,
        )
    assert page.run(OPEN) == [True, "quantity 2404 of even kind"]
    assert [page.run(HEIGHT), page.run(DRAWN), page.run(STATUS)] == before
    box = page.run("return document.querySelector('dialog').getBoundingClientRect().toJSON()")
    assert box["left"] >= 0 <= box["top"]
    assert (box["right"], box["bottom"]) <= (width, 800)
    page.run("location.hash = '#provenance'")  # the panel is not in the way
    page.run_later(SETTLED)
    assert page.run(OPEN) == [False, None]


def test_a_link_into_a_fold_opens_it(page: Browser) -> None:
    is_open = "return document.querySelector('#central .behind').open"
    assert page.run(is_open) is False
    page.run("location.hash = '#central-p1.folded'")
    page.run_later(SETTLED)
    assert page.run(is_open) is True


def test_link_to_an_odd_or_unknown_claim(page: Browser, pages: dict[str, str]) -> None:
    page.open("about:blank")
    page.open(f"{pages['published']}#p3.last%25")
    assert page.run(OPEN) == [True, "two-sided p of r"]
    page.open("about:blank")
    page.open(f"{pages['published']}#p9.nothing")
    assert page.run(STATUS) == "No printed number is named p9.nothing."


@pytest.mark.parametrize("source", ["published", "measured"])
def test_no_sideways_scroll(window: Browser, pages: dict[str, str], source: str) -> None:
    window.size(320, 800)
    window.open("about:blank")
    window.open(f"{pages[source]}#p3.last%25")
    wide = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    display = "return getComputedStyle(document.querySelector('tr.claim')).display"
    for width in (320, 390, 1024):
        window.size(width, 800)
        content, visible = window.run(wide)
        assert content <= visible <= width
        assert window.run(display) == ("table-row" if width == 1024 else "grid")
    marks = "[...document.querySelectorAll('.watermark')].map(mark => getComputedStyle(mark))"
    fixed = window.run(f"return {marks}.map(style => style.position)")
    assert fixed == ["fixed"] * (source == "measured")  # random weights are marked


def test_a_browser_that_cannot_unpack_the_claims_says_so(
    window: Browser, pages: dict[str, str]
) -> None:
    source = "delete window.DecompressionStream"
    added = window.devtools("Page.addScriptToEvaluateOnNewDocument", source=source)
    with opened(window, pages["published"]) as page:
        assert "needs a browser of 2023" in page.run(STATUS)
    window.devtools("Page.removeScriptToEvaluateOnNewDocument", **added)


def test_policy_stops_requests_and_foreign_scripts(window: Browser, pages: dict[str, str]) -> None:
    window.open(pages["published"])
    blocked = window.run_later(
        """
        const [done] = [...arguments].slice(-1);
        const seen = [];
        document.addEventListener("securitypolicyviolation", (event) => {
          seen.push(event.effectiveDirective);
          if (seen.length === 3) done(seen.sort());
        });
        new Image().src = "http://127.0.0.1:9/x.png";
        const script = document.createElement("script");
        script.textContent = "window.foreign = true";
        document.body.append(script);
        fetch("http://127.0.0.1:9/").catch(() => {});
        """
    )
    assert blocked == ["connect-src", "img-src", "script-src-elem"]
    assert window.run("return window.foreign") is None


UNFOLD = """
document.getElementById("more").click();
const titles = [];
for (const link of document.querySelectorAll("tr.claim a")) {
  location.hash = link.hash;
  dispatchEvent(new HashChangeEvent("hashchange"));
  titles.push(document.querySelector("dialog h2").textContent);
}
return titles.length
"""


def test_a_number_has_its_unit_on_both_sides_and_what_is_missing_has_none(
    window: Browser, tmp_path: Path
) -> None:
    """In the table, beside the central claim and in the panel."""
    claims = [
        record("p2.known", unit="nats", verdict="differs"),
        record("p2.missing", unit="nats", recomputed=None, verdict="needs weights"),
    ]
    parts = [{"claim": claim.id, "verdict": claim.verdict} for claim in claims]
    made = folders(tmp_path, claims, central=[central_claim("p2.r", printed=parts)])
    stage.run("published", **vars(made))
    units = (
        "return [...document.querySelectorAll('%s')].map(c => c.querySelectorAll('.unit').length)"
    )
    with opened(window, (made.out / "index.html").as_uri()) as page:
        assert page.run(
            units % "tr.claim td[data-key=published], tr.claim td[data-key=recomputed]"
        ) == [
            *(1, 1),
            *(1, 0),
        ]
        assert page.run(units % "table.evidence td.number") == [1, 1, 1, 0]
        page.run("location.hash = 'p2.missing'")
        assert page.run(units % "#claim dl.two dd")[:2] == [1, 0]


def test_nothing_of_a_hostile_page_runs(window: Browser, tmp_path: Path, root: Path) -> None:
    """A dialog would stop the driver; a refused script would be told on the console."""
    parts = [{"claim": f"p2.{n}.{text}", "verdict": "differs"} for n, text in enumerate(WRITTEN)]
    shown = [
        central_claim(f"p2.{part['claim']}", "fails", says=part["claim"], printed=[part])
        for part in parts
    ]
    made = folders(tmp_path, hostile_claims(WRITTEN), central=shown)
    stage.run("published", **vars(made))
    small = "return [...document.querySelectorAll('tr.claim small')].map(s => s.textContent)"
    with opened(window, (made.out / "index.html").as_uri()) as page:
        assert page.run(UNFOLD) == page.run(DRAWN) == 2 * len(WRITTEN)
        ids = [f"p2.{n}.{revealed(text, keep=chr(10))}" for n, text in enumerate(WRITTEN)]
        assert page.run(small)[: len(ids)] == ids  # what is central and differs comes first
        assert page.run("return document.querySelectorAll('script, iframe, object').length") == 3
