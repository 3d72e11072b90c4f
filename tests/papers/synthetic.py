"""Published numbers with other values in their places: data of the published shape and size."""

import math
import re

import numpy as np

from judged import DRAWS
from layerwise.engine.answers import read_answers
from layerwise.engine.derivation import Document, derive
from layerwise.engine.derivation import evidence_of as evidence_of_tables
from layerwise.engine.published import DECIDES
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.result_files import CURVES

NEUTRAL = (
    "ground_truth_nonnumeric",
    "tech_philosophy",
    "lifestyle",
    "business",
    "scientific_facts",
)


def evidence(numbers):
    """What the questions read of published numbers."""
    return evidence_of_tables(numbers, DRAWS, TABLES)


def ask_again(numbers, places):
    """Answer some questions, {question: {(model, reading)}}, on these numbers."""
    read = evidence(numbers)
    tables = {}
    for name, asked in places.items():
        question = QUESTIONS[name]
        rules = {
            f"models/{model}/{reading}": rule
            for model, entry in question.models(read).items()
            for reading, rule in question.rules(entry).items()
            if (model, reading) in asked
        }
        tables[name] = Document(None, {"": rules})
    return read_answers({"questions": derive(tables, read).documents})


def ask_all(numbers, names, readings=None):
    """Answer some questions of every model, by these readings, or by all."""
    read = evidence(numbers)
    places = {
        name: {
            (model, reading)
            for model in QUESTIONS[name].models(read)
            for reading in readings or QUESTIONS[name].readings
        }
        for name in names
    }
    return ask_again(numbers, places)


def ask_deciding(numbers, name):
    """{model: answer} of one question, by the reading that decides, where print has it."""
    by_model = ask_all(numbers, [name], [DECIDES])[name]
    return {model: answers[DECIDES] for model, answers in by_model.items() if answers}


def matching(published, file, pattern):
    """{key: value} of the numbers of a file whose key fits."""
    fits = re.compile(pattern)
    return {
        key: value
        for (name, key), value in published.cells.items()
        if name == file and fits.fullmatch(key) and isinstance(value, int | float)
    }


def with_ua(published, model, values):
    """The asymmetries {category: value} of one model of Paper 1, by their first side."""
    file = files.PAPER1[model]
    return {
        (file, f"/{name}/uniformity_a"): published.cells[file, f"/{name}/uniformity_b"] + value
        for name, value in values.items()
    }


def curve_cells(slug, layer):
    """The places of r and of the ends of its interval."""
    place = CURVES[slug]
    start = f"/{place.group}/{layer}" + (f"/{place.metric}" if place.metric else "")
    return [(place.file, f"{start}/{name}") for name in ("r", *place.names)]


def layers_of(published, slug):
    """The sampled layers of a curve."""
    place = CURVES[slug]
    metric = f"/{place.metric}" if place.metric else ""
    pattern = rf"/{place.group}/(\d+){metric}/r"
    cells = matching(published, place.file, pattern)
    return sorted(int(re.fullmatch(pattern, key)[1]) for key in cells)


def with_curve(published, slug, r, half=0.1):
    """A curve whose r, by layer, has intervals of this half width on z."""
    cells = {}
    for layer in layers_of(published, slug):
        z = math.atanh(r(layer))
        ends = r(layer), math.tanh(z - half), math.tanh(z + half)
        cells |= dict(zip(curve_cells(slug, layer), ends, strict=True))
    return cells


def entries(published, file, group):
    """{place: model} of a list of models."""
    models = {}
    for (name, key), value in published.cells.items():
        match = name == file and re.fullmatch(rf"({group}/\d+)/model", key)
        if match:
            models[match[1]] = value.rpartition("/")[2]
    return models


SWEPT, HUNTED = (files.SWEEP, "/models"), (files.HUNT, "/tested_results")


def with_gain(published, file, place, gain, spread=1e-4):
    """One model of sweep or survey whose gain has this mean and a small spread over the prompts."""
    blocks = matching(published, file, rf"{place}/all_layer_gains/\d+")
    cells = {(file, f"{place}/all_layer_gains/{len(blocks) - 2}"): gain}
    prompts = matching(published, file, rf"{place}/residual_gain_all/\d+")
    for n, key in enumerate(prompts):
        cells[file, key] = gain + spread * ((n % 3) - 1)
    for key in ("gain_no_ln_std", "residual_gain_std"):
        if (file, f"{place}/{key}") in published.cells:
            cells[file, f"{place}/{key}"] = spread
    return cells


def with_gains(published, gain_of, *, samples=(SWEPT, HUNTED)):
    """All models of sweep or survey, each with the gain of its place in its file."""
    cells = {}
    for file, group in samples:
        for place in entries(published, file, group):
            cells |= with_gain(published, file, place, gain_of(file, place))
    return cells


def with_rows(published, file, gain_of, key="Last_Gain"):
    """The rows of the benchmark, or of tuned models, with the gain of each."""
    rows = {}
    for name, at in published.cells:
        if name == file and (match := re.fullmatch(r"/(\d+)/(\w+)", at)):
            rows.setdefault(match[1], {})[match[2]] = published.cells[name, at]
    return {
        (file, f"/{n}/{key}"): gain_of(row) + 0.01 * (int(n) % 3 - 1) for n, row in rows.items()
    }


def number(published, file, key):
    return published.cells[file, key]


def depth(published, file, place):
    return len(matching(published, file, rf"{place}/all_layer_gains/\d+"))


def heads_density(published, file, place):
    return number(published, file, f"{place}/n_heads") / number(published, file, f"{place}/d_head")


def size(published, file, place):
    width = number(published, file, f"{place}/d_model")
    return math.log(12 * depth(published, file, place) * width**2)


def is_eleuther(published, file, place):
    return file == files.SWEEP or published.cells[file, f"{place}/lab"] == "EleutherAI"


def jitter(place):
    """A small number of its own for each model, so that nothing correlates perfectly."""
    return 1e-3 * float(np.sin(1 + int(re.search(r"\d+", place)[0])))
