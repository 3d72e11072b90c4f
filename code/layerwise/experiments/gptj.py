"""GPT-J against a gain of one, over 25 prompts (Paper 3, notebook on parallel blocks)."""

from __future__ import annotations

from layerwise.experiments import Fragments, Subject
from layerwise.experiments.lookup import published_name
from layerwise.experiments.prompt_rows import clipped, measure

FILE = "paper3/Results/gptj_parallel_test_20260105_152333.csv"
PROMPTS = "gptj_parallel"
MODELS = {"gpt-j-6b": "GPT-J-6B"}


def fragments(subject: Subject) -> Fragments:
    """The model's rows of the table."""
    model = published_name(subject, MODELS)
    return measure("gptj", subject, FILE, model, PROMPTS, clipped)
