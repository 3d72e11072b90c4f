"""Residual gains of 16 models of five labs over five prompts (Paper 3, sections 4.2 and 5.4)."""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.depth_gains import beyond, dotted, measure
from layerwise.statistics.gains import dampens, density_accuracy

FILE = "paper3/Results/high_rho_hunt_NO_FINAL_LN_20260105_184728.json"
PROMPTS = "rho_hunt"
UNPUBLISHED = ("gpt2",)  # figure 3 gives its class, no file of the papers its gain


def fragments(subject: Subject) -> Fragments:
    """The model's entry of the hunt; its `norm_type` is a typed guess there and left out."""
    row, slug = None, subject.model.slug
    if slug not in UNPUBLISHED:
        row = subject.row(FILE, "tested_results", dotted(slug))
    found = measure(subject, subject.prompts[PROMPTS]["prompts"])
    further = beyond("hunt", subject, found.readings)
    if row is None:
        return further
    mean = float(found.no_ln.mean())
    entry = {
        **found.shape,
        "gain_no_ln_mean": mean,
        "gain_no_ln_std": float(found.no_ln.std()),
        "gain_with_ln_mean": float(found.with_ln.mean()),
        "gain_with_ln_std": float(found.with_ln.std()),
        "all_layer_gains": found.all_layers,
        "n_hidden_states": found.shape["n_layers"] + 1,
        "is_dampening": dampens(mean),
        "h25_prediction_correct": density_accuracy([found.shape["rho"]], [mean]) == 1,
    }
    return {FILE: {row: entry}, **further}
