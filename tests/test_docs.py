"""docs/ tells the truth: the diagram is that of dvc.yaml, and what the pages name exists."""

import ast
import re

import pytest
import yaml

from scripts import load


@pytest.fixture(scope="module")
def pipeline(root):
    return load(root / "docs" / "pipeline.py")


@pytest.fixture(scope="module")
def committed(root):
    return (root / "docs" / "pipeline.md").read_text(encoding="utf-8")


# DVC's own use of pygtrie
@pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")
def test_the_diagram_is_that_of_dvc_yaml(pipeline, committed, root):
    assert committed == pipeline.page(root), "run `make docs`"


def test_its_stages_and_descriptions_are_those_of_dvc_yaml(committed, root):
    """Read from the file itself, without DVC."""
    written = yaml.safe_load((root / "dvc.yaml").read_text())["stages"]
    rows = re.findall(r"^\| `([\w-]+)` \| (\d+) \| ([\w, ]+) \| (.+) \|$", committed, re.M)
    assert [row[0] for row in rows] == list(written)
    for name, items, _, what in rows:
        stage = written[name]
        assert stage.get("do", stage)["desc"] == what
        if "foreach" in stage:
            assert int(items) == len(stage["foreach"])
    boxes = re.findall(r'^    (\w+)\["([\w-]+)', committed, re.M)
    assert [name for _, name in boxes] == list(written)


def test_its_arrows_follow_paths(committed, root):
    """An arrow per stage that names a path which another writes: nothing is drawn from memory."""
    lock = yaml.safe_load((root / "dvc.lock").read_text())["stages"]
    drawn = set(re.findall(r"^    (\w+) --> (\w+)$", committed, re.M))

    def node(name):
        return name.split("@")[0].replace("-", "_")

    wrote = {out["path"]: node(name) for name, stage in lock.items() for out in stage["outs"]}
    read = set()
    for name, stage in lock.items():
        for dep in stage.get("deps", []):
            for path, writer in wrote.items():
                if f"{dep['path']}/".startswith(f"{path}/") or path.startswith(f"{dep['path']}/"):
                    read.add((writer, node(name)))
    assert len(read) > 20
    assert read <= drawn


def test_only_what_needs_a_gpu_is_dashed(committed):
    dashed = set(re.findall(r'^    \w+\["([\w-]+).*:::gpu$', committed, re.M))
    rows = re.findall(r"^\| `([\w-]+)` \| \d+ \| ([\w, ]+) \|", committed, re.M)
    assert dashed == {name for name, sources in rows if sources == "full"}
    assert {"survey", "preflight"} <= dashed


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
    assert len(quoted) > 20
    printable = said(root)
    unknown = {p for p in quoted - FOREIGN if p not in printable}
    assert not unknown


def test_a_phrase_that_nobody_says_would_be_found(root):
    assert "the moon is not a repository" not in said(root)
    assert "is gated: accept its licence" in said(root)
