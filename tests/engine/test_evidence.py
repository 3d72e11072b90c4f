"""Rules over recorded numbers: what they read, what is derived from what, and what stays out."""

from dataclasses import replace

import numpy as np
import pytest

from layerwise.engine.derivation import (
    NOWHERE,
    Document,
    Rule,
    bind_each,
    derive,
    derived_cells,
    evidence_of,
    rule_at,
    words_of,
)
from layerwise.engine.evidence import Evidence, Missing
from layerwise.engine.judging import recomputed_cells
from layerwise.engine.measured import measured
from layerwise.engine.published import NotMeasured, Published
from layerwise.errors import LayerwiseError
from layerwise.papers.shared.published import tables_of_reader
from layerwise.statistics.bootstrap import Draws

DRAWS = Draws(100, 0.95, 42)
PRINT = {
    "gains": {
        "models": [
            {"model": "org/Small", "n": 2, "gains": [1.0, 2.0], "mean": 1.5},
            {"model": "large", "n": 3, "gains": [3.0, 5.0], "mean": 4.0},
        ],
        "largest": 4.0,
        "_settings": {"seed": 42},
    },
    "labels": {"a/b": "high", "n": 2},
}
OF_MODEL = {"mean": lambda m: float(np.mean(m.gains))}
FAMILY = Document(
    "gains", {"": {"largest": lambda f: max(m.mean for m in f.models)}, "models/*": OF_MODEL}
)


def printed():
    """The tables of what is in print: nothing of it was measured."""
    return replace(tables_of_reader(PRINT), kept=frozenset())


def in_print():
    return Evidence(printed(), DRAWS)


def weighed(fragments, **documents):
    """Evidence of these measurements in the places of what is in print."""
    return evidence_of(measured(printed(), fragments), DRAWS, {"analysis": documents})


def derived(document, evidence):
    return derive({"it": document}, evidence)


# --- roles ----------------------------------------------------------------------------------------

ROLES = {
    "gains": {"small": ("gains", "/of/small"), "large": ("gains", "/of/large")},
    "labels": {"small": ("labels", "")},
    "depth": {"small": ("other", "")},
    "norms": {},
}
DOCUMENTS = {
    "gains": {"of": {"small": {"gain": 0.9}, "large": {"gain": 1.1}}},
    "labels": {"first": "high"},
    "other": {"n_layers": 12},
}


def test_a_role_is_filled_by_model():
    evidence = Evidence(tables_of_reader(DOCUMENTS, ROLES), DRAWS)
    gains = {model: entry.gain for model, entry in evidence.role("gains").items()}
    assert gains == {"small": 0.9, "large": 1.1}
    assert evidence.role("norms") == {}
    with pytest.raises(Missing, match="no role 'norm'; its roles are gains, labels"):
        evidence.role("norm")


def test_a_file_has_the_roles_of_the_one_model_that_it_is_about():
    evidence = Evidence(tables_of_reader(DOCUMENTS, ROLES), DRAWS)
    with evidence.recording() as read:
        assert evidence["labels"].role("depth").n_layers == 12
    assert read.cells == {("other", "/n_layers")}
    with pytest.raises(Missing, match=r"gains: it must be about one model .* about large, small"):
        evidence["gains"].role("labels")
    with pytest.raises(Missing, match=r"labels: it must be about one model that fills .*'norms'"):
        evidence["labels"].role("norms")


# --- entries --------------------------------------------------------------------------------------


def test_what_is_read_is_recorded_and_nothing_else():
    evidence = in_print()
    with evidence.recording() as outer:
        with evidence.recording() as inner:
            assert evidence["gains"].models[0].gains[1] == 2.0
        assert evidence["gains"].models[0].model == "org/Small"
        assert len(evidence["gains"].models[1].gains) == 2
    assert inner.inputs == outer.inputs == ["gains#/models/0/gains/1"]
    assert (inner.names, outer.names) == (False, True)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (
            lambda e: e["gains"].models[0].median,
            "gains: nothing stands at /models/0/median; there are model, n, gains, mean",
        ),
        (lambda e: e["gains"].models[2], "gains: nothing stands at /models/2; there are 2 entries"),
        (lambda e: e["labels"]["a"], "labels: nothing stands at /a; there are a/b, n"),
        (lambda e: e["losses"], "no numbers of 'losses'"),
        (
            lambda e: e["gains"].models.row(model="tiny"),
            "gains: one entry of /models must have "
            "model 'tiny', 0 have; there are org/Small; large",
        ),
    ],
)
def test_missing_refused(read, said):
    with pytest.raises(LayerwiseError) as error:
        read(in_print())
    assert said in str(error.value)


# --- documents ------------------------------------------------------------------------------------


def test_each_statistic_names_what_it_read():
    found = derived(FAMILY, in_print())
    assert found.documents["it"]["models"][1] == PRINT["gains"]["models"][1]
    assert found.given == {"it:": "gains#"}
    assert found.derived == {
        "it:/largest": ["gains#/models/0/mean", "gains#/models/1/mean"],
        "it:/models/0/mean": ["gains#/models/0/gains/0", "gains#/models/0/gains/1"],
        "it:/models/1/mean": ["gains#/models/1/gains/0", "gains#/models/1/gains/1"],
    }


def test_places_and_shown_parts():
    places = {"": ("gains", ""), "/label": ("labels", "/a~1b")}
    rules = {"": {"largest": lambda f: 7.0}}
    found = derived(Document("gains", rules, places), in_print())
    assert found.documents["it"] == {**PRINT["gains"], "label": "high", "largest": 7.0}
    assert found.given == {"it:": "gains#", "it:/label": "labels#/a~1b"}
    found = derived(Document("gains", rules, places, derived_only=True), in_print())
    assert (found.documents["it"], found.given) == ({"largest": 7.0}, {})
    assert set(derived_cells(Document("gains", rules, places), in_print())) == {
        ("gains", "/largest")
    }
    named = Document(None, {"": {"word": lambda e: 1}}, {"/word": ("labels", "/n")})
    assert set(derived_cells(named, in_print())) == {("labels", "/n")}
    rows = Document("gains#/models", {"*": OF_MODEL})
    found = derived(rows, in_print())
    assert found.given == {"it:": "gains#/models"}
    assert found.documents["it"][1]["mean"] == 4.0
    assert set(derived_cells(rows, in_print())) == {("gains", f"/models/{n}/mean") for n in (0, 1)}


def section(gains):
    """Rules that share a local name, and a table of rules by model."""

    def means():
        return [float(np.mean(model.gains)) for model in gains.models]

    return {
        "largest": Rule(lambda: max(means()), "the largest mean"),
        "means": Rule(lambda: {str(n): mean for n, mean in enumerate(means())}, "all of them"),
        "doubled": Rule(
            lambda: bind_each(
                lambda model: 2 * model.gains[0], {model.model: model for model in gains.models}
            ),
            "the first gain, doubled",
        ),
    }


def test_rules_of_a_section_read_when_they_run_each_for_itself():
    evidence = in_print()
    document = Document("gains", {"": section}, NOWHERE)
    with evidence.recording() as read:
        rules = dict(document.thunks(evidence))
    assert (list(rules), read.inputs) == (["/largest", "/means", "/doubled"], [])
    every = [f"gains#/models/{model}/gains/{prompt}" for model in (0, 1) for prompt in (0, 1)]
    assert derived(document, evidence).derived == {
        "it:/largest": every,
        "it:/means": every,
        "it:/doubled/org~1Small": ["gains#/models/0/gains/0"],
        "it:/doubled/large": ["gains#/models/1/gains/0"],
    }


def test_a_rule_of_a_table_has_the_words_of_the_table_if_it_has_none():
    evidence = in_print()
    document = Document("gains", {"": section}, NOWHERE)
    origin = rule_at(document, evidence, "/doubled/large")
    assert words_of(origin.rule) == "the first gain, doubled"


# --- over measured numbers ------------------------------------------------------------------------

ONE = {"gains": {"/models/0/gains": [2.0, 4.0]}}
BOTH = {"gains": {f"/models/{n}/gains": [2.0, 4.0 + n] for n in (0, 1)}}


def test_a_number_that_nobody_measured_is_derived_from_what_was():
    found = derived(FAMILY, weighed(BOTH, family=FAMILY))
    assert found.documents["it"]["largest"] == 3.5
    assert found.derived["it:/largest"] == [
        f"gains#/models/{model}/gains/{prompt}" for model in (0, 1) for prompt in (0, 1)
    ]


def test_a_derived_number_is_computed_once_and_its_inputs_are_read_each_time():
    calls = []
    mean = {"mean": lambda m: calls.append(m.called) or float(np.mean(m.gains))}
    document = Document("gains", {"models/*": mean})
    evidence = weighed(BOTH, family=document)
    for _ in range(2):
        with evidence.recording() as read:
            assert evidence["gains"].models[0].mean == 3.0
        assert read.inputs == ["gains#/models/0/gains/0", "gains#/models/0/gains/1"]
    assert calls == ["0"]


def test_what_needs_an_unmeasured_number_stays_out():
    evidence = weighed(ONE, family=FAMILY)
    found = derived(FAMILY, evidence)
    assert set(found.derived) == {"it:/models/0/mean"}
    assert found.documents["it"]["largest"] is None
    with pytest.raises(NotMeasured, match="'/models/1/gains/0' of gains was not measured"):
        _ = evidence["gains"].models[1].mean


def test_a_rule_that_reads_its_own_cell_is_no_source_of_it():
    rounded = Document("gains", {"": {"largest": lambda f: round(f.largest)}})
    assert derived(rounded, weighed(ONE, family=rounded)).derived == {}
    filled = weighed({"gains": {"/largest": 2.6}}, family=rounded)
    assert derived(rounded, filled).documents["it"]["largest"] == 3


@pytest.mark.parametrize(("fragments", "there"), [({}, False), (ONE, True)])
def test_a_constant_is_there_with_any_number_of_its_document(fragments, there):
    rules = {**FAMILY.rules, "": {"bound": lambda f: 0.05, "n": lambda f: len(names(f))}}

    def names(f):
        return {m.model for m in f.models}

    found = derived(Document("gains", rules), weighed(fragments))
    assert ("it:/bound" in found.derived) == there
    assert "it:/n" not in found.derived  # names alone are not counted as measured


TYPED = {"runs": {"known_gain": 0.8, "gains": [1.0, 2.0]}}  # a constant that a script typed


@pytest.mark.parametrize("there", [False, True])
def test_a_number_of_settings_alone_is_a_constant(there):
    """It needs no measurement, and stands beside one; with a measured number it is no constant."""
    rules = {
        "half": lambda f: f.known_gain / 2,
        "mean": lambda f: float(np.mean(f.gains)),
        "both": lambda f: f.known_gain * f.gains[0],
    }
    fragments = {"runs": {"/gains": [2.0, 4.0]}} if there else {}
    evidence = evidence_of(measured(tables_of_reader(TYPED), fragments), DRAWS, {})
    found = derived(Document("runs", {"": rules}), evidence)
    assert found.derived.keys() == ({f"it:/{name}" for name in rules} if there else set())
    if there:
        assert found.documents["it"]["half"] == 0.4
        assert found.derived["it:/half"] == ["runs#/known_gain"]


def test_names_alone_are_no_statistic_in_print_either():
    names = Document("gains", {"": {"n": lambda f: len({m.model for m in f.models})}})
    assert derived(names, in_print()).derived == {}
    read = Document("gains", {"": {"n": lambda f: len({m.model: m.mean for m in f.models})}})
    assert derived(read, in_print()).documents["it"]["n"] == 2


@pytest.mark.parametrize("numbers", [lambda: weighed(ONE), lambda: in_print()])
def test_what_has_no_value_is_undefined_and_stops_nothing(numbers):
    def none(f):
        raise LayerwiseError(f"a mean of {len(f.models[0].gains[:])} numbers does not exist")

    def of_zero(f):
        return f.models[0].gains[0] / 0

    document = Document("gains", {"": {"largest": none, "by_zero": of_zero}, "models/*": OF_MODEL})
    found = derived(document, numbers())
    assert found.undefined == {
        "it:/largest": "a mean of 2 numbers does not exist",
        "it:/by_zero": "it cannot be computed (division by zero)",
    }
    assert "it:/models/0/mean" in found.derived
    # of a reader's model each is measured, and a document is whole or none
    with pytest.raises(LayerwiseError, match="a mean of 2 numbers does not exist"):
        derived(document, Evidence(tables_of_reader(PRINT), DRAWS)).whole()
    family = derived(
        Document("gains", {"models/*": OF_MODEL}), Evidence(tables_of_reader(PRINT), DRAWS)
    )
    assert family.whole() == family.documents


def test_what_was_published_is_not_shown_in_place_of_what_is_undefined():
    def none(f):
        raise LayerwiseError("no such mean")

    found = derived(Document("gains", {"models/*": {"mean": none}}), in_print())
    assert found.undefined.keys() >= {"it:/models/0/mean"}
    assert found.documents["it"]["models"][0]["mean"] is None
    assert in_print().cells.document("gains")["models"][0]["mean"] is not None


# --- what is recomputed of a file -----------------------------------------------------------------


def test_a_recomputed_cell_is_a_copy_where_its_rule_repeats_one_number():
    """A rule that reads the cell itself recomputes nothing; a count of texts repeats nothing."""
    cells = {
        **{("f", f"/x/{row}"): number for row, number in enumerate((1.0, 3.0))},
        **{
            ("f", f"/{name}"): 1.0 for name in ("mean", "first", "twice", "flag", "own", "n", "off")
        },
        ("dataset.json", "/n"): 1.0,
    }
    rules = {
        "mean": lambda f: float(np.mean(f.x)),
        "first": lambda f: f.x[0],
        "twice": lambda f: 2 * f.x[0],
        "flag": lambda f: f.x[0] > 0,
        "own": lambda f: f.own + f.x[0] - f.x[0],
        "n": lambda f: f.of("dataset.json").n,
        "off": lambda f: f.x[1],
    }
    evidence = Evidence(Published(cells), DRAWS)
    found = list(recomputed_cells({"a": {"d": Document("f", {"": rules})}}, evidence))
    assert all((entry.analysis, entry.cell[0]) == ("a", "f") for entry in found)
    assert {entry.cell[1]: (entry.value, entry.is_copy) for entry in found} == {
        "/mean": (2.0, False),
        "/first": (1.0, True),
        "/twice": (2.0, False),
        "/flag": (True, False),
        "/own": (1.0, True),
        "/n": (1.0, False),
        "/off": (3.0, True),
    }
