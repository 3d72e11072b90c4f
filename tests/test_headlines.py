"""Headlines and findings: by rules from verdicts, explained by sentences that are filled in."""

import math
import random
import re

import pytest

from claim_records import record
from judged import changed, everything, judged
from layerwise.errors import LayerwiseError
from layerwise.ledger.findings import findings, read_findings
from layerwise.ledger.headlines import FALLS, GRADES, headlines, read_headlines
from layerwise.ledger.sentences import Said, Value, fill
from layerwise.ledger.verdicts import AS_RANDOM


def headline(verdicts, rule="every claim", documents=None, control=None, **fields):
    records = [record(f"p2.{n}", verdict=word) for n, word in enumerate(verdicts)]
    claims = {f"c{n}": one["id"] for n, one in enumerate(records)}
    entry = {"id": "p2.h", "paper": 2, "where": "abstract", "says": "So.", "rule": rule}
    entry |= {"claims": claims, **fields}
    (found,) = headlines(records, documents or {}, [entry], control or [])
    return found


@pytest.mark.parametrize(
    ("rule", "verdicts", "choice", "grade"),
    [
        ("every claim", ["agrees", "follows"], None, "holds"),
        ("every claim", ["agrees", "follows"], True, "holds"),
        ("every claim", ["reproduced"], False, "only under one choice"),
        ("every claim", [AS_RANDOM], True, "untested without weights"),
        ("every claim", ["agrees", "differs"], None, "holds in part"),
        ("every claim", ["differs", "contradicted"], True, "does not follow"),
        ("every claim", ["needs weights", "not checkable"], None, "untested without weights"),
        ("the first claim", ["differs", "agrees"], True, "does not follow"),
        ("the first claim", ["agrees", "differs"], None, "holds in part"),
        ("the first claim", ["not measured", "reproduced"], None, "untested without weights"),
        ("every choice", ["differs"], True, "only under one choice"),
        ("every choice", ["differs"], False, "does not follow"),
        ("every choice", ["agrees"], True, "holds"),
    ],
)
def test_a_rule_grades_from_verdicts_and_choices(rule, verdicts, choice, grade):
    documents = {"laws": {"laws": {"survives": choice}}}
    found = headline(verdicts, rule, documents, choices={"another": "laws:laws:/survives"})
    assert found.grade == grade
    assert found.choices == {
        "another": {True: "survives", False: "lost", None: "not tested"}[choice]
    }
    assert [part["claim"] for part in found.parts] == [f"p2.{n}" for n in range(len(verdicts))]


def test_what_is_true_of_random_weights_too_confirms_nothing():
    documents = {"laws": {"laws": {"p": True}}}
    fact = {"documents": documents, "facts": {"it grows": "laws:laws:/p"}}
    assert headline(["reproduced"], **fact).grade == "holds"
    assert headline([AS_RANDOM], **fact).grade == "holds"
    found = headline([AS_RANDOM], control=[{}, documents], **fact)
    assert found.grade == "untested without weights"
    assert found.reason == "0 of 1 claims stand; 1 more as well for random weights"


def test_a_fact_counts_like_a_claim_and_a_choice_may_be_a_row_of_the_sensitivity():
    row = {"claim": "bell", "choice": "before_norm", "model": "m", "outcome": "lost"}
    documents = {"laws": {"laws": {"p": False}}, "sensitivity": {"summary": {"models": [row]}}}
    fact = headline(["agrees"], documents=documents, facts={"p is small": "laws:laws:/p"})
    assert fact.grade == "holds in part"
    assert fact.parts[-1] == {"fact": "p is small", "stands": False}
    choice = {"claim": "bell", "choice": "before_norm", "model": "m"}
    found = headline(["agrees"], documents=documents, choices={"before": choice})
    assert found.choices == {"before": "lost"}
    other = headline(["agrees"], documents=documents, choices={"before": {**choice, "model": "n"}})
    assert (other.grade, other.choices) == ("holds", {"before": "not tested"})


def test_the_reason_is_that_of_the_grade_else_the_claims_are_counted():
    reason = {"does not follow": "It is {c0:.2f}, printed {c0.printed}; {x}."}
    documents = {"laws": {"laws": {"names": ["a", "b"]}}}
    values = {"x": "laws:laws:/names"}
    found = headline(["differs"], documents=documents, reason=reason, values=values)
    assert found.reason == "It is 0.35, printed 0.345; a, b."
    found = headline(["agrees", "differs"], documents=documents, reason=reason, values=values)
    assert found.reason == ("1 of 2 claims stand; two-sided p of r: printed 0.345, found 0.3451")


def test_a_template_that_does_not_fit_iv():
    reading = [{"text": "by depth", "value": -0.5, "gives": False}]
    said = Said(record("p2.a", readings=reading, recomputed="OTHER"))
    assert fill("{a} {a[by depth]:+.1f}", {"a": said}) == "OTHER -0.5"
    assert fill("{a:.2f}", {"a": Value(None)}) == "no value"
    for template in ("{b}", "{a[by length]}", "{a.unit}"):
        with pytest.raises(LayerwiseError, match="does not fit its values"):
            fill(template, {"a": said})
    with pytest.raises(LayerwiseError, match=r"headline p2\.h: no claim fits 'p9"):
        headline(["agrees"], also=["p9.*"])


def test_a_finding_is_a_fact_and_a_caveat_is_always_there():
    records = [
        record("p2.a", verdict="differs", recomputed=0.5),
        record("p2.b", verdict="agrees"),
        record("p3.c1", verdict="contradicted", quantity="labs"),
        record("p3.c2", verdict="contradicted", quantity="labs"),
    ]
    entry = {"weight": 1, "title": "It is {x}, not {x.printed}.", "follows": "So {x:.1f}."}
    entries = [
        {**entry, "id": "caveat", "claims": {"x": "p2.b"}, "caveat": True, "headline": "second"},
        {**entry, "id": "fact", "claims": {"x": "p2.a"}, "also": ["p2.*"], "headline": "first"},
        {**entry, "id": "none", "claims": {"x": "p2.b"}},
    ]
    found = findings(records, entries, ["first", "second"])
    assert [one.id for one in found] == ["fact", "caveat", "p3.c1"]
    assert (found[0].title, found[0].follows) == ("It is 0.5, not 0.345.", "So 0.5.")
    assert (found[0].claims, found[2].claims) == (["p2.a", "p2.b"], ["p3.c1", "p3.c2"])
    assert findings(records, entries, [], argued=False)[0].follows == ""
    with pytest.raises(LayerwiseError, match="finding none: no claim fits 'p9'"):
        findings(records, [{**entry, "id": "none", "claims": {"x": "p9"}}], [])


def test_committed_entries_quote_numbers_and_type_none(root):
    entries, facts = read_headlines(root / "claims"), read_findings(root / "claims")
    assert 12 <= len(entries) <= 18
    assert [entry["paper"] for entry in entries] == sorted(entry["paper"] for entry in entries)
    texts = [entry["says"] for entry in entries]
    texts += [text for entry in entries for text in entry["reason"].values()]
    texts += [entry.get(part, "") for entry in facts for part in ("title", "gives", "follows")]
    for entry in entries:
        assert set(entry["reason"]) <= set(GRADES)
    for text in texts:
        words = re.sub(r"\{[^}]*\}|\w+-[\d.]+\w*", "", text)
        assert not re.search(r"\d[.,]\d|\d ?%|[-+]\d", words), text


def test_every_headline_of_print_has_its_reason(root, records, works):
    documents = {analysis: work.documents for analysis, work in works.items()}
    for found in headlines([*records.values()], documents, read_headlines(root / "claims")):
        assert "claims stand" not in found.reason, found.id
        assert "no value" not in found.says + found.reason, found.id


def test_every_claim_that_falls_is_of_one_finding(root, records):
    facts = read_findings(root / "claims")
    order = [entry["id"] for entry in read_headlines(root / "claims")]
    found = findings([*records.values()], facts, order)
    assert {one.id for one in found} == {entry["id"] for entry in facts}  # none unlisted, none idle
    assert {one.headline for one in found} <= {*order, None}
    falling = [name for name, record in records.items() if record["verdict"] in FALLS]
    listed = [claim for one in found if not one.caveat for claim in one.claims if claim in falling]
    assert sorted(listed) == sorted(falling)


# --- what a claim rests on moves it ---------------------------------------------------------------

# Counts, shares, ranks, layers and what is rounded first move in steps; extremes, intervals and
# fits of a part of a profile with some of their cells only.
STEPS = (
    r"pct|percent|rate|accuracy|spearman|Spearman|mann_whitney|rho|density|L_star|calibration:/|"
    r"first_mean_depth|mean_layer_error|rounded|bound/total|std_gain|peak_analysis"
)
PARTS = STEPS + (
    r"|/m(in|ax)|range|/ci_|95ci|lowest|highest|weakest|strongest|phase\d_|best_per_layer|"
    r"Min_|Max_|extreme|smallest|largest|change"
)


def times(value, factor):
    return str(float(value) * factor) if isinstance(value, str) else value * factor


@pytest.mark.parametrize("seed", [0, 1, None])
def test_every_claim_moves_with_what_it_rests_on(records, root, published, seed):
    """Random cells of every file by a tenth, or (None) all of them by half a percent or less."""
    by_file = {}
    for cell in sorted({cell for one in records.values() for cell in one["provenance"]["inputs"]}):
        file, _, key = cell.partition("#")
        value = published.cells.get((file, key))
        number = isinstance(value, float) or (isinstance(value, str) and "." in value)
        if number and math.isfinite(float(value)) and float(value):
            by_file.setdefault(file, []).append((file, key))
    rng = random.Random(seed)
    if seed is None:
        all_cells = [cell for cells in by_file.values() for cell in cells]
        chosen = {c: times(published.cells[c], rng.uniform(0.995, 0.9999)) for c in all_cells}
    else:
        picked = [rng.choice(cells) for cells in by_file.values()]
        chosen = {cell: times(published.cells[cell], 0.9) for cell in picked}
    numbers = changed(published, chosen)
    again = judged(root, numbers, everything(numbers))
    names, expected = {"#".join(cell) for cell in chosen}, STEPS if seed is None else PARTS
    touched = [one for one in records.values() if names & {*one["provenance"]["inputs"]}]
    assert len(touched) > 200
    still = [
        one["id"]
        for one in touched
        if isinstance(one["recomputed"], float)
        and not re.search(expected, one["provenance"]["statistic"])
        and again[one["id"]]["recomputed"] == one["recomputed"]
    ]
    assert still == []
