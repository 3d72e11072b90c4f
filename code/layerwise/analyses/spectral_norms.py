"""Spectral norms of the attention projections (Paper 3, section 4.3) and the OPT investigation."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ne

import numpy as np

from layerwise.analyses.derivation import Document, Rule, Rules
from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.gain_files import HUNT, SWEEP, R
from layerwise.statistics.correlation import pearson_p, pearson_r
from layerwise.statistics.ranks import mann_whitney

SPECTRAL = R + "restriction_map_spectral_20260105_202448.json"
OPT = R + "OPT_anomaly_20260106_013155.json"
MODELS = (
    "pythia-160m", "pythia-410m", "gpt-neo-125M", "opt-125m", "opt-350m", "bloom-560m", "gpt2",
)  # fmt: skip
INVESTIGATED = ("opt-125m", "gpt2", "pythia-160m")
MATRICES = ("W_V", "W_O", "W_Q", "W_K")
LEVEL = 0.05  # of significance: the paper's prediction is read as a correlation

OfModel = Callable[[Entry], float]
ELEUTHER, META = "EleutherAI", "Meta"


def one_digit(value: float) -> int:
    """A number over 1 with one significant digit, as printed after a tilde."""
    return int(float(f"{value:.0e}"))


def moment(m: Entry, matrix: str, of: Callable[[np.ndarray], np.floating] = np.mean) -> float:
    """Mean (or population SD) over the layers, in single precision like the norms."""
    return float(of(m[f"{matrix}_spectral_norm"][:].astype(np.float32)))


def value(m: Entry) -> float:
    """Layer mean of W_V."""
    return moment(m, "W_V")


def ratio(m: Entry) -> float:
    """Layer mean of W_V over layer mean of W_O."""
    return value(m) / moment(m, "W_O")


def mean_of_ratios(m: Entry) -> float:
    """Layer mean of W_V over W_O, layer by layer."""
    return float(np.mean(m.W_V_spectral_norm[:] / m.W_O_spectral_norm[:]))


def late_square(m: Entry) -> float:
    """Mean squared spectral norm of W_V over the last third of the layers."""
    n = len(m.W_V_spectral_norm)
    return float(np.mean(m.W_V_spectral_norm[n - n // 3 :] ** 2))


def attention(m: Entry) -> Entry:
    """What the OPT investigation measured of a model's attention."""
    return m.of(OPT).attention_analysis[m.model]


def layer_mean(values: Entry) -> float:
    """Mean over the layers that have a number: half precision left some NaN; NaN for none."""
    numbers = values[:][~np.isnan(values[:])]
    return float(np.mean(numbers)) if len(numbers) else np.nan


# --- over the models ---


def of_lab(e: Evidence, is_lab: Callable[[str, str], bool], lab: str) -> list[Entry]:
    """The models that are (or are not) of a lab."""
    return [m for m in e[SPECTRAL].results if is_lab(m.lab, lab)]


def pythia(e: Evidence) -> list[Entry]:
    """The Pythia models."""
    return [m for m in e[SPECTRAL].results if "/pythia-" in m.model]


def quotient(of: OfModel, above: list[Entry], below: list[Entry]) -> float:
    """Mean over some models over the mean over others."""
    return float(np.mean([of(m) for m in above]) / np.mean([of(m) for m in below]))


def lab_test(e: Evidence) -> tuple[float, float]:
    """U and p of the mean W_V norm, EleutherAI against the others."""
    above, below = (of_lab(e, is_lab, ELEUTHER) for is_lab in (eq, ne))
    return mann_whitney(*(np.array([value(m) for m in models]) for models in (above, below)))


def gained(e: Evidence) -> list[tuple[Entry, Entry, str]]:
    """Each model that has a residual gain of the last but one block: where, in sweep or hunt."""
    places = {
        m.model.rpartition("/")[2]: (m, name)
        for models, name in (
            (e[HUNT].tested_results, "gain_no_ln_mean"),
            (e[SWEEP].models, "residual_gain_mean"),
        )
        for m in models
    }
    named = [(m, m.model.rpartition("/")[2]) for m in e[SPECTRAL].results]
    return [(m, *places[name]) for m, name in named if name in places]


def prediction(e: Evidence) -> tuple[float, float]:
    """r and p of the ratio with the residual gain."""
    models = gained(e)
    r = pearson_r(
        np.array([ratio(m) for m, _, _ in models]), np.array([at[name] for _, at, name in models])
    )
    return r, float(pearson_p(r, len(models)))


def frobenius_ratio(e: Evidence) -> float:
    """GPT-2 over OPT-125m."""
    above, below = (e[OPT].W_V_analysis[name] for name in ("gpt2", "facebook/opt-125m"))
    return above.mean_frobenius / below.mean_frobenius


OF_MODEL: dict[str, Rule] = {
    f"{matrix}_{name}_spectral": lambda m, matrix=matrix, of=of: moment(m, matrix, of)
    for matrix in MATRICES
    for name, of in (("mean", np.mean), ("std", np.std))
} | {
    "W_V_over_W_O": ratio,
    # of the layer means as figure 3 prints them
    "ratio_of_rounded": lambda m: round(value(m), 2) / round(moment(m, "W_O"), 2),
    "mean_of_ratios": mean_of_ratios,
    "W_V_mean_frobenius": lambda m: float(np.mean(m.W_V_frobenius_norm[:])),
}
OF_ATTENTION: dict[str, Rule] = {
    "attention/mean_entropy": lambda m: layer_mean(attention(m).entropy_by_layer),
    "attention/mean_sparsity": lambda m: layer_mean(attention(m).sparsity_by_layer),
}
STUDY: Rules = {
    "value_ratio": lambda e: round(quotient(value, of_lab(e, eq, ELEUTHER), of_lab(e, eq, META))),
    "value_to_output_ratio": lambda e: round(quotient(ratio, pythia(e), of_lab(e, eq, META))),
    "mann_whitney/u": lambda e: lab_test(e)[0],
    "mann_whitney/p": lambda e: lab_test(e)[1],
    "prediction/r": lambda e: prediction(e)[0],
    "prediction/p": lambda e: prediction(e)[1],
    "prediction/predicts": lambda e: prediction(e)[1] < LEVEL,
    "late_square_ratio/others": lambda e: one_digit(
        quotient(late_square, pythia(e), of_lab(e, ne, ELEUTHER))
    ),
    "late_square_ratio/meta": lambda e: one_digit(
        quotient(late_square, pythia(e), of_lab(e, eq, META))
    ),
    "frobenius_ratio": frobenius_ratio,
}


def document(model: str) -> Document:
    """One model's norms, and its attention where the OPT investigation looked at it."""

    def of(e: Evidence) -> Entry:
        return e[SPECTRAL].results.row(model=model)

    if model not in INVESTIGATED:
        return Document(of, {"": OF_MODEL})
    places = {"": of, "/attention": lambda e: attention(of(e))}
    return Document(
        of,
        {"": OF_MODEL | OF_ATTENTION},
        places=lambda e: {key: entry(e).cell for key, entry in places.items()},
        shows={""},
    )


DOCUMENTS = {model: document(model) for model in MODELS} | {"study": Document(None, {"": STUDY})}
