"""GPT-2 against a gain of one, over 25 prompts (Paper 3, notebook on layer norms)."""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name
from layerwise.experiments.prompt_rows import clipped, measure

FILE = "paper3/Results/gpt2_layernorm_validation_20260105_150306.csv"
PROMPTS = "gpt2_layernorm"
MODELS = {"gpt2-xl": "GPT2-XL", "gpt2-large": "GPT2-Large", "gpt2-medium": "GPT2-Medium"}


def fragments(subject: Subject) -> Fragments:
    """The model's rows of the table."""
    model = published_name(subject, MODELS)
    return measure("gpt2_ln", subject, FILE, model, PROMPTS, clipped)
