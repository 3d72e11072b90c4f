"""How rules are written: a statistic rests on what its rule read, so a rule reads all of it."""

import ast
from pathlib import Path

import numpy as np
import pytest

from layerwise.engine.derivation import (
    Document,
    all_of,
    any_of,
    count,
    derive,
    documents_of,
    words_of,
)
from layerwise.engine.evidence import Entry, Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.across.analyses import READER, TABLES
from layerwise.papers.paper3.rules.spectral_norms import own_norms
from layerwise.papers.shared.names import MATRICES
from layerwise.papers.shared.published import tables_of_reader
from layerwise.statistics.bootstrap import Draws

CODE = Path(__file__).parents[2] / "code" / "layerwise"
# Rules and questions; what runs rules is none.
FOLDERS = (
    "papers/*/rules/*.py",
    "papers/shared/rules.py",
    "papers/shared/questions.py",
    "papers/paper*/*.py",
    "papers/*/questions/*.py",
    "papers/across/*.py",
    "engine/question.py",
)
TELLING = ("central.py", "story.py", "figures.py")  # they read documents, and derive nothing
INSTEAD = {
    "any": "`any` stops at the first that is true; `any_of` reads all of them",
    "next": "of nothing `next` without a default raises what no rule is asked for",
    "all": "`all` stops at the first that is false; `all_of` reads all of them",
    "len": "what a length is taken of looks superfluous, and reads what the count rests on; "
    "`count(entries, of)` says so (or `sum` of a condition; a set's length needs its members)",
}
# How many members these have does not hang on what they are; of a set it does.
COUNTED = (ast.ListComp, ast.DictComp, ast.GeneratorExp)


def careless(source: str) -> list[str]:
    """The calls by which a rule may say less than it rests on: line, call, what to take instead."""
    calls = []
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        name = node.func.id
        counted = name == "len" and isinstance(node.args[0], COUNTED)
        if name in ("any", "all") or counted or (name == "next" and len(node.args) == 1):
            calls.append(f"line {node.lineno}: {ast.unparse(node)}: {INSTEAD[name]}")
    return calls


def test_rules_count_and_ask_by_helpers_that_read_everything() -> None:
    modules = [path for folder in FOLDERS for path in CODE.glob(folder)]
    assert len(modules) > 30
    by_module = {
        path.name: careless(path.read_text()) for path in modules if path.name not in TELLING
    }
    assert {name: calls for name, calls in by_module.items() if calls} == {}


# --- the helpers ----------------------------------------------------------------------------------

MODELS = [
    {"model": "a", "lab": "one", "gain": 0.5},
    {"model": "b", "lab": "one", "gain": 1.5},
    {"model": "c", "lab": "two", "gain": 0.9},
]
EVERY_GAIN = [f"gains#/models/{n}/gain" for n in range(len(MODELS))]


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (lambda entry: count(entry.models, lambda model: model.gain), 3),
        (
            lambda entry: count(
                entry.models, lambda model: model.gain, named=lambda model: model.lab
            ),
            2,
        ),
        (lambda entry: count(model.gain for model in entry.models), 3),
        (lambda entry: any_of(model.gain < 1 for model in entry.models), True),
        (lambda entry: any_of(model.gain > 2 for model in entry.models), False),
        (lambda entry: all_of(model.gain > 1 for model in entry.models), False),
        (lambda entry: all_of(model.gain < 2 for model in entry.models), True),
    ],
)
def test_what_the_helpers_say_rests_on_every_entry(rule, value) -> None:
    evidence = Evidence(tables_of_reader({"gains": {"models": MODELS}}), Draws(100, 0.95, 42))
    derivation = derive({"it": Document("gains", {"": {"statistic": rule}})}, evidence)
    assert derivation.documents["it"]["statistic"] == value
    assert derivation.derived == {"it:/statistic": EVERY_GAIN}


def test_names_are_not_counted_for_numbers() -> None:
    """Of a list that lacks a number, or an object, an entry would give names."""
    evidence = Evidence(
        tables_of_reader({"gains": {"of": {"a": 1.0, "b": 2.0}}}), Draws(100, 0.95, 42)
    )
    with pytest.raises(LayerwiseError, match="gains: nothing stands at /of/0; there are a, b"):
        count(evidence["gains"]["of"])
    assert count(evidence["gains"]["of"].values()) == 2


def test_every_rule_has_words(published) -> None:
    """Of the papers and of a reader's documents: `trace` and the page say them."""
    evidence = Evidence(published, Draws(10, 0.95, 42))
    tables = {name: documents_of(table, evidence) for name, table in TABLES.items()}
    unread = Entry(evidence, "a reader's", "", {})  # a section reads nothing before its rules run
    of_reader = [
        words_of(rule)
        for document in READER.values()
        for rules in document.rules.values()
        for rule in (rules(unread) if callable(rules) else rules).values()
    ]
    assert all(of_reader)
    wordless = [
        f"{analysis}:{name}:{key}"
        for analysis, documents in tables.items()
        for name, document in documents.items()
        for key, rule in document.thunks(evidence)
        if not words_of(rule)
    ]
    assert wordless == []


@pytest.mark.parametrize(("name", "moment"), [("mean", np.mean), ("std", np.std)])
@pytest.mark.parametrize("matrix", MATRICES)
def test_norms_of_an_own_model_are_moments_over_its_blocks(matrix, name, moment) -> None:
    norms = {f"{each}_spectral_norm": [1.5 + n, 2.0, 4.25 - n] for n, each in enumerate(MATRICES)}
    own = Evidence(tables_of_reader({"norms": norms}), Draws(9, 0.95, 0))["norms"]
    found = own_norms(own)[f"{matrix}_{name}_spectral"]()
    assert found == pytest.approx(moment(norms[f"{matrix}_spectral_norm"]))
