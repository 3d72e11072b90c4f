"""Figures: what is drawn is what the statistics and the published tables say, and from where."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import stats

from judged import analysed
from layerwise.analyses import TABLES
from layerwise.errors import LayerwiseError
from layerwise.figures import FIGURES, INDEX, style, svg
from layerwise.figures.depth_gain import AXIS
from layerwise.figures.drawing import draw, draw_all
from layerwise.figures.lab_heritage import DRAWN_HUNT, DRAWN_SIZES
from layerwise.figures.layers import points_behind
from layerwise.figures.numbers import OWN, NothingToDraw, Numbers, read_numbers
from layerwise.files import read_json, write_json
from layerwise.inputs.measured import measured
from layerwise.inputs.published import read_published
from layerwise.inputs.result_files import (
    ANISOTROPY,
    APERTUS,
    CONSOLIDATED,
    CROSS,
    GEMMA,
    HUNT,
    LLAMA,
    PAIRS,
    SPECTRAL,
    SWEEP,
    TEMPLATE,
)
from layerwise.steps import draw as stage

ROOT = Path(__file__).resolve().parent.parent
Cells = dict[tuple[str, str], Any]
CALIBRATION = "Results/results_{}_2025*.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published statistics."""
    out = tmp_path_factory.mktemp("statistics")
    published = read_published(ROOT / "published")
    for name in TABLES:
        found = analysed(name, published, n_resamples=10000, level=0.95, seed=42)
        write_json(out / f"{name}.json", {"documents": found.documents, "given": found.given})
    return out


@pytest.fixture(scope="module")
def published(folder: Path) -> Numbers:
    return read_numbers("published", folder, ROOT / "models.yaml")


@pytest.fixture(scope="module")
def figures(published: Numbers) -> dict[str, Figure]:
    return {drawn.name: drawn.figure for drawn in draw_all(published) if drawn.figure is not None}


@pytest.fixture(scope="module")
def cells() -> Cells:
    """The published tables, read without the package."""
    found = {}
    for table in sorted((ROOT / "published").glob("paper*.csv")):
        with table.open(newline="", encoding="utf-8") as handle:
            for row in csv.DictReader(handle):
                found[row["file"], row["key"]] = json.loads(row["value"])
    return found


def words(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(match=Text))


def points(axes: Any, marker: str | None = None) -> set[tuple[float, float]]:
    """Every point of every line, or of the lines with one marker."""
    lines = [line for line in axes.lines if marker is None or line.get_marker() == marker]
    return {(float(x), float(y)) for line in lines for x, y in line.get_xydata()}


def rows_of(cells: Cells, file: str, place: str) -> dict[str, str]:
    """Key of each model's row, by its short name."""
    return {
        value.split("/")[-1]: key.removesuffix("/model")
        for (name, key), value in cells.items()
        if name == file and key.startswith(f"/{place}/") and key.endswith("/model")
    }


# --- all of them --------------------------------------------------------------------------------


def test_published_numbers_give_every_figure_but_one(published: Numbers, figures: Any) -> None:
    assert set(FIGURES) - set(figures) == {"anisotropy_spectra"}
    (left_out,) = list(draw_all(published, ["anisotropy_spectra"]))
    assert left_out.reason.startswith("anisotropy of pythia-6p9b: spectra, ")
    assert left_out.reason.endswith(" not published")
    assert set(FIGURES.values()) <= set(TABLES)
    assert all(drawn.caption.endswith(".") for drawn in draw_all(published, ["bins", "scaling"]))


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"anisotropy_spectra"}))
def test_every_figure_fits_a_page_and_names_source_files_and_n(figures: Any, name: str) -> None:
    figure = figures[name]
    text = words(figure).replace("\n", " ")
    assert style.SOURCES["published"] in text
    assert style.RANDOM not in text
    assert name == "sensitivity" or "from Results/" in text or "from paper3/Results/" in text
    assert name == "sensitivity" or "n = " in text or "of 16 prompts" in text
    assert (figure.get_figwidth(), figure.get_figheight() <= style.TALLEST) == (style.WIDTH, True)
    sizes = [t.get_fontsize() for t in figure.findobj(match=Text) if t.get_text()]
    assert min(sizes) >= 8
    for axes in figure.axes:
        if axes.axison and axes.get_subplotspec().colspan.start == 0:
            assert axes.get_ylabel()


@pytest.mark.parametrize("name", ["layers", "depth_gain", "pairs"])
def test_random_weights_are_marked_over_the_whole_figure(published: Numbers, name: str) -> None:
    figure = draw(name, replace(published, source="measured", random_weights=True)).figure
    assert f"{style.SOURCES['measured']} - {style.RANDOM}" in words(figure)
    (mark,) = [text for text in figure.texts if text.get_text() == "RANDOM"]
    assert mark.get_position() == (0.5, 0.5)
    assert mark.get_zorder() >= 1000
    assert mark.get_fontsize() >= 50
    assert "from Results" not in words(figure)  # the numbers are not those of the files


def test_what_was_not_measured_is_left_out_with_the_reason() -> None:
    """Gains of three sizes: figures of these three, and a reason for each of the others."""
    tables = read_published(ROOT / "published")
    sweep = {f"/models/{n}/residual_gain_all": [0.9 + n / 10, 1.1, 1.3 - n / 10] for n in range(3)}
    layers = {f"/models/{n}/all_layer_gains": [1.0] * (6 + 6 * n) for n in range(3)}
    found = analysed(
        "depth_gain",
        measured(tables, {SWEEP: sweep | layers}),
        n_resamples=10,
        level=0.95,
        seed=0,
    )
    numbers = Numbers("measured", {"depth_gain": found.documents}, {})
    drawn = {one.name: one for one in draw_all(numbers)}
    made = {name for name, one in drawn.items() if one.figure is not None}
    assert made == {"gain_by_depth", "gain_distribution"}
    assert drawn["depth_gain"].reason.endswith("n_layers, rho not measured")
    assert drawn["bins"].reason == (
        "bins of any model: bootstrap_results, original_results, comparison original_n, k_bins "
        "not measured"
    )
    figure = drawn["gain_by_depth"].figure
    assert "n = 3 sizes, 3 prompts each" in words(figure)
    assert "Not measured: pythia-1b, pythia-1.4b" in words(figure)


def test_numbers_iv(tmp_path: Path, published: Numbers) -> None:
    with pytest.raises(LayerwiseError, match=r"there are no statistics \(\*\.json\) here; analyse"):
        read_numbers("published", tmp_path, ROOT / "models.yaml")
    with pytest.raises(LayerwiseError, match="one of published, measured, own, got 'toy'"):
        draw("layers", replace(published, source="toy"))
    with pytest.raises(NothingToDraw, match="bins of pythia-6p9b: a b not published"):
        published.document("bins", "pythia-6p9b", "a/b", "k_bins")
    with pytest.raises(LayerwiseError, match=r"a lab must be one of EleutherAI, .*found 'Acme'"):
        style.lab_look("Acme")


def test_models_under_a_condition_are_named(published: Numbers) -> None:
    assert published.names["pythia-6p9b"] == "Pythia-6.9B"
    condition = published.names["llama-3p1-8b-instruct-template"]
    assert condition == "Llama-3.1-8B-Instruct, template"
    assert "summary" not in published.names


def test_the_stage_writes_all_figures_or_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    for name in ("layers", "depth_gain"):
        (tmp_path / "few" / f"{name}.json").write_bytes((folder / f"{name}.json").read_bytes())
    out = tmp_path / "figures"
    said = stage.run("published", tmp_path / "few", out, ROOT / "models.yaml")
    assert said.startswith(f"4 figures in {out}\n  without asymmetry_by_category: calibration")
    index = read_json(out / INDEX)
    drawn = {entry["name"] for entry in index["figures"] if entry["left_out"] is None}
    assert {path.stem for path in out.glob("*.png")} == drawn
    assert {path.stem for path in out.glob("*.pdf")} == drawn
    assert index["random_weights"] is False
    broken = read_json(tmp_path / "few" / "layers.json")
    broken["documents"]["pythia-6p9b"]["strategies"]["mean_pooled"]["p_value"] = 0.9999
    for strategy in broken["documents"]["pythia-6p9b"]["strategies"].values():
        strategy |= {"correlation": 0.5, "p_value": 0.9999}
    write_json(tmp_path / "few" / "layers.json", broken)
    with pytest.raises(LayerwiseError, match="must belong to one number of points, found 0"):
        stage.run("published", tmp_path / "few", out, ROOT / "models.yaml")
    assert {path.stem for path in out.glob("*.png")} == drawn


def test_save_gives_the_same_bytes_and_no_date(published: Numbers, tmp_path: Path) -> None:
    for name in ("one", "two"):
        style.save(draw("layers", published).figure, tmp_path / name, "layers")
    for kind in ("pdf", "png", "svg"):
        one, two = ((tmp_path / f / f"layers.{kind}").read_bytes() for f in ("one", "two"))
        assert one == two
        assert b"CreationDate" not in one
        assert b"matplotlib.org" not in one
    assert len(list((tmp_path / "one").iterdir())) == 3


def test_an_svg_follows_the_page_it_stands_in(published: Numbers, tmp_path: Path) -> None:
    alone = style.save(draw("layers", published).figure, tmp_path, "layers")
    assert (tmp_path / "layers.svg").read_text() == alone
    assert "prefers-color-scheme:dark" in alone
    inside = svg.inlined(alone)
    assert not re.search(r"style|#000000|#ffffff|xlink|\.\d{4}", inside)  # policies forbid styles
    assert 'fill="currentColor"' in inside
    ids, used = (
        set(re.findall(found, inside)) for found in (r'id="([^"]+)"', r'(?:href="|url\()#([\w-]+)')
    )
    assert ids == used
    assert all(one.startswith("layers-") for one in ids)  # no other figure's
    assert len(inside) < 20_000


# --- the papers' figures, against the published tables ------------------------------------------


def test_asymmetry_bars_equal_the_table(figures: Any, cells: Cells) -> None:
    (axes,) = figures["asymmetry_by_category"].axes
    bars = [bar for group in axes.containers for bar in group if bar.get_width() < 0.5]
    categories = [label.get_text().replace("\n", "_") for label in axes.get_xticklabels()]
    files = [
        next(f for f, _ in cells if f.startswith(f"Results/results_{model}_2025"))
        for model in ("gemma", "llama", "mistral", "apertus")
    ]
    expected = [cells[file, f"/{name}/asymmetry"] for file in files for name in categories]
    assert [bar.get_height() for bar in bars] == expected
    assert len(expected) == 24
    (band,) = axes.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 0.015
    assert categories[round(band.get_paths()[0].vertices[:, 0].mean())] == "lifestyle"


def test_layer_curves_equal_the_files_not_the_consolidated_table(
    figures: Any, cells: Cells
) -> None:
    pythia, llama, apertus, gemma = figures["layer_curves"].axes
    for axes, file, key in (
        (pythia, PAIRS, "/results/{}/centroid_asymmetry"),
        (llama, LLAMA, "/pair_level_results/{}/centroid_asymmetry"),
        (apertus, APERTUS, "/results/{}"),
        (gemma, GEMMA, "/results/{}"),
    ):
        names = ("ci_lower", "ci_upper") if "centroid" in key else ("ci_lo", "ci_hi")
        curve = points(axes, "o")
        assert len(curve) == (10 if axes is gemma else 9)
        assert all(r == cells[file, f"{key.format(int(layer))}/r"] for layer, r in curve)
        ends = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
        layers = sorted(int(layer) for layer, _ in curve)
        assert ends == [[cells[file, f"{key.format(n)}/{end}"] for end in names] for n in layers]
    rows = [
        key.split("/")[1]
        for (f, key), v in cells.items()
        if f == CONSOLIDATED and v == "Pythia-6.9B"
    ]
    expected = {
        (cells[CONSOLIDATED, f"/{row}/layer"], cells[CONSOLIDATED, f"/{row}/{end}"])
        for row in rows
        for end in ("ci_lo", "ci_hi")
    }
    caps = [line for line in pythia.lines if line.get_markersize() == 11]
    assert {tuple(xy) for line in caps for xy in line.get_xydata()} == expected
    assert len(expected) == 18


def test_template_comparison_equals_the_file(figures: Any, cells: Cells) -> None:
    (axes,) = figures["template_comparison"].axes
    for name, marker in (("with", "o"), ("without", "s")):
        key = f"/results_{name}_template/"
        expected = {(n, cells[TEMPLATE, f"{key}{n}/r"]) for n in range(0, 33, 4)}
        assert points(axes, marker) == expected
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [tuple(line.get_xdata()) for line in hollow] == [(4,)]
    assert not cells[TEMPLATE, "/results_without_template/4/sig"]
    assert "TEMPLATE_INVARIANT" in axes.get_title()


def test_gains_equal_the_sweep(figures: Any, cells: Cells) -> None:
    rows = rows_of(cells, SWEEP, "models")
    expected = {
        tuple(cells[SWEEP, f"{row}/{key}"] for key in ("n_layers", "residual_gain_mean"))
        for row in rows.values()
    }
    (first,) = figures["depth_gain"].axes
    assert points(first, "o") | points(first, "^") == expected
    assert all(gain < 1 for _, gain in points(first, "o"))
    (second,) = figures["gain_by_depth"].axes
    assert points(second, "o") == expected
    half = sorted(np.ptp(bar[:, 1]) / 2 for bar in second.collections[0].get_segments())
    spreads = sorted(cells[SWEEP, f"{row}/residual_gain_std"] for row in rows.values())
    np.testing.assert_allclose(half, spreads, rtol=1e-12)
    # the printed -0.81 is the correlation with the density of heads, not with depth
    assert "r(L, G) = -0.878, r(head density, G) = -0.812" in first.get_title()
    assert "p = 0.0041" in second.get_title()


def test_gain_distribution_draws_every_prompt_inside_its_column(figures: Any, cells: Cells) -> None:
    (axes,) = figures["gain_distribution"].axes
    columns = [row.get_offsets() for row in axes.collections if len(row.get_offsets()) == 25]
    labels = [label.get_text().split("\n")[0] for label in axes.get_xticklabels()]
    assert labels == ["70m", "160m", "1b", "410m", "1.4b", "2.8b", "6.9b", "12b"]
    rows = rows_of(cells, SWEEP, "models")
    outside = 0
    for place, (label, column) in enumerate(zip(labels, columns, strict=True)):
        key = f"{rows[f'pythia-{label}']}/residual_gain_all"
        gains = [cells[SWEEP, f"{key}/{n}"] for n in range(25)]
        assert column[:, 1].tolist() == gains
        assert np.abs(column[:, 0] - place).max() <= 0.18
        outside += sum(not AXIS[0] <= gain <= AXIS[1] for gain in gains)
    assert f"{outside} outside the paper's axis" in axes.get_title()


def test_lab_heritage_draws_the_papers_choice_and_the_hunt(figures: Any, cells: Cells) -> None:
    (axes,) = figures["lab_heritage"].axes
    order = [label.get_text().split("\n")[0] for label in axes.get_xticklabels()]
    assert order == ["EleutherAI", "TII", "StabilityAI", "Meta", "BigScience"]
    hunt, sweep = rows_of(cells, HUNT, "tested_results"), rows_of(cells, SWEEP, "models")
    gain_of = {name: cells[HUNT, f"{row}/gain_no_ln_mean"] for name, row in hunt.items()}
    labs: dict[str, list[float]] = {}
    for name, row in hunt.items():
        labs.setdefault(cells[HUNT, f"{row}/lab"], []).append(gain_of[name])
    chosen = [cells[SWEEP, f"{sweep[name]}/residual_gain_mean"] for name in DRAWN_SIZES]
    chosen += [gain_of[name] for name in DRAWN_HUNT]
    drawn = {(round(x, 2), y) for x, y in points(axes)}
    for place, lab in enumerate(order):
        gains = chosen if lab == "EleutherAI" else labs[lab]
        assert {(round(place - 0.1, 2), gain) for gain in gains} <= drawn
        assert (place, float(np.mean(gains))) in drawn
    assert {(0.15, gain) for gain in labs["EleutherAI"]} <= drawn
    np.testing.assert_allclose(np.mean(chosen), 0.991, atol=5e-4)  # as printed


def test_spectral_figures_equal_the_file(figures: Any, cells: Cells) -> None:
    rows = rows_of(cells, SPECTRAL, "results")
    (scatter,) = figures["spectral_scatter"].axes
    means = {
        tuple(cells[SPECTRAL, f"{row}/{name}_mean_spectral"] for name in ("W_V", "W_O"))
        for row in rows.values()
    }
    assert means <= points(scatter)
    both, others = figures["spectral_depth"].axes
    (squares,) = figures["weight_norms"].axes
    curves = {line.get_label(): line for line in squares.lines}
    assert list(curves) == [name for name in rows if name != "gpt-neo-125M"]
    for name, line in curves.items():
        n = cells[SPECTRAL, f"{rows[name]}/n_layers"]
        key = f"{rows[name]}/W_V_spectral_norm"
        norms = np.array([cells[SPECTRAL, f"{key}/{layer}"] for layer in range(n)])
        np.testing.assert_array_equal(line.get_ydata(), norms**2)
        np.testing.assert_allclose(line.get_xdata(), np.arange(n) / (n - 1))
        (over,) = [drawn for drawn in both.lines if drawn.get_label() == name]
        np.testing.assert_array_equal(over.get_ydata(), norms)
        np.testing.assert_allclose(over.get_xdata(), (np.arange(n) + 1) / n)
        elsewhere = name in [drawn.get_label() for drawn in others.lines]
        assert elsewhere == (cells[SPECTRAL, f"{rows[name]}/lab"] != "EleutherAI")


def test_critical_layer_equals_the_file(figures: Any, cells: Cells) -> None:
    (axes,) = figures["critical_layer"].axes
    rows = rows_of(cells, CROSS, "results").values()
    for row in rows:
        found = cells[CROSS, f"{row}/L_star_empirical"]
        near = [x for x, y in points(axes) if y == found]
        assert min(abs(x - cells[CROSS, f"{row}/L_star_predicted"]) for x in near) <= 0.5
    half = [np.ptp(bar[:, 1]) / 2 for group in axes.collections for bar in group.get_segments()]
    expected = [cells[CROSS, f"{row}/L_star_std"] for row in rows]
    np.testing.assert_allclose(sorted(half), sorted(expected), atol=1e-12)
    assert f"{cells[CROSS, '/overall_mape']:.1f}% of depth" in axes.get_title()


def test_anisotropy_draws_the_profile_and_l_star(figures: Any, cells: Cells) -> None:
    *drawn, absent = figures["anisotropy"].axes
    for axes, key in zip(
        drawn, ("intrinsic_dim_ratio", "effective_rank", "avg_cos_sim"), strict=True
    ):
        expected = [cells[ANISOTROPY, f"/{key}/{layer}"] for layer in range(33)]
        assert list(axes.lines[0].get_ydata()) == expected
        assert axes.lines[1].get_xdata()[0] == cells[ANISOTROPY, "/L_star_anisotropy"]
    assert "eigenvalue variance:\nnot among\nthe numbers" in words(absent.figure)


# --- the figures of any model, on made-up numbers -----------------------------------------------

LAYERS = (0, 4, 8, 12)
R = (-0.6, 0.45, 0.2, -0.8)
METRICS = ("centroid_asymmetry", "cross_centroid", "within_pair_sim", "margin_asymmetry")


def p_of(r: float, n: int = 6) -> float:
    return float(2 * stats.beta.sf(abs(r), n / 2 - 1, n / 2 - 1, loc=-1, scale=2))


def intervals(shift: float = 0.0) -> dict[str, dict[str, Any]]:
    """r per layer; the interval holds zero at layer 8."""
    return {
        str(layer): {
            "r": r + shift,
            "ci_lower": r - 0.3 + shift,
            "ci_upper": r + 0.25 + shift,
            "includes_zero": r - 0.3 + shift <= 0 <= r + 0.25 + shift,
        }
        for layer, r in zip(LAYERS, R, strict=True)
    }


def statistics(name: str) -> dict[str, Any]:
    """One model's document of an analysis, made up."""
    pooled = {"mean_pooled": -0.8, "last_token": -0.3, "first_token": None}
    curve = {f"layer_{layer}": r for layer, r in zip(LAYERS, R, strict=True)}
    strategies = pooled | curve | {"layer_8_all_tokens": 0.9}
    swept = {
        str(n): {"r_mean": r, "r_std": 0.1, "p_mean": 0.5} for n, r in zip(LAYERS, R, strict=True)
    }
    made: dict[str, Any] = {
        "validation": {
            "a_b": {"asymmetry": -0.2, "output_preference": 1.6},
            "c": {"asymmetry": 0.02, "output_preference": 0.5},
            "_global_stats": {
                "mean_asymmetry": -0.03,
                "mean_output_preference": 0.54,
                "bootstrap_95ci": [-0.1, 0.02],
                "ua_output_correlation": -0.87,
            },
            "_reference": {"Llama-3.1-8B": {"ua": -0.013, "pref": 1.165}},
        },
        "layers": {
            "strategies": {
                key: {"correlation": r, "p_value": r and p_of(r)} for key, r in strategies.items()
            },
            "summary": {"sign_changes": [{"layer_before": 0, "layer_after": 4}]},
        },
        "category_bootstrap": {"layer_results": intervals(), "n_categories": 6, "ci_level": 0.95},
        "bins": {
            "bootstrap_results": intervals(0.1),
            "original_results": intervals(),
            "comparison": {"original_n": 6},
            "k_bins": 20,
            "n_permutations": 200,
            "results_by_k": {"10": swept, "30": swept},
        },
        "pairs": {
            "results": {layer: dict.fromkeys(METRICS, row) for layer, row in intervals().items()},
            "n_pairs": 230,
            "metrics_tested": list(METRICS),
        },
        "anisotropy": {
            "n_layers": 3,
            "n_prompts": 16,
            "L_star_anisotropy": 2,
            "intrinsic_dim_ratio": [0.1, 0.3, 0.9, 0.8],
            "effective_rank": [50.0, 30.0, 1.1, 1.2],
            "avg_cos_sim": [0.3, 0.5, 0.9, 0.8],
            "eigenvalue_variance": [1.0, 10.0, 1e4, 1e3],
            "spectra": {"0": [3.0, 2.0, 1.0], "2": [9.0, 0.9, 0.1]},
        },
        "sensitivity": {
            "rows": [
                {"claim": "late_inversion", "choice": "before_norm", "outcome": "survives"},
                {"claim": "bell", "choice": "before_norm", "outcome": "appears"},
            ]
        },
    }
    return made[name]


def made_up(name: str, n_models: int = 1) -> Figure:
    analysis = FIGURES[name]
    names = {f"m{number}": f"Tiny-{number}" for number in range(n_models)}
    documents = {slug: statistics(analysis) for slug in names}
    figure = draw(name, Numbers(OWN, {analysis: documents}, names)).figure
    assert figure is not None
    return figure


def line(axes: Any, colour: str = style.BLUE) -> np.ndarray:
    """The x and y of the one line of that colour with round points."""
    found = [
        drawn.get_xydata()
        for drawn in axes.lines
        if to_hex(drawn.get_color()) == to_hex(colour) and drawn.get_marker() == "o"
    ]
    assert len(found) == 1
    return np.asarray(found[0])


@pytest.mark.parametrize(
    "name",
    ["validation", "layers", "category_bootstrap", "bins", "pairs", "anisotropy",
     "anisotropy_spectra", "sensitivity"],
)  # fmt: skip
def test_four_models_fit_on_a_page_unscaled(name: str) -> None:
    figure = made_up(name, 4)
    assert figure.get_figheight() <= style.TALLEST
    assert style.SOURCES[OWN] in words(figure)
    assert all(f"Tiny-{number}" in words(figure) for number in range(4))


def test_validation_draws_the_categories_their_mean_and_the_reference() -> None:
    (axes,) = made_up("validation").axes
    drawn = {entry.get_label(): tuple(np.ravel(entry.get_xydata())) for entry in axes.lines}
    assert drawn["a b"] == (-0.2, 1.6)
    assert drawn["c"] == (0.02, 0.5)
    assert drawn["Llama-3.1-8B, scientific facts"] == (-0.013, 1.165)
    assert drawn["mean, 95% interval of mean UA"] == (-0.03, 0.54)
    (interval,) = axes.collections
    np.testing.assert_array_equal(interval.get_segments()[0], [[-0.1, 0.54], [0.02, 0.54]])


def test_layers_draws_the_curve_the_sign_changes_and_the_poolings() -> None:
    curve, bars = made_up("layers").axes
    np.testing.assert_array_equal(line(curve), np.column_stack([LAYERS, R]))
    verticals = [drawn.get_xdata()[0] for drawn in curve.lines if drawn.get_linestyle() == ":"]
    assert verticals == [2.0]
    assert [bar.get_height() for bar in bars.patches] == [-0.8, -0.3, 0.0]
    assert "no r" in words(bars.figure)  # where a first token is always the same


def test_scaling_draws_each_model_over_layer_and_depth() -> None:
    tests = [
        {str(n): {"correlation": r, "p_value": p_of(r)} for n, r in zip(LAYERS, rs, strict=True)}
        for rs in (R, tuple(-r for r in R))
    ]
    family = {
        "models": {
            name: {"n_layers": depth, "layer_results": test}
            for name, depth, test in zip(("Small", "Large"), (12, 24), tests, strict=True)
        },
        "summary": [
            {"model": "Small", "max_pos_layer": 4},
            {"model": "Large", "max_pos_layer": 12},
        ],
    }
    figure = draw("scaling", Numbers(OWN, {"scaling": {"family": family}}, {})).figure
    assert figure is not None
    by_layer, by_depth = figure.axes
    np.testing.assert_array_equal(line(by_layer), np.column_stack([LAYERS, R]))
    np.testing.assert_allclose(line(by_depth)[:, 0], np.array(LAYERS) / 12 * 100)
    rings = [entry for entry in by_layer.lines if entry.get_markerfacecolor() == "none"]
    assert [tuple(np.ravel(ring.get_xydata())) for ring in rings] == [(4, 0.45), (12, 0.8)]


def test_category_bootstrap_draws_intervals_stars_and_widths() -> None:
    curve, widths = made_up("category_bootstrap").axes
    np.testing.assert_array_equal(line(curve), np.column_stack([LAYERS, R]))
    ends = [segment[:, 1] for segment in curve.collections[0].get_segments()]
    np.testing.assert_allclose(ends, [[r - 0.3, r + 0.25] for r in R])
    (stars,) = [drawn for drawn in curve.lines if drawn.get_marker() == "*"]
    assert list(stars.get_xdata()) == [0, 4, 12]  # at layer 8 the interval holds zero
    np.testing.assert_allclose([bar.get_height() for bar in widths.patches], 0.55)
    assert "mean 0.55" in words(widths.figure)


def test_bins_draws_both_series_and_the_sweep(figures: Any) -> None:
    r, widths, means, p = made_up("bins").axes
    np.testing.assert_allclose([b.get_height() for b in r.patches], [*R, *(v + 0.1 for v in R)])
    np.testing.assert_allclose([bar.get_height() for bar in widths.patches], 0.55)
    for entry in means.containers:
        np.testing.assert_allclose(entry[0].get_xydata()[:, 1], R)
    assert "mean p" in p.get_ylabel()
    assert "printed by the notebook, not saved" in words(figures["bins"])


def test_bins_iv_the_layers_must_match() -> None:
    document = statistics("bins")
    del document["original_results"]["12"]
    with pytest.raises(LayerwiseError, match=r"must have the same layers.*\[0, 4, 8\]"):
        draw("bins", Numbers(OWN, {"bins": {"m": document}}, {"m": "M"}))


def test_pairs_draws_every_metric_within_view() -> None:
    axes = made_up("pairs").axes
    assert [panel.get_title() for panel in axes[:4]] == [m.replace("_", " ") for m in METRICS]
    for panel in axes[:4]:
        np.testing.assert_allclose(panel.lines[2].get_ydata(), R)
        assert panel.get_ylim() == (-1, 1)  # the notebook's +-0.5 cut values off


def test_anisotropy_spectra_are_shares_of_what_was_kept() -> None:
    (axes,) = made_up("anisotropy_spectra").axes
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [3 / 6, 2 / 6, 1 / 6])
    assert [drawn.get_label() for drawn in axes.lines] == ["layer 0", "layer 2"]
    assert axes.get_yscale() == "log"


def test_sensitivity_marks_each_claim_under_each_choice() -> None:
    (axes,) = made_up("sensitivity").axes
    assert points(axes, "o") == {(0, 0)}
    assert points(axes, "D") == {(1, 0)}
    assert "late inversion" in words(axes.figure).replace("\n", " ")


@pytest.mark.parametrize("n", [3, 6, 20, 230])
def test_points_behind_against_theory(n: int) -> None:
    rows = [{"correlation": r, "p_value": p_of(r, n)} for r in (1e-9, -0.4)]
    assert points_behind(rows) == n
