"""docs/api.md from the docstrings and signatures of what `import layerwise` offers: `make docs`.

A forge and the site show the same text.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 88  # characters of a signature's line
HEAD = """\
# In Python

<!-- Written by `make docs` from the docstrings; do not edit. -->

`import layerwise` takes no time; what is used is imported then. The notebook
`examples/own_model.ipynb` shows an analysis from end to end, [your own model](own-model.md) its
inputs and results.

| to | call |
|---|---|
| analyse a checkpoint, a hub id or a loaded model | [`analyze`](#layerwise.analyze) |
| measure hidden states that you have | [`measure`](#layerwise.measure), [`pool`](#layerwise.pool) |
| compare several models | [`compare`](#layerwise.compare) |
| read the papers' claims, and the central ones | [`claims`](#layerwise.claims), \
[`headlines`](#layerwise.headlines) |
| judge a paper of your own | [`layerwise.own_paper`](another-paper.md) |
"""
SECTIONS = {  # heading: the names below it
    "Measure a model": ("analyze", "measure", "pool", "compare", "Result"),
    "Read the claims": ("claims", "headlines", "Table", "LayerwiseError"),
}
LISTS = {  # section of a docstring: the headings of its table
    "Args": ("argument", "meaning"),
    "Arguments": ("argument", "meaning"),
    "Attributes": ("attribute", "meaning"),
    "Raises": ("raises", "when"),
}
ENTRY = re.compile(r"^(?P<name>[\w., `*]+): (?P<text>.+)$", re.DOTALL)


def page(_: Path = ROOT) -> str:
    """Return the text of docs/api.md."""
    parts = [HEAD]
    for heading, names in SECTIONS.items():
        parts += [f"## {heading}\n"]
        for name in names:
            parts += describe(name)
    return "\n".join(parts).rstrip() + "\n"


def find(name: str) -> Any:
    """Return what a dotted name below `layerwise` names."""
    module, _, attribute = f"layerwise.{name}".rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def describe(name: str) -> Iterator[str]:
    """Yield heading, signature and docstring of a name, and of a class those of its methods."""
    thing = find(name)
    full = f"layerwise.{name}"
    yield f'<a id="{full}"></a>\n\n### {full}\n'
    node = source_of(thing)
    yield f"```python\n{signature(node, full)}\n```\n"
    yield from text_of(inspect.getdoc(thing) or "")
    if isinstance(node, ast.ClassDef):
        for method in node.body:
            is_public = isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
            if is_public and (doc := ast.get_docstring(method)):
                is_property = any(ast.unparse(mark) == "property" for mark in method.decorator_list)
                shown = method.name if is_property else signature(method, method.name)
                yield f"```python\n{shown}\n```\n"
                yield from text_of(doc)


def source_of(thing: Any) -> ast.FunctionDef | ast.ClassDef:
    """Return the definition of a function or a class."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(thing))).body
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    return node


def signature(node: ast.FunctionDef | ast.ClassDef, name: str) -> str:
    """Return a call as its definition has it; of a dataclass the fields that make one."""
    if isinstance(node, ast.ClassDef):
        bases = [ast.unparse(base) for base in node.bases]
        is_dataclass = any("dataclass" in ast.unparse(mark) for mark in node.decorator_list)
        fields = [ast.unparse(field) for field in node.body if isinstance(field, ast.AnnAssign)]
        return wrapped(f"class {name}", fields if is_dataclass else bases, "")
    arguments, returns = node.args, node.returns
    parts: list[str] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    for number, argument in enumerate(positional):
        default = arguments.defaults[number - without] if number >= without else None
        parts.append(parameter(argument, default))
    if arguments.vararg:
        parts.append(f"*{ast.unparse(arguments.vararg)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    defaults = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    parts += [parameter(argument, default) for argument, default in defaults]
    parts = [part for part in parts if part != "self"]
    gives = f" -> {ast.unparse(returns)}".replace("'", "") if returns else ""
    return wrapped(name, parts, gives)


def parameter(argument: ast.arg, default: ast.expr | None) -> str:
    """Return an argument with its type and default."""
    value = (
        "" if default is None else f"{' = ' if argument.annotation else '='}{ast.unparse(default)}"
    )
    return f"{ast.unparse(argument)}{value}"


def wrapped(name: str, parts: list[str], after: str) -> str:
    """Return a call in one line, or an argument a line."""
    line = f"{name}({', '.join(parts)}){after}"
    if len(line) <= WIDTH:
        return line
    inner = "\n".join(f"    {part}," for part in parts)
    return f"{name}(\n{inner}\n){after}"


def text_of(docstring: str) -> Iterator[str]:
    """Yield a docstring as Markdown, its lists of arguments, attributes and errors as tables."""
    for paragraph in re.split(r"\n\s*\n", docstring):
        head, _, rest = paragraph.partition("\n")
        section = head.rstrip(":")
        if head.endswith(":") and section in LISTS:
            yield table(LISTS[section], entries(textwrap.dedent(rest)))
        elif head in ("Returns:", "Yields:"):
            yield f"**{section}** {' '.join(rest.split())}\n"
        elif paragraph.startswith("    "):
            yield f"```\n{textwrap.dedent(paragraph)}\n```\n"
        else:
            yield f"{' '.join(paragraph.split())}\n"


def entries(text: str) -> list[tuple[str, str]]:
    """Return the names of a docstring's list and what each means."""
    rows = []
    for entry in re.split(r"\n(?=\S)", text):
        found = ENTRY.match(" ".join(entry.split()))
        assert found, f"expected `name: meaning` in a docstring, found {entry!r}"
        rows.append((found["name"], found["text"]))
    return rows


def table(headings: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    """Return rows as a table."""
    lines = [f"| {' | '.join(headings)} |", "|---|---|"]
    lines += [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "api.md").write_text(page(), encoding="utf-8")
