"""Facts about the papers' repository: its notebooks, figures and time-stamped archives.

Names of files are listed as they stood at a commit, or in an archive; what is said of them counts.
"""

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Evidence

HEAD, PINNED = "tree 660747c", "tree e3c7f94"  # the newest commit, and that of the result files
PROMISED = 40  # notebooks, on the front page of Paper 3 at the pinned commit
ARCHIVES = {1: "archive of Paper 1", 3: "archive of Paper 3"}


def results_in(e: Evidence, paper: int) -> str:
    """Whether an archive holds result files, whose names begin as those of the repository do."""
    names = e[ARCHIVES[paper]].files[:]
    found = [name for name in names if name.startswith("results_") or "_results" in name]
    return f"{len(found)} result files among {len(names)}" if found else "no results"


def n_notebooks_at_least(e: Evidence) -> str:
    """The promise where the commit keeps it, else how many there are."""
    n = count(e[PINNED].paper3.notebooks)
    return f"{PROMISED}+" if n >= PROMISED else str(n)


TREE: Rules = {
    "n_notebooks": Rule(
        lambda e: count(e[HEAD].paper3.notebooks),
        "the notebooks of Paper 3 in the papers' repository",
    ),
    "n_figures": Rule(
        lambda e: count(e[HEAD].paper3.Figures), "the figures of Paper 3 in the papers' repository"
    ),
    "n_notebooks_at_least": n_notebooks_at_least,
    "archive_of_paper_1": Rule(lambda e: results_in(e, 1), "the result files in Paper 1's archive"),
    "archive_of_paper_3": Rule(lambda e: results_in(e, 3), "the result files in Paper 3's archive"),
}
DOCUMENTS = {"tree": Document(None, {"": TREE})}
