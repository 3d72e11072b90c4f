"""What a study looks up: its texts, and the name under which a file publishes the model."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from layerwise.errors import LayerwiseError
from layerwise.experiments import Subject

# Notebooks with a single text typed it where no set holds it. The four-model, RLHF and Mistral
# notebooks used the factual text of the input dependency: its first and last gain of Llama-3.1-8B
# are theirs up to half precision. Its last text is there as that of the LLaMA 2 and 3.1 test.
CAPITAL = ("input_dependency", "1_Factual")
PANGRAM = ("input_dependency", "5_Original_Test")


def texts(subject: Subject, name: str) -> list[str]:
    """The texts of a set that is a plain list.

    Raises:
        LayerwiseError: if the set is missing or has another shape.
    """
    found = subject.prompt_set(name)
    if not isinstance(found, list) or not found:
        raise LayerwiseError(
            f"prompts: {name!r} must be a list of texts, found {type(found).__name__}; "
            "fetch the prompts again"
        )
    return [str(text) for text in found]


def text(subject: Subject, place: tuple[str, str]) -> str:
    """One text of a set of named ones, as `CAPITAL`.

    Raises:
        LayerwiseError: if the set or the text is missing.
    """
    name, entry = place
    found = subject.prompt_set(name)
    if not isinstance(found, dict) or entry not in found:
        raise LayerwiseError(
            f"prompts: {name!r} must name a text {entry!r}, it does not; fetch the prompts again"
        )
    return str(found[entry]["text"])


def named_texts(subject: Subject, name: str) -> dict[str, str]:
    """All texts of a set of named ones, in its order."""
    return {entry: text(subject, (name, entry)) for entry in subject.prompt_set(name)}


def published_slug(subject: Subject, slugs: Collection[str]) -> str:
    """The model's slug, one of those that the study was published for.

    Raises:
        LayerwiseError: for another model.
    """
    slug = subject.model.slug
    if slug not in slugs:
        raise LayerwiseError(
            f"this study was published for {', '.join(slugs)}, not for {slug}; "
            "take it out of the model's experiments in models.yaml"
        )
    return slug


def published_name(subject: Subject, names: Mapping[str, str]) -> str:
    """What a file calls the model, or which file is about it.

    Raises:
        LayerwiseError: see `published_slug`.
    """
    return names[published_slug(subject, names)]
