"""Stored result files: which of their cells are recomputed, and which of these differ."""

from layerwise.engine.published import Published
from layerwise.engine.stored import judge_stored, read_stored
from layerwise.engine.verdicts import Statistics
from layerwise.files import read_json

CELLS = {"/a/mean": 0.5, "/a/p": 0.01, "/a/n": 3, "/a/x/0": 0.2, "/a/x/1": 0.8, "/b": 7.0}
PUBLISHED = Published({("f.json", key): value for key, value in CELLS.items()})
ENTRY = {"file": "f.json", "paper": 2, "statistics": {"layers:m:/one": "/a"}}


def line_of(document, **change):
    """The line of the file by a document whose mean, p and n were derived from its x."""
    cells = [f"f.json#/a/x/{i}" for i in range(2)]
    results = Statistics(
        "published",
        {"layers": {"m": {"one": document}}},
        derived={f"layers:m:/one/{key}": cells for key in ("mean", "p", "n")},
        published=PUBLISHED,
    )
    return judge_stored({**ENTRY, **change}, PUBLISHED, results, (), ())


def test_a_cell_is_recomputed_given_or_different():
    line = line_of({"mean": 0.5, "p": 0.01, "n": 3, "x": [0.2, 0.8], "more": 1.0})
    assert line.verdicts == {"agrees": 3, "needs weights": 2}
    assert (line.n_cells, line.n_recomputed, line.differ) == (6, 3, [])
    line = line_of({"mean": 0.5000001, "p": 0.01, "n": 4})
    assert (line.n_recomputed, line.differ) == (3, ["/a/mean", "/a/n"])


def test_a_file_of_rounded_cells_is_compared_at_its_decimals():
    assert line_of({"mean": 0.504}, decimals=2).differ == []
    assert line_of({"mean": 0.506}, decimals=2).differ == ["/a/mean"]


def test_the_committed_list_covers_every_result_file_that_has_a_statistic(root, results):
    """No cell of the papers' result files differs from what is recomputed, but one typed number."""
    stored = read_json(results / "published" / "claims.json")["stored"]
    assert [file["file"] for file in stored] == [f["file"] for f in read_stored(root / "claims")]
    differing = {file["file"]: file["differ"] for file in stored if file["differ"]}
    assert differing == {"paper3/Results/anisotropy_results_pythia.json": ["/L_star_paper2"]}
