"""The unified benchmark: gain and entropy of four models over 25 prompts (Paper 3, abstract)."""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name
from layerwise.experiments.prompt_rows import measure, stored_in_half

FILE = "paper3/Results/thermodynamic_benchmark_20260105_141034.csv"
PROMPTS = "benchmark"
MODELS = {
    "pythia-6p9b": "Pythia-6.9B",
    "gemma-7b": "Gemma-7B",
    "mistral-7b": "Mistral-7B",
    "llama-3p1-8b": "LLaMA-3.1-8B",
}


def fragments(subject: Subject) -> Fragments:
    """The model's rows of the table."""
    model = published_name(subject, MODELS)
    return measure("bench", subject, FILE, model, PROMPTS, stored_in_half)
