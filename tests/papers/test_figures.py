"""Figures: what is drawn and said is what the statistics, claims and published tables hold."""

import csv
import math
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from claim_records import judged, note_statistics, record
from judged import analysed
from layerwise.engine.measured import measured
from layerwise.engine.published import Published
from layerwise.files import read_json, write_json
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.across.figures.drawing import FIGURES, READS, Drawn, draw, draw_all
from layerwise.papers.paper3.figures import SHADE_OF_LABS
from layerwise.papers.shared import quantities
from layerwise.papers.shared import result_files as files
from layerwise.present.figures import INDEX, signs, style
from layerwise.present.figures.numbers import RELATIVE_DEPTH, Numbers, read_numbers
from layerwise.present.figures.picture import IN_DARK, NARROW
from layerwise.present.figures.points import csv_of_points, titles_of
from layerwise.present.figures.svg import as_svg
from layerwise.present.html import TEMPLATES
from layerwise.reader.compare import compare
from layerwise.reader.page.figures import ACROSS, OF_ONE, numbers_of
from layerwise.run.steps import draw as stage

SMALL = ("SmolLM2-135M-Instruct-Q4_1", "gemma-3-270m-Q4_K_M")
MODELS = Path(__file__).resolve().parents[2] / "models.yaml"
PAGE_STYLE = (TEMPLATES / "page" / "page.css").read_text()
REPORTED = [  # verdicts on two papers, one of them of a list
    record(
        f"p{paper}.{number}",
        paper=paper,
        where=where,
        verdict=verdict,
        published=printed,
        recomputed=again,
        file=None,
    )
    for number, (paper, where, verdict, printed, again) in enumerate(
        (
            (1, "abstract", "agrees", 1.0, 1.0),
            (1, "abstract", "differs", 2.0, 3.0),
            (1, "section 2", "agrees", [1.0, 4.0], [1.001, 4.0]),
            (2, "section 4", "needs weights", 5.0, None),
            (2, "section 4", "differs", "Yes", "No"),
        )
    )
]
Points = set[tuple[float, float]]


@pytest.fixture(scope="module")
def statistics(results: Path) -> Path:
    return results / "published" / "statistics"


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory, statistics: Path) -> Path:
    """A few claims, as if they were judged by the published statistics."""
    file = tmp_path_factory.mktemp("judged") / "claims.json"
    write_json(file, judged(REPORTED))
    note_statistics(file, statistics)
    return file


@pytest.fixture(scope="module")
def numbers(statistics: Path, claims: Path) -> Numbers:
    return read_numbers("published", statistics, claims, MODELS)


@pytest.fixture(scope="module")
def drawn(numbers: Numbers) -> dict[str, Drawn]:
    return {drawing.name: drawing for drawing in draw_all(numbers)}


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(match=Text)).replace("\n", " ")


def rounded(points: Iterable[Any]) -> Points:
    return {(round(float(x), 9), round(float(y), 9)) for x, y in points}


def points(where: Any, colour: str | None = None) -> Points:
    """Every point of every line, and the ends of every bar."""
    ends: list[Any] = []
    for panel in where.axes if isinstance(where, Figure) else [where]:
        bars = [c for c in panel.collections if isinstance(c, LineCollection)]
        lines = [(line.get_color(), line.get_xydata()) for line in panel.lines]
        lines += [(bar.get_color()[0], end) for bar in bars for end in bar.get_segments()]
        for drawn_in, line_ends in lines:
            if colour is None or to_hex(drawn_in) == colour:
                ends += list(line_ends)
    return rounded(ends)


def by_model(published: Published, file: str, place: str) -> dict[str, dict[str, Any]]:
    """Rows of a published file, by the model's short name."""
    return {row["model"].split("/")[-1]: row for row in published.document(file)[place]}


# --- all of them --------------------------------------------------------------------------------


def test_published_numbers_give_every_figure(drawn: dict[str, Drawn]) -> None:
    assert [name for name, drawing in drawn.items() if drawing.figure] == FIGURES
    assert {analysis for reads in READS.values() for analysis in reads} <= {*TABLES}


def labels_beyond_the_view(figure: Figure) -> set[Text]:
    """Return the labels of ticks outside their axes' limits, which are not drawn."""
    labels = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not low <= tick.get_loc() <= high:
                    labels |= {tick.label1, tick.label2}
    return labels


def texts_of(figure: Figure) -> list[Text]:
    """The texts that are drawn, once the figure was."""
    figure.draw_without_rendering()
    beyond = labels_beyond_the_view(figure)
    texts = [text for text in figure.findobj(match=Text) if text.get_text() and text.get_visible()]
    return [text for text in texts if text not in beyond]


def assert_nothing_is_cut(figure: Figure) -> None:
    """Every text is legible and inside the figure, and labels of y beside their panels."""
    texts = texts_of(figure)
    assert min(text.get_fontsize() for text in texts) >= 8
    boxes = [text.get_window_extent() for text in texts]
    assert min(box.x0 for box in boxes) > -1
    assert max(box.x1 for box in boxes) < figure.bbox.width + 1
    beside = [(axes.yaxis.label.get_window_extent(), axes.bbox) for axes in figure.axes]
    assert all(label.y0 > panel.y0 - 12 and label.y1 < panel.y1 + 12 for label, panel in beside)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_fits_a_page_and_says_its_message(drawn: dict[str, Drawn], name: str) -> None:
    figure, text = drawn[name].figure, words(drawn[name].figure)
    assert drawn[name].title == figure.get_suptitle().replace("\n", " ")
    assert re.search(r"\d", drawn[name].title)  # computed from the numbers
    assert style.SOURCES["published"] in text
    assert style.RANDOM not in text
    assert not re.search(r"Results/|\.json|\.csv", text)
    assert (figure.get_figwidth(), figure.get_figheight() <= style.TALLEST) == (style.WIDTH, True)
    assert_nothing_is_cut(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_fits_a_phone_with_the_same_points(
    drawn: dict[str, Drawn], numbers: Numbers, name: str
) -> None:
    narrow = draw(name, replace(numbers, narrow=True)).figure
    assert narrow.get_figwidth() == style.NARROW
    assert_nothing_is_cut(narrow)
    assert len({axes.get_position().x1 for axes in narrow.axes}) == 1  # one column
    assert points(narrow) == points(drawn[name].figure)


def test_random_weights_are_marked_over_the_whole_figure(numbers: Numbers) -> None:
    random = replace(numbers, source="measured", random_weights=True)
    figure = draw("template_comparison", random).figure
    assert f"{style.SOURCES['measured']} - {style.RANDOM}" in words(figure)
    (mark,) = [text for text in figure.texts if text.get_text() == "RANDOM"]
    assert (mark.get_position(), mark.get_zorder()) == ((0.5, 0.5), 1000)


def test_what_was_not_measured_is_left_out_with_the_reason(published: Published) -> None:
    """Gains of three sizes: a figure of these three, and a reason for each of the others."""
    gains = {
        f"/models/{n}/residual_gain_all": [0.9 + n / 10, 1.1, 1.1, 1.1, 1.3 - n / 10] * 5
        for n in range(3)
    }
    layers = {f"/models/{n}/all_layer_gains": [1.0] * (6 + 6 * n) for n in range(3)}
    derivation = analysed(
        "depth_gain", measured(published, {files.SWEEP: gains | layers}), n_resamples=10
    )
    numbers = Numbers("measured", {"depth_gain": derivation.documents}, {})
    drawn = {drawing.name: drawing for drawing in draw_all(numbers)}
    assert [name for name, drawing in drawn.items() if drawing.figure] == ["depth_gain"]
    text = words(drawn["depth_gain"].figure)
    for said in ("n = 3 Pythia sizes", "Not measured: 1B, 1.4B"):
        assert said in text
    assert drawn["validation"].reason.endswith("not measured")


def test_the_stage_writes_all_figures_or_nothing(
    statistics: Path, claims: Path, tmp_path: Path
) -> None:
    few, out, printed = (tmp_path / name for name in ("few", "figures", "printed"))
    gains, validation = (read_json(statistics / f"{n}.json") for n in ("depth_gain", "validation"))
    write_json(few / "depth_gain.json", gains)
    write_json(few / "validation.json", validation)
    few_claims = tmp_path / "few.json"
    shutil.copy(claims, few_claims)
    note_statistics(few_claims, few)
    said = stage.run("published", few, few_claims, out, printed, MODELS)
    assert said.startswith(f"2 figures in {out}\n  without asymmetry_by_category: ")
    index = read_json(out / INDEX)
    there = {entry["name"]: entry for entry in index["figures"] if entry["left_out"] is None}
    assert list(there) == ["validation", "depth_gain"]
    assert there["validation"]["title"].startswith("r over the categories is")
    assert index["random_weights"] is False
    del gains["documents"]["family"]["models"][0]["model"]
    write_json(few / "depth_gain.json", gains)
    write_json(tmp_path / "claims.json", judged(REPORTED))
    note_statistics(tmp_path / "claims.json", few)
    with pytest.raises(KeyError, match="model"):
        stage.run("published", few, tmp_path / "claims.json", out, printed, MODELS)
    assert {path.stem for path in printed.glob("*.pdf")} == set(there)
    assert {path.stem for path in out.glob("*.svg")} == {
        f"{name}{end}" for name in there for end in ("", NARROW)
    }
    assert {path.stem for path in out.glob("*.csv")} == set(there)


def test_settings_of_the_user_change_nothing(numbers: Numbers) -> None:
    """As from a matplotlibrc; with usetex a program of theirs would set the text."""
    theirs = {
        "text.usetex": True,
        "figure.dpi": 50,
        "savefig.dpi": 50,
        "xtick.direction": "in",
        "axes.linewidth": 3,
        "axes.prop_cycle": matplotlib.cycler(color=["red"]),
        "axes.formatter.use_locale": True,
        "svg.fonttype": "path",
        "pdf.compression": 0,
        "path.simplify": False,
    }
    expected = draw("depth_gain", numbers).picture
    with matplotlib.rc_context(theirs):
        assert draw("depth_gain", numbers).picture == expected
        assert matplotlib.rcParams["figure.dpi"] == 50


def test_save_gives_the_same_bytes_and_an_svg_that_follows_its_page(
    numbers: Numbers, tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        (picture := draw("template_comparison", numbers).picture).save(tmp_path / folder)
    alone = picture.svg
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
        assert not re.search(rb"CreationDate|matplotlib\.org", path.read_bytes())
    assert "prefers-color-scheme:dark" in alone
    inside = re.sub("<title>[^<]*</title>|<style>.*?</style>", "", picture.svg)
    assert not re.search(r"style|#000000|#ffffff|xlink|\.\d{4}", inside)  # policies forbid styles
    assert 'fill="currentColor"' in inside.partition(">")[0]  # of all that is black
    ids, used = (
        set(re.findall(pattern, inside))
        for pattern in (r'id="([^"]+)"', r'(?:href="|url\()#([\w-]+)')
    )
    # no other figure's
    assert ids == used == {f"template_comparison-{number}" for number in range(len(ids))}
    # the PDF is as wide, and without message and footer
    ((width, height),) = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", picture.pdf)
    whole = draw("template_comparison", numbers).figure.get_figheight()
    assert float(width) == pytest.approx(72 * style.WIDTH)
    assert 72 * (whole - 1) < float(height) < 72 * (whole - 0.3)
    assert picture.title in " ".join(re.sub(r"<[^>]*>", " ", inside).split())


@pytest.mark.parametrize("colour", [signs.ESTIMATE, signs.OUTSIDE, *signs.OF_SERIES])
def test_a_colour_stands_out_from_a_dark_ground_too(colour: str) -> None:
    lighter = IN_DARK.get(colour.lower(), colour)
    assert (luminance(lighter) + 0.05) / (luminance("#181818") + 0.05) > 4.5  # WCAG's contrast
    assert (f'[fill="{colour.lower()}"]' in PAGE_STYLE) == (lighter != colour)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_a_figure_is_drawn_once_for_each_file(
    numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With names at its points, for which it must be laid out before."""
    drawings, draw_figure = [], Figure.draw

    def count(figure: Figure, renderer: Any) -> None:
        drawings.append(figure)
        draw_figure(figure, renderer)

    monkeypatch.setattr(Figure, "draw", count)
    picture = draw("depth_gain", numbers).picture
    assert picture.svg
    assert picture.pdf
    assert len(drawings) == 2


def test_red_is_outside_a_claim_and_nothing_else(drawn: dict[str, Drawn]) -> None:
    red = {name for name in FIGURES if points(drawn[name].figure, signs.OUTSIDE.lower())}
    assert red == {"depth_gain"}  # gains above the claimed bound


def test_no_interval_looks_like_a_standard_deviation(drawn: dict[str, Drawn]) -> None:
    widths = {
        name: {
            width for bar in drawn[name].figure.findobj(LineCollection) for width in bar.get_lw()
        }
        for name in FIGURES
    }
    assert widths.pop("critical_layer") == {signs.SPREAD["linewidth"]}
    assert all(signs.SPREAD["linewidth"] not in others for others in widths.values())


def test_series_have_looks_of_their_own() -> None:
    looks = [signs.series_look(number, 28) for number in range(28)]
    assert len({tuple(look.values()) for look in looks}) == 28
    taken = {signs.ESTIMATE, signs.OUTSIDE, signs.SINGLED_OUT, signs.CONTEXT}
    assert not taken & {look["color"] for look in looks}
    assert not {"D", "d", signs.CROSS} & {look["marker"] for look in looks}


def marks(lines: Iterable[Line2D]) -> set[tuple[str, str]]:
    """Shape and colour of what is drawn; of a cross, which has that of its series, the shape."""
    drawn = {
        (str(line.get_marker()), to_hex(line.get_color()))
        for line in lines
        if line.get_marker() not in ("None", None)
    }
    return {(shape, "" if shape == signs.CROSS else colour) for shape, colour in drawn}


def threads(lines: Iterable[Line2D]) -> set[tuple[str, str]]:
    """Dash and colour of lines alone: not those that join marks, nor what is dashed at a value."""
    alone = [line for line in lines if line.get_marker() in ("None", None)]
    drawn = {(line.get_linestyle(), to_hex(line.get_color())) for line in alone}
    return {look for look in drawn if look[1] == signs.CONTEXT and look[0] != "--"}


def fields(artists: Iterable[Any]) -> set[tuple[float, ...]]:
    """The colours of fields, those that shade every second lab aside."""
    faces = [tuple(np.ravel(artist.get_facecolor()).tolist()) for artist in artists]
    return {face for face in faces if face[-1] != SHADE_OF_LABS}


def assert_the_legend_names_every_mark_and_field(figure: Figure) -> None:
    (body,) = figure.subfigs
    (legend,) = body.legends
    lines = [line for axes in figure.axes for line in axes.lines if len(line.get_xdata())]
    shaded = [
        artist
        for axes in figure.axes
        for artist in (*axes.patches, *axes.collections)
        if isinstance(artist, Patch | PolyCollection)
    ]
    assert marks(lines) == marks(legend.findobj(Line2D))
    assert threads(lines) <= threads(legend.findobj(Line2D))
    assert fields(shaded) == fields(legend.get_patches())
    assert not {"D", "d"} & {shape for shape, _ in marks(lines)}  # a value as printed


def assert_axes_call_a_quantity_by_its_one_name(figure: Figure) -> None:
    names = {"", "layer", RELATIVE_DEPTH, *(unit for _, unit in quantities.ANISOTROPY.values())}
    names |= {value for value in vars(quantities).values() if isinstance(value, str)}
    labels = {label for axes in figure.axes for label in (axes.get_xlabel(), axes.get_ylabel())}
    assert labels <= names


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_speaks_the_one_vocabulary(numbers: Numbers, name: str, narrow: bool) -> None:
    figure = draw(name, replace(numbers, narrow=narrow)).figure
    assert_the_legend_names_every_mark_and_field(figure)
    assert_axes_call_a_quantity_by_its_one_name(figure)


def documents_in(folder: Path) -> dict[str, Any]:
    return {path.stem: read_json(path) for path in folder.glob("*.json")}


@pytest.mark.parametrize("models", [SMALL[:1], SMALL], ids=["one model", "two models"])
def test_a_figure_of_own_models_speaks_it_too(models: Sequence[str]) -> None:
    measured_folders = {name: MODELS.parent / "examples" / "measured" / name for name in SMALL}
    folders = [measured_folders[name] for name in models]
    documents = {folder.name: documents_in(folder) for folder in folders}
    beside = compare([*measured_folders.values()])._beside
    numbers = numbers_of(documents, beside=beside)
    drawn = [draw(name, numbers) for name in (OF_ONE if len(folders) == 1 else ACROSS)]
    figures = [drawing.figure for drawing in drawn if drawing.figure is not None]
    assert len(figures) == len(drawn) - (len(folders) == 1)  # pair by pair no numbers are kept
    for figure in figures:
        assert_nothing_is_cut(figure)
        assert_the_legend_names_every_mark_and_field(figure)
        assert_axes_call_a_quantity_by_its_one_name(figure)


def test_the_pairs_of_the_category_that_decides_are_singled_out() -> None:
    documents = {"m": documents_in(MODELS.parent / "examples" / "measured" / SMALL[0])}
    document = numbers_of(documents).statistics["validation"]["m"]
    r, without = document["_global_stats"]["ua_output_correlation"], document["_without_one"]
    decides = max(without, key=lambda name: abs(without[name]["r"] - r))
    names = [*without, *without]
    values = [float(place) for place in range(len(names))]
    layers = documents["m"]["pairs"]["results"]
    view = {"category": names, "preference": values, "asymmetry": dict.fromkeys(layers, values)}
    figure = draw("by_pair", numbers_of(documents, by_pair={"m": view})).figure
    assert figure is not None
    for axes in figure.axes:
        black = [line for line in axes.lines if line.get_color() == signs.SINGLED_OUT]
        places = [place for line in black for place in line.get_xdata()]
        assert places == [n for n, name in zip(values, names, strict=True) if name == decides]


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", ["depth_gain", "spectral_norms", "validation"])
def test_a_name_lies_nearer_to_its_own_point_than_on_any_other(
    numbers: Numbers, name: str, narrow: bool
) -> None:
    """Or a line leads from it to its point."""
    figure = draw(name, replace(numbers, narrow=narrow)).figure
    with style.house_style():
        figure.draw_without_rendering()
    axes = figure.axes[0]
    names = [text for text in axes.texts if text.get_text() and "$" not in text.get_text()]
    led = {tuple(text.xy) for text in axes.texts if not text.get_text()}
    dots = {tuple(text.xy): axes.transData.transform(text.xy) for text in names}
    assert len(names) >= 6
    for text in names:
        box = text.get_window_extent()
        away = {at: distance(box, dot) for at, dot in dots.items()}
        nearest = min(away, key=lambda at: away[at])
        assert min(away.values()) > 0, text.get_text()
        assert nearest == tuple(text.xy) or near(tuple(text.xy), led), text.get_text()


def distance(box: Any, point: Any) -> float:
    """How far a point lies from a box; 0 inside."""
    x, y = point
    return float(np.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1)))


def near(point: tuple[float, float], places: Iterable[tuple[float, float]]) -> bool:
    return any(point == pytest.approx(place) for place in places)


# --- points by name, in SVG and CSV ---------------------------------------------------------------


def titles(svg: str) -> list[str]:
    """What a pointer shows, without the numbers."""
    return re.findall(r"<title>([^<\n]*)", svg)


@pytest.mark.parametrize("name", FIGURES)
def test_every_marked_point_has_a_name_in_the_svg_and_a_row_in_the_csv(
    drawn: dict[str, Drawn], name: str
) -> None:
    """Whatever draws a mark: what is not noted has no name."""
    figure = drawn[name].figure
    marked = [
        float(x)
        for axes in figure.axes
        for line in axes.lines
        if line.get_marker() not in ("", "None", None)
        for x in line.get_xdata()
    ]
    rows = list(csv.DictReader(drawn[name].csv.splitlines()))
    with style.house_style():
        named = titles(as_svg(figure, name))
    assert len(named) == len(rows) >= len(marked) > 0
    assert sorted(named) == sorted(
        ", ".join(filter(None, (row.get("series"), row["point"]))) for row in rows
    )
    across = {float(value) for row in rows for value in row.values() if is_number(value)}
    assert {float(f"{x:.6g}") for x in marked} <= across


def is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?[\d.]+(e-?\d+)?", text or ""))


def test_a_point_says_name_and_numbers_with_their_interval(numbers: Numbers) -> None:
    figure, (axes,) = style.panels(numbers, "title", 2)
    axes.set(xlabel="depth $L$", ylabel="gain\nof a block")
    ends = [(1.0, 1.5), None, (0.5, 2.0)]
    look = {"color": signs.ESTIMATE, "marker": "o", "series": "ours"}
    style.draw_points(axes, ["a", "b", "c"], [9, 3, 5], [1.25, math.nan, 1], y_ends=ends, **look)
    assert titles_of(figure) == {
        "points-0": [
            "ours, a\ndepth L: 9\ngain of a block: 1.25 (1 to 1.5)",
            "ours, c\ndepth L: 5\ngain of a block: 1 (0.5 to 2)",
        ]
    }
    assert csv_of_points(figure).splitlines() == [
        "series,point,depth L,gain of a block,gain of a block (low),gain of a block (high)",
        "ours,b,3,nan,,",
        "ours,c,5,1,0.5,2.0",
        "ours,a,9,1.25,1.0,1.5",
    ]


# --- against the published tables ---------------------------------------------------------------


def curve(rows: Mapping[str, Any], low: str = "ci_lo", high: str = "ci_hi") -> Points:
    """r and the ends of its interval at every layer."""
    return {(int(n), row[key]) for n, row in rows.items() for key in ("r", low, high)}


def test_the_points_are_those_of_the_tables(
    drawn: dict[str, Drawn], numbers: Numbers, published: Published
) -> None:
    document, ends = published.document, ("ci_lower", "ci_upper")
    pairs, llama = document(files.PAIRS)["results"], document(files.LLAMA)["pair_level_results"]
    centroid = [
        {n: row["centroid_asymmetry"] for n, row in rows.items()} for rows in (pairs, llama)
    ]
    sizes = by_model(published, files.SWEEP, "models")
    keys = ("n_layers", "residual_gain_mean")
    gains = {name: [size[key] for key in keys] for name, size in sizes.items()}
    intervals = numbers.statistics["depth_gain"]["family"]["drawn"]["interval"]
    asked = numbers.statistics["questions"]
    gain = {
        name: answers["decides"]["value"] for name, answers in asked["damping"]["models"].items()
    }
    ratio = {
        name: norms["W_V_over_W_O"]
        for name, norms in numbers.statistics["spectral_norms"].items()
        if "W_V_over_W_O" in norms
    }
    validated = by_model(published, files.CROSS, "results").values()
    late = np.mean([centroid[0][n]["r"] for n in ("24", "28", "32")])
    shown: list[tuple[str, int, Any]] = [
        ("layer_curves", 0, curve(centroid[0], *ends)),
        ("layer_curves", 1, curve(centroid[1], *ends)),
        ("layer_curves", 2, curve(document(files.APERTUS)["results"])),
        ("layer_curves", 3, curve(document(files.GEMMA)["results"])),
        *(
            ("template_comparison", 0, curve(document(files.TEMPLATE)[f"results_{how}_template"]))
            for how in ("with", "without")
        ),
        ("depth_gain", 0, gains.values()),
        (
            "depth_gain",
            0,
            [(gains[name][0], end) for name, ends in intervals.items() for end in ends],
        ),
        *(
            (
                "critical_layer",
                0,
                [(100 * row[key] / row["L"], place) for place, row in enumerate(validated)],
            )
            for key in ("L_star_empirical", "L_star_predicted")
        ),
        ("spectral_norms", 0, [(ratio[name], gain[name]) for name in ratio if name in gain]),
        ("anisotropy", 0, enumerate(document(files.ANISOTROPY)["intrinsic_dim_ratio"])),
    ]
    for name, panel, expected in shown:
        assert rounded(expected) <= points(drawn[name].figure.axes[panel]), (name, panel)
    pointed_out: list[tuple[str, Any, str]] = [
        ("layer_curves", [(24, late), (32, late)], signs.SINGLED_OUT),
        ("depth_gain", [gains["pythia-1b"][:2]], signs.OUTSIDE),
    ]
    for name, expected, colour in pointed_out:
        assert rounded(expected) <= points(drawn[name].figure.axes[0], colour.lower()), name
    surveyed = by_model(published, files.HUNT, "tested_results").values()
    gains_drawn = {x for x, _ in points(drawn["lab_heritage"].figure.axes[0])}
    assert {round(row["gain_no_ln_mean"], 9) for row in surveyed} <= gains_drawn
    assert drawn["layer_curves"].title.endswith("in Pythia-6.9B it is +0.004")


def test_asymmetries_are_those_of_the_table(drawn: dict[str, Drawn], published: Published) -> None:
    (axes,) = drawn["asymmetry_by_category"].figure.axes
    shown = [label.get_text().split(",")[0] for label in axes.get_yticklabels()]
    assert shown[0] == "numeric facts"
    for line, model in zip(axes.lines, ("gemma", "llama", "mistral", "apertus"), strict=False):
        document = published.document(files.PAPER1[model])
        expected = [document[name]["asymmetry"] for name in document if not name.startswith("_")]
        assert list(line.get_xdata()) == expected
    assert drawn["asymmetry_by_category"].title.startswith("On lifestyle 2 of 4 models lie")


def test_leaving_a_category_out_changes_r(drawn: dict[str, Drawn], numbers: Numbers) -> None:
    document = numbers.statistics["validation"]["pythia-6p9b"]
    names = [name for name in document if name[0] != "_" and "_numeric" not in name]
    x, y = ([document[name][key] for name in names] for key in ("asymmetry", "output_preference"))
    r = np.corrcoef(x, y)[0, 1]
    _, right, *_ = drawn["validation"].figure.axes
    assert round(r, 9) in {x for x, _ in points(right, signs.SINGLED_OUT.lower())}
    whole = document["_global_stats"]["ua_output_correlation"]
    ends = document["_interval"], document["_without_one"]["ground_truth_numeric"]["interval"]
    first, left_out = (" to ".join(style.signed(end, 2) for end in both) for both in ends)
    assert drawn["validation"].title == (
        f"r over the categories is {style.signed(whole, 2)} ({first}) in Pythia-6.9B, and "
        f"{style.signed(r, 2)} ({left_out}) without numeric facts"
    )
