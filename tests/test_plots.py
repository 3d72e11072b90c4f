"""Figures: what is drawn is what the document says, and every figure says where it is from."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import stats

from layerwise.errors import LayerwiseError
from layerwise.figures import style
from layerwise.steps.draw import FIGURES

LAYERS = (0, 4, 8, 12)
METRICS = (
    "centroid_asymmetry",
    "cross_centroid",
    "within_pair_sim",
    "knn_density_asymmetry",
    "margin_asymmetry",
)
R = (-0.6, 0.45, 0.2, -0.8)


def p_of(r: float, n: int = 6) -> float:
    return float(2 * stats.beta.sf(abs(r), n / 2 - 1, n / 2 - 1, loc=-1, scale=2))


def intervals(shift: float = 0.0, n: int = 6) -> dict[str, dict[str, Any]]:
    rows = {}
    for layer, r in zip(LAYERS, R, strict=True):
        low, high = r - 0.3 + shift, r + 0.25 + shift
        rows[str(layer)] = {
            "r": r + shift,
            "ci_lower": low,
            "ci_upper": high,
            "p_value": p_of(r + shift, n),
            "includes_zero": low <= 0 <= high,
        }
    return rows


def validation() -> dict[str, Any]:
    values = [(-0.2, 1.6), (0.02, 0.5), (-0.02, 0.25), (0.01, -0.1), (0.03, 0.0), (-0.01, 1.0)]
    document: dict[str, Any] = {
        f"category_{i}": {"asymmetry": ua, "output_preference": preference}
        for i, (ua, preference) in enumerate(values)
    }
    document["_global_stats"] = {
        "mean_asymmetry": -0.03,
        "mean_output_preference": 0.54,
        "bootstrap_95ci": [-0.1, 0.02],
        "ua_output_correlation": -0.87,
    }
    document["_reference"] = {"Llama-3.1-8B": {"ua": -0.013, "pref": 1.165}}
    return document


def layers() -> dict[str, Any]:
    pooled = {"mean_pooled": -0.8, "last_token": -0.3, "first_token": 0.4}
    curve = {f"layer_{layer}": r for layer, r in zip(LAYERS, R, strict=True)}
    extra = {"layer_8_all_tokens": 0.9, "layer_12_before_norm": 0.9}
    return {
        "strategies": {
            name: {"correlation": r, "p_value": p_of(r)}
            for name, r in (pooled | curve | extra).items()
        },
        "summary": {
            "sign_changes": [
                {"layer_before": 0, "layer_after": 4, "midpoint_pct": 16.7},
                {"layer_before": 8, "layer_after": 12, "midpoint_pct": 83.3},
            ]
        },
    }


def scaling() -> dict[str, Any]:
    curves = {"Small": (12, R), "Large": (24, tuple(-r for r in R))}
    return {
        "models": {
            model: {
                "n_layers": n,
                "layer_results": {
                    str(layer): {"correlation": r, "p_value": p_of(r)}
                    for layer, r in zip(LAYERS, rs, strict=True)
                },
            }
            for model, (n, rs) in curves.items()
        },
        "summary": [
            {"model": "Small", "max_pos_layer": 4},
            {"model": "Large", "max_pos_layer": 12},
        ],
    }


def category_bootstrap() -> dict[str, Any]:
    return {"layer_results": intervals(), "n_categories": 6, "ci_level": 0.95}


def bins(*, swept: bool = True) -> dict[str, Any]:
    document: dict[str, Any] = {
        "bootstrap_results": intervals(0.1, 20),
        "k_bins": 20,
        "n_permutations": 200,
    }
    if swept:
        document["results_by_k"] = {
            str(k): {
                str(layer): {"r_mean": r / k, "r_std": 0.1, "p_mean": 0.5, "n_valid": 200}
                for layer, r in zip(LAYERS, R, strict=True)
            }
            for k in (10, 30)
        }
    return document


def pairs() -> dict[str, Any]:
    results = {
        layer: {
            metric: {key: row[key] for key in row} | {"r": row["r"] / (number + 1)}
            for number, metric in enumerate(METRICS)
        }
        for layer, row in intervals(n=230).items()
    }
    return {"results": results, "n_pairs": 230, "metrics_tested": list(METRICS)}


def anisotropy(*, measured: bool = True) -> dict[str, Any]:
    document: dict[str, Any] = {
        "n_layers": 5,
        "n_prompts": 16,
        "L_star_anisotropy": 2,
        "intrinsic_dim_ratio": [0.1, 0.3, 0.9, 0.8, 0.7, 0.2],
        "effective_rank": [50.0, 30.0, 1.1, 1.2, 1.5, 40.0],
        "avg_cos_sim": [0.3, 0.5, 0.9, 0.8, 0.7, 0.6],
    }
    if measured:
        document["eigenvalue_variance"] = [1.0, 10.0, 1e4, 1e3, 1e2, 5.0]
        document["spectra"] = {"0": [3.0, 2.0, 1.0], "2": [9.0, 0.9, 0.1]}
    return document


def sensitivity() -> dict[str, Any]:
    rows = (
        ("late_inversion", "before_norm", "survives"),
        ("late_inversion", "clusters", "lost"),
        ("bell", "before_norm", "appears"),
    )
    return {"rows": [dict(zip(("claim", "choice", "outcome"), row, strict=True)) for row in rows]}


def documents(figure: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "validation": validation,
        "layers": layers,
        "category_bootstrap": category_bootstrap,
        "pairs": pairs,
        "anisotropy": anisotropy,
        "anisotropy_spectra": anisotropy,
        "sensitivity": sensitivity,
    }
    if figure == "scaling":
        return {"scaling": scaling()}
    if figure == "bins":
        both = {"bins": bins(), "category_bootstrap": category_bootstrap()}
        return {"Tiny-A": both, "Tiny-B": both}
    return {"Tiny-A": made[figure](), "Tiny-B": made[figure]()}


def draw(figure: str, source: str = "published", **kept: Any) -> Figure:
    module = importlib.import_module(f"layerwise.figures.{figure}")
    return module.draw(kept.get("documents") or documents(figure), source=source)


def words(figure: Figure) -> str:
    def texts(artist: Any) -> list[str]:
        found = [artist.get_text()] if hasattr(artist, "get_text") else []
        return found + [text for child in artist.get_children() for text in texts(child)]

    return "\n".join(texts(figure))


def line(axes: Any, colour: str = style.BLUE, marker: str | None = "o") -> np.ndarray:
    """The x and y of the one line of that colour and marker with more than one point."""
    found = [
        drawn.get_xydata()
        for drawn in axes.lines
        if to_hex(drawn.get_color()) == to_hex(colour) and drawn.get_marker() == marker
    ]
    assert len(found) == 1
    return np.asarray(found[0])


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_names_its_source_units_and_n(figure: str) -> None:
    drawn = draw(figure)
    text = words(drawn)
    assert "source: published numbers" in text
    assert "MINI" not in text
    n = {"pairs": "n = 230 pairs", "bins": "n = 20 bins"}
    n |= dict.fromkeys(("anisotropy", "anisotropy_spectra"), "tokens of 16 prompts")
    n["sensitivity"] = "holds, and survives"
    assert n.get(figure, "n = 6 categories") in text
    unit = {
        "validation": "mean preference (nats)",
        "scaling": "layer (% of depth)",
        "anisotropy_spectra": "rank of the eigenvalue",
        "sensitivity": "before norm",
    }
    assert unit.get(figure, "layer") in text
    for axes in drawn.axes:
        if axes.axison:
            assert axes.get_ylabel() or axes.get_subplotspec().colspan.start > 0


@pytest.mark.parametrize("figure", FIGURES)
def test_mini_is_marked_over_the_whole_figure(figure: str) -> None:
    drawn = draw(figure, "mini")
    assert "source: mini - random weights, numbers mean nothing" in words(drawn)
    (mark,) = [text for text in drawn.texts if text.get_text() == "MINI"]
    assert mark.get_position() == (0.5, 0.5)
    assert mark.get_zorder() >= 1000
    assert mark.get_fontsize() >= 60


@pytest.mark.parametrize("figure", FIGURES)
def test_text_is_at_least_eight_points_on_paper(figure: str) -> None:
    drawn = draw(figure)
    assert drawn.get_figwidth() == style.WIDTH
    assert min(text.get_fontsize() for text in drawn.findobj(match=_is_text)) >= 8


def _is_text(artist: Any) -> bool:
    return isinstance(artist, Text) and bool(artist.get_text())


@pytest.mark.parametrize("figure", FIGURES)
def test_four_models_still_fit_on_a_page_unscaled(figure: str) -> None:
    both = documents(figure)
    four = both if figure == "scaling" else {f"Tiny-{i}": both["Tiny-A"] for i in range(4)}
    drawn = draw(figure, documents=four)
    assert drawn.get_figheight() <= style.TALLEST
    for model in four if figure != "scaling" else four["scaling"]["models"]:
        assert model in words(drawn)


def test_one_model_gets_the_notebooks_arrangement() -> None:
    shapes = {"pairs": (2, 3), "anisotropy": (2, 2), "bins": (2, 2), "layers": (1, 2)}
    for figure, shape in shapes.items():
        drawn = draw(figure, documents={"Tiny-A": documents(figure)["Tiny-A"]})
        assert drawn.axes[0].get_gridspec().get_geometry() == shape


def test_validation_draws_the_categories_their_mean_and_the_reference() -> None:
    axes = draw("validation").axes[0]
    drawn = {entry.get_label(): tuple(np.ravel(entry.get_xydata())) for entry in axes.lines}
    document = validation()
    for name in (name for name in document if not name.startswith("_")):
        values = document[name]
        assert drawn[name.replace("_", " ")] == (values["asymmetry"], values["output_preference"])
    assert drawn["Llama-3.1-8B, scientific facts"] == (-0.013, 1.165)
    assert drawn["mean, 95% interval of mean UA"] == (-0.03, 0.54)
    (interval,) = axes.collections
    np.testing.assert_array_equal(interval.get_segments()[0], [[-0.1, 0.54], [0.02, 0.54]])


def test_layers_draws_the_curve_the_sign_changes_and_the_poolings() -> None:
    curve, bars, *_ = draw("layers").axes
    np.testing.assert_array_equal(line(curve), np.column_stack([LAYERS, R]))
    verticals = [drawn.get_xdata()[0] for drawn in curve.lines if drawn.get_linestyle() == ":"]
    assert verticals == [2.0, 10.0]
    assert [bar.get_height() for bar in bars.patches] == [-0.8, -0.3, 0.4]
    assert "-0.800" in words(bars.figure)


def test_scaling_draws_each_model_over_layer_and_depth() -> None:
    by_layer, by_depth = draw("scaling").axes
    np.testing.assert_array_equal(line(by_layer), np.column_stack([LAYERS, R]))
    np.testing.assert_allclose(line(by_depth)[:, 0], np.array(LAYERS) / 12 * 100)
    rings = [
        tuple(np.ravel(drawn.get_xydata()))
        for drawn in by_layer.lines
        if drawn.get_markerfacecolor() == "none"
    ]
    assert rings == [(4, 0.45), (12, 0.8)]


def test_category_bootstrap_draws_intervals_stars_and_widths() -> None:
    curve, widths, *_ = draw("category_bootstrap").axes
    np.testing.assert_array_equal(line(curve), np.column_stack([LAYERS, R]))
    ends = [segment[:, 1] for segment in curve.collections[0].get_segments()]
    np.testing.assert_allclose(ends, [[r - 0.3, r + 0.25] for r in R])
    (stars,) = [drawn for drawn in curve.lines if drawn.get_marker() == "*"]
    assert list(stars.get_xdata()) == [0, 4, 12]  # at layer 8 the interval holds zero
    np.testing.assert_allclose([bar.get_height() for bar in widths.patches], 0.55)
    assert "mean 0.55" in words(widths.figure)


def test_bins_draws_both_series_and_the_sweep() -> None:
    r, widths, means, p = draw("bins").axes[:4]
    heights = [bar.get_height() for bar in r.patches]
    np.testing.assert_allclose(heights, [*R, *(value + 0.1 for value in R)])
    np.testing.assert_allclose([bar.get_height() for bar in widths.patches], 0.55)
    swept = [entry[0].get_xydata()[:, 1] for entry in means.containers]
    np.testing.assert_allclose(swept, [np.array(R) / 10, np.array(R) / 30])
    assert "mean p" in p.get_ylabel()


def test_bins_says_that_an_unsaved_sweep_is_missing() -> None:
    both = {"bins": bins(swept=False), "category_bootstrap": category_bootstrap()}
    drawn = draw("bins", documents={"Tiny-A": both})
    assert len(drawn.axes) == 2
    assert "not saved" in words(drawn)
    assert "not saved" not in words(draw("bins"))


def test_bins_iv_the_layers_must_match() -> None:
    other = category_bootstrap()
    del other["layer_results"]["12"]
    both = {"bins": bins(), "category_bootstrap": other}
    with pytest.raises(LayerwiseError, match=r"must have the same layers.*\[0, 4, 8\]"):
        draw("bins", documents={"Tiny-A": both})


def test_pairs_draws_five_metrics_within_view() -> None:
    axes = draw("pairs").axes
    assert [panel.get_title().split() for panel in axes[:5]] == [m.split("_") for m in METRICS]
    for number, panel in enumerate(axes[:5]):
        drawn = panel.lines[2].get_ydata()
        np.testing.assert_allclose(drawn, np.array(R) / (number + 1))
        assert panel.get_ylim() == (-1, 1)  # the notebook's +-0.5 cut values off


def test_anisotropy_draws_four_measures_and_l_star() -> None:
    document = anisotropy()
    keys = ("intrinsic_dim_ratio", "effective_rank", "avg_cos_sim", "eigenvalue_variance")
    for axes, key in zip(draw("anisotropy").axes[:4], keys, strict=True):
        assert list(axes.lines[0].get_ydata()) == document[key]
        assert axes.lines[1].get_xdata()[0] == 2
        assert axes.lines[1].get_label() == "L* = 2"
    assert draw("anisotropy").axes[3].get_yscale() == "log"


def test_anisotropy_says_that_the_variance_was_not_saved() -> None:
    drawn = draw("anisotropy", documents={"Tiny-A": anisotropy(measured=False)})
    assert "did not save" in words(drawn)
    assert "did not save" not in words(draw("anisotropy"))


def test_anisotropy_spectra_are_shares_of_what_was_kept() -> None:
    axes = draw("anisotropy_spectra").axes[0]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [3 / 6, 2 / 6, 1 / 6])
    assert [drawn.get_label() for drawn in axes.lines] == ["layer 0", "layer 2"]
    assert axes.get_yscale() == "log"


def test_anisotropy_spectra_iv_needs_spectra() -> None:
    with pytest.raises(LayerwiseError, match="eigenvalue spectra are needed, none of Tiny-A"):
        draw("anisotropy_spectra", documents={"Tiny-A": anisotropy(measured=False)})


@pytest.mark.parametrize("figure", FIGURES)
def test_iv_source_documents_and_keys(figure: str) -> None:
    module = importlib.import_module(f"layerwise.figures.{figure}")
    with pytest.raises(LayerwiseError, match="one of published, mini, full, got 'toy'"):
        module.draw(documents(figure), source="toy")
    with pytest.raises(LayerwiseError, match=f"figure {figure}: (at least one|the document)"):
        module.draw({}, source="mini")
    wrong = {"scaling": {"a": 1}} if figure == "scaling" else {"Tiny-A": {"a": 1}}
    with pytest.raises(LayerwiseError, match=f"figure {figure}: the document of .* it has a;"):
        module.draw(wrong, source="mini")


@pytest.mark.parametrize("n", [3, 6, 20, 230])
def test_points_behind_against_theory(n: int) -> None:
    rows = [{"correlation": r, "p_value": p_of(r, n)} for r in (1e-9, -0.4)]
    assert style.points_behind(rows) == n


def test_points_behind_iv() -> None:
    with pytest.raises(LayerwiseError, match="must belong to one number of points, found 0"):
        style.points_behind([{"correlation": 0.5, "p_value": 0.9999}])


def test_save_gives_the_same_bytes_and_leaves_nothing_else(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        written = style.save(draw("layers", "mini"), tmp_path / folder, "layers")
        assert [path.name for path in written] == ["layers.pdf", "layers.png"]
    for kind in ("pdf", "png"):
        one, two = ((tmp_path / f / f"layers.{kind}").read_bytes() for f in ("one", "two"))
        assert one == two
        assert b"CreationDate" not in one
        assert b"matplotlib.org" not in one
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        "layers.pdf",
        "layers.png",
    ]
