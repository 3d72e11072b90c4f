"""Readers' own models: no word without a test, every number a file's, names only text."""

import base64
import contextlib
import copy
import csv
import hashlib
import io
import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from matplotlib import cbook
from matplotlib.legend import Legend
from matplotlib.text import Text

from hostile import MARKUP, TEX
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import DECIDES, Published
from layerwise.measuring.reduction import measure
from layerwise.papers.across.figures.drawing import draw, draw_all
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.across.rules import depth_curves
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.present.figures import style
from layerwise.present.tables import Table
from layerwise.reader.analyze import analyze
from layerwise.reader.page import answers, figures, page, sections
from layerwise.reader.page.cautions import cautions
from layerwise.reader.result import Result
from layerwise.statistics.bootstrap import mean_interval
from made_answers import answer
from parsed_page import CURVED, Page
from random_states import DRAWS, FEW, results_of, some_pairs, write_states
from tiny_checkpoints import EXAMPLE, contents, twin_folder

CHECKPOINT = twin_folder("gpt_neox", 5)
FIGURES = [*figures.OF_ONE]
NAMES = [section.name for section in sections.SECTIONS]
HOSTILE = (MARKUP[0], MARKUP[6], TEX[0], TEX[5], "$x^2$ & $\\frac{$", "größe 語 \u2588")


# --- a whole run --------------------------------------------------------------------------------


@pytest.fixture
def out(analyzed: Result) -> Path:
    assert analyzed.folder is not None
    return analyzed.folder


def cells_of(text: str, section: str) -> list[str]:
    (part,) = re.findall(rf'<details id="{section}".*?</details>', text, re.DOTALL)
    return re.findall("<td[^>]*>([^<]*)</td>", part.replace("\u2212", "-"))


def leaves(document: Any) -> Iterator[float]:
    """Every number of a JSON document, and the mean of every list of numbers."""
    below = list(document.values()) if isinstance(document, dict) else document
    numbers = [one for one in below if type(one) in (int, float)]
    yield from numbers
    if numbers and isinstance(document, list):
        yield float(np.mean(numbers))
    for one in below:
        if isinstance(one, dict | list):
            yield from leaves(one)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "anisotropy"])
def test_every_number_of_a_table_is_in_the_json_file_beside_it(out: Path, name: str) -> None:
    document = json.loads((out / f"{name}.json").read_text())
    cells = cells_of((out / "index.html").read_text(), name)
    numbers = [cell for cell in cells if re.fullmatch(r"-?\d+(\.\d+)?", cell)]
    assert len(numbers) >= 8
    headings = set(map(str, range(6)))  # layers
    known = list(leaves(document))
    for number in numbers:
        places = len(number.partition(".")[2])
        shown = {f"{value:.{places}f}" for value in known}
        assert (
            number in shown | {one.removeprefix("-") for one in shown if not float(one)} | headings
        )


def test_the_page_asks_for_nothing_and_holds_what_it_offers(out: Path) -> None:
    """Passed on alone it loses no link: it holds the files beside it but for the PDFs."""
    text = (out / "index.html").read_text()
    found = Page(text)
    assert all(link.startswith(("#", "data:")) for link in found.links)
    offered = [out / "answers.csv", *out.glob("tables/*"), *out.glob("figures/*.svg")]
    offered.remove(out / "tables" / "claims.csv")  # the same, with the papers' models
    offered += [out / f"{name}.json" for name in NAMES]
    assert found.saved == {path.name: path.read_bytes() for path in offered}
    assert any(one.startswith("default-src 'none'; img-src data:; ") for _, one in found.values)
    _, script = found.scripts  # the first is the files
    (policy,) = (one for name, one in found.values if one.startswith("default-src"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.endswith(f"script-src 'sha256-{digest}'")
    assert set(Counter(one for name, one in found.values if name == "id").values()) == {1}
    drawn = [file for name, file in found.values if name == "data-svg"]
    assert drawn == [f"figures/{name}.svg" for name in FIGURES]
    kinds = Counter(path.suffix for path in (out / "figures").iterdir())
    assert kinds == dict.fromkeys((".pdf", ".svg"), len(FIGURES))
    order = re.findall(r'<(?:section|details) id="(\w+)"', text)
    assert order == ["answers", "figures", "statements", "numbers", *NAMES, "data"]
    words = "\n".join(found.words)
    assert not CURVED.search(words)
    index = json.loads((out / "hidden_states" / "index.json").read_text())
    measured = [str(index[key]) for key in ("model", "revision", "dtype", "device", "torch")]
    told = [*measured, "weather: 6; kitchen: 6; travel: 6", "0, 4, 5", "There are 3 categories"]
    assert [one for one in told if one not in words] == []


def test_the_file_for_programs_has_every_answer_of_the_page(analyzed: Result, out: Path) -> None:
    with (out / "answers.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    asked = {row["claim"]: row for row in rows if not row["choice"]}
    assert [*asked] == [record["question"] for record in analyzed.answers.records]
    for record in analyzed.answers.records:
        row = asked[str(record["question"])]
        assert (row["word"], float(row["value"])) == (record["answer"], record["value"])
        choices = [other for other in rows if other["claim"] == row["claim"]]
        others = [other["word"] == row["word"] for other in choices if other["choice"]]
        assert len(others) >= record["of"]
    recorded = {
        (row["question"], "" if row["reading"] == DECIDES else row["reading"]): row
        for row in analyzed.documents["sensitivity"]["rows"]
    }
    for row in rows:
        question = QUESTIONS[row["question"]]
        answer = recorded[row["question"], row["choice"]]
        for name, number in {"value": float, "n": int, "unit": str, "word": str}.items():
            assert number(row[name]) == answer[name], row
        if row["low"]:
            low, high = float(row["low"]), float(row["high"])
            assert low <= float(row["value"]) <= high
            is_inside = question.above < low and high < question.below
            is_outside = high <= question.above or low >= question.below
            assert {"yes": is_inside, "no": is_outside}.get(row["word"], True), row
            assert row["word"] != "undecided" or not (is_inside or is_outside), row


def test_intervals_are_those_of_the_papers_level_seed_and_resamples(analyzed: Result) -> None:
    document = analyzed.documents["validation"]
    asymmetries = [of["asymmetry"] for name, of in document.items() if name[0] != "_"]
    expected = mean_interval(np.array(asymmetries), n_resamples=10_000, level=0.95, seed=42)
    assert document["_global_stats"]["bootstrap_95ci"] == pytest.approx(expected)


def test_gains_and_norms_against_transformers(analyzed: Result) -> None:
    """Of the states that it returns, and of the slices that the model computes with."""
    found, norms = (analyzed.documents[name] for name in ("gains", "spectral"))
    model = transformers.AutoModelForCausalLM.from_pretrained(CHECKPOINT, use_safetensors=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(CHECKPOINT)
    ratios = []
    for text in read_prompts(EXAMPLE["prompts"]):
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        lengths = [float(state[0, -1].norm()) for state in states.hidden_states]
        ratios.append([after / before for before, after in itertools.pairwise(lengths)])
    assert found["residual_gain_all"] == pytest.approx([row[-2] for row in ratios], rel=1e-5)
    assert found["gain_with_ln_mean"] == pytest.approx(np.mean([r[-1] for r in ratios]), rel=1e-5)
    assert found["all_layer_gains"] == pytest.approx(np.mean(ratios, axis=0), rel=1e-5)
    assert found["all_layer_gains_std"] == pytest.approx(np.std(ratios, axis=0), rel=1e-4)
    assert (found["n_heads"], found["d_model"], found["rho"]) == (4, 16, 1.0)
    for block, layer in enumerate(model.gpt_neox.layers):
        fused = layer.attention.query_key_value.weight.detach().numpy().reshape(4, 3, 4, 16)
        expected = np.linalg.norm(fused[:, 2].reshape(16, 16), 2)
        assert norms["W_V_spectral_norm"][block] == pytest.approx(expected, rel=1e-5)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("question", ["damping", "bound", "bell"])
def test_every_reading_of_paper_3_that_one_model_allows_answers(
    analyzed: Result, question: str
) -> None:
    rows = analyzed.documents["sensitivity"]["rows"]
    answered = {row["reading"] for row in rows if row["question"] == question}
    assert answered == set(QUESTIONS[question].readings)


def test_a_model_without_known_slices_is_told_so(out: Path, tmp_path: Path) -> None:
    folder = tmp_path / "falcon"
    shutil.copytree(CHECKPOINT, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4}
    vocabulary = json.loads((CHECKPOINT / "config.json").read_text())["vocab_size"]
    newer = {"vocab_size": vocabulary, "new_decoder_architecture": True, "num_kv_heads": 2}
    shaped = transformers.FalconConfig(**sizes, **newer)
    transformers.AutoModelForCausalLM.from_config(shaped).save_pretrained(folder)
    shutil.copytree(out, tmp_path / "out", ignore=shutil.ignore_patterns("hidden_states"))
    said = analyze(folder, **EXAMPLE, out=tmp_path / "out").summary
    assert not list((tmp_path / "out").glob("hidden_states*"))  # only a killed run leaves them
    assert "no spectral.json: falcon is known with one head of keys and values" in said
    assert not (tmp_path / "out" / "spectral.json").exists()  # of the earlier run
    page_of = Page((tmp_path / "out" / "index.html").read_text())
    assert "There is no spectral.json: falcon is known" in "".join(page_of.words)
    assert "spectral.json" not in page_of.saved
    assert "gains.json" in page_of.saved


def test_the_table_of_claims_has_the_words_of_the_answers(analyzed: Result) -> None:
    """Those of the result file, by the rule that knew p; an estimate alone does not say p."""
    rows = analyzed.documents["sensitivity"]["rows"]
    own = [row for row in analyzed.tables["claims"].records if row["outcome"] is not None]
    assert [row["outcome"] for row in own] == [row["word"] for row in rows]
    (first, *_) = analyzed._page.answers
    asked = replace(first, asked=answer("yes"), others={"spearman": answer("no")}, printed={})
    assert [row["outcome"] for row in answers.claims_table([asked]).records] == ["yes", "no"]


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (-0.0621, -0.476, 0.460, ("-0.06", "[-0.48, 0.46]")),
        (0.00846, -0.0106, 0.0275, ("0.008", "[-0.011, 0.028]")),
        (4321.5, 300.0, 9000.0, ("4322", "[300, 9000]")),
        (-0.97, -np.inf, np.inf, ("-0.970", "")),
    ],
)
def test_the_interval_says_how_many_digits_count(
    value: float, low: float, high: float, said: tuple[str, str]
) -> None:
    ends = (low, high) if np.isfinite(low) else None
    assert answers.value_and_interval(answer(value=value, ends=ends)) == said


def test_a_p_value_is_never_printed_as_zero() -> None:
    table = Table("t", "", {"p": 4, "q": 4}, [[0.0, 0.0], [0.00099, 1.0], [0.0416, 1.0]])
    assert [row[0] for row in table.texts] == ["< 0.001", "< 0.001", "0.042"]
    assert table.csv.splitlines()[1] == "0.0,0.0"


def test_a_colour_says_one_word_whatever_other_choices_say(analyzed: Result) -> None:
    """The colours are those of the papers' page, whose style the page takes."""
    (first, *_) = analyzed._page.answers
    marks = {"yes": "holds", "no": "fails", "undecided": "open", "no spread": "open"}
    for word, mark in marks.items():
        for others in ("yes", "no"):
            asked = replace(first, asked=answer(word), others={"spearman": answer(others)})
            assert answers.describe(asked, {}).mark == mark


# --- hostile names ------------------------------------------------------------------------------


MODEL = '<b>$m$</b> \\input{x} % "'


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return results_of(tmp_path_factory.mktemp("hostile"), HOSTILE)


@pytest.mark.parametrize("name", figures.ACROSS)
@pytest.mark.parametrize("n", [2, 8, 21, 22, 60])
def test_figures_of_many_models_stay_readable(analyzed: Result, name: str, n: int) -> None:
    """No panel collapses; a model is told from every other, or all are drawn alike."""
    (documents,) = analyzed.models.values()
    models = {f"model {number}": documents for number in range(n)}
    figure = draw(name, figures.numbers_of(models, beside=analyzed._beside)).figure
    assert figure is not None
    with style.house_style():
        figure.draw_without_rendering()
    assert min(axes.bbox.height for axes in figure.axes) > figure.dpi  # an inch
    labels = [*models] if n <= 21 else ["own models"]
    own = [line for line in figure.axes[0].lines if line.get_label() in labels]
    looks = {(line.get_color(), line.get_marker()) for line in own}
    named = [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]
    assert len(own) == n
    assert len(looks) == len(labels)
    assert {*named} >= {*labels}


def test_the_own_point_bears_its_own_name(analyzed: Result) -> None:
    figure = analyzed.figures["gains"].figure
    assert figure is not None
    right = figure.axes[1]
    bold = [text for text in right.texts if text.get_fontweight() == "bold"]
    document = analyzed.documents["gains"]
    assert [text.get_text() for text in bold] == ["gpt_neox"]
    assert bold[0].xy == (document["n_layers"], document["residual_gain_mean"])


def test_hostile_names_are_words_in_figures(results: Any, tmp_path: Path) -> None:
    numbers = figures.numbers_of({MODEL: results})
    names = ["validation", "layers", "pairs"]
    drawn = {drawing.name: drawing.figure for drawing in draw_all(numbers, names)}
    assert list(drawn) == names
    assert cbook.is_math_text("$x$")
    for name, figure in drawn.items():
        texts = [text for text in figure.findobj(Text) if text.get_text()]
        mine = [text for text in texts if any(word in text.get_text() for word in ("$", "input"))]
        assert mine, name
        assert not any(cbook.is_math_text(text.get_text()) for text in mine)
        assert any(text.get_text().endswith("measured from its weights") for text in texts)
        style.as_files(figure, name)  # a glyph that is missing would be a warning


# --- what has no value --------------------------------------------------------------------------


def test_a_reading_without_r_says_why(results: Any) -> None:
    document = copy.deepcopy(results["layers"])
    document["strategies"]["first_token"] |= {"correlation": None, "p_value": None}
    (table,) = sections.layers(document)
    assert ["first token", None, None] in table.rows
    assert table.notes[0].startswith("No r for the first token: it has the same state")
    assert len(table.notes) == len(sections.layers(results["layers"])[0].notes) + 1
    section = sections.Section("layers", "t", "q", sections.layers)
    own = page.Own("m", [], [], {}, {section: [table]})
    cells = cells_of(page.html(own, []), "layers")
    assert cells[(at := cells.index("first token")) + 1 : at + 3] == ["–", "–"]
    assert "first token,,\n" in table.csv


def test_a_row_per_pair_whose_shares_sum_to_r(out: Path) -> None:
    table = (out / "tables" / "by-pair.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["pair"] for row in rows] == [str(n) for n in range(6)] * 3
    nll = [[float(row[f"NLL {side} (nats)"]) for side in "AB"] for row in rows]
    preferences = [float(row["preference (nats)"]) for row in rows]
    assert preferences == pytest.approx([b - a for a, b in nll], abs=1e-12)
    document = json.loads((out / "pairs.json").read_text())["results"]["5"]["within_pair_sim"]
    similarity = [float(row["within pair sim (layer 5)"]) for row in rows]
    assert np.corrcoef(similarity, preferences)[0, 1] == pytest.approx(document["r"])
    assert sum(float(row["share of r (layer 5)"]) for row in rows) == pytest.approx(
        json.loads((out / "pairs.json").read_text())["results"]["5"]["centroid_asymmetry"]["r"]
    )
    pairs = read_pairs(EXAMPLE["pairs"])
    told = [(row["statement A"], row["statement B"]) for row in rows]
    assert told == [*zip(pairs.side_a, pairs.side_b, strict=True)]


def holding(folder: Path, texts: Iterable[str]) -> set[str]:
    """The files that hold one of these texts, also inside what a page offers to save."""
    written = contents(folder)
    written["index.html"] += b"".join(Page(written["index.html"].decode()).saved.values())
    return {name for name, one in written.items() for text in texts if text.encode() in one}


@pytest.mark.usefixtures("quick")
def test_statements_stand_in_two_files_and_private_ones_in_none(out: Path, tmp_path: Path) -> None:
    statements = read_pairs(EXAMPLE["pairs"]).statements
    assert holding(out, read_prompts(EXAMPLE["prompts"])) == set()
    assert holding(out, statements) == {"index.html", "tables/by-pair.csv"}
    analyze(CHECKPOINT, **EXAMPLE, out=tmp_path, private_texts=True)
    assert holding(tmp_path, statements) == set()
    view = Page((tmp_path / "index.html").read_text())
    assert "by-pair.csv" in view.saved  # the numbers are there


def test_the_pairs_that_make_r_come_first(out: Path) -> None:
    text = (out / "index.html").read_text().replace("\u2212", "-")
    (body,) = re.findall(r'<table class="statements".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    rows = [re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", row) for row in body.strip().split("\n")]
    shares = [abs(float(row[-1])) for row in rows]
    assert len(rows) == 18
    assert shares == sorted(shares, reverse=True)
    assert all(float(asymmetry) for *_, asymmetry, _, _ in rows)


def test_words_stand_for_keys_of_categories_where_no_two_become_one(tmp_path: Path) -> None:
    keys = ("ground_truth_numeric", "own_words", "own words")
    found = results_of(tmp_path, (*keys, "d", "e", "f"))
    (table, *_) = sections.validation(found["validation"])
    assert [row[0] for row in table.texts][:3] == ["numeric facts", *keys[1:]]
    assert [record["category"] for record in table.records][:3] == [*keys]  # of the file


def test_csv_has_every_digit_and_the_page_those_that_count() -> None:
    values = [1 / 3, None, True, 0.012345, -123456.7, 0.0, 7]
    table = Table("t", "", {'x,"y"\n': None, "b": 2}, [[value, 1 / 3] for value in values])
    rows = list(csv.reader(io.StringIO(table.csv)))
    assert rows[0] == ['x,"y"\n', "b"]
    assert [row[0] for row in rows[1:]] == ["" if value is None else str(value) for value in values]
    assert rows[1][1] == repr(1 / 3)
    shown = ["0.3333", "–", "yes", "0.01235", "-123457", "0.000", "7"]
    assert table.texts == [[text, "0.33"] for text in shown]


THREE = "There are 3 categories, the papers have six"
BINS = "{used} of 20 random bins hold two pairs or more"
TOKENS = "24 tokens together, a state has 24 dimensions: no effective rank can exceed 23"


@pytest.mark.parametrize(
    ("sizes", "n_tokens", "expected"),
    [
        ((40,) * 6, 1000, []),
        ((30, 4, 30), 24, [THREE, r": b \(4\). The", BINS, TOKENS]),
        ((4,) * 6, 1000, [r": a \(4\), b \(4\), ", BINS]),
    ],
)
def test_each_shortage_gives_its_warning(
    tmp_path: Path, sizes: tuple[int, ...], n_tokens: int, expected: list[str]
) -> None:
    pairs = some_pairs(sizes=sizes, categories="abcdef"[: len(sizes)])
    values = measure(write_states(tmp_path / "s", n_pairs=sum(sizes)), pairs, **FEW)
    used = int(np.isfinite(values.known_output.stable_preference).sum())
    said = cautions(values, pairs, n_tokens)
    assert len(said) == len(expected)
    for caution, pattern in zip(said, expected, strict=True):
        assert re.search(pattern.format(used=used), caution)


def test_the_papers_curves_lie_behind_an_own_one_and_only_there(
    results: Any, published: Published
) -> None:
    curves = depth_curves.curves_of_papers(Evidence(published, DRAWS))
    pairs = {"m": {"pairs": results["pairs"]}}
    for beside in (curves, {}):
        drawn = draw("pairs", figures.numbers_of(pairs, beside=beside))
        assert drawn.figure is not None
        first, last = drawn.figure.axes[0], drawn.figure.axes[4]
        named = {text.get_text() for text in first.texts} - {""}
        papers = beside.get("centroid_asymmetry", {})
        assert named == set(papers)
        led = {tuple(np.round(text.xy, 9)) for text in first.texts if not text.get_text()}
        assert led == {tuple(np.round(curve[-1], 9)) for curve in papers.values()}
        assert max(first.lines[0].get_xdata()) == (1 if beside else 10)
        grey = [line for line in last.lines if line.get_alpha() == 0.5]
        assert len(grey) == len(beside.get("margin_asymmetry", {}))
        for line in grey:
            expected = curves["margin_asymmetry"]["Pythia-6.9B"]
            assert [tuple(at) for at in line.get_xydata().tolist()] == expected


@pytest.mark.usefixtures("quick")
def test_steps_are_counted_over_the_model_its_replicates_and_its_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[tuple[int, int, str]] = []

    @contextlib.contextmanager
    def note(number: int, total: int, part: str = "") -> Iterator[None]:
        begun.append((number, total, part))
        yield

    monkeypatch.setattr("layerwise.reader.measurement.step", note)
    analyze(CHECKPOINT, **EXAMPLE, dtype="float16", replicates=1, control=2)
    assert [(number, total) for number, total, _ in begun] == [(n, 16) for n in range(1, 17)]
    parts = ["", "replicate 1 of 1", "draw 1 of 2", "draw 2 of 2"]
    assert [part for _, _, part in begun] == [part for part in parts for _ in range(4)]
