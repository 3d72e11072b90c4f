"""Facts about the papers' repository: its notebooks, figures and time-stamped archives.

Names of files are listed as they stood at a commit, or in an archive; what is said of them counts.
"""

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Evidence

HEAD, PINNED = "tree 660747c", "tree e3c7f94"  # the newest commit, and that of the result files
PROMISED = 40  # notebooks, on the front page of Paper 3 at the pinned commit
ARCHIVES = {1: "archive of Paper 1", 3: "archive of Paper 3"}


def tree_statistics(evidence: Evidence) -> Rules:
    """The contents of the repository's tree and of the archives."""

    def n_at_head(kind: str) -> int:
        return count(evidence[HEAD].paper3[kind])

    def n_notebooks_at_least() -> str:
        """Return the promised number where the commit keeps it, else the number that there is."""
        n = count(evidence[PINNED].paper3.notebooks)
        return f"{PROMISED}+" if n >= PROMISED else str(n)

    def results_in(paper: int) -> str:
        """Say whether an archive holds result files, by the repository's names for them."""
        names = evidence[ARCHIVES[paper]].files[:]
        results = [name for name in names if name.startswith("results_") or "_results" in name]
        return f"{len(results)} result files among {len(names)}" if results else "no results"

    return {
        "n_notebooks": Rule(
            lambda: n_at_head("notebooks"), "the notebooks of Paper 3 in the papers' repository"
        ),
        "n_figures": Rule(
            lambda: n_at_head("Figures"), "the figures of Paper 3 in the papers' repository"
        ),
        "n_notebooks_at_least": n_notebooks_at_least,
        "archive_of_paper_1": Rule(lambda: results_in(1), "the result files in Paper 1's archive"),
        "archive_of_paper_3": Rule(lambda: results_in(3), "the result files in Paper 3's archive"),
    }


DOCUMENTS = {"tree": Document(None, {"": tree_statistics})}
