"""The papers' figures: what is drawn is what the published tables say, with every digit."""

from __future__ import annotations

import csv
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from layerwise.errors import LayerwiseError
from layerwise.figures import papers, published_files, style
from layerwise.figures.papers import FIGURES, collect
from layerwise.inputs.published import Published, read_published
from layerwise.steps import redraw

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def published() -> Published:
    return read_published(ROOT / "published")


@pytest.fixture(scope="module")
def cells() -> dict[tuple[str, str], Any]:
    """The published tables, read without the package."""
    found = {}
    for table in sorted((ROOT / "published").glob("paper*.csv")):
        with table.open(newline="", encoding="utf-8") as handle:
            for row in csv.DictReader(handle):
                found[row["file"], row["key"]] = json.loads(row["value"])
    return found


@pytest.fixture(scope="module")
def drawn(published: Published) -> dict[str, Figure]:
    return {name: draw(name, collect(name, published)) for name in FIGURES}


def draw(figure: str, documents: dict[str, Any], source: str = "published") -> Figure:
    return importlib.import_module(f"layerwise.figures.{figure}").draw(documents, source=source)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(match=Text) if text.get_text()]


def points(axes: Any, marker: str | None = None) -> set[tuple[float, float]]:
    """Every point of every line, or of the lines with one marker."""
    lines = [line for line in axes.lines if marker is None or line.get_marker() == marker]
    return {(float(x), float(y)) for line in lines for x, y in line.get_xydata()}


def model_rows(cells: dict[tuple[str, str], Any], file: str, place: str) -> dict[str, str]:
    """Key of each model's row, by its short name."""
    rows = {}
    for (name, key), value in cells.items():
        if name == file and key.startswith(f"/{place}/") and key.endswith("/model"):
            rows[value.split("/")[-1]] = key.removesuffix("/model")
    return rows


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_names_its_files_and_n(figure: str, drawn: Any, published: Any) -> None:
    words = " ".join(texts(drawn[figure]))
    assert style.SOURCES["published"] in words
    for file in collect(figure, published)[figure]["files"]:
        assert file in words
    assert "n = " in words
    for axes in drawn[figure].axes:
        assert axes.get_ylabel()


@pytest.mark.parametrize("figure", FIGURES)
def test_text_is_at_least_eight_points_on_paper(figure: str, drawn: Any) -> None:
    assert drawn[figure].get_figwidth() == style.WIDTH
    assert drawn[figure].get_figheight() <= style.TALLEST
    sizes = [text.get_fontsize() for text in drawn[figure].findobj(match=Text) if text.get_text()]
    assert min(sizes) >= 8


def test_asymmetry_bars_equal_the_table(drawn: Any, cells: Any) -> None:
    (axes,) = drawn["asymmetry_by_category"].axes
    heights = [
        bar.get_height() for group in axes.containers for bar in group if bar.get_width() < 0.5
    ]
    categories = [label.get_text().replace("\n", "_") for label in axes.get_xticklabels()]
    expected = [
        cells[file, f"/{category}/asymmetry"]
        for file in papers.PAPER1.values()
        for category in categories
    ]
    assert heights == expected
    assert len(heights) == 24
    (band,) = axes.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 0.015
    assert categories[round(band.get_paths()[0].vertices[:, 0].mean())] == "lifestyle"


def test_layer_curves_equal_the_files_not_the_consolidated_table(drawn: Any, cells: Any) -> None:
    pythia, llama, apertus, gemma = drawn["layer_curves"].axes
    for axes, file, key in (
        (pythia, papers.PAIRS, "/results/{}/centroid_asymmetry"),
        (llama, papers.LLAMA, "/pair_level_results/{}/centroid_asymmetry"),
        (apertus, papers.APERTUS, "/results/{}"),
        (gemma, papers.GEMMA, "/results/{}"),
    ):
        names = ("ci_lower", "ci_upper") if "centroid" in key else ("ci_lo", "ci_hi")
        curve = points(axes, "o")
        assert len(curve) == (10 if axes is gemma else 9)
        for layer, r in curve:
            assert r == cells[file, f"{key.format(int(layer))}/r"]
        ends = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
        layers = sorted(int(layer) for layer, _ in curve)
        expected = [[cells[file, f"{key.format(n)}/{end}"] for end in names] for n in layers]
        assert ends == expected


def test_layer_curves_show_the_caps_of_the_consolidated_table(drawn: Any, cells: Any) -> None:
    file = papers.CONSOLIDATED
    rows = [
        key.removesuffix("/model")
        for (name, key), value in cells.items()
        if name == file and value == "Pythia-6.9B"
    ]
    expected = {
        (cells[file, f"{row}/layer"], cells[file, f"{row}/{end}"])
        for row in rows
        for end in ("ci_lo", "ci_hi")
    }
    pythia, *others = drawn["layer_curves"].axes

    def caps(axes: Any) -> set[tuple[float, float]]:
        wide = [line for line in axes.lines if line.get_markersize() == 11]
        return {(float(x), float(y)) for line in wide for x, y in line.get_xydata()}

    assert len(expected) == 18
    assert caps(pythia) == expected
    assert not any(caps(axes) for axes in others)


def test_template_comparison_equals_the_file(drawn: Any, cells: Any) -> None:
    (axes,) = drawn["template_comparison"].axes
    file = papers.TEMPLATE
    for name, marker in (("with", "o"), ("without", "s")):
        expected = {
            (layer, cells[file, f"/results_{name}_template/{layer}/r"]) for layer in range(0, 33, 4)
        }
        assert points(axes, marker) == expected
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [tuple(line.get_xdata()) for line in hollow] == [(4,)]
    assert not cells[file, "/results_without_template/4/sig"]
    assert "TEMPLATE_INVARIANT" in axes.get_title()


def test_depth_gain_and_gain_by_depth_equal_the_sweep(drawn: Any, cells: Any) -> None:
    file = papers.SWEEP
    rows = model_rows(cells, file, "models").values()
    expected = {
        (cells[file, f"{row}/n_layers"], cells[file, f"{row}/residual_gain_mean"]) for row in rows
    }
    assert len(expected) == 8
    (first,) = drawn["depth_gain"].axes
    assert points(first, "o") | points(first, "^") == expected
    assert all(gain < 1 for _, gain in points(first, "o"))
    assert points(drawn["gain_by_depth"].axes[0], "o") == expected
    bars = drawn["gain_by_depth"].axes[0].collections[0].get_segments()
    half = sorted(np.ptp(bar[:, 1]) / 2 for bar in bars)
    np.testing.assert_allclose(
        half, sorted(cells[file, f"{row}/residual_gain_std"] for row in rows), rtol=1e-12
    )
    # the printed -0.81 is the correlation with the density of heads, not with depth
    assert "r(L, G) = -0.878, r(head density, G) = -0.812" in first.get_title()
    assert "p = 0.0041" in drawn["gain_by_depth"].axes[0].get_title()


def test_gain_distribution_draws_every_prompt_inside_its_column(drawn: Any, cells: Any) -> None:
    (axes,) = drawn["gain_distribution"].axes
    file = papers.SWEEP
    columns = [row.get_offsets() for row in axes.collections if len(row.get_offsets()) == 25]
    labels = [label.get_text().split("\n")[0] for label in axes.get_xticklabels()]
    assert labels == ["70m", "160m", "1b", "410m", "1.4b", "2.8b", "6.9b", "12b"]
    rows = model_rows(cells, file, "models")
    for place, (label, column) in enumerate(zip(labels, columns, strict=True)):
        key = f"{rows[f'pythia-{label}']}/residual_gain_all"
        assert column[:, 1].tolist() == [cells[file, f"{key}/{n}"] for n in range(25)]
        assert np.abs(column[:, 0] - place).max() <= 0.18
    assert "2 outside the paper's axis" in axes.get_title()


def test_lab_heritage_draws_the_papers_choice_and_the_hunt(drawn: Any, cells: Any) -> None:
    (axes,) = drawn["lab_heritage"].axes
    order = [label.get_text().split("\n")[0] for label in axes.get_xticklabels()]
    assert order == ["EleutherAI", "TII", "StabilityAI", "Meta", "BigScience"]
    hunt = model_rows(cells, papers.HUNT, "tested_results")
    sweep = model_rows(cells, papers.SWEEP, "models")
    labs: dict[str, list[float]] = {}
    for row in hunt.values():
        gain = cells[papers.HUNT, f"{row}/gain_no_ln_mean"]
        labs.setdefault(cells[papers.HUNT, f"{row}/lab"], []).append(gain)
    chosen = [
        cells[papers.SWEEP, f"{sweep[name]}/residual_gain_mean"] for name in papers.DRAWN_SIZES
    ] + [cells[papers.HUNT, f"{hunt[n]}/gain_no_ln_mean"] for n in papers.DRAWN_HUNT]
    drawn_points = {(round(x, 2), y) for x, y in points(axes)}
    for place, lab in enumerate(order):
        gains = chosen if lab == "EleutherAI" else labs[lab]
        assert {(round(place - 0.1, 2), gain) for gain in gains} <= drawn_points
        assert (place, float(np.mean(gains))) in drawn_points
    assert {(0.15, gain) for gain in labs["EleutherAI"]} <= drawn_points
    np.testing.assert_allclose(np.mean(chosen), 0.991, atol=5e-4)  # as printed


def test_spectral_figures_equal_the_file(drawn: Any, cells: Any) -> None:
    file = papers.SPECTRAL
    rows = model_rows(cells, file, "results")
    (scatter,) = drawn["spectral_scatter"].axes
    means = {
        (cells[file, f"{row}/W_V_mean_spectral"], cells[file, f"{row}/W_O_mean_spectral"])
        for row in rows.values()
    }
    assert len(means) == 7
    assert means <= points(scatter)
    both, others = drawn["spectral_depth"].axes
    (squares,) = drawn["weight_norms"].axes
    six = [name for name in rows if name != "gpt-neo-125M"]
    curves = {line.get_label(): line for line in squares.lines}
    assert list(curves) == six
    for name, line in curves.items():
        key = f"{rows[name]}/W_V_spectral_norm"
        n = cells[file, f"{rows[name]}/n_layers"]
        norms = np.array([cells[file, f"{key}/{layer}"] for layer in range(n)])
        np.testing.assert_array_equal(line.get_ydata(), norms**2)
        np.testing.assert_allclose(line.get_xdata(), np.arange(n) / (n - 1))
        (over,) = [drawn_line for drawn_line in both.lines if drawn_line.get_label() == name]
        np.testing.assert_array_equal(over.get_ydata(), norms)
        np.testing.assert_allclose(over.get_xdata(), (np.arange(n) + 1) / n)
        elsewhere = [drawn_line.get_label() for drawn_line in others.lines]
        assert (name in elsewhere) == (cells[file, f"{rows[name]}/lab"] != "EleutherAI")


def test_critical_layer_equals_the_file(drawn: Any, cells: Any) -> None:
    (axes,) = drawn["critical_layer"].axes
    file = papers.CROSS
    rows = model_rows(cells, file, "results").values()
    drawn_points = points(axes)
    for row in rows:
        predicted = cells[file, f"{row}/L_star_predicted"]
        near = [x for x, y in drawn_points if y == cells[file, f"{row}/L_star_empirical"]]
        assert min(abs(x - predicted) for x in near) <= 0.5
    half = [np.ptp(bar[:, 1]) / 2 for group in axes.collections for bar in group.get_segments()]
    expected = [cells[file, f"{row}/L_star_std"] for row in rows]
    np.testing.assert_allclose(sorted(half), sorted(expected), atol=1e-12)
    assert f"{cells[file, '/overall_mape']:.1f}% of depth" in axes.get_title()


def test_redraw_writes_both_files(tmp_path: Path) -> None:
    assert redraw.run("depth_gain", ROOT / "published", tmp_path).startswith("depth_gain in ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["depth_gain.pdf", "depth_gain.png"]


def test_iv_unknown_figure(published: Published) -> None:
    with pytest.raises(LayerwiseError, match=r"must be one of asymmetry_by_.*found 'figure9'"):
        collect("figure9", published)


@pytest.mark.parametrize("figure", FIGURES)
def test_iv_source_document_and_keys(figure: str, published: Published) -> None:
    documents = collect(figure, published)
    with pytest.raises(LayerwiseError, match="one of published, mini, full, got 'toy'"):
        draw(figure, documents, "toy")
    with pytest.raises(LayerwiseError, match=f"figure {figure}: at least one result document"):
        draw(figure, {})
    with pytest.raises(LayerwiseError, match=f"figure {figure}: the document of the published"):
        draw(figure, {figure: {"files": []}})
    with pytest.raises(LayerwiseError, match=f"must have the key {figure!r}"):
        draw(figure, {"other": documents[figure]})


def test_iv_lab_without_a_look() -> None:
    with pytest.raises(LayerwiseError, match=r"a lab must be one of EleutherAI, .*found 'Acme'"):
        published_files.lab_look("Acme")
