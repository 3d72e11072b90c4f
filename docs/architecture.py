#!/usr/bin/env python3
"""Write docs/architecture.md: the packages in the order of flow, and which imports which.

python docs/architecture.py      (or `make docs`)
"""

import ast
import re
from collections.abc import Sequence
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
HEAD = """# Architecture

<!-- Written by `make docs` from the imports and the packages' docstrings; do not edit. -->

The packages of `code/layerwise/` in the order in which numbers flow, and what each imports. An
import that is also reached by way of another package is left out, as are `files`, `errors` and
`progress`, which all of them use. Imports run one way only; `make lint` checks it.

| package | what it is | imports |
|---|---|---|
{rows}

## From `analyze` to its page

{analysis}

## From `dvc repro` to the PDF

{pipeline}

{sections}
"""
# Two ways through the code: the functions and classes in the order in which they are reached.
ANALYSIS = (
    ("run.cli", "analyze", "what a caller asks, from the command line; Python begins below"),
    ("reader.analyze", "analyze", "one process writes to `out`; checkpoint and request meet"),
    ("reader.request", "Request", "texts and choices, once they are right: no torch until here"),
    ("models.checkpoint", "CheckpointFiles", "config, tokenizer and stored tensors, held together"),
    (
        "reader.prepared",
        "Prepared",
        "the request on this model: ids, layers, room; as in `plan`",
    ),
    ("models.load", "load", "the weights, and `models.probe` holds our passes against its own"),
    ("reader.measurement", "Measurement", "hidden states -> the numbers of the published files"),
    ("papers.across.analyses", "analyse_reader", "the papers' rules -> documents"),
    ("papers.across.answers", "answers", "the papers' questions, by one interval each"),
    ("reader.result", "Result", "documents, tables, figures and the page, all or none of them"),
)
PIPELINE = (
    ("run.steps.run", "run", "each stage of `dvc.yaml` that changed; `dvc repro` does the same"),
    ("run.steps.fetch", "stage", "the papers' texts; then `places` and `preflight`, of no weights"),
    ("run.steps.measure", "run", "a model: the weights, and what fails is written with its reason"),
    ("measuring.registered_models", "measure_registered", "its passes, experiment by experiment"),
    ("engine.measured", "measured", "its fragments, in the places of the published numbers"),
    ("run.steps.analyse", "run", "rules over a view that records what they read -> statistics"),
    ("run.steps.judge", "run", "statistics against the ledger -> verdicts and marks, claims.json"),
    ("run.steps.draw", "run", "statistics -> figures; no rule is run"),
    (
        "run.steps.paper",
        "run",
        "claims and figures -> LaTeX; the stage `page` writes HTML",
    ),
    ("present.pdfs", "typeset", "LaTeX -> the PDFs of report and supplement"),
)
MODULES = re.compile(r"^((?:\w+, )*\w+)(?: {2,}(\S.*))?$")  # what is said may begin a line below
WORDS = re.compile(r"^ {4}(\w+) {2,}(\S.*)$")  # that are defined, under a heading


def docstring(path: Path) -> str:
    """What a module says of itself."""
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def packages(root: Path) -> list[str]:
    """The packages in the order of the map in `layerwise/__init__.py`."""
    return re.findall(r"^(\w+) {2,}\S", docstring(root / "__init__.py"), re.MULTILINE)


def needs(known: list[str]) -> dict[str, set[str]]:
    """{package: the packages that it imports}."""
    graph = grimp.build_graph("layerwise", cache_dir=None)

    def imports(package: str, other: str) -> bool:
        names = {"importer": f"layerwise.{package}", "imported": f"layerwise.{other}"}
        return package != other and graph.direct_import_exists(**names, as_packages=True)

    return {package: {other for other in known if imports(package, other)} for package in known}


def direct(needed: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same without what another needed package brings."""

    def reach(package: str) -> set[str]:
        return needed[package].union(*(reach(other) for other in needed[package]))

    return {
        package: {name for name in others if not any(name in reach(o) for o in others - {name})}
        for package, others in needed.items()
    }


def section(root: Path, package: str) -> str:
    """A package's docstring as Markdown: what it says, its modules as a list."""
    folder = root / package
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    lines = [f"## {package}", ""]
    for line in docstring(path).splitlines():
        listed, defined = MODULES.match(line), WORDS.match(line)
        if defined:
            lines += [""] * (not lines[-1].startswith("- "))
            lines.append(f"- `{defined[1]}`: {defined[2]}")
        elif listed:
            names = ", ".join(f"`{name}`" for name in listed[1].split(", "))
            lines.append(f"- {names}: {listed[2] or ''}".rstrip())
        elif line.startswith(" "):
            lines[-1] += f" {line.strip()}"
        else:
            lines += [""] * (lines[-1].startswith("- ") and bool(line))
            lines.append(line)
    return "\n".join(lines) + "\n"


def way(code: Path, steps: Sequence[tuple[str, str, str]]) -> str:
    """A way as a numbered list.

    Raises:
        LookupError: for a name that its module does not define.
    """
    lines = []
    for number, (module, name, does) in enumerate(steps, 1):
        file = f"{module.replace('.', '/')}.py"
        defined = ast.parse((code / file).read_text("utf-8")).body
        if name not in {getattr(node, "name", None) for node in defined}:
            raise LookupError(f"{file} defines no {name}")
        lines.append(f"{number}. `{module}.{name}`: {does}")
    return "\n".join(lines)


def page(root: Path) -> str:
    """The text of docs/architecture.md."""
    code = root / "code" / "layerwise"
    names = packages(code)
    sections = {package: section(code, package) for package in names}
    rows = []
    for package, others in direct(needs(names)).items():
        links = ", ".join(f"[{other}](#{other})" for other in names if other in others)
        says = sections[package].splitlines()[2]
        rows.append(f"| [{package}](#{package}) | {says} | {links or 'none'} |")
    return HEAD.format(
        rows="\n".join(rows),
        analysis=way(code, ANALYSIS),
        pipeline=way(code, PIPELINE),
        sections="\n".join(sections.values()).rstrip(),
    )


if __name__ == "__main__":
    (ROOT / "docs" / "architecture.md").write_text(page(ROOT), encoding="utf-8")
