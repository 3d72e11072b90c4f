"""Prompts: single texts whose token states are measured, unpaired."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, require_text
from layerwise.inputs.result_files import PROMPTS
from layerwise.inputs.rows import has_rows, read_rows
from layerwise.inputs.upstream import own_or_papers

COLUMN = "prompt"  # of CSV, JSON Lines and data frames


def read_prompts(given: Any, study: str = "anisotropy") -> tuple[str, ...]:
    """Read and check prompts.

    Args:
        given: a file, or what it holds. JSON is a list of texts, or one study of `{study:
            {"prompts": [...]}}`; CSV, JSON Lines and data frames have a row per prompt with the
            column prompt. `"papers"`: those of Paper 2's anisotropy, fetched as the papers' pairs.

    Raises:
        LayerwiseError: if it has another shape, lacks the study, or a prompt is no text.
    """
    given = own_or_papers(given, PROMPTS)
    if has_rows(given):
        found = [
            require_text(f"{at}, column {COLUMN}", r[COLUMN])
            for at, r in read_rows(given, [COLUMN])
        ]
    else:
        name = given if isinstance(given, Path) else "prompts"
        texts = _of_document(name, read_json(given) if isinstance(given, Path) else given, study)
        found = [require_text(f"{name}: prompt {n}", one) for n, one in enumerate(texts)]
    if not found:
        raise LayerwiseError(
            f"{given}: expected a list with at least one prompt, found none; add one"
        )
    return tuple(found)


def _of_document(name: object, document: Any, study: str) -> Any:
    if isinstance(document, Mapping):
        entry = document.get(study)
        if not isinstance(entry, Mapping) or "prompts" not in entry:
            raise LayerwiseError(
                f'{name}: expected a list of strings or an object with {study!r}: {{"prompts": '
                f"[...]}}, found the keys {', '.join(map(repr, document)) or '(none)'}"
            )
        document = entry["prompts"]
    if not isinstance(document, list | tuple) or not document:
        raise LayerwiseError(f"{name}: expected a list with at least one prompt; add one")
    return document
