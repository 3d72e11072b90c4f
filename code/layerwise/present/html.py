"""Templates to HTML: every value escaped, style and script inlined and named by their hash."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from layerwise.errors import LayerwiseError
from layerwise.files import revealed
from layerwise.present.values import with_signs

TEMPLATES = Path(__file__).parent / "templates"  # a folder for each thing that is made of them
# Formulas that sentences hold as plain text, and their elements.
_FORMULAS = (
    (r"\b(W)_([QKVO])\b", r"\1<sub>\2</sub>"),
    (r"\b(10|n|eps)\^(?:\(([\w/*.+ ]+)\)|(\d+))", r"\1<sup>\2\3</sup>"),
)


def packed(document: Any) -> Markup:
    """Return JSON, deflated, as base64, which the page's script unpacks.

    It has a seventh of the length, and is safe inside a script element whatever the texts hold.
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    return Markup(base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii"))


def fill(folders: Sequence[Path], template: str, context: Mapping[str, object]) -> str:
    """Fill a template of the first folder that has it, every value escaped."""
    environment = environment_of(folders, autoescape=True, finalize=reveal_all)
    environment.filters["prose"] = prose
    return filled(environment, template, context)


def prose(text: str) -> Markup:
    """Return a sentence or a value: escaped, with true signs, its formulas set as such."""
    safe = str(escape(with_signs(reveal_all(text))))
    for formula, element in _FORMULAS:
        safe = re.sub(formula, element, safe)
    return Markup(safe)


def linked(text: str, addresses: Mapping[str, str]) -> Markup:
    """Return a sentence in which some words lead to an address, by these words."""
    safe = prose(text)
    for words, address in addresses.items():
        link = Markup('<a href="{}">{}</a>').format(address, words)
        safe = Markup(safe.replace(escape(words), link))
    return safe


def environment_of(folders: Sequence[Path], **options: Any) -> jinja2.Environment:
    """Return the environment of the templates of some folders; blocks leave no empty lines."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )


def filled(environment: jinja2.Environment, template: str, context: Mapping[str, object]) -> str:
    """Return the text of a template.

    Raises:
        LayerwiseError: for a template that is missing or broken, or names what is not there.
    """
    folder = environment.loader.searchpath[0]  # type: ignore[union-attr]
    try:
        return environment.get_template(template).render(context)
    except jinja2.TemplateNotFound as error:
        raise LayerwiseError(f"{folder}: there is no template {error.name}; restore it") from None
    except jinja2.TemplateSyntaxError as error:
        raise LayerwiseError(f"{error.name}, line {error.lineno}: {error.message}") from None
    except jinja2.UndefinedError as error:
        raise LayerwiseError(
            f"{folder}/{template}: unknown name: {error.message}; the context has "
            f"{', '.join(sorted(context))}"
        ) from None


def reveal_all(value: Any) -> Any:
    """Return a value with every text `revealed`: none may turn around what stands beside it."""
    if isinstance(value, Markup):  # style, script and data, which the page itself made safe
        return value
    if isinstance(value, str):
        return revealed(value, keep="\n")
    if isinstance(value, Mapping):
        return {reveal_all(key): reveal_all(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [reveal_all(entry) for entry in value]
    return value


def inlined(path: Path) -> str:
    """Return the text of a style or a script.

    Raises:
        LayerwiseError: if it is missing.
    """
    if not path.is_file():
        raise LayerwiseError(f"{path.parent}: there is no {path.name}; restore the templates")
    return path.read_text(encoding="utf-8")


class HeldFiles:
    """Text files that a page draws and offers to save; it holds those that its template takes."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._taken: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def take(self, name: str) -> str:
        """Return the name of a file, which the page then holds."""
        self._taken[name] = self._files[name]
        return name

    def packed(self) -> Markup:
        """Return the files taken so far, by name, which `files.js` unpacks."""
        return packed(self._taken)


def by_column(records: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """Return records as columns, which pack closer; null where a record lacks a field."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def policy(style: str, script: str = "") -> str:
    """Return a page's security policy: what is inlined, named by hash, and no network."""

    def hashed(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

    allowed = f"style-src {hashed(style)}" + (f"; script-src {hashed(script)}" if script else "")
    return f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; {allowed}"
