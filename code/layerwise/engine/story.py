"""The story that a paper's central claims tell together, a paragraph a matter."""

from collections.abc import Iterable
from dataclasses import dataclass

from layerwise.engine.seen import Seen, Tell, told
from layerwise.errors import LayerwiseError


@dataclass(frozen=True)
class Matter:
    """What a paragraph is about, and the function that tells it."""

    id: str
    title: str
    tell: Tell


@dataclass(frozen=True)
class Paragraph:
    """A paragraph on what a reader should believe about one matter."""

    id: str
    title: str
    text: str


def tell_story(matters: Iterable[Matter], seen: Seen) -> list[Paragraph]:
    """Return the paragraphs that have something to say, in order."""
    paragraphs = []
    for matter in matters:
        try:
            text = " ".join(told(matter.tell, seen))
        except LayerwiseError as error:
            raise LayerwiseError(f"the paragraph {matter.id}: {error}") from None
        if text:
            paragraphs.append(Paragraph(matter.id, matter.title, text))
    return paragraphs
