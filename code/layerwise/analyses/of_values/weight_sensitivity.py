"""Paper 3's claims that rest on slices of fused weights, on how a NaN is read, or on a norm.

The notebooks cut the fused query-key-value matrices at the wrong rows, their argmax stops at the
first NaN, and their last layer stands behind the final norm. The studies measure both readings of
each; here they are set side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from layerwise.statistics.profile import bell_test
from layerwise.statistics.survival import Finding, compare

BEYOND = "beyond/"
BELL = "beyond/aniso"  # has the last share before the final norm
BELL_FILE = "paper3/Results/anisotropy_results_{}.json"  # and these, by family, the others
LEGACY, CORRECT = "legacy", "correct"
LAYER, GUARDED = "L_star", "_guarded"  # names of critical layers, and of those found without NaN
VALUE, OUTPUT = "W_V", "W_O"  # mean spectral norms


def analyse(fragments: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """`{slug: {rows}}` of every model whose studies looked at both readings.

    Arguments:
        fragments: what all studies measured; read is `beyond/<study>` at `/<slug>` where it has
            `legacy` and `correct`, each flat, and `beyond/aniso`.
    """
    both: dict[str, dict[str, Mapping[str, Any]]] = {}
    for file, entries in fragments.items():
        for place, entry in entries.items() if file.startswith(BEYOND) else ():
            if isinstance(entry, Mapping) and {LEGACY, CORRECT} <= entry.keys():
                slug = place.removeprefix("/")
                both.setdefault(slug, {})[file.removeprefix(BEYOND)] = entry
    rows = {slug: _norms(studies) + _layers(studies) for slug, studies in both.items()}
    for place, entry in fragments.get(BELL, {}).items():
        slug = place.removeprefix("/")
        shares = fragments[BELL_FILE.format(slug.partition("-")[0])]["/intrinsic_dim_ratio"]
        before = [*shares[:-1], entry["last_share_before_norm"]]
        row = compare("bell", "before_norm", _bell(shares), _bell(before))
        rows.setdefault(slug, []).append(row)
    return {slug: {"rows": found} for slug, found in rows.items() if found}


def _bell(shares: Sequence[float]) -> Finding:
    shape = bell_test(shares)
    return Finding(shape.phase2_slope, shape.is_bell_curve, f"L{shape.l_star}")


def _norms(studies: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Is the mean spectral norm of W_V above that of W_O?"""

    def finding(norms: Mapping[str, Any]) -> Finding:
        ratio = float(norms[VALUE] / norms[OUTPUT])
        return Finding(ratio, ratio > 1, f"W_V {'>' if ratio > 1 else '<='} W_O")

    return [
        compare(
            "spectral_norms",
            "correct_slices",
            finding(entry[LEGACY]),
            finding(entry[CORRECT]),
            signed=False,
        )
        for entry in studies.values()
        if VALUE in entry[LEGACY] and OUTPUT in entry[LEGACY]
    ]


def _layers(studies: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every definition's critical layer, of the published reading and of the others."""
    legacy, correct, guarded = (
        {
            f"{study} {name}": entry[slices][f"{name}{suffix}"]
            for study, entry in studies.items()
            for name in _definitions(entry[LEGACY])
            if f"{name}{suffix}" in entry[slices]
        }
        for slices, suffix in ((LEGACY, ""), (CORRECT, ""), (LEGACY, GUARDED))
    )
    return [
        _compare_layers(choice, {name: legacy[name] for name in others}, others)
        for choice, others in (("correct_slices", correct), ("without_nan", guarded))
        if others
    ]


def _definitions(entry: Mapping[str, Any]) -> list[str]:
    """Critical layers: what is called so, and what has a guarded counterpart."""
    return [
        name
        for name in entry
        if not name.endswith(GUARDED) and (name.startswith(LAYER) or f"{name}{GUARDED}" in entry)
    ]


def _compare_layers(
    choice: str, published: Mapping[str, Any], others: Mapping[str, Any]
) -> dict[str, Any]:
    """The statistic counts the definitions that keep their layer."""
    moved = [name for name in others if published[name] != others[name]]
    label = ", ".join(f"{name}: {published[name]} to {others[name]}" for name in moved)
    return compare(
        "critical_layer",
        choice,
        Finding(float(len(others)), True, "as published"),
        Finding(float(len(others) - len(moved)), not moved, label or "as published"),
        signed=False,
    )
