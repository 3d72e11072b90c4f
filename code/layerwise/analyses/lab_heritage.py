"""Do a lab's models share the sign of the gain? (Paper 3, section 4.2)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from layerwise.analyses import gain_files as files
from layerwise.analyses import layer_norm_tests
from layerwise.analyses.documents import Draws, Replay
from layerwise.inputs.published import Published, pointer
from layerwise.statistics import contingency, gains
from layerwise.statistics.student import standard_error

ELEUTHER = "EleutherAI"
# What figure 2 shows as EleutherAI: the sweep's gain for the Pythia sizes, the hunt's for others.
FIGURE2 = ("pythia-1.4b", "pythia-2.8b", "pythia-6.9b", "gpt-neo-1.3B", "gpt-j-6B")
FIGURE3 = {
    "pythia-160m": ELEUTHER,
    "pythia-410m": ELEUTHER,
    "gpt-neo-125M": ELEUTHER,
    "opt-125m": "Meta",
    "opt-350m": "Meta",
    "bloom-560m": "BigScience",
}
# Figure 3 classes GPT-2 too, which no run of the papers measured; ours does.
UNPUBLISHED_GAIN = "/gpt2/gains/penultimate"  # of every prompt


def derive(work: Replay, draws: Draws) -> None:
    """Summaries of the hunt's labs, Fisher's test, the points of figures 2 and 3, GPT-2, GPT-J."""
    published = work.published
    work.start("hunt", published.document(files.HUNT), {"": (files.HUNT, "")})
    by_lab = files.labs(published)
    for keys in by_lab.values():
        for key in keys:
            work.derive("hunt", f"{key}/gain_no_ln_mean", files.gain, published, files.HUNT, key)
            work.derive("hunt", f"{key}/gain_with_ln_mean", _last, published, key)
            work.derive("hunt", f"{key}/is_dampening", _dampens, published, key)
    for lab, keys in by_lab.items():
        place = pointer("h26_lab_signatures", lab)
        for name in gains.lab_summary(np.ones(1)):
            work.derive("hunt", f"{place}/{name}", _summary, published, keys, name)
        work.derive("hunt", f"/n_models/{lab}", len, keys)
    for statistics in (_shares, _tables, _figures):
        for name, compute in statistics(published, by_lab).items():
            work.derive("hunt", f"/{name}", compute)
    layer_norm_tests.derive(work, draws)


def means(published: Published, keys: Sequence[str]) -> np.ndarray:
    """Mean gains of some of the hunt's models."""
    return np.array(files.gains_of(published, files.HUNT, keys))


def table(
    published: Published, by_lab: Mapping[str, Sequence[str]], decimals: int | None = None
) -> np.ndarray:
    """[damping, expanding] of EleutherAI and of the other labs."""
    return gains.sign_table(
        means(published, by_lab[ELEUTHER]).tolist(),
        means(published, others(by_lab)).tolist(),
        decimals,
    )


def fisher_p(counts: np.ndarray) -> float:
    """p of Fisher's exact test; 1 with an empty row or column, as no other table has such sums."""
    return contingency.fisher_exact(counts) if _all_filled(counts) else 1.0


def others(by_lab: Mapping[str, Sequence[str]]) -> list[str]:
    """Keys of the models of every lab but EleutherAI."""
    return [key for lab, keys in by_lab.items() if lab != ELEUTHER for key in keys]


def _all_filled(counts: np.ndarray) -> bool:
    return bool(counts.sum(axis=0).all() and counts.sum(axis=1).all())


def _last(published: Published, key: str) -> float:
    return files.layer_gain(published, files.HUNT, key, before_last=0)


def _dampens(published: Published, key: str) -> bool:
    return gains.dampens(files.gain(published, files.HUNT, key))


def _summary(published: Published, keys: Sequence[str], name: str) -> Any:
    if name == "std_gain" and len(keys) == 1:
        return 0.0  # whatever the one gain is
    return gains.lab_summary(means(published, keys))[name]


def _shares(
    published: Published, by_lab: Mapping[str, Sequence[str]]
) -> dict[str, Callable[[], Any]]:
    gpt2 = files.rows_of(published, files.GPT2, "Model")

    def expanding(keys: Sequence[str], decimals: int | None = None) -> list[bool]:
        return [not gains.dampens(gain, decimals) for gain in means(published, keys).tolist()]

    def percent(keys: Sequence[str], decimals: int | None = None) -> int | float:
        return gains.percent(expanding(keys, decimals))

    def with_gpt2(keys: Sequence[str], decimals: int | None = None) -> int | float:
        found = layer_norm_tests.gpt2_means(published, gpt2)
        openai = [not gains.dampens(gain, decimals) for gain in found]
        return gains.percent(expanding(keys, decimals) + openai)

    def only_eleuther() -> bool:
        average = {lab: float(np.mean(means(published, keys))) for lab, keys in by_lab.items()}
        return [lab for lab in by_lab if gains.dampens(average[lab])] == [ELEUTHER]

    statistics: dict[str, Callable[[], Any]] = {
        "dampen_pct": lambda: gains.percent([not e for e in expanding(by_lab[ELEUTHER])]),
        "expand_pct_others": partial(percent, others(by_lab)),
        "expand_pct_others_rounded": partial(percent, others(by_lab), 2),
        "expand_pct_meta_openai": partial(with_gpt2, by_lab["Meta"]),
        "expand_pct_meta_openai_rounded": partial(with_gpt2, by_lab["Meta"], 2),
        "only_eleuther_below_1": only_eleuther,
        "h26_verdict": lambda: gains.signatures_verdict(
            [_summary(published, keys, "signature") for keys in by_lab.values()]
        ),
    }
    for lab, keys in by_lab.items():
        statistics[f"expand_pct/{lab}"] = partial(percent, keys)
        statistics[f"expand_pct_rounded/{lab}"] = partial(percent, keys, 2)
    return statistics


def _tables(
    published: Published, by_lab: Mapping[str, Sequence[str]]
) -> dict[str, Callable[[], Any]]:
    """The table of signs in its readings, and the p of each."""
    hunted = files.models(published, files.HUNT)
    swept = files.models(published, files.SWEEP)
    unhunted = [key for name, key in swept.items() if name not in hunted]

    def final_norm() -> np.ndarray:
        eleuther, rest = (
            [_last(published, key) for key in keys] for keys in (by_lab[ELEUTHER], others(by_lab))
        )
        return gains.sign_table(eleuther, rest)

    def pooled() -> np.ndarray:
        sweep = files.gains_of(published, files.SWEEP, unhunted)
        eleuther = means(published, by_lab[ELEUTHER]).tolist() + sweep
        return gains.sign_table(eleuther, means(published, others(by_lab)).tolist())

    def fisher(make: Callable[[], np.ndarray]) -> str:
        return gains.p_text(fisher_p(make()))

    def chi_square(counts: np.ndarray) -> str:
        filled = _all_filled(counts)
        return gains.p_text(contingency.chi_square_p(counts)) if filled else files.UNDEFINED

    rounded = partial(table, published, by_lab, 2)
    statistics: dict[str, Callable[[], Any]] = {
        "fisher/hunt": partial(fisher, partial(table, published, by_lab)),
        "fisher/rounded": partial(fisher, rounded),
        "fisher/final_norm": partial(fisher, final_norm),
        "fisher/pooled": partial(fisher, pooled),
        "chi_square_rounded": lambda: chi_square(rounded()),
    }
    return statistics


def _figures(
    published: Published, by_lab: Mapping[str, Sequence[str]]
) -> dict[str, Callable[[], Any]]:
    sweep, hunt = (files.models(published, file) for file in (files.SWEEP, files.HUNT))

    def drawn(model: str) -> float:
        if model in sweep:
            return files.gain(published, files.SWEEP, sweep[model])
        return files.gain(published, files.HUNT, hunt[model])

    def word(gain: float) -> str:
        return "DAMPEN" if gains.dampens(gain) else "EXPAND"

    def measured(model: str) -> str:
        return word(drawn(model))

    def eleuther() -> np.ndarray:
        return np.array([round(drawn(model), 3) for model in FIGURE2])

    def average(keys: Sequence[str]) -> str:
        return word(float(np.mean(means(published, keys))))

    def error(keys: Sequence[str]) -> float:
        return standard_error(means(published, keys))

    statistics: dict[str, Callable[[], Any]] = {
        "figure2/mean": lambda: float(np.mean(eleuther())),
        "figure2/se": lambda: standard_error(eleuther()),
    }
    for lab, keys in by_lab.items():
        if len(keys) > 1:
            statistics[f"se/{lab}"] = partial(error, keys)
    for model, lab in FIGURE3.items():
        statistics[f"figure3/{model}"] = partial(measured, model)
        statistics[f"figure3_lab/{model}"] = partial(average, by_lab[lab])
    if gpt2 := files.numbers(published, "beyond/hunt", UNPUBLISHED_GAIN):
        statistics["figure3/gpt2"] = lambda: word(float(np.mean(gpt2)))
    return statistics
