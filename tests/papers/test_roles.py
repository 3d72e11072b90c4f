"""The roles in which rules ask for numbers, and the places that fill them."""

import pytest

from layerwise.engine.evidence import Evidence
from layerwise.measuring.reduction import measure
from layerwise.papers.experiments import reader
from layerwise.papers.shared.names import READER_ENTRY
from layerwise.papers.shared.roles import PAPERS
from random_states import DRAWS, FEW, numbers_of, some_pairs, write_states

OF_WEIGHTS = {"gains", "spectral"}  # what states alone do not give


def evidence_of_reader(folder, *, tokens=40, **options):
    states = write_states(folder / "states", tokens=tokens)
    drawn = numbers_of(measure(states, some_pairs(), **FEW, **options))
    return Evidence(reader.tables(drawn), DRAWS)


def filled(evidence):
    """The roles that a source fills, once every place of theirs was looked up."""
    return {role for role in evidence.cells.roles if evidence.role(role)}


def test_print_and_a_reader_name_the_same_roles(published, tmp_path):
    own = evidence_of_reader(tmp_path)
    assert list(own.cells.roles) == list(PAPERS)
    assert set(PAPERS) - filled(Evidence(published, DRAWS)) == OF_WEIGHTS
    assert {model for places in own.cells.roles.values() for model in places} == {READER_ENTRY}
    of_several = {"sample", "norms", "sizes", "benchmark", "tuned"}
    assert set(PAPERS) - filled(own) == OF_WEIGHTS | of_several


@pytest.mark.parametrize(
    ("options", "absent"),
    [({"tokens": 0}, "profiles"), ({"layers": [0, 4, 8]}, "curves")],
)
def test_what_a_reader_did_not_measure_fills_no_role(tmp_path, options, absent):
    own = evidence_of_reader(tmp_path, **options)
    assert own.role(absent) == {}
    assert own.role("pairs").keys() == {READER_ENTRY}
