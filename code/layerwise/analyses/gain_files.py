"""The result files on last gains, and how a rule reads the gain of one of their models."""

from __future__ import annotations

from collections.abc import Iterable

from layerwise.analyses.evidence import Entry
from layerwise.statistics import gains

R = "paper3/Results/"
SWEEP = R + "pythia_family_NO_FINAL_LN_20260105_174820.json"
HUNT = R + "high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
CLEAN = R + "clean_residual_NO_FINAL_LN_20260105_173546.json"
GROUPS = ("models", "tested_results", "results")  # where the models of a file stand


def models(f: Entry) -> dict[str, Entry]:
    """The models of a file by their names without the owner."""
    group = f[next(name for name in GROUPS if name in f)]
    if group.is_object:
        return dict(group.items())
    return {m.model.rpartition("/")[2]: m for m in group}


def gain(m: Entry) -> float:
    """Mean gain of the second-last block, from the lowest published level."""
    if "residual_gain_all" in m:  # one per prompt, in the sweep only
        return float(m.residual_gain_all[:].mean())
    return m.all_layer_gains[-2]


def final_gain(m: Entry) -> float:
    """Mean gain of the last block, which is taken behind the final norm."""
    return m.all_layer_gains[-1]


def gains_of(entries: Iterable[Entry]) -> list[float]:
    """Mean gain of each model."""
    return [gain(m) for m in entries]


def density(m: Entry) -> float:
    """Heads over the size of a head."""
    return gains.head_density(int(m.n_heads), int(m.d_model))
