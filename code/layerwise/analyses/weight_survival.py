"""Paper 3's claims that rest on slices of weights, on how a NaN is read, on a norm, on a gain.

The notebooks cut the fused query-key-value matrices at the wrong rows, their argmax stops at the
first NaN, their last layer stands behind the final norm, and each has its own definition of the
last gain, with that norm or without. The experiments measure every reading of each; here they are
set side by side.
"""

from collections.abc import Collection, Mapping

import numpy as np

from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.survival import Row, bell_row
from layerwise.inputs.measured import BEYOND
from layerwise.inputs.result_files import PROFILES
from layerwise.statistics.gains import dampens
from layerwise.statistics.survival import Finding, compare

BELL = f"{BEYOND}aniso"  # has the share of the last layer before the final norm
GAINS = "gains"  # the last gain of every prompt, by its definition
PRINTED_GAIN = {  # the definition that the files of an experiment have
    **dict.fromkeys(("sweep", "hunt", "clean"), "penultimate"),
    **dict.fromkeys(("bench", "twin", "gpt2_ln", "gptj"), "last_block_rounded"),
    **dict.fromkeys(("fourmodel", "mistral", "inputdep"), "sequence"),
    "llama23": "token_final_norm",
    "perhead": "last_block",
}
NO_LAST_GAIN = "total_amplification"  # of the last block over the first
LEGACY, CORRECT = "legacy", "correct"
LAYER, GUARDED = "L_star", "_guarded"  # names of critical layers, and of those found without NaN
VALUE, OUTPUT = "W_V", "W_O"  # mean spectral norms


def rows(evidence: Evidence) -> dict[str, list[Row]]:
    """By model, of which both readings were measured.

    Read is `beyond/<experiment>` at `/<slug>` where it has `legacy` and `correct`, each flat, or
    `gains`.
    """
    both: dict[str, dict[str, Entry]] = {}
    gains: dict[str, dict[str, Entry]] = {}
    for file in evidence.cells.files():
        for slug, entry in evidence[file].items() if file.startswith(BEYOND) else ():
            experiment = file.removeprefix(BEYOND)
            if {LEGACY, CORRECT} <= set(entry):
                both.setdefault(slug, {})[experiment] = entry
            if GAINS in entry:
                gains.setdefault(slug, {})[experiment] = entry[GAINS]
    found = {slug: _norms(of) + _layers(of) for slug, of in both.items()}
    for slug, experiments in gains.items():
        found.setdefault(slug, []).append(_damping(experiments))
    for slug, entry in evidence[BELL].items() if evidence.cells.keys(BELL) else ():
        shares = evidence[PROFILES[slug]].intrinsic_dim_ratio[:].tolist()
        found.setdefault(slug, []).append(bell_row(shares, entry.last_share_before_norm))
    return {slug: of for slug, of in found.items() if of}


def _norms(experiments: Mapping[str, Entry]) -> list[Row]:
    """Is the mean spectral norm of W_V above that of W_O?"""

    def finding(norms: Entry) -> Finding:
        ratio = norms[VALUE] / norms[OUTPUT]
        return Finding(float(ratio), bool(ratio > 1), f"W_V {'>' if ratio > 1 else '<='} W_O")

    return [
        compare("spectral_norms", "correct_slices", *map(finding, readings), signed=False)
        for readings in ((entry[LEGACY], entry[CORRECT]) for entry in experiments.values())
        if {VALUE, OUTPUT} <= set(readings[0])
    ]


def _layers(experiments: Mapping[str, Entry]) -> list[Row]:
    """Every definition's critical layer, of the published reading and of the others."""
    legacy, correct, guarded = (
        {
            f"{experiment} {name}": entry[slices][f"{name}{suffix}"]
            for experiment, entry in experiments.items()
            for name in _definitions(entry[LEGACY])
            if f"{name}{suffix}" in entry[slices]
        }
        for slices, suffix in ((LEGACY, ""), (CORRECT, ""), (LEGACY, GUARDED))
    )
    return [
        _kept(
            "critical_layer",
            choice,
            len(others),
            [f"{of}: {legacy[of]} to {others[of]}" for of in others if legacy[of] != others[of]],
        )
        for choice, others in (("correct_slices", correct), ("without_nan", guarded))
        if others
    ]


def _definitions(entry: Entry) -> list[str]:
    """Critical layers: what is called so, and what has a guarded counterpart."""
    return [
        name
        for name in entry
        if not name.endswith(GUARDED) and (name.startswith(LAYER) or f"{name}{GUARDED}" in entry)
    ]


def _damping(experiments: Mapping[str, Entry]) -> Row:
    """Does the mean last gain stay on its side of 1, whatever its definition?"""
    n, moved = 0, []
    for experiment, readings in experiments.items():
        means = {name: float(np.mean(readings[name][:])) for name in readings}
        printed = means.pop(PRINTED_GAIN[experiment])
        means.pop(NO_LAST_GAIN)
        n += len(means)
        moved += [
            f"{experiment} {name}: {printed:.2f} to {mean:.2f}"
            for name, mean in means.items()
            if dampens(mean) != dampens(printed)
        ]
    return _kept("damping", "gain_definition", n, moved)


def _kept(claim: str, choice: str, n: int, moved: Collection[str]) -> Row:
    """The statistic counts the definitions that say what the published one says."""
    published = Finding(float(n), True, "as published")
    label = ", ".join(moved) or "as published"
    other = Finding(float(n - len(moved)), not moved, label)
    return compare(claim, choice, published, other, signed=False)
