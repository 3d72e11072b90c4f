"""The studies in examples/: every command of their page runs, on twins at the pinned commits."""

import itertools
import re
import shlex
from pathlib import Path

import pytest

from layerwise import cli
from layerwise.inputs.models import read_models
from layerwise.inputs.pairs import read_pairs
from layerwise.inputs.prompts import read_prompts
from layerwise.rehearsal.scratch import place

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
]


def test_every_study_runs_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = read_pairs(ROOT / "examples" / "framings.csv")
    texts = [*pairs.statements, *read_prompts(ROOT / "examples" / "prompts.json")]
    known = {
        (model.hub, model.revision): model for model in read_models(ROOT / "models.yaml").values()
    }
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for program, verb, *arguments in COMMANDS:
        assert program == "layerwise"
        if verb == "analyze":
            given = dict(itertools.pairwise(arguments))
            place(known[given["--model"], given["--revision"]], texts, tmp_path / "hub")
        assert cli.main([verb, *arguments]) == 0, capsys.readouterr().err
    named = re.findall(r"`(out/[^`]*html)`", PAGE)
    assert len(named) == 2
    assert all(Path(name).stat().st_size > 10_000 for name in named)
