"""Facts about the papers' repository: its notebooks, figures and time-stamped archives.

Names of files are listed as they stood at a commit, or in an archive; what is said of them counts.
"""

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Evidence

HEAD, PINNED = "tree 660747c", "tree e3c7f94"  # the newest commit, and that of the result files
PROMISED = 40  # notebooks, on the front page of Paper 3 at the pinned commit
ARCHIVES = {1: "archive of Paper 1", 3: "archive of Paper 3"}


def results_in(evidence: Evidence, paper: int) -> str:
    """Say whether an archive holds result files, by the repository's names for them."""
    names = evidence[ARCHIVES[paper]].files[:]
    result_files = [name for name in names if name.startswith("results_") or "_results" in name]
    return f"{len(result_files)} result files among {len(names)}" if result_files else "no results"


def n_notebooks_at_least(evidence: Evidence) -> str:
    """Return the promised number where the commit keeps it, else the number that there is."""
    n = count(evidence[PINNED].paper3.notebooks)
    return f"{PROMISED}+" if n >= PROMISED else str(n)


TREE_RULES: Rules = {
    "n_notebooks": Rule(
        lambda evidence: count(evidence[HEAD].paper3.notebooks),
        "the notebooks of Paper 3 in the papers' repository",
    ),
    "n_figures": Rule(
        lambda evidence: count(evidence[HEAD].paper3.Figures),
        "the figures of Paper 3 in the papers' repository",
    ),
    "n_notebooks_at_least": n_notebooks_at_least,
    "archive_of_paper_1": Rule(
        lambda evidence: results_in(evidence, 1), "the result files in Paper 1's archive"
    ),
    "archive_of_paper_3": Rule(
        lambda evidence: results_in(evidence, 3), "the result files in Paper 3's archive"
    ),
}
DOCUMENTS = {"tree": Document(None, {"": TREE_RULES})}
