"""Does the density of heads foretell whether a model damps? (Paper 3, section 5.4, appendix B)"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from layerwise.analyses import gain_files as files
from layerwise.analyses.documents import Draws, Replay
from layerwise.analyses.once_measured import once_measured
from layerwise.inputs.published import Published
from layerwise.statistics import gains
from layerwise.statistics.correlation import pearson_p, pearson_r

DOCUMENTS = {"family": files.SWEEP, "hunt": files.HUNT, "clean": files.CLEAN}
PAIR = ("pythia-6.9b", "gpt-j-6B")
Selection = list[tuple[str, str]]  # file and key of each model


def derive(work: Replay, draws: Draws) -> None:
    """The density rule within the Pythia family, on the hunt's models, on the pair, on all."""
    published = work.published
    keys = {file: files.models(published, file) for file in DOCUMENTS.values()}
    for document, file in DOCUMENTS.items():
        work.start(document, published.document(file), {"": (file, "")})
        for key in keys[file].values():
            for name, compute in _of_model(published, file, key).items():
                work.derive(document, f"{key}/{name}", compute)
        models = [(file, key) for key in keys[file].values()]
        for name, compute in _over_models(published, models).items():
            work.derive(document, f"/density_rule/{name}", compute)
    for document, statistics in _saved(published, keys).items():
        for name, compute in statistics.items():
            work.derive(document, name, compute)
    work.start("pooled", {}, {})
    # The model that is in both has more prompts in the sweep.
    union = {
        name: (file, key) for file in (files.HUNT, files.SWEEP) for name, key in keys[file].items()
    }
    pooled = list(union.values())
    work.derive("pooled", "/n_models", _measured_models, published, keys, pooled)
    for name, compute in _over_models(published, pooled).items():
        work.derive("pooled", f"/density_rule/{name}", compute)


def read(published: Published, models: Selection) -> tuple[list[float], list[float]]:
    """Densities and mean gains of the models."""
    densities = [files.density(published, file, key) for file, key in models]
    return densities, [files.gain(published, file, key) for file, key in models]


def count(published: Published, keys: Mapping[str, Mapping[str, str]]) -> int:
    """Models of the sweep and the hunt, each once whoever is named as its owner."""
    return len(
        {
            str(published[file, f"{key}/model"]).split("/")[-1]
            for file in (files.SWEEP, files.HUNT)
            for key in keys[file].values()
        }
    )


def _measured_models(
    published: Published, keys: Mapping[str, Mapping[str, str]], models: Selection
) -> int:
    return once_measured(published, lambda: read(published, models), count(published, keys))


def _of_model(published: Published, file: str, key: str) -> dict[str, Callable[[], Any]]:
    def gain() -> float:
        return files.gain(published, file, key)

    statistics: dict[str, Callable[[], Any]] = {
        "rho": lambda: files.density(published, file, key),
        "class": lambda: "DAMPEN" if gains.dampens(gain()) else "EXPAND",
    }
    if file == files.CLEAN:
        last = "gain_with_ln_mean"
        statistics |= {
            "gain_no_ln_mean": gain,
            last: lambda: files.layer_gain(published, file, key, before_last=0),
            "is_dampening_no_ln": lambda: gains.dampens(gain()),
        }
    if file == files.HUNT:

        def right() -> bool:
            densities, found = read(published, [(file, key)])
            return gains.density_accuracy(densities, found) == 1

        statistics["h25_prediction_correct"] = right
    return statistics


def _over_models(published: Published, models: Selection) -> dict[str, Callable[[], Any]]:
    def right(densities: list[float], found: list[float]) -> list[bool]:
        pairs = zip(densities, found, strict=True)
        return [gains.density_accuracy([density], [gain]) == 1 for density, gain in pairs]

    def right_behind_norm() -> list[bool]:
        densities = [files.density(published, file, key) for file, key in models]
        last = [files.layer_gain(published, file, key, before_last=0) for file, key in models]
        return right(densities, last)

    return {
        "accuracy_pct": lambda: gains.percent(right(*read(published, models))),
        "accuracy_pct_final_norm": lambda: gains.percent(right_behind_norm()),
        "constant_accuracy": lambda: gains.constant_accuracy(
            [files.gain(published, file, key) for file, key in models]
        ),
        "explains": lambda: gains.density_explains(*read(published, models)),
    }


def _saved(
    published: Published, keys: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, Callable[[], Any]]]:
    def of(file: str) -> tuple[list[float], list[float]]:
        return read(published, [(file, key) for key in keys[file].values()])

    def r(file: str) -> float:
        densities, found = of(file)
        return pearson_r(np.array(densities), np.array(found))

    def p(file: str) -> float:
        return float(pearson_p(r(file), len(keys[file])))

    def as_foretold(high: bool) -> float | str:
        chosen = [
            key
            for key in keys[files.SWEEP].values()
            if (files.density(published, files.SWEEP, key) >= gains.DENSITY_LIMIT) == high
        ]
        if not chosen:
            return files.UNDEFINED
        found = files.gains_of(published, files.SWEEP, chosen)
        return gains.share([gains.dampens(gain) == high for gain in found])

    def separating() -> list[float] | str:
        densities, found = of(files.SWEEP)
        separable = gains.separable(densities, found)
        return gains.separating_interval(densities, found) if separable else files.UNDEFINED

    def accuracy(file: str) -> float:
        return gains.density_accuracy(*of(file))

    def ratio() -> float:
        first, second = (files.density(published, files.HUNT, keys[files.HUNT][m]) for m in PAIR)
        return first / second

    return {
        "family": {
            "/analysis/rho_gain_correlation": lambda: r(files.SWEEP),
            "/analysis/correlation_p_value": lambda: p(files.SWEEP),
            "/analysis/high_rho_dampen_rate": lambda: as_foretold(True),
            "/analysis/low_rho_expand_rate": lambda: as_foretold(False),
            "/separating_interval": separating,
        },
        "hunt": {
            "/h25_accuracy": lambda: accuracy(files.HUNT),
            "/h25_verdict": lambda: gains.density_verdict(accuracy(files.HUNT)),
            "/density_ratio": ratio,
            "/rho_gain": lambda: {"r": r(files.HUNT), "p": p(files.HUNT)},
        },
        "clean": {
            "/h25_accuracy": lambda: 100 * accuracy(files.CLEAN),
            "/h25_verdict": lambda: gains.density_verdict(accuracy(files.CLEAN)),
        },
    }
