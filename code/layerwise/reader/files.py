"""The files in the place where a reader's model is analysed, or several are compared."""

from layerwise.papers.shared.result_files import RESULTS

# Where each result document holds the record of its run, and scaling.json that of each model.
RECORD, RECORDS = "_run", "_runs"
ANSWERS = "answers.csv"  # the answers for programs
REPLICATES, CONTROL = "replicates", "control"
DOCUMENTS = tuple(f"{name}.json" for name in (*RESULTS, REPLICATES, CONTROL))
FIGURES = (
    *("within_categories", "validation", "layers", "pairs"),
    *("by_pair", "anisotropy", "gains", "spectral"),
)
TABLES = (
    "by-pair",
    "categories",
    "claims",
    "gain",
    "intervals",
    "layers",
    "over-categories",
    "pairs",
    "projections",
    "readings",
    "without-one-category",
)
# Of a comparison of several models: its page, its document, the folder of figures and tables.
ACROSS, SCALING, PART = "scaling.html", "scaling.json", "scaling"
FIGURES_ACROSS = ("by_depth", "gains", "spectral")
TABLES_ACROSS = ("claims", "claims-by-model", "peaks")


def _drawn_and_tabulated(figures: tuple[str, ...], tables: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files of figures and tables."""
    return (
        *(f"figures/{name}.{kind}" for name in figures for kind in ("pdf", "svg")),
        *(f"tables/{name}.csv" for name in tables),
    )


# Every file that a run may write: what replaces what an earlier run wrote, and nothing else.
FILES = ("index.html", ANSWERS, *DOCUMENTS, *_drawn_and_tabulated(FIGURES, TABLES))
FILES_ACROSS = (
    ACROSS,
    SCALING,
    *(f"{PART}/{name}" for name in _drawn_and_tabulated(FIGURES_ACROSS, TABLES_ACROSS)),
)
