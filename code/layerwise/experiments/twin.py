"""Base models and their instruction-tuned twins over 25 prompts (Paper 3, section 5.5)."""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name
from layerwise.experiments.prompt_rows import clipped, measure

FILE = "paper3/Results/twin_test_results_20260105_160237.csv"
PROMPTS = "twin"
MODELS = {
    "mistral-7b": "Mistral-7B-Base",
    "mistral-7b-instruct": "Mistral-7B-Instruct",
    "gemma-7b": "Gemma-7B-Base",
    "gemma-7b-it": "Gemma-7B-IT",
    "llama-3p1-8b": "LLaMA-3.1-8B-Base",
    "llama-3p1-8b-instruct": "LLaMA-3.1-8B-Instruct",
}


def fragments(subject: Subject) -> Fragments:
    """The model's rows of the table."""
    model = published_name(subject, MODELS)
    return measure("twin", subject, FILE, model, PROMPTS, clipped)
