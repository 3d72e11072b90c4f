"""Prompts: single texts whose token states are measured, unpaired."""

from __future__ import annotations

from pathlib import Path

from layerwise.errors import LayerwiseError
from layerwise.files import read_json, require_text


def read_prompts(path: Path, study: str = "anisotropy") -> tuple[str, ...]:
    """Read a JSON list of strings, or one study of `{study: {"prompts": [...]}}`.

    Raises:
        LayerwiseError: if the file has another shape, lacks the study, or a prompt is no text.
    """
    document = read_json(path)
    if isinstance(document, dict):
        entry = document.get(study)
        if not isinstance(entry, dict) or "prompts" not in entry:
            raise LayerwiseError(
                f'{path}: expected a list of strings or an object with {study!r}: {{"prompts": '
                f"[...]}}, found the keys {', '.join(map(repr, document)) or '(none)'}"
            )
        document = entry["prompts"]
    if not isinstance(document, list) or not document:
        raise LayerwiseError(f"{path}: expected a list with at least one prompt")
    return tuple(require_text(f"{path}: prompt {n}", one) for n, one in enumerate(document))
