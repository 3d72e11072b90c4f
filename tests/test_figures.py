"""Figures: what is drawn and said is what the statistics, claims and published tables hold."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from claim_records import judged, note_statistics, record
from judged import analysed
from layerwise.analyses import TABLES
from layerwise.analyses.survival import CHOICES, CLAIMS
from layerwise.errors import LayerwiseError
from layerwise.figures import INDEX, style, svg
from layerwise.figures.drawing import FIGURES, READS, Drawn, draw, draw_all
from layerwise.figures.gains import DRAWN_HUNT, DRAWN_SIZES
from layerwise.figures.numbers import OWN, NothingToDraw, Numbers, read_numbers
from layerwise.files import read_json, write_json
from layerwise.inputs.measured import measured
from layerwise.inputs.published import read_published
from layerwise.inputs.result_files import (
    ANISOTROPY,
    APERTUS,
    CROSS,
    GEMMA,
    HUNT,
    LLAMA,
    PAIRS,
    SPECTRAL,
    SWEEP,
    TEMPLATE,
)
from layerwise.ledger.verdicts import VERDICTS
from layerwise.statistics.gains import depth_bound
from layerwise.steps import draw as stage

ROOT = Path(__file__).resolve().parent.parent
Cells = dict[tuple[str, str], Any]
ALL_BUT_ONE = [name for name in FIGURES if name != "anisotropy_spectra"]
REPORTED = [  # verdicts on two papers, one of them of a list
    record(f"p{paper}.{number}", paper=paper, where=where, verdict=verdict, published=printed,
           recomputed=again, file=None)
    for number, (paper, where, verdict, printed, again) in enumerate((
        (1, "abstract", "agrees", 1.0, 1.0),
        (1, "abstract", "differs", 2.0, 3.0),
        (1, "section 2", "agrees", [1.0, 4.0], [1.001, 4.0]),
        (2, "section 4", "needs weights", 5.0, None),
        (2, "section 4", "differs", "Yes", "No"),
    ))
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published statistics, and a few judged claims."""
    out = tmp_path_factory.mktemp("results")
    published = read_published(ROOT / "published")
    for name in TABLES:
        found = analysed(name, published)
        write_json(out / "statistics" / f"{name}.json", {"documents": found.documents})
    write_json(out / "claims.json", judged(REPORTED))
    note_statistics(out / "claims.json", out / "statistics")
    return out


@pytest.fixture(scope="module")
def published(folder: Path) -> Numbers:
    places = (folder / "statistics", folder / "claims.json", ROOT / "models.yaml")
    return read_numbers("published", *places)


@pytest.fixture(scope="module")
def drawn(published: Numbers) -> dict[str, Drawn]:
    return {one.name: one for one in draw_all(published)}


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


def points(where: Any, colour: str | None = None) -> set[tuple[float, float]]:
    """Every point of every line, and the ends of every bar."""
    found = set()
    for panel in getattr(where, "axes", None) if isinstance(where, Figure) else [where]:
        bars = [c for c in panel.collections if isinstance(c, LineCollection)]
        lines = [(line.get_color(), line.get_xydata()) for line in panel.lines]
        lines += [(bar.get_color()[0], end) for bar in bars for end in bar.get_segments()]
        for of, ends in lines:
            if colour is None or to_hex(of) == to_hex(colour):
                found |= {(float(x), float(y)) for x, y in ends}
    return found


def rows_of(cells: Cells, file: str, place: str) -> dict[str, str]:
    """Key of each model's row, by its short name."""
    return {
        value.split("/")[-1]: key.removesuffix("/model")
        for (name, key), value in cells.items()
        if name == file and key.startswith(f"/{place}/") and key.endswith("/model")
    }


# --- all of them --------------------------------------------------------------------------------


def test_published_numbers_give_every_figure_but_one(drawn: dict[str, Drawn]) -> None:
    assert [name for name, one in drawn.items() if one.figure] == ALL_BUT_ONE
    left_out = drawn["anisotropy_spectra"]
    assert left_out.reason == (
        "anisotropy of pythia-6p9b, gemma-2b: spectra, L_star_anisotropy, n_prompts not published"
    )
    assert {analysis for reads in READS.values() for analysis in reads} <= {*TABLES, "claims"}
    assert left_out.caption.startswith("Eigenvalue spectra of the token covariance")
    assert left_out.caption.endswith("but did not save them.")


@pytest.mark.parametrize("name", ALL_BUT_ONE)
def test_every_figure_fits_a_page_and_says_its_message(drawn: dict[str, Drawn], name: str) -> None:
    figure, text = drawn[name].figure, words(drawn[name].figure).replace("\n", " ")
    assert drawn[name].title == figure.get_suptitle().replace("\n", " ")
    assert re.search(r"\d", drawn[name].title)  # computed from the numbers
    assert style.SOURCES["published"] in text
    assert style.RANDOM not in text
    assert "n = " in text or "of 16 prompts" in text
    assert not re.search(r"Results/|\.json|\.csv", text)
    assert (figure.get_figwidth(), figure.get_figheight() <= style.TALLEST) == (style.WIDTH, True)
    assert min(t.get_fontsize() for t in figure.findobj(match=Text) if t.get_text()) >= 8


def test_random_weights_are_marked_over_the_whole_figure(published: Numbers) -> None:
    figure = draw("layers", replace(published, source="measured", random_weights=True)).figure
    assert f"{style.SOURCES['measured']} - {style.RANDOM}" in words(figure)
    (mark,) = [text for text in figure.texts if text.get_text() == "RANDOM"]
    assert (mark.get_position(), mark.get_zorder()) == ((0.5, 0.5), 1000)
    assert mark.get_fontsize() >= 50


def test_what_was_not_measured_is_left_out_with_the_reason() -> None:
    """Gains of three sizes: a figure of these three, and a reason for each of the others."""
    gains = {f"/models/{n}/residual_gain_all": [0.9 + n / 10, 1.1, 1.3 - n / 10] for n in range(3)}
    layers = {f"/models/{n}/all_layer_gains": [1.0] * (6 + 6 * n) for n in range(3)}
    tables = read_published(ROOT / "published")
    found = analysed("depth_gain", measured(tables, {SWEEP: gains | layers}), n_resamples=10)
    numbers = Numbers("measured", {"depth_gain": found.documents}, {})
    drawn = {one.name: one for one in draw_all(numbers)}
    assert [name for name, one in drawn.items() if one.figure] == ["depth_gain"]
    text = words(drawn["depth_gain"].figure)
    assert "n = 3 sizes" in text
    assert "n = 3 prompts each" in text
    assert "Not measured: 1b, 1.4b" in text
    assert drawn["overview"].reason == "the papers' claims: not judged here"
    assert drawn["bins"].reason == (
        "bins of any model: bootstrap_results, original_results, comparison original_n, k_bins "
        "not measured"
    )


def test_numbers_iv(tmp_path: Path, published: Numbers) -> None:
    with pytest.raises(LayerwiseError, match=r"there are no statistics \(\*\.json\) here; analyse"):
        read_numbers("published", tmp_path, tmp_path, ROOT / "models.yaml")
    with pytest.raises(LayerwiseError, match="one of published, measured, own, got 'toy'"):
        draw("layers", replace(published, source="toy"))
    with pytest.raises(NothingToDraw, match="bins of pythia-6p9b: a b, k_bins not published"):
        published.document("bins", "pythia-6p9b", "a/b", "k_bins")


def test_models_under_a_condition_are_named(published: Numbers) -> None:
    assert published.names["pythia-6p9b"] == "Pythia-6.9B"
    condition = published.names["llama-3p1-8b-instruct-template"]
    assert condition == "Llama-3.1-8B-Instruct, template"
    assert "summary" not in published.names


def test_the_stage_writes_all_figures_or_nothing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    for name in ("bins", "depth_gain"):
        document = read_json(folder / "statistics" / f"{name}.json")
        write_json(tmp_path / "few" / f"{name}.json", document)
    out = tmp_path / "figures"
    places = (tmp_path / "few", folder / "claims.json", out, ROOT / "models.yaml")
    said = stage.run("published", *places)
    assert said.startswith(f"4 figures in {out}\n  without sensitivity: sensitivity of any model")
    index = read_json(out / INDEX)
    found = {entry["name"]: entry for entry in index["figures"] if entry["left_out"] is None}
    assert list(found) == ["overview", "agreement", "bins", "depth_gain"]
    assert found["bins"]["title"].startswith("Over 20 random bins the interval of r excludes zero")
    for kind in ("svg", "pdf"):
        assert {path.stem for path in out.glob(f"*.{kind}")} == set(found)
    assert index["random_weights"] is False
    broken = read_json(tmp_path / "few" / "bins.json")
    del broken["documents"]["pythia-6p9b"]["bootstrap_results"]["0"]["r"]
    write_json(tmp_path / "few" / "bins.json", broken)
    with pytest.raises(LayerwiseError, match=r"bins\.json: these statistics are not the ones"):
        stage.run("published", *places)
    note_statistics(folder / "claims.json", tmp_path / "few")
    with pytest.raises(KeyError, match="r"):
        stage.run("published", *places)
    assert {path.stem for path in out.glob("*.svg")} == set(found)


def test_save_gives_the_same_bytes_and_no_date(published: Numbers, tmp_path: Path) -> None:
    for name in ("one", "two"):
        style.save(draw("depth_gain", published).figure, tmp_path / name, "it")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
        assert not re.search(rb"CreationDate|matplotlib\.org", path.read_bytes())


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


# --- against the published tables ---------------------------------------------------------------


def curve(cells: Cells, file: str, place: str, ends: tuple[str, str]) -> set[tuple[float, float]]:
    """r and the ends of its interval at every layer; `*` stands for the layer."""
    found = {}
    before, after = place.split("*")
    for (name, key), value in cells.items():
        layer = key.removeprefix(before).partition("/")[0]
        if name == file and layer.isdigit() and key.startswith(before + layer + after):
            found[layer, key.rpartition("/")[2]] = value
    assert found
    return {(int(n), value) for (n, key), value in found.items() if key in ("r", *ends)}


EARLIER, LATER = ("ci_lower", "ci_upper"), ("ci_lo", "ci_hi")
ASYMMETRY, FIRST_PC = "/*/centroid_asymmetry", "/intrinsic_dim_ratio"


def of_sweep(cells: Cells) -> set[tuple[float, float]]:
    found = set()
    for row in rows_of(cells, SWEEP, "models").values():
        depth, mean, sd = (
            cells[SWEEP, f"{row}/{key}"]
            for key in ("n_layers", "residual_gain_mean", "residual_gain_std")
        )
        found |= {(depth, mean), (depth, mean - sd), (depth, mean + sd)}
    return found


def of_norms(cells: Cells) -> set[tuple[float, float]]:
    found = set()
    for row in rows_of(cells, SPECTRAL, "results").values():
        found.add(tuple(cells[SPECTRAL, f"{row}/{of}_mean_spectral"] for of in ("W_V", "W_O")))
        n = cells[SPECTRAL, f"{row}/n_layers"]
        norms = [cells[SPECTRAL, f"{row}/W_V_spectral_norm/{layer}"] for layer in range(n)]
        found |= {((layer + 1) / n, norm) for layer, norm in enumerate(norms)}
    return found


def of_layers(cells: Cells) -> set[tuple[float, float]]:
    rows = rows_of(cells, CROSS, "results").values()
    found = {(cells[CROSS, f"{row}/L_star_empirical"], place) for place, row in enumerate(rows)}
    return found | {
        (cells[CROSS, f"{row}/L_star_predicted"], place) for place, row in enumerate(rows)
    }


# a figure, its panel (or all), and what of the tables must be among its points
SHOWN: list[tuple[str, int | None, Callable[[Cells], set[tuple[float, float]]]]] = [
    ("layer_curves", 0, lambda c: curve(c, PAIRS, f"/results{ASYMMETRY}", EARLIER)),
    ("layer_curves", 1, lambda c: curve(c, LLAMA, f"/pair_level_results{ASYMMETRY}", EARLIER)),
    ("layer_curves", 2, lambda c: curve(c, APERTUS, "/results/*", LATER)),
    ("layer_curves", 3, lambda c: curve(c, GEMMA, "/results/*", LATER)),
    ("template_comparison", 0, lambda c: curve(c, TEMPLATE, "/results_with_template/*", LATER)),
    ("template_comparison", 0, lambda c: curve(c, TEMPLATE, "/results_without_template/*", LATER)),
    ("depth_gain", 0, of_sweep),
    ("spectral_norms", None, of_norms),
    ("critical_layer", 0, of_layers),
    ("anisotropy", 0, lambda c: {(n, c[ANISOTROPY, f"{FIRST_PC}/{n}"]) for n in range(33)}),
]


@pytest.mark.parametrize(("name", "panel", "expected"), SHOWN)
def test_the_points_are_those_of_the_tables(
    drawn: dict[str, Drawn], cells: Cells, name: str, panel: int | None, expected: Any
) -> None:
    figure = drawn[name].figure
    found = points(figure if panel is None else figure.axes[panel])
    rounded = {(round(x, 9), round(y, 9)) for x, y in found}
    assert {(round(x, 9), round(y, 9)) for x, y in expected(cells)} <= rounded


def test_asymmetries_are_those_of_the_table(drawn: dict[str, Drawn], cells: Cells) -> None:
    (axes,) = drawn["asymmetry_by_category"].figure.axes
    names = [label.get_text().split(",")[0] for label in axes.get_yticklabels()]
    for line, model in zip(axes.lines, ("gemma", "llama", "mistral", "apertus"), strict=False):
        file = next(f for f, _ in cells if f.startswith(f"Results/results_{model}_2025"))
        expected = [cells[file, f"/{name.replace(' ', '_')}/asymmetry"] for name in names]
        assert list(line.get_xdata()) == expected
    assert drawn["asymmetry_by_category"].title.startswith("On lifestyle 2 of 4 models lie")


def test_the_size_over_the_bound_is_marked(drawn: dict[str, Drawn], cells: Cells) -> None:
    left, right = drawn["depth_gain"].figure.axes
    over = {
        (depth, gain)
        for depth, gain in of_sweep(cells)
        if gain > depth_bound(int(depth)) and (depth, gain) in points(left, style.RED)
    }
    assert {depth for depth, _ in over} == {16}
    assert drawn["depth_gain"].title.endswith("10^(1/L): 1b")
    # the printed -0.81 is the correlation with the density of heads, not with depth
    text = words(drawn["depth_gain"].figure).replace("\n", " ")
    assert "r(depth, mean gain) = -0.878, p = 0.004." in text
    assert "r(head density, mean gain) = -0.812, p = 0.014." in text
    labels = [label.get_text() for label in right.get_xticklabels()]
    rows = rows_of(cells, SWEEP, "models")
    for place, (label, column) in enumerate(zip(labels, right.lines, strict=False)):
        key = f"{rows[f'pythia-{label}']}/residual_gain_all"
        assert list(column.get_ydata()) == [cells[SWEEP, f"{key}/{n}"] for n in range(25)]
        assert np.abs(column.get_xdata() - place).max() <= 0.2


def test_lab_heritage_draws_the_papers_choice_and_the_hunt(
    drawn: dict[str, Drawn], cells: Cells
) -> None:
    (axes,) = drawn["lab_heritage"].figure.axes
    hunt, sweep = rows_of(cells, HUNT, "tested_results"), rows_of(cells, SWEEP, "models")
    gain_of = {name: cells[HUNT, f"{row}/gain_no_ln_mean"] for name, row in hunt.items()}
    chosen = [cells[SWEEP, f"{sweep[name]}/residual_gain_mean"] for name in DRAWN_SIZES]
    chosen += [gain_of[name] for name in DRAWN_HUNT]
    eleuther = [n for n, row in hunt.items() if cells[HUNT, f"{row}/lab"] == "EleutherAI"]
    assert {(-0.1, gain) for gain in chosen} <= points(axes)
    assert {(0.2, round(gain_of[name], 9)) for name in eleuther} <= {
        (round(x, 9), round(y, 9)) for x, y in points(axes)
    }
    np.testing.assert_allclose(np.mean(chosen), 0.991, atol=5e-4)  # as printed
    assert axes.get_xticklabels()[0].get_text() == "EleutherAI\nn = 5"
    assert drawn["lab_heritage"].title == "Mean gain is below 1 in 1 of 5 labs: EleutherAI"


def test_the_late_mean_is_marked(drawn: dict[str, Drawn], cells: Cells) -> None:
    pythia = drawn["layer_curves"].figure.axes[0]
    late = [cells[PAIRS, f"/results/{n}/centroid_asymmetry/r"] for n in (24, 28, 32)]
    assert {(24.0, np.mean(late)), (32.0, np.mean(late))} <= points(pythia, style.RED)
    assert drawn["layer_curves"].title.endswith("in Pythia-6.9B it is +0.004")


def test_leaving_a_category_out_changes_r(drawn: dict[str, Drawn], published: Numbers) -> None:
    document = published.statistics["validation"]["pythia-6p9b"]
    kept = [of for name, of in document.items() if name[0] != "_" and "_numeric" not in name]
    assert len(kept) == 5
    r = np.corrcoef(*[[of[key] for of in kept] for key in ("asymmetry", "output_preference")])[0, 1]
    _, right, *_ = drawn["validation"].figure.axes
    (x,) = {round(x, 9) for x, y in points(right, style.RED) if round(x, 3) != -0.874}
    assert x == round(r, 9)
    assert drawn["validation"].title == (
        f"r over the categories is -0.874 in Pythia-6.9B and {r:+.3f} without ground truth numeric"
    )


# --- the claims ---------------------------------------------------------------------------------


def test_overview_counts_every_claim_once(drawn: dict[str, Drawn]) -> None:
    (axes,) = drawn["overview"].figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [
        "Paper 1, abstract (n = 2)",
        "Paper 1, rest of the paper (n = 1)",
        "Paper 2, rest of the paper (n = 2)",
    ]
    widths = {group.get_label(): [bar.get_width() for bar in group] for group in axes.containers}
    assert widths == {"agrees": [50, 100, 0], "differs": [50, 0, 50], "needs weights": [0, 0, 50]}
    assert drawn["overview"].title == (
        "Of 4 printed values that can be compared 2 do not stand, 1 of them in the abstracts"
    )


def test_every_verdict_of_the_ledger_has_a_colour_of_its_own(published: Numbers) -> None:
    records = [{**REPORTED[0], "verdict": word} for word in VERDICTS]
    figure = draw("overview", replace(published, claims=records)).figure
    (legend,) = [legend for sub in figure.subfigs for legend in sub.legends]
    assert {text.get_text() for text in legend.get_texts()} == set(VERDICTS)
    colours = {to_hex(patch.get_facecolor()) for patch in legend.get_patches()}
    assert len(colours) == len(VERDICTS)


def test_agreement_draws_what_is_not_equal(drawn: dict[str, Drawn]) -> None:
    (axes,) = drawn["agreement"].figure.axes
    assert sorted(round(x, 3) for x, _ in points(axes)) == [0.001, 0.501]
    assert axes.get_yticklabels()[1].get_text() == "Paper 1, rest of the paper (n = 2, 1 equal)"
    assert drawn["agreement"].title == (
        "3 of 4 numbers come out as printed; 1 do not, 1 of them by more than 10%"
    )


# --- any model, on made-up numbers --------------------------------------------------------------


def test_sensitivity_says_in_how_many_models_a_claim_survives() -> None:
    late, bell = list(CLAIMS).index("late_inversion"), list(CLAIMS).index("bell")
    norm = list(CHOICES).index("before_norm")
    documents = {
        model: {
            "rows": [
                {"claim": "late_inversion", "choice": "before_norm", "outcome": outcome},
                {"claim": "bell", "choice": "before_norm", "outcome": "appears"},
            ]
        }
        for model, outcome in (("a", "survives"), ("b", "lost"), ("c", "survives"))
    }
    one = draw("sensitivity", Numbers(OWN, {"sensitivity": documents}, dict.fromkeys("abc", "m")))
    (axes,) = one.figure.axes
    said = {text.get_position(): text.get_text() for text in axes.texts}
    assert said == {(norm, late): "2/3", (norm, bell): "0/0\n+3"}
    assert one.title.startswith("In 0 of 1 tested pairs of claim and choice the claim survives")


def test_a_sweep_over_k_and_spectra_are_drawn_where_they_were_kept(published: Numbers) -> None:
    bins = published.statistics["bins"]["pythia-6p9b"]
    k = {str(n): {"r_mean": n / 10, "r_std": 0.1, "p_mean": 0.5} for n in (0, 4)}
    anisotropy = {"spectra": {"0": [3.0, 2.0, 1.0], "2": [9.0, 0.9, 0.1]}, "n_prompts": 16,
                  "L_star_anisotropy": 2}  # fmt: skip
    kept = {"bins": {"m": {**bins, "results_by_k": {"10": k}}}, "anisotropy": {"m": anisotropy}}
    numbers = Numbers(OWN, kept, {"m": "M"})
    *_, sweep = draw("bins", numbers).figure.axes
    assert {(0.0, 0.0), (4.0, 0.4)} <= points(sweep)
    spectra = draw("anisotropy_spectra", numbers)
    (axes,) = spectra.figure.axes
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [3 / 6, 2 / 6, 1 / 6])
    assert spectra.title.endswith("weighs most at layer 2: 90% of the sum")
