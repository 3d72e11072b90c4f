"""Every JSON file of a reader's that cannot be read ends in a sentence about it."""

import json
import shutil

import pytest

from layerwise.files import write_json
from layerwise.home import judged_claims
from layerwise.run import cli
from run_records import with_made_up_record
from tiny_checkpoints import EXAMPLE, twin_folder

FAULTS = {
    "digits": ("9" * 10_000, "integers have at most"),
    "depth": ("[" * 10**5 + "]" * 10**5, "nested too deeply"),
    "twice": ('{"a": 1, "a": 2}', "'a' appears twice"),
}
IN_CHECKPOINT = ("config.json", "tokenizer_config.json", "special_tokens_map.json")
KINDS = (*IN_CHECKPOINT, "model.safetensors.index.json", "pairs.json", "prompts.json")


def spoil(file, text):
    """Give the list or the object of a file one more entry, at its end."""
    held = file.read_text().rstrip() if file.exists() else '{"x": 1}'
    name = '"more": ' if held.startswith("{") else ""
    file.write_text(f"{held[:-1]}, {name}{text}{held[-1]}")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_analyze_reads(kind, fault, tmp_path, capsys):
    checkpoint = shutil.copytree(twin_folder("gpt_neox"), tmp_path / "m")
    texts = {name: shutil.copy(path, tmp_path) for name, path in EXAMPLE.items()}
    if kind == "model.safetensors.index.json":
        (checkpoint / "model.safetensors").rename(checkpoint / "one.safetensors")
        (checkpoint / kind).write_text(json.dumps({"weight_map": {"x": "one.safetensors"}}))
    text, problem = FAULTS[fault]
    file = (tmp_path if kind in ("pairs.json", "prompts.json") else checkpoint) / kind
    spoil(file, text)
    refuses(
        *("analyze", "--model", checkpoint, "--out", tmp_path / "o", "--dry-run"),
        *("--pairs", texts["pairs"], "--prompts", texts["prompts"]),
        because=(str(file), problem),
        capsys=capsys,
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_what_other_verbs_read(fault, tmp_path, capsys):
    text, problem = FAULTS[fault]
    runs = [tmp_path / name for name in ("one", "two")]
    for folder in runs:
        folder.mkdir()
        made = with_made_up_record({"layers": {"n_layers": 3}}, folder.name, 3)
        (folder / "layers.json").write_text(json.dumps(made["layers"]))
    spoil(file := runs[1] / "layers.json", text)
    refuses("compare", *runs, because=(str(file), problem), capsys=capsys)
    write_json(file := judged_claims("published", tmp_path), {"claims": []})
    spoil(file, text)
    refuses("claims", "--results", tmp_path, because=(str(file), problem), capsys=capsys)
    given = f'{{"more": {text}}}'
    analyze = ("analyze", "--model", "m", "--pairs", "p", "--out", "o", "--chat-template")
    named = ("--template-options", problem)
    refuses(*analyze, "--template-options", given, because=named, capsys=capsys)


def refuses(*arguments, because, capsys):
    """Hold a command to exit code 2 and one line that has these words."""
    assert cli.main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert [words for words in because if words not in said] == [], said
