"""What texts, makefiles and messages name is there: paths of the repository, options of verbs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from dvc.repo import Repo

from layerwise.present.typeset import DOCUMENTS, REPORT
from layerwise.run.cli import app

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("*.md", "docs/*.md", "*/README.md", "examples/measured/README.md", "Makefile")
PLACES += (".github/**/*.yml", ".ci/*", "Dockerfile", "codecheck.yml", ".github/*.md")
TEXTS = sorted(
    path
    for place in PLACES
    for path in ROOT.glob(place)
    if path.is_file() and path.name != "changelog.md"  # which speaks of what was
)
NAMED = re.compile(r"(?<![\w/.$}~-])(?:[\w.-]+/)+[\w.*?\[\]!@-]+\.\w+")
PLACEHOLDER = re.compile(r"(?<=paper)N|\b[A-Z]{4,}\b(?!\.md)")  # in a path: the reader's own word

# --- paths --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> set[str]:
    """What stages make, and the PDFs typeset after them."""
    with Repo(ROOT) as repo:
        outs = {out.def_path for stage in repo.index.stages if stage.cmd for out in stage.outs}
    endings = ["" if name == REPORT else f"-{name}" for name in DOCUMENTS.values()]
    return outs | {f"paper/published{ending}.pdf" for ending in endings}


# DVC's own use of pygtrie
@pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")
@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_paths_that_a_text_names_are_there(text: Path, made: set[str]) -> None:
    passing = set(re.findall(r"^/(\w+)/$", (ROOT / ".gitignore").read_text(), re.MULTILINE))
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - passing
    for name in NAMED.findall(text.read_text(encoding="utf-8")):
        if name.partition("/")[0] in folders:
            assert is_there(name, made), name


def is_there(name: str, made: set[str]) -> bool:
    """True of a file of the repository, of an output, and of what lies in one."""
    pattern = PLACEHOLDER.sub("*", name)
    beside = re.compile(re.escape(pattern).replace(r"\*", "[^/]+"))
    whole = {str(folder) for folder in (Path(name), *Path(name).parents)}
    return (
        next(ROOT.glob(pattern), None) is not None
        or bool(whole & made)
        or any(map(beside.fullmatch, made))
        or any(
            re.match(re.escape(pattern.partition("*")[0]), out) for out in made if "*" in pattern
        )
    )


# --- options ------------------------------------------------------------------------------------

VERBS = {
    name: {option for parameter in verb.params for option in parameter.opts}
    for name, verb in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
}
# The verbs that alone say what these packages say; elsewhere a message names the verb.
SPEAKERS = {
    "reader": ("analyze", "scaling"),
    "measuring": ("analyze",),
    "models": ("analyze",),
    "papers/experiments": ("analyze",),
    "present": ("claims", "trace", "headlines", "models"),
}
OPTION = re.compile(r"(?:layerwise (\w+) )?(?<![\w-])(--[a-z][a-z-]+)(?![=\w])")
OTHERS = ("run/steps", "run/rehearsal", "run/doctor", "run/cli")  # programs of their own
MODULES = sorted((ROOT / "code" / "layerwise").rglob("*.py"))


def messages(module: Path) -> Iterator[str]:
    """The texts in a module's code, with an X for what is filled in."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                part.value if isinstance(part, ast.Constant) else "X" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        ):
            yield node.value


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_options_in_a_message_are_those_of_the_verb_that_says_it(module: Path) -> None:
    place = module.relative_to(ROOT / "code" / "layerwise").as_posix()
    if place.startswith(OTHERS):
        return
    speakers = next((of for package, of in SPEAKERS.items() if place.startswith(f"{package}/")), ())
    known = {option for verb in speakers for option in VERBS[verb]}
    for message in messages(module):
        if " " not in message:
            continue  # a word of a command line, or a name
        for verb, option in OPTION.findall(message):
            assert option in (VERBS[verb] if verb else known), f"{option}: {message}"
