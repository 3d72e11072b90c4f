"""Figures and pages read what rules found: they compute no statistic themselves.

A number that a reader may quote comes from a document, so that the ledger and `trace` know it.
Limits, jitter and the places of labels are the figures' own.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOMS = ("present", "papers/*/figures")
# names of NumPy, of an array's methods, of Python's own, whatever they are called of
STATISTICS = frozenset((
    "mean", "nanmean", "average", "median", "std", "nanstd", "var", "nanvar", "ptp", "sum",
    "nansum", "fsum", "sumprod", "prod", "cumsum", "corrcoef", "cov", "correlate", "percentile",
    "quantile", "histogram", "bincount", "count_nonzero", "polyfit", "linregress", "sem",
    "pearson", "pearson_r", "pearson_p", "Counter",
))  # fmt: skip
MODULES = ("scipy", "statistics", "layerwise.statistics", "layerwise.measures")
LAYOUT = {
    ("present/figures/style.py", "_apart"),
    ("present/figures/style.py", "name_points"),
}  # places of labels


def computed(tree: ast.AST, file: str) -> Iterator[str]:
    """Every call and import of what computes a statistic, with its line."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and (file, node.name) in LAYOUT:
            continue
        for said in _of(node):
            yield f"{file}:{getattr(node, 'lineno', 0)}: {said}"
        yield from computed(node, file)


def _of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in STATISTICS:
            yield f"{name}()"
    imported = []
    if isinstance(node, ast.Import):
        imported = [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        imported = [f"{node.module}.{one.name}" for one in node.names]
    yield from (
        f"import {name}"
        for name in imported
        if f"{name}.".startswith(tuple(f"{m}." for m in MODULES))
    )


def test_figures_and_pages_compute_no_statistic(root: Path) -> None:
    package = root / "code" / "layerwise"
    files = [path for room in ROOMS for path in sorted(package.glob(f"{room}/**/*.py"))]
    names = {path.relative_to(package).as_posix(): path for path in files}
    assert {file for file, _ in LAYOUT} <= names.keys()
    assert len(names) > 20
    found = [
        one for name, path in names.items() for one in computed(ast.parse(path.read_text()), name)
    ]
    assert not found, "a rule computes, figures and pages read: " + "; ".join(found)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = np.mean([1, 2])", "mean()"),
        ("def f(of):\n    return {n: sum(x < 0 for x in v) for n, v in of.items()}", "sum()"),
        ("error = np.array(gains).std(ddof=1)", "std()"),
        ("from layerwise.statistics.correlation import pearson_r", "import layerwise.statistics"),
        ("def f():\n    import scipy.stats", "import scipy.stats"),
        ("from scipy import stats", "import scipy.stats"),
        ("from statistics import fmean", "import statistics.fmean"),
    ],
)  # fmt: skip
def test_what_computes_is_found(source: str, said: str) -> None:
    (one,) = computed(ast.parse(source), "figures/x.py")
    assert said in one


def test_layout_and_names_are_no_statistics() -> None:
    source = (
        "axes.set_ylim(min(low), max(high))\nrows = np.arange(3)\nmean = of['mean']\nn = len(of)"
    )
    assert not list(computed(ast.parse(source), "figures/x.py"))
