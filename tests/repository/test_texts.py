"""What people read is in plain words: no term of our own, and no key of a file, is printed."""

import re

import pytest

from judged import DRAWS
from layerwise.engine.derivation import evidence_of
from layerwise.engine.sentences import Value
from layerwise.engine.tally import KINDS, SAID
from layerwise.engine.verdicts import VERDICTS
from layerwise.engine.words import WORDS, display_names, in_words, named
from layerwise.files import read_json
from layerwise.models.registry import read_models
from layerwise.papers.across.analyses import MODULES, TABLES
from layerwise.papers.shared.published import read_published
from layerwise.present.claim_list import strip_as_text
from layerwise.present.records import PROSE, readable
from layerwise.present.terminal import as_text
from layerwise.present.trace import methods_of

# A refused word, and what is written instead.
REFUSED = {
    r"hunt": "survey",
    r"twins?": "random-weight stand-in, tuned model",
    r"rooms|house": "package, architecture",
    r"foret(ell|ells|old)": "predicts",
    r"go(es)? with": "correlates with",
    r"in print": "printed, as printed",
    r"computed again": "recomputed",
    r"(told|tells?|tell) from": "distinguishable from",
    r"tells? apart": "separates",
    r"ways? of asking": "analysis choice",
    r"(held|holds?)( it)? against": "compared with",
    r"sides? of the gain|(keeps?|turns?) (one|its) side": "damps or expands",
    r"a cross where": "x: the interval includes zero",
    r"ground_truth_\w+|gt_(non)?numeric": "numeric facts",
}
# What the papers' authors call their own notebooks and tests, and what is quoted or code.
ALLOWED = re.compile(r"(hunt|twin) notebook|twin test|```.*?```|`[^`]*`", re.DOTALL)
CURVED = re.compile("[\N{LEFT SINGLE QUOTATION MARK}-\N{DOUBLE LOW-9 QUOTATION MARK}]")
PARTS = ("headlines", "findings", "story", "claims")  # of judged claims
STYLE = "style.md"  # names the refused words


def refused(text):
    """The words of a text that are refused."""
    left = ALLOWED.sub("", text)
    return [
        found[0] for word in REFUSED for found in re.finditer(rf"\b({word})\b", left, re.IGNORECASE)
    ]


def of_findings(root, judged):
    facts = judged["findings"]
    return {f"{one['id']}, {part}": one[part] for one in facts for part in TOLD_OF_A_FACT}


def of_claims(root, judged):
    found = {}
    for one in judged["claims"]:
        told = [one["where"], one["quantity"], one["cause"] or ""]
        told += [reading["text"] for reading in one["readings"]]
        found |= {f"{one['id']}, {n}": text for n, text in enumerate(told)}
    return found


def of_verdicts(root, judged):
    return dict(enumerate([*VERDICTS.values(), *KINDS, *SAID.values()]))


def of_headlines(root, judged):
    return {
        f"{one['id']}, {part}": one[part]
        for one in judged["headlines"]
        for part in ("short", "says", "reason", "power")
    }


def of_story(root, judged):
    paragraphs = {one["title"]: one["text"] for one in judged["story"]}
    sentences = {
        (title, n): sentence
        for title, text in paragraphs.items()
        for n, sentence in enumerate(text.split(". "))
    }
    return paragraphs | sentences


def of_pages(root, judged):
    beside = [
        root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
    ]
    folders = [*(root / "docs").glob("*.md"), *root.glob("*/README.md")]
    pages = [page for page in (*beside, *folders) if page.name != STYLE]
    return {page.name: page.read_text(encoding="utf-8") for page in pages}


def of_analyses(root, judged):
    return {name: module.__doc__.partition("\n\n")[0] for name, module in MODULES.items()}


def of_methods(root, judged):
    """What functions say of themselves: `layerwise trace` and the page quote it."""
    statistics = {one["provenance"]["statistic"] for one in judged["claims"]} - {None}
    evidence = evidence_of(read_published(root / "published"), DRAWS, TABLES)
    methods = [one for of in methods_of(statistics, evidence, TABLES).values() for one in of]
    return {one["at"]: one["says"] for one in methods if one["name"] != "rule"}  # a line of code


TOLD_OF_A_FACT = ("title", "gives", "follows")
READ = {
    "headlines": of_headlines,
    "story": of_story,
    "pages": of_pages,
    "findings": of_findings,
    "claims": of_claims,
    "verdicts": of_verdicts,
    "analyses": of_analyses,
    "methods": of_methods,
}


@pytest.mark.parametrize("place", READ)
def test_quotes_are_typed_straight(root, results, place):
    """Curved ones are the PDF's, which makes them; pages of HTML have tests of their own."""
    judged = read_json(results / "published" / "claims.json")
    found = [text for text in READ[place](root, judged).values() if CURVED.search(text)]
    assert found == []


@pytest.mark.parametrize("place", READ)
def test_texts_use_no_private_word(root, results, place):
    judged = read_json(results / "published" / "claims.json")
    texts = READ[place](root, judged)
    assert len(texts) > 10
    found = {name: (refused(text), text) for name, text in texts.items() if refused(text)}
    assert not found, "write what REFUSED names instead"


@pytest.fixture
def misnamed(root):
    """`misnamed(text)`: models in it that are called by another name than their display name."""
    names = display_names(read_models(root / "models.yaml"))
    models = read_models(root / "models.yaml").values()
    known = {name for one in models for name in (one.slug, one.hub.rpartition("/")[2], one.display)}
    longest = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    name = re.compile(rf"(?<![\w/.-])({longest})(?![\w/-])", re.IGNORECASE)

    def found(text):
        left = re.sub(r"```.*?```|`[^`]*`|<!--.*?-->|https?://\S+", "", text, flags=re.DOTALL)
        return [one for one in name.findall(left) if one != named(one, names)]

    return found


def strings(value):
    """The texts in a value and below; what numbers rest on is no text."""
    if isinstance(value, dict):
        return [text for name, of in value.items() if name != "inputs" for text in strings(of)]
    below = value if isinstance(value, list) else []
    return [value] if isinstance(value, str) else [text for of in below for text in strings(of)]


def test_models_have_the_names_that_readers_know(root, results, misnamed):
    """In sentences and beside claims, on every page of docs/, and on the terminal."""
    judged = read_json(results / "published" / "claims.json")
    names = display_names(read_models(root / "models.yaml"))
    told = [one for part in PARTS for one in readable(judged[part], names)]
    texts = [
        text for one in told for name in (*PROSE, "readings") for text in strings(one.get(name))
    ]
    assert len(texts) > 8_000
    assert [text for text in texts if misnamed(text)] == []
    assert {
        name: misnamed(page) for name, page in of_pages(root, judged).items() if misnamed(page)
    } == {}
    assert misnamed(as_text(strip_as_text(judged, None, reasons=True))) == []


def test_a_model_is_misnamed_where_it_is_text(misnamed):
    said = "Of opt-2.7b, `opt-2.7b`, OPT-2.7B, org/opt-2.7b and Pythia-6.9b"
    assert misnamed(said) == ["opt-2.7b", "Pythia-6.9b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("In the hunt both damp.", ["hunt"]),
        ("In the hunt notebook both damp.", []),
        ("Twins of it", ["Twins"]),
        ("high_rho_hunt_NO_FINAL_LN.json", []),
        ("no interval is told from zero", ["told from"]),
        ("UA of gt_numeric, `gt_numeric`", ["gt_numeric"]),
    ],
)
def test_words_are_refused_as_words(text, words):
    assert refused(text) == words


def test_keys_of_files_are_put_into_words():
    assert in_words("UA of gt_numeric, last_token, layer 3") == (
        "UA of numeric facts, last token, layer 3"
    )
    assert in_words("my_last_token_file") == "my_last_token_file"
    assert f"{Value('gt_numeric')} and {Value(0.5):.2f}" == "numeric facts and 0.50"
    assert not any("_" in words for words in WORDS.values())
