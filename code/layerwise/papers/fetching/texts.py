"""Texts as a reader gives them, or those of the papers: fetched once, checked by sha256."""

from typing import Any

from layerwise.engine.published import DATASET, PROMPTS
from layerwise.models import texts
from layerwise.models.texts import StatementPairs
from layerwise.papers.fetching.upstream import own_or_papers


def read_pairs(given: Any) -> StatementPairs:
    """Read statement pairs; `"papers"` stands for the papers' own 230.

    Raises:
        LayerwiseError: as `models.texts.read_pairs` does, and where nothing can be fetched.
    """
    return texts.read_pairs(own_or_papers("pairs", given, DATASET))


def read_prompts(given: Any, study: str = "anisotropy") -> tuple[str, ...]:
    """Read prompts; `"papers"` stands for those of Paper 2's anisotropy.

    Raises:
        LayerwiseError: as `models.texts.read_prompts` does, and where nothing can be fetched.
    """
    return texts.read_prompts(own_or_papers("prompts", given, PROMPTS), study)
