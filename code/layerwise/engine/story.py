"""The story that the three papers together tell: the paragraphs of `claims/story.yaml`.

Every sentence stands while its condition on grades, answers and numbers holds, as in the reasons of
the headlines; none is a conclusion that outlives what carries it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required

from layerwise.engine.conditions import Sentence, fill_sentences
from layerwise.engine.headlines import Headline
from layerwise.engine.sentences import (
    Entry,
    Record,
    Value,
    name_entry_in_errors,
    read_entries,
    values_of,
)


class Asked(Entry, total=False):
    """An entry of story.yaml.

    grades: {name: headline}, whose grade a condition may ask for.
    values: {name: statistic}, as a headline's.
    """

    title: Required[str]
    grades: dict[str, str]
    values: dict[str, str]
    sentences: Required[list[Sentence]]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph on what a reader should believe about one matter."""

    id: str
    title: str
    text: str


def story(
    records: Sequence[Record],
    documents: Mapping[str, Any],
    graded: Sequence[Headline],
    entries: Sequence[Mapping[str, Any]],
) -> list[Paragraph]:
    """Return the paragraphs that have something to say, in order.

    Arguments:
        records: judged claims.
        documents: the statistics of the same source, {analysis: {document: result}}.
        graded: the headlines.
        entries: `read_story`.
    """
    known = {record["id"]: record for record in records}
    grades = {headline.id: Value(headline.grade) for headline in graded}
    paragraphs = []
    for entry in entries:
        with name_entry_in_errors("paragraph", entry, "story"):
            grades_by_name = {
                name: grades[headline] for name, headline in entry.get("grades", {}).items()
            }
            text = fill_sentences(
                entry["sentences"], values_of(entry, known, documents, grades_by_name)
            )
        if text:
            paragraphs.append(Paragraph(entry["id"], entry["title"], text))
    return paragraphs


def read_story(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of `story.yaml` of the ledger's folder."""
    return read_entries(folder / "story.yaml", Asked, optional=True)
