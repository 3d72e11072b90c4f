"""Two data sets of the published shape for every title: one that makes it true, one false.

They are made from the titles alone, by literal numbers and the shapes of the published files. No
question, range, bound or rule of the package is read here.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from synthetic import (
    HUNTED,
    NEUTRAL,
    SWEPT,
    depth,
    entries,
    heads_density,
    is_eleuther,
    jitter,
    matching,
    with_curve,
    with_rows,
    with_ua,
)

from layerwise.papers.shared import result_files as files

Cells = Mapping[tuple[str, str], Any]
Make = Callable[[Any], Cells]
NUMERIC, FACTS, BUSINESS = "ground_truth_numeric", "scientific_facts", "business"
OTHERS = ("gemma", "llama", "mistral")
PAPER_1 = (*OTHERS, "apertus")
PYTHIA, LLAMA, APERTUS, GEMMA = "pythia-6p9b", "llama-3p1-8b", "apertus-8b", "gemma-2b"
TURNING = (PYTHIA, LLAMA, APERTUS)
TEMPLATED = "llama-3p1-8b-instruct-template"
SIZES = ("Pythia-410M", "Pythia-1.4B", "Pythia-6.9B", "Pythia-12B")


# --- Paper 1: asymmetries by model and category ---------------------------------------------------


def asymmetries(by_model: Mapping[str, Mapping[str, float]]) -> Make:
    return lambda p: {
        cell: value
        for model, values in by_model.items()
        for cell, value in with_ua(p, model, values).items()
    }


def neutral(values: Mapping[str, float]) -> Make:
    """Every neutral category of a model around one value."""
    return asymmetries(
        {
            model: {name: value + 0.0005 * n for n, name in enumerate(NEUTRAL, start=-2)}
            for model, value in values.items()
        }
    )


def numeric(values: Mapping[str, float]) -> Make:
    """The numeric facts, beside five other categories around zero."""
    return asymmetries(
        {
            model: {name: 0.001 * n for n, name in enumerate(NEUTRAL, start=-2)} | {NUMERIC: value}
            for model, value in values.items()
        }
    )


def category(name: str, values: tuple[float, ...]) -> Make:
    """One category of the four models, in their order."""
    return asymmetries({model: {name: value} for model, value in zip(PAPER_1, values, strict=True)})


# --- Paper 2: curves over layers, r over categories and bins --------------------------------------


def curves(r: Mapping[str, Callable[[int], float]]) -> Make:
    return lambda p: {
        cell: value
        for slug, function in r.items()
        for cell, value in with_curve(p, slug, function).items()
    }


def turns(layers: Mapping[str, int], first: float = 0.5) -> Make:
    """Curves that change their sign behind a layer."""

    def curve(turn: int) -> Callable[[int], float]:
        return lambda layer: first if layer < turn else -first

    return curves({slug: curve(turn) for slug, turn in layers.items()})


def flat(values: Mapping[str, float]) -> Make:
    def curve(value: float) -> Callable[[int], float]:
        return lambda _: value

    return curves({slug: curve(value) for slug, value in values.items()})


def at_28(there: float, elsewhere: float) -> Make:
    return curves({APERTUS: lambda layer: there if layer == 28 else elsewhere})


def over_categories(mid: float, last: float) -> Make:
    """r over the six categories by layer, in every file that has it, and the six points."""

    def make(p: Any) -> Cells:
        cells: dict[tuple[str, str], Any] = {}
        pattern = r"/models/[^/]+/layer_results/(\d+)/correlation"
        for key in matching(p, files.SCALING, pattern):
            layer = int(re.fullmatch(pattern, key)[1])  # type: ignore[index]
            cells[files.SCALING, key] = mid if layer < 16 else last
        for file, group in ((files.BOOTSTRAP, "layer_results"), (files.BINS, "bootstrap_results")):
            for key in matching(p, file, rf"/{group}/\d+/(r|ci_lower|ci_upper)"):
                _, _, layer, name = key.split("/")
                r = mid if int(layer) < 16 else last
                cells[file, key] = r + {"r": 0.0, "ci_lower": -0.02, "ci_upper": 0.02}[name]
        file = files.UA_FILES[PYTHIA]
        for n, name in enumerate((*NEUTRAL, NUMERIC)):
            preference = (1.0 if last > 0 else -1.0) * n + 0.05 * (n % 2)
            cells[file, f"/{name}/uniformity_a"] = p.cells[file, f"/{name}/uniformity_b"] + 0.1 * n
            cells[file, f"/{name}/output_preference"] = preference
        return cells

    return make


def peaks(places: tuple[int, ...]) -> Make:
    """Of each size the sampled layer, from the first on or the last, where r is highest."""

    def make(p: Any) -> Cells:
        cells = {}
        for name, place in zip(SIZES, places, strict=True):
            pattern = rf"/models/{re.escape(name)}/layer_results/\d+/correlation"
            keys = [*matching(p, files.SCALING, pattern)]
            cells |= {(files.SCALING, key): 0.9 if key == keys[place] else 0.0 for key in keys}
        return cells

    return make


def profile(share: Callable[[int], float]) -> Make:
    def make(p: Any) -> Cells:
        keys = matching(p, files.ANISOTROPY, r"/intrinsic_dim_ratio/\d+")
        return {(files.ANISOTROPY, key): share(int(key.rpartition("/")[2])) for key in keys}

    return make


# --- Paper 3: gains of every block, weights, traces, critical layers ------------------------------


def gains(gain_of: Callable[[Any, str, str], float]) -> Make:
    """The gain of every block of every model, alike for all prompts but for a little."""

    def make(p: Any) -> Cells:
        cells: dict[tuple[str, str], Any] = {}
        for file, group in (SWEPT, HUNTED):
            for place in entries(p, file, group):
                gain = gain_of(p, file, place) + jitter(place)
                for key in matching(p, file, rf"{place}/all_layer_gains/\d+"):
                    cells[file, key] = gain
                for n, key in enumerate(matching(p, file, rf"{place}/residual_gain_all/\d+")):
                    cells[file, key] = gain + 1e-4 * (n % 3 - 1)
                for name in ("gain_no_ln_std", "gain_with_ln_std", "residual_gain_std"):
                    if (file, f"{place}/{name}") in p.cells:
                        cells[file, f"{place}/{name}"] = 1e-4
        return cells

    return make


def rows(file: str, gain_of: Callable[[Mapping[str, Any]], float]) -> Make:
    return lambda p: with_rows(p, file, gain_of)


def all_of(*makes: Make) -> Make:
    return lambda p: {cell: value for make in makes for cell, value in make(p).items()}


def by_lab(eleuther: float, others: float) -> Make:
    of_labs = gains(lambda p, file, place: eleuther if is_eleuther(p, file, place) else others)
    return all_of(of_labs, rows(files.GPT2, lambda _: others))


def norms(sign: int) -> Make:
    """W_V over W_O and the gain of each model: both rise, or the one falls as the other rises."""

    def make(p: Any) -> Cells:
        cells: dict[tuple[str, str], Any] = {}
        gain_by_name = {}
        for n, (place, name) in enumerate(entries(p, files.SPECTRAL, "/results").items()):
            gain_by_name[name] = 1 + sign * 0.1 * (n + 0.02 * n**2 - 3)
            for key in matching(p, files.SPECTRAL, rf"{place}/W_V_spectral_norm/\d+"):
                cells[files.SPECTRAL, key] = 2.0 + n
            for key in matching(p, files.SPECTRAL, rf"{place}/W_O_spectral_norm/\d+"):
                cells[files.SPECTRAL, key] = 1.0

        def gain_of(p: Any, file: str, place: str) -> float:
            name = p.cells[file, f"{place}/model"].rpartition("/")[2]
            return gain_by_name.get(name, 1.0)

        return cells | dict(gains(gain_of)(p))

    return make


def traces(expand: float, dampen: float) -> Make:
    def make(p: Any) -> Cells:
        cells = {}
        for place in entries(p, files.V2, "/results"):
            expands = p.cells[files.V2, f"{place}/behavior"] == "EXPAND"
            for n, key in enumerate(matching(p, files.V2, rf"{place}/traces_\w+/\d+")):
                cells[files.V2, key] = (expand if expands else dampen) * (1 + 0.01 * (n % 3))
        return cells

    return make


def critical(layer: Callable[[float, float], float]) -> Make:
    """L* by model: what the printed formula gives, or half of the depth."""

    def make(p: Any) -> Cells:
        cells = {}
        for n, place in enumerate(entries(p, files.CROSS, "/results")):
            blocks, heads = (p.cells[files.CROSS, f"{place}/{name}"] for name in ("L", "H"))
            formula = blocks * (0.11 + 0.012 * blocks + 4.9 / heads)
            cells[files.CROSS, f"{place}/L_star_empirical"] = layer(formula, blocks / 2) + 0.01 * n
        return cells

    return make


def shaped(gain_of: Callable[[float, float, float], float]) -> Make:
    """Gains by lab, density of heads and size, in models of shapes that tell these apart."""

    def make(p: Any) -> Cells:
        cells: dict[tuple[str, str], Any] = {}
        of_place = {}
        for file, group in (SWEPT, HUNTED):
            for n, place in enumerate(entries(p, file, group)):
                other = 0.0 if is_eleuther(p, file, place) else 1.0
                head = (100, 400, 200, 50)[n % 4]  # of all labs alike
                heads = round(head * (0.2 + 0.2 * other + 0.04 * (n % 3 - 1)))
                cells |= {
                    (file, f"{place}/n_heads"): heads,
                    (file, f"{place}/d_head"): head,
                    (file, f"{place}/d_model"): heads * head,
                }
                of_place[file, place] = gain_of(other, heads / head, float(heads * head))
        return cells | dict(gains(lambda _, file, place: of_place[file, place])(p))

    return make


BENCHMARK = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")


def benchmark(*values: float) -> Make:
    by_name = dict(zip(BENCHMARK, values, strict=True))
    return rows(files.BENCHMARK_ROWS, lambda row: by_name[row["Model"]])


def whole_sequence(gain: float) -> Make:
    """Llama's last gains of whole-sequence norms, text by text."""

    def make(p: Any) -> Cells:
        keys = matching(p, files.INPUTS, r"/results/[^/]+/gains/31")
        return {(files.INPUTS, key): gain + 0.01 * n for n, key in enumerate(keys)}

    return make


def tuned(gain_of: Callable[[str], float]) -> Make:
    """The gains of tuned models by family; those of their bases are two."""
    return rows(
        files.TWIN_ROWS, lambda row: 2.0 if row["Variant"] == "base" else gain_of(row["Family"])
    )


# Title: the data set that makes it true, and the one that makes it false.
TITLES: Mapping[str, tuple[Make, Make]] = {
    "Neutral statements: asymmetry near zero in most models": (
        neutral(dict.fromkeys(PAPER_1, 0.0)),
        neutral(dict.fromkeys(PAPER_1, 0.1)),
    ),
    "Neutral statements: asymmetry positive in Gemma and Apertus": (
        neutral({"gemma": 0.05, "apertus": 0.1}),
        neutral({"gemma": -0.05, "apertus": -0.1}),
    ),
    "Numeric facts: asymmetry below that of other categories, except in Apertus": (
        numeric(dict.fromkeys(OTHERS, -0.3) | {"apertus": 0.3}),
        numeric(dict.fromkeys(OTHERS, 0.3) | {"apertus": -0.3}),
    ),
    "Scientific facts: Apertus' asymmetry lies above that of the other models": (
        category(FACTS, (0.0, 0.002, -0.002, 0.3)),
        category(FACTS, (0.0, 0.002, -0.002, -0.3)),
    ),
    "Business: asymmetry positive over the models, lowest in Apertus": (
        category(BUSINESS, (0.05, 0.052, 0.048, 0.02)),
        category(BUSINESS, (-0.05, -0.052, -0.048, -0.02)),
    ),
    "Early layers: asymmetry and preference correlate positively": (
        turns(dict.fromkeys(TURNING, 20)),
        turns(dict.fromkeys(TURNING, 20), -0.5),
    ),
    "Late layers: asymmetry and preference correlate negatively": (
        turns(dict.fromkeys(TURNING, 14)),
        turns(dict.fromkeys(TURNING, 14), -0.5),
    ),
    "At least three of four models are negative at some late layer": (
        all_of(turns(dict.fromkeys(TURNING, 14)), flat({GEMMA: 0.3})),
        flat(dict.fromkeys((*TURNING, GEMMA), 0.3)),
    ),
    "Each model turns negative at a layer of its own": (
        turns({PYTHIA: 26, LLAMA: 6, APERTUS: 14}),
        turns(dict.fromkeys(TURNING, 14)),
    ),
    "Apertus correlates most negatively at layer 28, not the last": (
        at_28(-0.9, -0.2),
        at_28(-0.2, -0.9),
    ),
    "Gemma-2B is the exception and is shown not to invert late": (
        flat({GEMMA: 0.0}),
        flat({GEMMA: -0.5}),
    ),
    "With a chat template, asymmetry and preference correlate negatively in every layer": (
        flat({TEMPLATED: -0.5}),
        flat({TEMPLATED: 0.5}),
    ),
    "First law: deeper Pythia models have a smaller residual gain": (
        gains(lambda p, file, place: 3 - 0.05 * depth(p, file, place)),
        gains(lambda p, file, place: 1 + 0.05 * depth(p, file, place)),
    ),
    "Bound: no gain exceeds 10^(1/L) with L blocks": (
        gains(lambda *_: 0.9),
        gains(lambda *_: 3.0),
    ),
    "Second law: EleutherAI's models damp more often than other labs'": (
        by_lab(0.5, 2.0),
        by_lab(2.0, 0.5),
    ),
    "Third law: the larger W_V over W_O, the smaller the gain": (norms(-1), norms(1)),
    "Models with crowded attention heads damp more often": (
        gains(lambda p, file, place: 0.5 if heads_density(p, file, place) >= 0.2 else 2.0),
        gains(lambda p, file, place: 2.0 if heads_density(p, file, place) >= 0.2 else 0.5),
    ),
    "Expanding models have over twice the sheaf trace of damping ones": (
        traces(100.0, 1.0),
        traces(1.0, 100.0),
    ),
    "Critical layer: a formula predicts it better than half the depth": (
        critical(lambda formula, half: formula),
        critical(lambda formula, half: half),
    ),
    "Last-token gain: Pythia damps, Mistral expands, Llama more, Gemma most": (
        all_of(benchmark(0.8, 1.2, 1.6, 2.4), whole_sequence(1.6)),
        benchmark(2.4, 0.8, 0.7, 0.6),
    ),
    "Instruction tuning never turns damping into expansion or back": (
        tuned(lambda _: 1.5),
        tuned(lambda family: 0.7 if family == "Gemma-7B" else 1.5),
    ),
    "The gain correlates with the lab most, then head density, then size": (
        shaped(lambda other, density, width: 0.5 + other + 0.2 * density),
        shaped(lambda other, density, width: 0.5 + math.log(width) / 5),
    ),
    "Over random groups of pairs, both middle layers correlate positively": (
        over_categories(0.9, -0.9),
        over_categories(-0.9, 0.9),
    ),
    "Over six categories: positive at layer 8 or 12, negative last": (
        over_categories(0.97, -0.97),
        over_categories(-0.97, 0.97),
    ),
    "The layer of the highest correlation differs between model sizes": (
        peaks((0, -1, 0, -1)),
        peaks((0, 0, 0, 0)),
    ),
    "Pythia-6.9B correlates negatively over the six categories, at the last layer": (
        over_categories(0.0, -0.97),
        over_categories(0.0, 0.97),
    ),
    "Pythia's anisotropy rises to a peak and is lower later": (
        profile(lambda layer: 0.1 + 0.02 * min(layer, 33 - layer)),
        profile(lambda layer: 0.9 if layer == 2 else 0.1 + 0.01 * layer),
    ),
}
