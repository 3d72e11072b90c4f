"""Central claims and findings: by rules from answers and verdicts, explained by sentences."""

import hashlib
import math
import random
import re

import pytest

import made_answers
from claim_records import record
from judged import changed, everything, judged, statistics_of
from layerwise.engine.central import count_as_printed, judge_central, read_central
from layerwise.engine.judging import read_trained
from layerwise.engine.marks import FAILS, HOLDS, IN_PART, MARKS, OPEN, OPENNESS, yes_alone_under
from layerwise.engine.question import Question, Range
from layerwise.engine.seen import (
    Claimed,
    InRow,
    Seen,
    Sentences,
    seen_claim,
    tell_findings,
)
from layerwise.errors import LayerwiseError
from layerwise.files import write_json
from layerwise.papers.across.together import PAPERS
from made_answers import statistics


def answer(word="yes", **fields):
    return made_answers.answer(word, n=3, unit="families", fewest=6, **fields)


NOTHING = statistics({})
QUESTION = Question("q", 2, "So.", "r", "families", lambda _: {}, {}, Range(above=0.0))


def told_so(_):
    yield "It is."


def central(verdicts=(), answers=None, control=None, tell=told_so, **fields):
    """A central claim on claims of these verdicts, which asks a question of these models."""
    records = [
        record(f"p2.{n}", verdict=word, statistic=f"layers:m:/{n}")
        for n, word in enumerate(verdicts or ["agrees"])
    ]
    printed = [claim["id"] for claim in records]
    records.append(record("p2.words", published="many"))
    entry = {"id": "p2.h", "paper": 2, "where": "abstract", "claim": "So", "number": "r"}
    entry |= {"asks": [{"question": "q"}], "printed": printed, "shows": [], **fields}
    results = statistics({"q": answers or {}}, laws={"laws": {"x": ["a", "b"]}})
    draws = [statistics({"q": models} if models else {}).answers for models in control or []]
    sentences = Sentences({"p2.h": tell})
    (judged,), _ = judge_central([entry], sentences, records, results, {"q": QUESTION}, draws)
    return judged


UNDECIDED, NO_SPREAD, TOO_FEW = OPENNESS
YES_NO = {"published": answer("yes"), "spearman": answer("no")}


@pytest.mark.parametrize(
    ("choices", "given"),
    [
        ({"published": answer("yes"), "spearman": answer("yes")}, (HOLDS, "")),
        (YES_NO, (IN_PART, "")),
        ({"published": answer("yes"), "spearman": answer("undecided")}, (IN_PART, "")),
        ({"published": answer("undecided"), "spearman": answer("yes")}, (IN_PART, "")),
        ({"published": answer("undecided"), "spearman": answer("no")}, (OPEN, UNDECIDED)),
        ({"published": answer("no"), "spearman": answer("yes")}, (FAILS, "")),
        ({"published": answer("no spread")}, (OPEN, NO_SPREAD)),
        ({"spearman": answer("yes")}, (OPEN, NO_SPREAD)),
        ({"published": answer("too few")}, (OPEN, TOO_FEW)),
        # another choice that has no interval, or too few units, holds nothing down
        ({"published": answer("yes"), "hunt": answer("no spread")}, (HOLDS, "")),
        ({"published": answer("yes"), "unseen": answer("too few")}, (HOLDS, "")),
        # what is left out is a choice of its own
        ({"published": answer("yes"), "model_out": {"a": answer("no")}}, (IN_PART, "")),
    ],
)
def test_one_rule_marks_by_words(choices, given):
    found = central(answers={"m": choices})
    assert (found.mark, found.why) == given
    assert set(MARKS) == {HOLDS, IN_PART, FAILS, OPEN}


def answered(words):
    return {name: {"published": answer(word)} for name, word in words.items()}


def test_a_quantifier_counts_models_and_asks_for_the_opposite():
    models = answered(dict(zip("abcd", ("yes", "yes", "undecided", "no"), strict=True)))
    three = {"question": "q", "at_least": 3}
    assert central([], models, asks=[three]).why == UNDECIDED
    assert central([], models, asks=[three | {"at_least": 2}]).mark == HOLDS
    assert central([], models, asks=[three | {"at_least": 4}]).mark == FAILS
    opposite = {"question": "q", "of": ["d"], "answer": "no"}
    assert central([], models, asks=[opposite]).mark == HOLDS
    assert central([], models, asks=[opposite | {"of": ["c"]}]).why == UNDECIDED
    assert central([], models, asks=[opposite | {"of": ["e"]}]).why == NO_SPREAD


@pytest.mark.parametrize("other", ["no", "undecided"])
def test_a_claim_on_named_models_may_hold_for_some_of_them(other):
    models = answered({"a": "yes", "b": other})
    named = {"question": "q", "of": ["a", "b"]}
    found = central([], models, asks=[named])
    assert (found.mark, found.models) == (IN_PART, {"a": "yes", "b": other})
    # of all models, or of a number of them, it is one claim
    as_one = (FAILS, "") if other == "no" else (OPEN, UNDECIDED)
    whole = central([], models)
    assert (whole.mark, whole.why) == as_one
    counted = central([], models, asks=[named | {"at_least": 2}])
    assert (counted.mark, counted.why, counted.models) == (*as_one, {})
    # each model must answer every question that names it
    both = [named, {"question": "q", "of": ["a", "b"], "answer": "no"}]
    assert central([], models, asks=both).mark == FAILS


def test_a_claim_without_exception_fails_by_one_model_and_holds_in_part_without():
    universal = {"question": "q", "of": ["a", "b", "c"], "universal": True}
    two = {"a": "yes", "b": "yes"}
    assert central([], answered(two | {"c": "no"}), asks=[universal]).mark == FAILS
    assert central([], answered(two | {"c": "undecided"}), asks=[universal]).mark == IN_PART


def test_an_open_question_holds_back_holds_and_never_fails():
    for open_word in OPENNESS:
        three = answered({"a": "yes", "b": open_word, "c": "yes"})
        whole = central([], three)
        assert (whole.mark, whole.why) == (OPEN, open_word)
        beside = [{"question": "q", "of": ["b"]}, {"question": "q", "of": ["a"], "answer": "no"}]
        assert central([], three, asks=beside).mark == FAILS  # by what is answered
    few = central([], answered({"b": "too few"}))
    sentence = "3 families are too few to answer 'So', whatever they show; it takes 6."
    assert few.reason == ["It is.", sentence]


def test_no_printed_word_decides_a_grade():
    """Its verdict is counted; whether the claim follows is what the question answers."""
    for verdict in ("agrees", "differs", "contradicted"):
        assert central([verdict], {"m": {"published": answer("yes")}}).mark == HOLDS
        assert central([verdict], {"m": {"published": answer("undecided")}}).why == UNDECIDED
    found = central(["follows", "differs"], {"m": {"published": answer("yes")}})
    assert (found.as_printed, found.compared, found.mark) == (1, 2, HOLDS)
    assert found.printed[1] == {"claim": "p2.1", "verdict": "differs"}
    assert found.questions == [{"question": "q", "word": "yes"}]


def test_a_number_in_several_places_counts_once():
    alike = [record(f"p2.{n}", verdict="agrees", statistic="layers:m:/r") for n in range(3)]
    other_print = record("p2.3", verdict="differs", statistic="layers:m:/r", published=0.5)
    without_rule = [record(f"p2.{n}", verdict="contradicted", statistic=None) for n in (4, 5)]
    assert count_as_printed(alike) == (1, 1)
    assert count_as_printed([*alike, other_print, *without_rule]) == (1, 4)
    assert count_as_printed([]) == (0, 0)
    assert count_as_printed([record("p2.6", verdict="needs weights")]) == (0, 0)


def test_what_most_random_weights_answer_too_confirms_nothing():
    """One draw of five says little; a draw without an answer counts apart."""
    models = {"m": {"published": answer("yes")}}
    no = {"m": {"published": answer("no")}}
    assert central([], models).drawn is None
    for draws, given, counts in (
        ([models, no, no, no, no], HOLDS, (5, 1, 0)),
        ([models, models, no, no], OPEN, (4, 2, 0)),
        ([models, None, None, no, no], HOLDS, (5, 1, 2)),
        ([models, None, None, None, no], OPEN, (5, 1, 3)),
        ([None, None], HOLDS, (2, 0, 2)),
    ):
        found = central([], models, control=draws)
        assert (found.mark, found.as_random) == (given, given == OPEN)
        assert found.drawn == dict(zip(("draws", "yes", "unanswered"), counts, strict=True))


def test_a_finding_is_told_while_it_is_so_and_what_nobody_tells_is_one_too():
    records = [
        record("p2.a", verdict="differs", recomputed=0.5),
        record("p2.b", verdict="differs"),
        record("p3.c1", verdict="contradicted", quantity="labs"),
        record("p3.c2", verdict="contradicted", quantity="labs"),
    ]

    def tell(seen):
        claim = seen.claim("p2.a")
        if claim.falls:
            yield f"It is {claim:.1f}, not {claim.printed}."

    findings = Sentences({"fact": tell})
    seen = Seen({claim["id"]: claim for claim in records}, NOTHING)
    found = tell_findings(findings, records, seen, ["p2.b"])
    assert [fact.id for fact in found] == ["fact", "p3.c1"]
    assert (found[0].text, found[0].claims) == ("It is 0.5, not 0.345.", ["p2.a"])
    assert found[1].claims == ["p3.c1", "p3.c2"]
    stands = [record("p2.a"), *records[1:]]
    seen = Seen({claim["id"]: claim for claim in stands}, NOTHING)
    assert [fact.id for fact in tell_findings(findings, stands, seen, [])] == ["p2.b", "p3.c1"]
    with pytest.raises(LayerwiseError, match="the finding lost: the ledger has no claim 'p9'"):
        tell_findings(Sentences({"lost": lambda seen: [f"{seen.claim('p9')}"]}), [], seen, [])


def test_sentences_go_where_they_belong_and_what_has_no_value_is_left_out():
    def tell(seen):
        r, answer = seen.claim("p2.0"), seen.answer("q", "m")
        yield Claimed(f"r is {r.printed}.")
        yield InRow("By r.")
        if answer.yes:
            yield f"It is {r:.2f}, by {answer.value:.1f}."
        yield f"Never {seen.answer('q', 'other').value:.1f}."
        yield f"Nor {seen.statistic('laws', 'laws', 'y')}."
        yield f"But {seen_list(seen)}."

    def seen_list(seen):
        return ", ".join(seen.statistic("laws", "laws", "x"))

    models = {"m": {"published": answer("yes")}}
    found = central([], models, tell=tell)
    assert (found.says, found.row) == ("r is 0.345.", ["By r."])
    assert found.reason == ["It is 0.35, by 0.5.", "But a, b."]
    with pytest.raises(LayerwiseError, match=r"sentences of p2\.h: the ledger has no claim 'p9'"):
        central([], models, tell=lambda seen: [f"{seen.claim('p9')}"])


def test_a_claim_is_seen_with_what_is_printed_and_its_readings():
    reading = [{"text": "by depth", "value": -0.5, "gives": False}]
    claim = seen_claim(
        record("p2.a", verdict="differs", recomputed=[0.1875, 0.25], readings=reading)
    )
    assert (claim.printed, claim.falls, claim.known) == ("0.345", True, True)
    assert f"{claim:.2f}" == "0.19 to 0.25"  # a range
    assert f"{claim.reading('by depth'):+.1f}" == "-0.5"
    assert not seen_claim(record("p2.a", recomputed=None)).known
    with pytest.raises(LayerwiseError, match="no reading 'by length', known are by depth"):
        claim.reading("by length")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"printed": ["p9"]}, "p2.h: there is no claim 'p9'"),
        ({"asks": [{"question": "x"}]}, "p2.h: there is no question 'x'"),
        (
            {"shows": [{"question": "q", "prints": {"m": "p9"}}]},
            "p2.h: there is no claim 'p9'",
        ),
        (
            {"shows": [{"question": "q", "prints": {"m": "p2.words"}}]},
            "must print a number, p2.words prints 'many'",
        ),
    ],
)
def test_an_entry_names_what_there_is(fields, message):
    with pytest.raises(LayerwiseError, match=message):
        central(**fields)


def test_a_claim_without_sentences_and_sentences_without_a_claim_are_refused():
    with pytest.raises(LayerwiseError, match=r"p2\.new has none; add one"):
        judge_central([{"id": "p2.new"}], Sentences(), [], NOTHING, {})
    with pytest.raises(LayerwiseError, match=r"p2\.old is none; add an entry"):
        judge_central([], Sentences({"p2.old": told_so}), [], NOTHING, {})
    sentences = Sentences()
    sentences("p2.h")(told_so)
    with pytest.raises(LayerwiseError, match=r"p2\.h has its sentences twice"):
        sentences("p2.h")


def test_committed_entries_stand_in_the_papers_order_and_type_no_number(root):
    entries = read_central(root / "claims")
    places = [("source" in entry, entry["paper"]) for entry in entries]
    assert places == sorted(places)
    texts = [entry[name] for entry in entries for name in ("claim", "number")]
    for text in texts:
        words = re.sub(r"\{[^}]*\}|\w+-[\d.]+\w*|90% interval", "", text)
        assert not re.search(r"\d[.,]\d|\d ?%|[-+]\d", words), text


def test_committed_entries_ask_what_there_is(root, works):
    answers = statistics_of(works).answers
    for entry in read_central(root / "claims"):
        for ask in entry["asks"]:
            assert set(ask.get("of", [])) <= set(answers[ask["question"]]), entry["id"]


def test_what_prints_an_estimate_is_of_the_same_quantity(root, works, records):
    answers = statistics_of(works).answers
    entries = read_central(root / "claims")
    for entry in entries:
        for shown in (*entry["asks"], *entry.get("shows", ())):
            for model, claim in shown.get("prints", {}).items():
                asked = answers[shown["question"]][model][shown.get("choice", "published")]
                assert records[claim]["recomputed"] == pytest.approx(asked.value, rel=1e-9), claim


def test_the_choice_that_alone_answers_yes_is_named():
    one = {"published": "undecided", "final_norm": "yes"}
    assert yes_alone_under(one) == "final_norm"
    assert yes_alone_under(one | {"spearman": "yes"}) == yes_alone_under({"published": "no"}) == ""


def test_the_list_is_the_one_that_was_fixed(root):
    """Who changes a question fixes the list again, and tells which marks moved."""
    text = (root / "claims" / "central.yaml").read_bytes()
    (date,) = re.findall(r"fixed on (\d{4}-\d\d-\d\d), before\n", text.decode())
    told = (root / "docs/changelog.md").read_text(encoding="utf-8")
    fixed = re.findall(r"fixed on\s+(\d{4}-\d\d-\d\d), SHA-256 `(\w{64})`", told)
    assert fixed[0] == (date, hashlib.sha256(text).hexdigest())


def test_of_every_claim_that_falls_some_sentence_speaks(root, records, works):
    """No claim is left over, but for the doubles of the printed tests."""
    entries, judged = read_central(root / "claims"), [*records.values()]
    results = statistics_of(works)
    central, seen = judge_central(entries, PAPERS.sentences, judged, results, PAPERS.questions)
    told_of = {part["claim"] for claim in central for part in claim.printed} | seen.asked
    found = tell_findings(PAPERS.findings, judged, seen, told_of)
    assert {fact.id for fact in found} == {*PAPERS.findings}


# --- what a claim rests on moves it ---------------------------------------------------------------

# Counts, shares, ranks, layers and what is rounded first move in steps.
STEPS = (
    r"pct|percent|rate|accuracy|spearman|Spearman|mann_whitney|rho|density|L_star|calibration:/|"
    r"first_mean_depth|mean_layer_error|rounded|bound/total|std_gain|peak_analysis"
)


def times(value, factor):
    return str(float(value) * factor) if isinstance(value, str) else value * factor


def is_moved(before, after):
    return any(before[key] != after[key] for key in ("published", "recomputed", "verdict"))


def printed_at(record, cells):
    """Whether the printed value of a claim stands at one of the cells, or below."""
    origin = record["provenance"]
    start = f"{origin['key'] or ''}/"
    return any(file == origin["file"] and f"{key}/".startswith(start) for file, key in cells)


def test_claims_move_with_what_they_rest_on_and_with_nothing_else(records, root, published):
    """All numbers at once, each by half a percent or less."""
    rng, chosen = random.Random(0), {}
    for cell in sorted({cell for one in records.values() for cell in one["provenance"]["inputs"]}):
        file, _, key = cell.partition("#")
        value = published.cells[file, key]
        number = isinstance(value, float) or (
            isinstance(value, str) and re.fullmatch(r"-?\d*\.\d+", value)
        )
        if number and math.isfinite(float(value)) and float(value):
            chosen[file, key] = times(value, rng.uniform(0.995, 0.9999))
    numbers = changed(published, chosen)
    again = judged(root, numbers, everything(numbers))
    names = {"#".join(cell) for cell in chosen}
    n_touched, still, stray = 0, [], []
    for name, before in records.items():
        after, statistic = again[name], before["provenance"]["statistic"]
        if names & {*before["provenance"]["inputs"]}:
            n_touched += 1
            smooth = isinstance(before["recomputed"], float) and not re.search(STEPS, statistic)
            if smooth and after["recomputed"] == before["recomputed"]:
                still.append(name)
        elif is_moved(before, after) and not printed_at(before, chosen):
            stray.append(name)
        for reading, moved in zip(before["readings"], after["readings"], strict=True):
            if reading["value"] != moved["value"] and not names & {*reading["inputs"]}:
                stray.append((name, reading["text"]))
    assert n_touched > 100
    assert still == []
    assert stray == []


@pytest.mark.parametrize(
    ("value", "drawn", "reached"),
    [(-0.2, (-0.1, 0.5), False), (-0.2, (-0.2, 0.0), True), (0.2, (-0.9, 0.1), False)],
)
def test_random_weights_reach_a_number_on_its_own_side_of_zero(tmp_path, value, drawn, reached):
    row = {"question": "numeric", "choice": "published", **answer(value=value).record()}
    alone = row | {"question": "alone", "low": None, "high": None}
    control = {"answers": {"numeric": {"drawn": [*drawn, sum(drawn) / 2]}}}
    write_json(tmp_path / "tiny" / "sensitivity.json", {"rows": [row, alone]})
    write_json(tmp_path / "tiny" / "control.json", control)
    beside = Seen({}, NOTHING).beside(read_trained(tmp_path))
    (seen,) = beside.trained("numeric")
    assert (seen.model, seen.value, seen.is_reached) == ("tiny", value, reached)
    assert f"{seen.drawn:.1f}" == f"{drawn[0]:.1f} to {drawn[1]:.1f}"
    assert beside.trained("alone") == beside.trained("another") == []
