"""Headlines: graded by rules from verdicts, explained by sentences that are filled in."""

import re

import pytest

from claim_records import record
from layerwise.errors import LayerwiseError
from layerwise.ledger.headlines import GRADES, RULES, headlines, read_headlines
from layerwise.ledger.sentences import Said, Value, fill


def headline(verdicts, rule="every claim", documents=None, **fields):
    records = [record(f"p2.{n}", verdict=word) for n, word in enumerate(verdicts)]
    claims = {f"c{n}": one["id"] for n, one in enumerate(records)}
    entry = {"id": "p2.h", "paper": 2, "where": "abstract", "says": "So.", "rule": rule}
    (found,) = headlines(records, documents or {}, [{**entry, "claims": claims, **fields}])
    return found


@pytest.mark.parametrize(
    ("rule", "verdicts", "choice", "grade"),
    [
        ("every claim", ["agrees", "follows"], None, "holds"),
        ("every claim", ["agrees", "follows"], True, "holds"),
        ("every claim", ["reproduced"], False, "only under one choice"),
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
    assert found.claims == [f"p2.{n}" for n in range(len(verdicts))]


def test_a_fact_counts_like_a_claim_and_a_choice_may_be_a_row_of_the_sensitivity():
    row = {"claim": "bell", "choice": "before_norm", "model": "m", "outcome": "lost"}
    documents = {"laws": {"laws": {"p": False}}, "sensitivity": {"summary": {"models": [row]}}}
    fact = headline(["agrees"], documents=documents, facts={"p is small": "laws:laws:/p"})
    assert (fact.grade, fact.parts[-1]) == (
        "holds in part",
        {"fact": "p is small", "stands": False},
    )
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


def test_committed_headlines_quote_numbers_and_type_none(root):
    entries = read_headlines(root / "claims")
    assert 12 <= len(entries) <= 18
    assert [entry["paper"] for entry in entries] == sorted(entry["paper"] for entry in entries)
    for entry in entries:
        assert entry["rule"] in RULES
        assert set(entry["reason"]) <= set(GRADES)
        for template in (entry["says"], *entry["reason"].values()):
            words = re.sub(r"\{[^}]*\}|\w+-[\d.]+\w*", "", template)
            assert not re.search(r"\d[.,]\d|\d ?%|[-+]\d", words), template
