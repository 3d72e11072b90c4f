"""Beside a reader's answers: rounding noise in 16 bits, and what random weights answer."""

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

import made_answers
from layerwise import analyze
from layerwise.engine.question import (
    DrawnNumbers,
    ModelAnswers,
    compare_replicates,
    find_drawn,
    find_replicated,
    numbers_of_draws,
)
from layerwise.models.load import load_model, with_random_weights
from layerwise.models.replicates import Replicates
from layerwise.reader.measurement import Measurement
from layerwise.statistics.noise import band, draws_p
from made_answers import model_answers
from tiny_checkpoints import EXAMPLE, twin_folder


def answer(value: float, word: str = "yes", question: str = "late") -> ModelAnswers:
    return model_answers(made_answers.answer(word, value, None), question=question)


def test_replicates_give_an_answer_its_band_and_count_its_words() -> None:
    noisy = [[answer(0.51)], [answer(0.48, "undecided")], [answer(0.5)]]
    document = compare_replicates([answer(0.5)], noisy)
    found = find_replicated(document, "late")
    assert (found.n, found.same) == (3, 2)
    assert found.band == band(0.5, [0.51, 0.48, 0.5])
    assert find_replicated(document, "early") is None
    assert compare_replicates([answer(0.5)], []) == {}
    assert (
        compare_replicates([answer(0.5)], [[answer(0.5)], []])["answers"] == {}
    )  # one has no number


def test_random_weights_give_their_numbers_by_question_and_no_word() -> None:
    model = [answer(0.5), answer(0.1, "no", "early"), answer(0.0, "too few", "calibration")]
    document = numbers_of_draws(model, [[answer(0.4), answer(0.2, "yes", "early")], [answer(0.6)]])
    assert document["n"] == 2
    assert document["answers"] == {
        "late": {"drawn": [0.4, 0.6]},
        "early": {"drawn": [0.2]},
    }
    assert find_drawn(document, "late", 0.5) == DrawnNumbers(0.5, (0.4, 0.6))
    assert find_drawn(document, "calibration", 0.0) is None


def test_few_draws_give_no_p() -> None:
    assert DrawnNumbers(9.0, tuple(map(float, range(18)))).p is None
    assert DrawnNumbers(90.0, tuple(map(float, range(19)))).p == 1 / 20


def test_p_of_draws_is_that_of_every_number_against_the_mean_of_the_others() -> None:
    """And so a permutation p: of 20 numbers alike each value of p comes once."""
    numbers = np.random.default_rng(4).normal(size=20)

    def loop(place: int) -> float:
        far = [abs(x - np.mean(np.delete(numbers, n))) for n, x in enumerate(numbers)]
        return float(np.mean([other >= far[place] for other in far]))

    found = [draws_p(numbers[place], np.delete(numbers, place)) for place in range(20)]
    assert found == [loop(place) for place in range(20)]
    assert sorted(found) == pytest.approx([n / 20 for n in range(1, 21)])
    assert draws_p(1.0, [1.0] * 19) == 1


def test_random_weights_stand_beside_a_model_and_leave_it_alone() -> None:
    checkpoint = load_model(twin_folder("llama"), "float16", "cpu")
    before = {name: one.clone() for name, one in checkpoint.model.state_dict().items()}
    first, same, other = (with_random_weights(checkpoint, draw) for draw in (0, 0, 1))
    matrix = "model.layers.1.mlp.up_proj.weight"
    drawn = [one.model.state_dict()[matrix] for one in (first, same, other)]
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert drawn[0].dtype == torch.float16
    assert first.has_random_weights
    assert first.files is None
    for name, one in checkpoint.model.state_dict().items():
        assert torch.equal(one, before[name])


@pytest.mark.usefixtures("quick")
def test_a_reader_gets_both_beside_the_answers(tmp_path, monkeypatch) -> None:
    """Every replicate and every draw has a seed of its own."""
    seeds, disturbed = [], Replicates.disturbed

    def watched(replicates: Replicates, seed: int) -> Any:
        seeds.append(seed)
        return disturbed(replicates, seed)

    monkeypatch.setattr(Replicates, "disturbed", watched)
    result = analyze(
        twin_folder("gpt_neox", 5),
        **EXAMPLE,
        out=tmp_path,
        dtype="float16",
        replicates=2,
        control=2,
        without=["spectral"],
    )
    assert (tmp_path / "replicates.json").is_file()
    control = result.documents["control"]
    assert control["n"] == 2
    assert {len(one["drawn"]) for one in control["answers"].values()} == {2}
    first, second = control["answers"]["sign_change"]["drawn"]
    assert first != second
    assert len(set(seeds)) == len(seeds) == 2
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    n = len(control["answers"])
    assert page.count("<small>random weights: ") == n
    assert page.count("too few draws for a p (2 draws)") == n
    assert page.count('<circle class="random-draw"') == 2 * n
    assert "of 2 replicates answer the same" in page
    replicates = result.documents["replicates"]["answers"]
    bands = {name: answer["band"] for name, answer in replicates.items()}
    assert {name for name, band in bands.items() if not band} <= {"bell"}  # its p is 1


@pytest.mark.usefixtures("quick")
def test_where_memory_runs_out_for_random_weights_the_models_own_results_are_whole(
    tmp_path, monkeypatch
) -> None:
    """Those that were measured before count, and a warning says why the others are not there."""
    written: list[set[str]] = []

    def draw(checkpoint: Any, number: int) -> Any:
        written.append({path.name for path in tmp_path.iterdir()})
        if number:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return with_random_weights(checkpoint, number)

    monkeypatch.setattr("layerwise.reader.measurement.with_random_weights", draw)
    result = analyze(
        twin_folder("gpt_neox", 5), **EXAMPLE, out=tmp_path, control=3, without=["spectral"]
    )
    assert {"validation.json", "index.html"} <= written[0]
    assert (result.documents["control"]["n"], len(written)) == (1, 2)
    assert any("1 of 3" in caution and "out of memory" in caution for caution in result.cautions)
    assert result.folder == tmp_path


def test_no_more_than_one_draw_of_random_weights_is_in_memory(tmp_path, monkeypatch) -> None:
    there: list[StorageWeakRef] = []

    def draw(checkpoint: Any, number: int) -> Any:
        gc.collect()
        assert [one for one in there if not one.expired()] == []
        drawn = with_random_weights(checkpoint, number)
        there.extend(StorageWeakRef(one.untyped_storage()) for one in drawn.model.parameters())
        return drawn

    monkeypatch.setattr("layerwise.reader.measurement.with_random_weights", draw)
    monkeypatch.setattr(Measurement, "_measure", lambda self, checkpoint, *_: checkpoint.name)
    draws: Any = None
    published: Any = None
    prepared: Any = SimpleNamespace(times=4, request=SimpleNamespace(choices={"without": ()}))
    measurement = Measurement(prepared, draws, published)
    checkpoint = load_model(twin_folder("llama"), "float32", "cpu")
    assert len([*measurement.measure_random(checkpoint, 3, tmp_path)]) == 3
    assert there
