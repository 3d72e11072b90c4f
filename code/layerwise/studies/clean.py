"""Residual gains of Pythia-6.9B and GPT-J in float32 over three prompts (Paper 3, appendix B)."""

from __future__ import annotations

from layerwise.published import pointer
from layerwise.statistics.gains import dampens
from layerwise.studies import Fragments, Subject
from layerwise.studies.depth_gains import beyond, measure, published_name

FILE = "paper3/Results/clean_residual_NO_FINAL_LN_20260105_173546.json"
PROMPTS = "clean_gain"


def fragments(subject: Subject) -> Fragments:
    """The model's entry of the pair."""
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
    row = pointer("results", published_name(subject.model.slug))
    return {FILE: {row: entry}, **beyond("clean", subject, found.readings)}
