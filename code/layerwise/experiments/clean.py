"""Residual gains of Pythia-6.9B and GPT-J in float32 over three prompts (Paper 3, appendix B)."""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.depth_gains import beyond, measure
from layerwise.experiments.lookup import published_name
from layerwise.inputs.published import pointer
from layerwise.statistics.gains import dampens

FILE = "paper3/Results/clean_residual_NO_FINAL_LN_20260105_173546.json"
PROMPTS = "clean_gain"
NAMES = {"pythia-6p9b": "pythia-6.9b", "gpt-j-6b": "gpt-j-6b"}


def fragments(subject: Subject) -> Fragments:
    """The model's entry of the pair."""
    row = pointer("results", published_name(subject, NAMES))
    found = measure(subject, subject.prompts[PROMPTS]["prompts"])
    without, behind = float(found.no_ln.mean()), float(found.with_ln.mean())
    entry = {
        **found.shape,
        "gain_no_ln_mean": without,
        "gain_no_ln_std": float(found.no_ln.std()),
        "gain_with_ln_mean": behind,
        "gain_with_ln_std": float(found.with_ln.std()),
        "all_layer_gains": found.all_layers,
        "n_hidden_states": found.shape["n_layers"] + 1,
        "is_dampening_no_ln": dampens(without),
        "is_dampening_with_ln": dampens(behind),
    }
    return {FILE: {row: entry}, **beyond("clean", subject, found.readings)}
