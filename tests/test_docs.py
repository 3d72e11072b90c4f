"""What the docstrings of rooms and the page of troubles name is there."""

import ast
import re
import runpy
import subprocess
import sys

import typer
import yaml

from layerwise.cli import app
from layerwise.inputs.models import read_models


def test_every_module_that_a_room_names_is_there(root):
    """And every room of the map is a folder or a module; the packages of a room may be named."""
    package = root / "code" / "layerwise"
    house = runpy.run_path(str(root / "docs" / "house.py"))
    named = 0
    for room in house["rooms"](package):
        folder = package / room
        assert folder.is_dir() or folder.with_suffix(".py").is_file(), room
        text = (folder / "__init__.py").read_text() if folder.is_dir() else '""""""'
        documented = ast.get_docstring(ast.parse(text)) or ""
        for names in re.findall(r"^((?:\w+, )*\w+) {2,}\S", documented, re.MULTILINE):
            for name in names.split(", "):
                assert (folder / f"{name}.py").is_file() or (folder / name).is_dir(), (room, name)
                named += 1
    assert named > 40


def test_the_page_of_the_python_interface_is_that_of_today(root):
    """Made without the shape checks of the tests, which wrap every function."""
    script = "import runpy; print(runpy.run_path('docs/api.py')['page'](), end='')"
    command = [sys.executable, "-c", script]
    made = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert (root / "docs" / "api.md").read_text(encoding="utf-8") == made, "run `make docs`"


def test_the_verbs_that_texts_name_exist(root):
    pages = [root / "README.md", *(root / "docs").glob("*.md"), *(root / "code").rglob("*.py")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"`layerwise ([a-z]+)", text))
    assert {"analyze", "trace"} < named <= set(typer.main.get_command(app).commands)


# What other programs say, and names that are no quotations.
FOREIGN = {
    "THESE PACKAGES DO NOT MATCH THE HASHES",  # pip
    "Unable to acquire lock",  # DVC
    "is not a git repository",  # DVC
    "dvc.lock",
}


def said(root):
    """Every text that the project can print: strings of its code, and its shell scripts."""
    texts = [path.read_text() for path in (root / "requirements/setup.sh", root / "Makefile")]
    texts.append((root / "docker" / "entrypoint.sh").read_text())
    for path in (root / "code").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                parts = [n.value if isinstance(n, ast.Constant) else "{}" for n in node.values]
                texts.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return "\n".join(texts)


def test_troubleshooting_quotes_what_is_really_said(root):
    page = (root / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|[^|]+\|[^|]+\|$", page, re.M)
    quoted = {phrase for row in rows for phrase in re.findall(r"`([^`]+)`", row)}
    printable = said(root)
    assert len(quoted) > 20
    assert "the moon is not a repository" not in printable
    assert {phrase for phrase in quoted - FOREIGN if phrase not in printable} == set()


def test_clusters_names_stages_and_as_many_tasks_as_models(root):
    """What its blocks call exists: modules, arguments; one task of the array per model."""
    text = (root / "docs" / "clusters.md").read_text()
    stages = yaml.safe_load((root / "dvc.yaml").read_text())["stages"]
    models = read_models(root / "models.yaml")
    assert int(re.search(r"--array=0-(\d+)%", text)[1]) == len(models) - 1
    (task,) = re.findall(r"^python -m layerwise\.steps\.(measure .*)$", text, re.MULTILINE)
    assert task.replace('"', "").replace("$slug", "${key}") in stages["measure"]["do"]["cmd"]
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    fetched = []
    imports = block.replace("import fetch", "import fetch as _")
    exec(imports, {"fetch": lambda *given: fetched.append(given[2].slug)})
    assert fetched == [model.slug for model in models.values() if not model.skipped]
