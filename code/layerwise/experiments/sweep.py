"""Residual gains of the eight Pythia sizes over 25 prompts (Paper 3, section 4.1)."""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.depth_gains import beyond, dotted, measure
from layerwise.statistics.gains import dampens

FILE = "paper3/Results/pythia_family_NO_FINAL_LN_20260105_174820.json"
PROMPTS = "gain_sweep"


def fragments(subject: Subject) -> Fragments:
    """The model's entry of the sweep."""
    row = subject.row(FILE, "models", dotted(subject.model.slug))
    found = measure(subject, subject.prompts[PROMPTS]["prompts"])
    mean = float(found.no_ln.mean())
    entry = {
        **found.shape,
        "residual_gain_mean": mean,
        "residual_gain_std": float(found.no_ln.std()),
        "residual_gain_all": found.no_ln.tolist(),
        "gain_with_ln_mean": float(found.with_ln.mean()),
        "gain_with_ln_std": float(found.with_ln.std()),
        "all_layer_gains": found.all_layers,
        "is_dampening": dampens(mean),
    }
    return {FILE: {row: entry}, **beyond("sweep", subject, found.readings)}
