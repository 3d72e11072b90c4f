"""What stands in the place where a reader's model is analysed."""

from pathlib import Path

STATES = "hidden_states"
AGAIN = "hidden_states_again"  # of replicates with rounding noise, and of random weights
FOLDERS = (STATES, AGAIN, "figures", "tables")
# The result documents; those of what was measured again.
RESULTS = (
    "validation",
    "layers",
    "category_bootstrap",
    "bins",
    "pairs",
    "anisotropy",
    "sensitivity",
    "gains",
    "spectral",
)
REPLICATES, CONTROL = "replicates", "control"
FILES = (
    "index.html",
    "tables.tex",
    *(f"{name}.json" for name in (*RESULTS, REPLICATES, CONTROL)),
)


def partial_of(folder: Path) -> Path:
    """Return the folder of an unfinished extraction of hidden states."""
    return folder.with_name(folder.name + ".partial")
