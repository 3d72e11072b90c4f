"""A page taken apart, for tests of what it holds."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

# quotation marks that only the PDF prints
CURVED = re.compile("[\N{LEFT SINGLE QUOTATION MARK}-\N{DOUBLE LOW-9 QUOTATION MARK}]")


class Page(HTMLParser):
    """What a page is made of without its texts, its attributes' values, texts and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.parts: list[Any] = []
        self.values: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.packed: dict[str, Any] = {}  # what scripts of data hold, by their id
        self._offered: dict[str, str] = {}  # the files behind links, by the name to save them
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((tag, [name for name, _ in attrs]))
        self.values += [(name, value or "") for name, value in attrs]
        attributes = dict(attrs)
        if "download" in attributes:
            name, file = attributes["download"], attributes["data-file"]
            assert name not in self._offered
            self._offered[name] = file
        if tag == "script":
            self.scripts.append("")
            self._packed_id = attributes.get("id")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"/{tag}")
        if tag == "script" and self._packed_id:
            self.packed[self._packed_id] = unpacked(self.scripts[-1])

    def handle_comment(self, data: str) -> None:
        self.parts.append(("comment, declaration or section", data))

    handle_decl = unknown_decl = handle_comment

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)

    @property
    def links(self) -> list[str]:
        return [value for name, value in self.values if name in ("href", "src", "action", "srcset")]

    @property
    def saved(self) -> dict[str, bytes]:
        """The files that the page holds and offers, by the name to save them."""
        return {name: self.packed["files"][file].encode() for name, file in self._offered.items()}

    @property
    def data(self) -> Any:
        """What the script reads, its columns as records."""
        data = self.packed["data"]
        return data | {name: records(data[name]) for name in ("claims", "cells")}


def records(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """What `by_column` was given."""
    rows = zip(*columns.values(), strict=True)
    return [
        {name: value for name, value in zip(columns, row, strict=True) if value is not None}
        for row in rows
    ]


def unpacked(text: str) -> Any:
    """What `packed` was given."""
    return json.loads(zlib.decompress(base64.b64decode(text, validate=True)))
