"""Gains of the attention and the MLP modules, and the scaling law of the last MLP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from layerwise.analyses import gain_files as files
from layerwise.analyses.documents import Draws, Replay
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import gains
from layerwise.statistics.student import Line, power_law

SCALING = files.RESULTS + "scaling_law_multi_pythia_results.json"
MODULES = {
    "pythia-1p4b": files.RESULTS + "ffn_expansion_results.json",
    "pythia-6p9b": files.RESULTS + "ffn_expansion_pythia69b_results.json",
}
HYPOTHESIS = "/hypothesis_test"


def derive(work: Replay, draws: Draws) -> None:
    """The fit over eight sizes, each size's summary, and the two layer-by-layer studies."""
    published = work.published
    work.start("family", published.document(SCALING), {"": (SCALING, "")})
    rows = range(len(work.documents["family"]["models"]))
    for row in rows:
        for name, compute in _of_model(published, pointer("models", row)).items():
            work.derive("family", f"{pointer('models', row)}/{name}", compute)
    for key, compute in _fit(published, rows).items():
        work.derive("family", key, compute)
    for document, file in MODULES.items():
        work.start(document, published.document(file), {"": (file, "")})
        for key, compute in _of_modules(published, file).items():
            work.derive(document, key, compute)
    for key, compute in _hypothesis(published, MODULES["pythia-1p4b"]).items():
        work.derive("pythia-1p4b", key, compute)


def _mlp(published: Published, key: str) -> list[float]:
    return files.numbers(published, SCALING, f"{key}/mlp_gains")


def _last(published: Published, key: str) -> float:
    n = files.length(published, SCALING, f"{key}/mlp_gains")
    return published.number(SCALING, f"{key}/mlp_gains/{n - 1}")


def contracting_pct(values: list[float]) -> float:
    """Percent of layers with a gain under one."""
    return gains.layer_counts(values)[0] / len(values) * 100


def _of_model(published: Published, key: str) -> dict[str, Callable[[], Any]]:
    def attention() -> list[float]:
        return files.numbers(published, SCALING, f"{key}/attn_gains")

    return {
        "last_layer_mlp_gain": lambda: _last(published, key),
        "attn_contracting_pct": lambda: contracting_pct(attention()),
        "mlp_contracting_pct": lambda: contracting_pct(_mlp(published, key)),
        "max_mlp_gain": lambda: max(_mlp(published, key)),
        "max_mlp_layer": lambda: int(np.argmax(_mlp(published, key))),
    }


def _fit(published: Published, rows: range) -> dict[str, Callable[[], Any]]:
    def law() -> Line:
        keys = [pointer("models", row) for row in rows]
        sizes = [float(published.number(SCALING, f"{key}/n_params")) for key in keys]
        return power_law(np.array(sizes), np.array([_last(published, key) for key in keys]))

    def difference() -> float:
        return abs(law().slope - published.number(SCALING, f"{HYPOTHESIS}/hypothesized_alpha"))

    return {
        "/n_models": lambda: len(rows),
        "/scaling_law/exponent_alpha": lambda: law().slope,
        "/scaling_law/exponent_std_err": lambda: law().slope_error,
        "/scaling_law/intercept": lambda: law().intercept,
        "/scaling_law/r_squared": lambda: law().r ** 2,
        "/scaling_law/p_value": lambda: law().p,
        f"{HYPOTHESIS}/measured_alpha": lambda: law().slope,
        f"{HYPOTHESIS}/difference": difference,
        # the file holds the word, not a boolean
        f"{HYPOTHESIS}/within_1_std_err": lambda: str(difference() < law().slope_error),
    }


def _of_modules(published: Published, file: str) -> dict[str, Callable[[], Any]]:
    def values(module: str) -> list[float]:
        return files.numbers(published, file, f"/{module}/gains")

    def extreme(choose: Callable[[list[float]], float], module: str) -> float:
        return choose(values(module))

    def count(module: str, side: int) -> int:
        return gains.layer_counts(values(module))[side]

    def net() -> tuple[int, int]:
        products = zip(values("attention"), values("mlp"), strict=True)
        return gains.layer_counts([attention * mlp for attention, mlp in products])

    statistics: dict[str, Callable[[], Any]] = {
        "/attention/L_star_min": lambda: int(np.argmin(values("attention"))),
        "/mlp/L_star_max": lambda: int(np.argmax(values("mlp"))),
        "/combined/n_net_contracting": lambda: net()[0],
        "/combined/n_net_expanding": lambda: net()[1],
    }
    for module in ("attention", "mlp"):
        statistics |= {
            f"/{module}/min_gain": partial(extreme, min, module),
            f"/{module}/max_gain": partial(extreme, max, module),
            f"/{module}/n_contracting": partial(count, module, 0),
            f"/{module}/n_expanding": partial(count, module, 1),
        }
    return statistics


def _hypothesis(published: Published, file: str) -> dict[str, Callable[[], Any]]:
    """Attention contracts in most layers and the MLP expands in most layers."""

    def most(module: str, expanding: bool) -> bool:
        found = files.numbers(published, file, f"/{module}/gains")
        return gains.majority(gains.layer_counts(found)[expanding], len(found))

    return {
        f"{HYPOTHESIS}/attention_contracts": lambda: most("attention", expanding=False),
        f"{HYPOTHESIS}/mlp_expands": lambda: most("mlp", expanding=True),
        f"{HYPOTHESIS}/hypothesis_confirmed": lambda: (
            most("attention", expanding=False) and most("mlp", expanding=True)
        ),
    }
