"""The README names only what exists, and shows the verdicts that judging gives now."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from layerwise.analyses import READER, TABLES
from layerwise.cli import _parser
from layerwise.ledger.verdicts import TOLERANCES, VERDICTS
from layerwise.steps import judge, replay, summary
from scripts import load


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def judged(root, tmp_path_factory):
    """A results folder with the published source, judged now."""
    results = tmp_path_factory.mktemp("results")
    params = yaml.safe_load((root / "params.yaml").read_text())["infer"]
    statistics = results / "published" / "statistics"
    for analysis in TABLES:
        replay.run(analysis, root / "published", statistics / f"{analysis}.json", params)
    judge.run(
        "published",
        root / "claims",
        root / "published",
        root / "models.yaml",
        statistics,
        results / "published" / "claims.json",
    )
    return results


def blocks(text):
    """Fenced blocks as (language, text)."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)


def shell_of(text):
    """All shell blocks: `sh` runs anywhere, `bash` needs a network, a GPU or docker."""
    return "\n".join(body for language, body in blocks(text) if language in ("sh", "bash"))


def code(text):
    """Every piece of code: lines of shell blocks and inline spans."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    shell = shell_of(text).replace("\\\n", " ")
    return [line.split("#")[0] for line in shell.splitlines()] + re.findall(r"`([^`]+)`", outside)


def verbs():
    (action,) = (a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    return action.choices


def test_table_of_verdicts_is_the_output_now(readme, judged, root):
    shown = [body for _, body in blocks(readme) if body.strip().startswith("source published")]
    assert len(shown) == 1
    output = summary.run(["published"], judged, root / "figures", root / "paper")
    lines = output.strip("\n").splitlines()
    rows = [line for line in lines if line.strip().startswith(VERDICTS)]
    assert len(rows) >= 5
    assert [line for line in shown[0].splitlines() if line.strip().startswith(VERDICTS)] == rows
    assert shown[0].rstrip() == "\n".join(lines[: 2 + len(rows)])


def test_first_commands_are_the_two(readme):
    language, body = blocks(readme)[0]
    assert language == "sh"
    assert [line.split("#")[0].strip() for line in body.splitlines()] == [
        "make reproduce",
        "make test",
    ]


def test_make_targets_exist(readme, root):
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.M))
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", "\n".join(code(readme))))
    assert {"reproduce", "test", "reproduce-full"} <= named
    assert named <= targets


def test_verbs_and_options_exist(readme):
    found = 0
    for line in code(readme):
        for verb, rest in re.findall(r"\blayerwise ([a-z]+)(.*)", line):
            if verb == "VERB":
                continue
            assert verb in verbs(), line
            options = set(re.findall(r"(?<!\S)--[a-z_]+", rest))
            assert options <= set(verbs()[verb]._option_string_actions), line
            found += 1
    assert found >= 4


def test_options_named_alone_exist(readme):
    """Options that stand without a verb belong to some verb."""
    known = {o for parser in verbs().values() for o in parser._option_string_actions}
    for piece in code(readme):
        if piece.startswith("--"):
            assert piece.split()[0] in known, piece


def test_commands_of_analyze_parse(readme):
    """The example commands are whole: what is required is there."""
    shell = shell_of(readme)
    commands = [
        line.split("#")[0].split()[1:]
        for line in shell.replace("\\\n", " ").splitlines()
        if line.startswith("layerwise ")
    ]
    assert {command[0] for command in commands} >= {"analyze", "scaling"}
    for command in commands:
        _parser().parse_args(command)


def test_stages_that_dvc_is_asked_for_exist(root):
    """In the README and in docs/; a word in capitals stands for the reader's own."""
    lock = yaml.safe_load((root / "dvc.lock").read_text())["stages"]
    written = yaml.safe_load((root / "dvc.yaml").read_text())["stages"]
    known = {*lock, *written} | {
        f"{name}@{item}" for name, stage in written.items() for item in stage.get("foreach", ())
    }
    found = 0
    for page in (root / "README.md", *(root / "docs").glob("*.md")):
        for piece in code(page.read_text(encoding="utf-8")):
            for arguments in re.findall(r"\bdvc (?:repro|commit)((?: [\w@.-]+)+)", piece):
                named = [a for a in arguments.split() if not a.startswith("-")]
                unknown = [a for a in named if a not in known and not re.search(r"[A-Z]+$", a)]
                assert not unknown, f"{page.name}: {piece}"
                found += len(named)
    assert found > 40


def test_claim_ids_exist(readme, judged):
    document = json.loads((judged / "published" / "claims.json").read_text())
    ids = {record["id"] for record in document["claims"]}
    named = set(re.findall(r"\bp[123]\.[a-z0-9_.]+", "\n".join(code(readme))))
    assert named
    assert named <= ids


def outputs(root):
    """What the pipeline writes: stages' outputs as templates of paths."""
    document = yaml.safe_load((root / "dvc.yaml").read_text())
    return [
        re.sub(r"\$\{[^}]+\}", "*", out)
        for stage in document["stages"].values()
        for out in stage.get("do", stage).get("outs", [])
    ]


def written(path, root):
    """True for a file or folder that is committed or that a stage writes."""
    if (root / path).exists() or (root / "code" / "layerwise" / path).exists():
        return True
    parts = path.rstrip("/").split("/")
    for out in outputs(root):
        pattern = out.split("/")
        may_hold_more = "." not in pattern[-1]  # a folder: what is below it is written too
        if (len(parts) <= len(pattern) or may_hold_more) and all(
            want == have or "*" in want for want, have in zip(pattern, parts, strict=False)
        ):
            return True
    return False


# Files of the user's own in the examples.
OWN = {f"{name}.json" for name in READER} | {
    "pairs.json",
    "prompts.json",
    ".venv/bin/activate",
    "out/mine",
    "out/small",
    "out/large",
    "out/example",
    "out/example/index.html",
    "out/example/tables.tex",
    "out/example/figures",
    "index.html",
    "tables.tex",
    "figures/",
    "gains.json",
    "spectral.json",
}


def test_files_and_folders_exist(readme, root):
    named = set()
    for piece in code(readme):
        if re.search(r'[{"]|://', piece):
            continue
        for word in piece.split():
            if word not in OWN and re.fullmatch(r"[\w.-]+/[\w./-]*|[\w-]+\.(yaml|json|md)", word):
                named.add(word)
    assert len(named) >= 4
    assert not [path for path in sorted(named) if not written(path, root)]


def test_a_missing_file_would_be_found(root):
    assert not written("results/published/nothing.json", root)
    assert not written("code/layerwise/nothing.py", root)
    assert written("figures/published/", root)
    assert written("results/mini/checkpoints/mini-gpt2", root)
    assert not written("results/mini/checks/mini-gpt2", root)


def test_house_names_what_is_there(readme, root):
    """Every name of the layout's picture is a module, a folder or a file."""
    (house,) = (body for language, body in blocks(readme) if not language and "code/" in body)
    names = re.findall(r"[\w.]+/(?:[\w]+/)?|\b\w+\.(?:yaml|json)", house)
    assert len(names) >= 8
    package = root / "code" / "layerwise"
    for name in names:
        places = (root / name, package / name, root / "results", root / "figures")
        assert places[0].exists() or places[1].exists() or name in ("results/", "figures/"), name


def test_result_files_of_analyze_are_named(readme):
    for name in READER:
        assert f"`{name}" in readme or f"{name}.json" in readme, name


def test_nothing_is_left_to_fill_in(readme):
    assert not re.search(r"@[A-Z]+@|TODO|TBD|XXX|\b[A-Z]+TIME\b", readme)


def test_first_screen_is_one_screen(readme):
    """What it is, one command, minutes and the expected numbers stand in the first forty lines."""
    first = "\n".join(readme.splitlines()[:40])
    assert "make reproduce" in first
    assert "minutes" in first
    assert "source published: " in first


def test_classes_of_tolerance_are_the_ledgers(readme):
    rows = re.findall(r"^\| (\w+) \| [^|]+ \| ([^|]+) \| [^|]+ \|$", readme, re.M)
    shown = {name: band for name, band in rows if name in TOLERANCES}
    assert set(shown) == set(TOLERANCES)
    for name, (relative, absolute) in TOLERANCES.items():
        found = [float(number) for number in re.findall(r"\d[\de.-]*", shown[name])]
        assert found == [band for band in (relative, absolute) if band] or found == [0.0]


def test_claims_page_is_that_of_the_judged_claims(root, judged):
    module = load(root / "docs" / "claims.py")
    document = json.loads((judged / "published" / "claims.json").read_text())
    page = (root / "docs" / "claims.md").read_text(encoding="utf-8")
    assert page == module.page(document), "run `make docs`"
    total = sum(int(n) for n in re.findall(r"^## Paper \d: (\d+) claims$", page, re.M))
    assert total == len(document["claims"])
    numbers = [
        int(cell)
        for row in re.findall(r"^\|.*\|$", page, re.M)
        for cell in row.split("|")
        if cell.strip().isdigit()
    ]
    assert sum(numbers) == total
    named = set(re.findall(r"`dvc repro replay@(\w+)`", page))
    assert named <= set(TABLES)


# Every block that is marked `sh` is run, in a copy of the repository without git.

NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv*", "__pycache__", ".*_cache", ".hypothesis", "results", "data", "dist", "out",
    "work", "cache", "tmp", "config.local", "figures", "*.part",
)  # fmt: skip


@pytest.fixture(scope="module")
def copy(root, judged, tmp_path_factory):
    """The repository after `make reproduce`, as far as the commands need it."""
    folder = tmp_path_factory.mktemp("copy") / "layerwise"
    shutil.copytree(root, folder, ignore=NOT_COPIED)
    (folder / ".dvc" / "config.local").write_text("[core]\n    no_scm = true\n")
    shutil.copytree(judged, folder / "results")
    mini = folder / "code" / "layerwise" / "inputs" / "rehearsal"
    run(
        f"layerwise build --pairs {mini}/pairs.json --prompts {mini}/prompts.json "
        "--out results/mini/checkpoints",
        folder,
    )
    return folder


def run(command, folder):
    """What a command prints, in the environment that activates .venv."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "code"),
        "DVC_NO_ANALYTICS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def runnable(text):
    """(block, the output that the page shows right under it, if any) of the `sh` blocks."""
    fence = r"^```sh\n(?P<block>.*?)^```\n(?:\n```\n(?P<output>.*?)^```$)?"
    return [(m["block"], m["output"]) for m in re.finditer(fence, text, re.M | re.S)]


PAGES = ("README.md", "docs/docker.md", "docs/extending.md", "docs/clusters.md")


@pytest.mark.parametrize("page", PAGES)
def test_blocks_that_run_anywhere_run(page, root, copy):
    for block, output in runnable((root / page).read_text(encoding="utf-8")):
        if block.startswith("make "):  # the main job and the tests themselves
            for line in block.splitlines():
                run(f"make --dry-run {line.split('#')[0].removeprefix('make ')}", copy)
            continue
        said = run(block, copy)
        if output is not None:
            assert said == output


def test_readme_has_blocks_to_run(readme):
    found = runnable(readme)
    assert sum(len(block.splitlines()) for block, _ in found) >= 6
    assert [output for _, output in found if output], "a worked example shows its output"


def test_a_command_that_fails_would_be_seen(copy):
    with pytest.raises(AssertionError, match="no claim"):
        run("layerwise trace p9.nothing", copy)
