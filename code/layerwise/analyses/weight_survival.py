"""Paper 3's claims that rest on slices of weights, on how a NaN is read, on a norm, on a gain.

The notebooks cut the fused query-key-value matrices at the wrong rows, their argmax stops at the
first NaN, their last layer stands behind the final norm, and each has its own definition of the
last gain, with that norm or without. The experiments measure every reading of each; here they are
set side by side.
"""

from collections.abc import Collection, Mapping

import numpy as np

from layerwise.analyses.evidence import Entry, Evidence
from layerwise.analyses.gain_files import dampens
from layerwise.analyses.survival import Finding, Findings, bell
from layerwise.places.matrices import CORRECT, LEGACY
from layerwise.places.result_files import BEYOND, PROFILES

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
LAYER, GUARDED = "L_star", "_guarded"  # names of critical layers, and of those found without NaN
VALUE, OUTPUT = "W_V", "W_O"  # mean spectral norms


def of_weights(evidence: Evidence) -> dict[str, Findings]:
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
    found = {slug: _norms(of) | _layers(of) for slug, of in both.items()}
    for slug, experiments in gains.items():
        found[slug] = found.get(slug, {}) | _damping(experiments)
    for slug, entry in evidence[BELL].items() if evidence.cells.keys(BELL) else ():
        shares = evidence[PROFILES[slug]].intrinsic_dim_ratio[:].tolist()
        found[slug] = found.get(slug, {}) | bell(shares, entry.last_share_before_norm)
    return {slug: of for slug, of in found.items() if of}


def _norms(experiments: Mapping[str, Entry]) -> Findings:
    """Is the mean spectral norm of W_V above that of W_O?"""

    def finding(norms: Entry) -> Finding:
        ratio = float(norms[VALUE] / norms[OUTPUT])
        return Finding(ratio, ratio > 1, f"W_V {'>' if ratio > 1 else '<='} W_O")

    read = [entry for entry in experiments.values() if {VALUE, OUTPUT} <= set(entry[LEGACY])]
    both = [(finding(entry[LEGACY]), finding(entry[CORRECT])) for entry in read]
    return {("spectral_norms", "correct_slices"): both[0]} if both else {}


def _layers(experiments: Mapping[str, Entry]) -> Findings:
    """Every definition's critical layer, of the published reading and of the others.

    Critical layers are what is called so, and what has a guarded counterpart.
    """
    legacy, correct, guarded = (
        {
            f"{experiment} {name}": entry[slices][f"{name}{suffix}"]
            for experiment, entry in experiments.items()
            for name in entry[LEGACY]
            if not name.endswith(GUARDED)
            and (name.startswith(LAYER) or f"{name}{GUARDED}" in entry[LEGACY])
            and f"{name}{suffix}" in entry[slices]
        }
        for slices, suffix in ((LEGACY, ""), (CORRECT, ""), (LEGACY, GUARDED))
    )
    found: Findings = {}
    for choice, others in (("correct_slices", correct), ("without_nan", guarded)):
        moved = [f"{of}: {legacy[of]} to {others[of]}" for of in others if legacy[of] != others[of]]
        if others:
            found["critical_layer", choice] = _kept(len(others), moved)
    return found


def _damping(experiments: Mapping[str, Entry]) -> Findings:
    """Does the mean last gain stay on its side of 1, whatever its definition?"""
    n, moved = 0, []
    for experiment, readings in experiments.items():
        means = {name: float(np.mean(readings[name][:])) for name in readings}
        printed = means.pop(PRINTED_GAIN[experiment])
        del means[NO_LAST_GAIN]
        n += len(means)
        moved += [
            f"{experiment} {name}: {printed:.2f} to {mean:.2f}"
            for name, mean in means.items()
            if dampens(mean) != dampens(printed)
        ]
    return {("damping", "gain_definition"): _kept(n, moved)}


def _kept(n: int, moved: Collection[str]) -> tuple[Finding, Finding]:
    """The statistic counts the definitions that say what the published one says."""
    label = ", ".join(moved) or "as published"
    other = Finding(float(n - len(moved)), not moved, label)
    return Finding(float(n), True, "as published"), other
