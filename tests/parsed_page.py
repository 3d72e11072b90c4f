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
        self.saved: dict[str, bytes] = {}  # files that the page holds, by the name to save them
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((tag, [name for name, _ in attrs]))
        self.values += [(name, value or "") for name, value in attrs]
        attributes = dict(attrs)
        if "download" in attributes:
            name, address = attributes["download"], attributes["href"]
            assert name not in self.saved
            self.saved[name] = base64.b64decode(address.partition(";base64,")[2], validate=True)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"/{tag}")

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
    def data(self) -> Any:
        """What the script reads."""
        return unpacked(self.scripts[0])


def unpacked(text: str) -> Any:
    """What `packed` was given."""
    return json.loads(zlib.decompress(base64.b64decode(text, validate=True)))
