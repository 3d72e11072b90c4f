"""Answers are continuous: a number that moves in its interval moves a word by one step at most.

Steps lead from yes over all that is open to no, and so of marks from "holds" to "fails". Every
number of print that has an interval of its own is moved to both ends of it, and the questions that
read it are asked again: r at every layer of every curve, r over categories and bins, the gain of
every model, its asymmetry on neutral statements.
"""

import math
from collections import defaultdict

import numpy as np
import pytest
from synthetic import (
    HUNTED,
    NEUTRAL,
    SWEPT,
    ask_again,
    curve_cells,
    depth,
    entries,
    layers_of,
    matching,
    with_ua,
)

from judged import changed
from layerwise.engine.answer_words import NO, YES
from layerwise.engine.answers import read_answers
from layerwise.engine.central import read_central
from layerwise.engine.marks import FAILS, HOLDS, weigh
from layerwise.engine.published import split_pointer
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.result_files import CURVES
from layerwise.statistics.estimates import (
    correlation_estimate,
    mean_estimate,
    mean_estimate_from_moments,
)

STEP = {HOLDS: 2, YES: 2, FAILS: 0, NO: 0}  # all others are one


def moved_r(cells, values, end):
    """r at one end of its interval, which moves with it on Fisher's z."""
    r, *ends = values
    shift = math.atanh(end) - math.atanh(r)
    moved = [math.tanh(math.atanh(min(max(limit, -0.9999), 0.9999)) + shift) for limit in ends]
    return dict(zip(cells, (end, *moved), strict=True))


def moves_of_curves(published):
    for slug in CURVES:
        for layer in layers_of(published, slug):
            cells = curve_cells(slug, layer)
            values = [published.cells[cell] for cell in cells]
            for end in values[1:]:
                yield f"{slug} layer {layer} to {end:+.2f}", moved_r(cells, values, end)


def moves_over_categories(published):
    pattern = r"/models/[^/]+/layer_results/\d+/correlation"
    for key, r in matching(published, files.SCALING, pattern).items():
        estimate = correlation_estimate(r, 6, "categories")
        for end in (estimate.low, estimate.high):
            yield f"{key} to {end:+.2f}", {(files.SCALING, key): end}
    for layer in (8, 12, 32):
        cells = [
            (files.BINS, f"/bootstrap_results/{layer}/{name}")
            for name in ("r", "ci_lower", "ci_upper")
        ]
        values = [published.cells[cell] for cell in cells]
        for end in values[1:]:
            yield f"bins layer {layer} to {end:+.2f}", moved_r(cells, values, end)


def moves_of_asymmetry(published):
    for model, file in files.PAPER1.items():
        values = {
            name: published.cells[file, f"/{name}/uniformity_a"]
            - published.cells[file, f"/{name}/uniformity_b"]
            for name in NEUTRAL
        }
        estimate = mean_estimate([*values.values()], "categories")
        for end in (estimate.low, estimate.high):
            shifted = {name: value + end - estimate.value for name, value in values.items()}
            yield f"{model} neutral to {end:+.3f}", with_ua(published, model, shifted)


def moves_of_gains(published):
    for file, group in (SWEPT, HUNTED):
        for place, name in entries(published, file, group).items():
            block = f"{place}/all_layer_gains/{depth(published, file, place) - 2}"
            prompts = matching(published, file, rf"{place}/residual_gain_all/\d+")
            spread = published.cells.get((file, f"{place}/gain_no_ln_std"), 0.0)
            estimate = (
                mean_estimate([*prompts.values()], "prompts")
                if prompts
                else mean_estimate_from_moments(published.cells[file, block], spread, 5, "prompts")
            )
            for end in (estimate.low, estimate.high):
                shift = end - estimate.value
                cells = {(file, key): value + shift for key, value in prompts.items()}
                cells[file, block] = published.cells[file, block] + shift
                yield f"{name} gain to {end:.3f}", cells


def moves_of_benchmark(published):
    for file, names in (
        (files.BENCHMARK_ROWS, ("Model",)),
        (files.TWIN_ROWS, ("Family", "Variant")),
    ):
        rows = {}
        for key in matching(published, file, r"/\d+/Last_Gain"):
            start = key.rpartition("/")[0]
            labels = tuple(published.cells[file, f"{start}/{name}"] for name in names)
            rows.setdefault(labels, []).append(key)
        for labels, keys in rows.items():
            values = np.array([published.cells[file, key] for key in keys])
            estimate = mean_estimate(values, "prompts")
            for end in (estimate.low, estimate.high):
                shifted = values + end - estimate.value
                yield (
                    f"{' '.join(labels)} last gain to {end:.2f}",
                    {(file, key): value for key, value in zip(keys, shifted, strict=True)},
                )


def moves_of_lstar(published):
    """Every difference of the two errors moves as far as their mean may be off."""
    for place, name in entries(published, files.CROSS, "/results").items():
        for end in (-0.1, 0.1):
            key = f"{place}/L_star_empirical"
            blocks = published.cells[files.CROSS, f"{place}/L"]
            moved = published.cells[files.CROSS, key] + end * blocks
            yield f"L* of {name} by {end:+.0%}", {(files.CROSS, key): moved}


MOVES = {
    "curves": moves_of_curves,
    "categories": moves_over_categories,
    "asymmetry": moves_of_asymmetry,
    "gains": moves_of_gains,
    "benchmark": moves_of_benchmark,
    "lstar": moves_of_lstar,
}


def steps_of_marks(entries_of_list, answers):
    """{claim: step of its mark}."""
    return {
        entry["id"]: STEP.get(weigh(entry["asks"], answers).mark, 1) for entry in entries_of_list
    }


def steps_of_words(answers):
    """{(question, model, reading): (number, step of its word)}."""
    return {
        (name, model, reading): (answer.value, STEP.get(answer.word, 1))
        for name, by_model in answers.items()
        for model, by_reading in by_model.items()
        for reading, answer in by_reading.items()
    }


@pytest.fixture(scope="module")
def readers(works):
    """{cell: {(question, model, reading)}}: the answers that read a number."""
    reading = defaultdict(set)
    for place, cells in works["questions"].derived.items():
        question, _, key = place.partition(":")
        _, model, name, *_ = split_pointer(key)
        for cell in cells:
            reading[cell].add((question, model, name))
    return reading


def with_answers(answers, again):
    """Return the answers with some replaced."""
    merged = dict(answers)
    for name, by_model in again.items():
        of_question = merged[name] | {
            model: merged[name].get(model, {}) | readings for model, readings in by_model.items()
        }
        merged[name] = of_question
    return merged


@pytest.mark.long  # 300 moves, each asked again; nothing else moves them all
@pytest.mark.parametrize("kind", MOVES)
def test_a_number_that_moves_inside_its_interval_moves_each_word_by_one_step(
    kind, published, works, readers, root
):
    answers = read_answers({"questions": works["questions"].documents})
    central = read_central(root / "claims")
    asked = {ask["question"] for entry in central for ask in entry["asks"]}
    words, marks = steps_of_words(answers), steps_of_marks(central, answers)
    jumps, n_moves, n_moved = [], 0, 0
    for move, cells in MOVES[kind](published):
        places = defaultdict(set)
        for cell in cells:
            for question, model, reading in readers["#".join(cell)]:
                if question in asked:
                    places[question].add((model, reading))
        again = ask_again(changed(published, cells), places)
        moved_words = steps_of_words(again)
        n_moves += 1
        n_moved += any(value != words[at][0] for at, (value, _) in moved_words.items())
        after = steps_of_marks(central, with_answers(answers, again))
        jumps += [
            (move, at, words[at][1], step)
            for at, (_, step) in moved_words.items()
            if abs(step - words[at][1]) > 1
        ]
        jumps += [
            (move, claim, marks[claim], step)
            for claim, step in after.items()
            if abs(step - marks[claim]) > 1
        ]
    assert n_moves > 5
    assert n_moved > n_moves / 3  # the moves reach the answers
    assert jumps == []
