"""The comparison of `make real`: what moved is named, and what a processor does is not."""

import copy
import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

import layerwise
from layerwise.engine.evidence import Evidence
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.models.registry import RANDOM
from layerwise.papers.across.answers import answers, answers_in_print
from layerwise.papers.across.figures.drawing import draw, draw_all
from layerwise.papers.across.rules import depth_curves
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.present.figures import style
from layerwise.present.values import with_signs
from layerwise.reader.files import CONTROL, RECORD
from layerwise.reader.page import figures
from layerwise.reader.page.cautions import document_cautions
from layerwise.reader.page.pattern import describe_pattern
from layerwise.reader.run_record import read_run
from random_states import DRAWS
from real import checkpoint, plain_loop
from real.comparison import Leaf, band_of, differences, leaves
from tiny_checkpoints import EXAMPLE, twin_folder

MEASURED = Path(__file__).parents[2] / "examples" / "measured"
WHOLE = {
    name: {path.stem: read_json(path) for path in sorted((MEASURED / name).glob("*.json"))}
    for name in checkpoint.MODELS
}
RECORDED = {
    name: {key: part for key, part in document.items() if key != RECORD}
    for name, document in WHOLE[checkpoint.SMOLLM2.name].items()
    if name != CONTROL
}


def changed(place: str, value: Leaf) -> dict[str, Any]:
    """The recorded documents with one value put in the place of another."""
    found: Any = copy.deepcopy(RECORDED)
    node, *names = found, *place.strip("/").split("/")
    for name in names[:-1]:
        node = node[int(name)] if isinstance(node, list) else node[name]
    last = int(names[-1]) if isinstance(node, list) else names[-1]
    node[last] = value
    return found


def test_nothing_differs_from_itself() -> None:
    assert differences(RECORDED, copy.deepcopy(RECORDED)) == []
    assert len(dict(leaves(RECORDED))) > 2500


def test_any_number_that_moves_is_named_and_nothing_else() -> None:
    """By more than its band; by less it is no difference."""
    before = dict(leaves(RECORDED))
    for place in random.Random(0).sample(list(before), 30):
        value = before[place]
        if isinstance(value, float):
            band = band_of(place, value)
            slack = max(band.relative * abs(value), band.absolute)
            near, far = value + 0.9 * slack, value + 1.2 * slack
            assert differences(RECORDED, changed(place, near)) == []
        else:
            far = f"{value}, moved"
        (said,) = differences(RECORDED, changed(place, far))
        assert said.startswith(f"{place}: {far!r}, recorded {value!r}, band ")


@pytest.mark.parametrize("name", checkpoint.MODELS)
def test_the_record_is_one_run_of_the_trained_model_and_holds_no_statement(name: str) -> None:
    documents = read_run(MEASURED / name)
    assert documents["layers"]["model"] == name
    record = documents["layers"][RECORD]
    assert (record[RANDOM], record["dtype"], record["limit"]) == (False, "float32", None)
    assert WHOLE[name][CONTROL]["n"] == 19
    texts = [value for value in dict(leaves(WHOLE[name])).values() if isinstance(value, str)]
    assert max(map(len, texts)) < 120
    assert not [text for text in texts if text.startswith("/")]


def test_the_page_on_own_models_says_what_was_recorded(root: Path, evidence: Evidence) -> None:
    page = (root / "docs" / "own-model.md").read_text(encoding="utf-8")
    for sentence in describe_pattern(answers(RECORDED, answers_in_print(evidence)), RECORDED):
        assert with_signs(sentence) in " ".join(page.replace("> ", "").split())


# --- real names and real numbers in the figures ------------------------------------------------


def texts_of(figure: Figure) -> list[Text]:
    """What is written in a figure; labels of ticks that lie outside of their axis are not."""
    found = [text for part in (figure, *figure.subfigs) for text in part.texts]
    found += [text for legend in figure.findobj(Legend) for text in legend.get_texts()]
    for axes in figure.axes:
        if axes.axison:
            found += [*axes.texts, axes.title, axes._left_title, axes._right_title]  # type: ignore[attr-defined]
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                found.append(axis.label)
                found += [
                    tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high
                ]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def collisions(figure: Figure) -> list[tuple[str, str]]:
    """Texts that run into each other, and those that leave the figure."""
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts_of(figure)]
    found = [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 2
    ]
    wide = figure.bbox.x1
    return found + [(one, "the edge") for one, a in boxes if a.x0 < -1 or a.x1 > wide + 1]


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    return dict(RECORDED)


@pytest.fixture(scope="module")
def evidence(published: Any) -> Evidence:
    return Evidence(published, DRAWS)


@pytest.mark.parametrize("n", [1, 2])
def test_no_text_of_a_figure_runs_into_another(
    n: int, documents: dict[str, Any], evidence: Evidence
) -> None:
    """With a name of 26 characters, nine layers of which the last two are close, and the papers'
    curves; of one model, and of two.
    """
    models = dict.fromkeys(("SmolLM2-135M-Instruct-Q4_1", "SmolLM2-1.7B-Instruct-Q4_1")[:n])
    models = dict.fromkeys(models, documents)
    names = figures.OF_ONE if n == 1 else figures.ACROSS
    numbers = figures.numbers_of(models, beside=depth_curves.curves_of_papers(evidence))
    drawn = list(draw_all(numbers, names))
    # what one pair gives is not recorded: its statements are upstream's
    names = [name for name in names if name != "by_pair"]
    assert [one.name for one in drawn if one.figure is None] in ([], ["by_pair"])
    with style.house_style():
        said = {one.name: collisions(one.figure) for one in drawn if one.figure is not None}
        assert said == {key: [] for key in names}
        crowded = Figure(figsize=(2, 2))
        axes = crowded.subplots(1, 2)
        axes[0].set_title("a name of so many characters")
        axes[1].set_title("another one beside it")
        assert collisions(crowded)


def test_the_figure_of_norms_says_the_ratio_of_the_result_file(documents: dict[str, Any]) -> None:
    drawn = draw("spectral", figures.numbers_of({"model": documents}))
    assert drawn.title.endswith(f" is {documents['spectral']['W_V_over_W_O']:.3f} in model")


def test_what_makes_the_numbers_is_said_beside_them(
    documents: dict[str, Any], evidence: Evidence
) -> None:
    """r of 0.98 that one category makes; a direction of 99.9% of the variance; a chat template."""
    one_category, direction, template = document_cautions(documents, unused_template=True)
    assert "+0.979 with all of them, -0.107 without numeric facts" in one_category
    assert direction.startswith("At 17 layers (12 to 28) one direction holds more than")
    assert "chat template" in template
    assert document_cautions(documents, unused_template=False) == [one_category, direction]
    assert drawn_title(documents, "anisotropy").endswith(
        "still 0.978 at layer 29, and 0.145 after the final norm"
    )


def drawn_title(documents: dict[str, Any], name: str) -> str:
    return draw(name, figures.numbers_of({"model": documents})).title


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    for name in checkpoint.SMOLLM2.sha256:
        (tmp_path / name).write_text("{}")
    with pytest.raises(LayerwiseError, match=r"model\.safetensors: the numbers are recorded for"):
        checkpoint.check(tmp_path)
    with pytest.raises(LayerwiseError, match="found no such file; remove the folder"):
        checkpoint.check(tmp_path / "nothing")


@pytest.mark.usefixtures("quick")
def test_a_plain_loop_has_the_numbers_of_a_run_and_sees_any_that_is_another() -> None:
    folder, pairs = twin_folder("gpt_neox"), read_pairs(EXAMPLE["pairs"])
    prompts = read_prompts(EXAMPLE["prompts"])
    result = layerwise.analyze(folder, **EXAMPLE)
    assert list(plain_loop.differences(result, folder, pairs, prompts)) == []
    moved = copy.deepcopy(result.documents)
    moved["gains"]["residual_gain_mean"] *= 1.001
    moved["anisotropy"]["intrinsic_dim_ratio"][2] += 1e-3
    moved["layers"]["strategies"]["layer_3"]["correlation"] *= -1
    moved["validation"]["travel"]["asymmetry"] += 1e-3
    other = SimpleNamespace(documents=moved, by_pair=result.by_pair)
    assert len(list(plain_loop.differences(other, folder, pairs, prompts))) == 4
