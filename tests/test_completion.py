"""Completion in a real bash: verbs, options, choices, files, slugs and claim ids."""

import json
import shutil
import subprocess
import sys

import pytest

from layerwise import cli
from layerwise.inputs.models import read_models
from layerwise.ledger.verdicts import VERDICTS
from layerwise.steps.completion import script
from layerwise.steps.draw import FIGURES

ASK = """\
source {script}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
$(complete -p layerwise | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p')
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
IDS = ["p1.abstract.one", "p2.nb003.6.9b.global.ci_lower", "p2.nb003.other"]

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing")


@pytest.fixture(scope="module")
def folder(root, tmp_path_factory):
    """A repository with a registry and three judged claims, and the script in it."""
    folder = tmp_path_factory.mktemp("complete me")
    shutil.copy(root / "models.yaml", folder)
    (folder / "results" / "published").mkdir(parents=True)
    judged = {"source": "published", "claims": [{"id": one, "unit": "nats"} for one in IDS]}
    (folder / "results" / "published" / "claims.json").write_text(json.dumps(judged, indent=1))
    (folder / "script").write_text(script(cli._parser(), "bash"))
    return folder


def completions(folder, *words):
    """What bash offers for the last of the words."""
    command = ["bash", "-euo", "pipefail", "-c", ASK.format(script="./script"), "bash"]
    done = subprocess.run(
        [*command, "layerwise", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return sorted(filter(None, done.stdout.splitlines()))


def test_every_verb_is_offered(folder):
    (action,) = (a for a in cli._parser()._actions if a.dest == "verb")
    assert completions(folder, "") == sorted(action.choices)
    assert completions(folder, "sur") == ["survey"]


def test_options_of_the_verb_are_offered(folder):
    assert completions(folder, "trace", "--") == ["--help", "--json", "--results", "--source"]
    assert completions(folder, "trace", "some.claim", "--so") == ["--source"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["trace", "--source", ""], ["full", "mini", "published"]),
        (["claims", "--verdict", ""], sorted(v for v in VERDICTS if " " not in v)),
        (["draw", ""], sorted(FIGURES)),
        (["draw", "layers", "m"], ["mini"]),
        (["replay", "spectral"], ["spectral_norms"]),
        (["redraw", "depth"], ["depth_gain"]),
        (["completion", ""], ["bash", "tcsh", "zsh"]),
    ],
)
def test_choices_are_offered(folder, words, offered):
    assert completions(folder, *words) == offered


@pytest.mark.parametrize("option", ["--models", "--published", "--prompts"])
def test_files_are_offered_for_paths(folder, option):
    assert completions(folder, "survey", "gpt2", option, "mod") == ["models.yaml"]


def test_a_model_of_ones_own_is_a_folder(folder):
    assert completions(folder, "analyze", "--model", "res") == ["results"]


def test_slugs_of_the_registry_are_offered(folder):
    slugs = set(read_models(folder / "models.yaml"))
    assert completions(folder, "extract", "") == sorted(slugs)
    assert completions(folder, "survey", "pythia-1b") == ["pythia-1b"]


def test_claim_ids_are_offered(folder):
    assert completions(folder, "trace", "") == IDS
    assert completions(folder, "trace", "p2.nb003.6") == IDS[1:2]


def test_nothing_is_looked_up_elsewhere(folder, tmp_path):
    shutil.copy(folder / "script", tmp_path)
    assert completions(tmp_path, "trace", "p2") == []
    assert completions(tmp_path, "survey", "gpt2") == []


@pytest.mark.parametrize("shell", cli.SHELLS)
def test_verb_prints_the_script(capsys, shell):
    assert cli.main(["completion", shell]) == 0
    assert capsys.readouterr().out == script(cli._parser(), shell) + "\n"


def test_the_parser_itself_stays_as_it_was(capsys):
    """Choices are for the keyboard: `draw` still says itself which figures there are."""
    assert cli.main(["completion", "bash"]) == 0
    capsys.readouterr()
    options = ["--statistics", "s", "--out", "o"]
    assert cli.main(["draw", "nothing", "published", *options]) == 2
    assert "figure must be one of validation, layers" in capsys.readouterr().err


def test_help_says_how_to_switch_it_on(folder, capsys, monkeypatch, tmp_path):
    """The lines for bash, run as they stand."""
    with pytest.raises(SystemExit):
        cli.main(["completion", "--help"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    first = lines.index("example:") + 1
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "layerwise").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m layerwise "$@"\n'
    )
    (tmp_path / "bin" / "layerwise").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    ask = "bash -ic 'complete -p layerwise' 2>/dev/null"
    done = subprocess.run(
        ["bash", "-c", "\n".join([*lines[first : first + 2], ask])],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "complete -o bashdefault -F _shtab_layerwise layerwise\n"
