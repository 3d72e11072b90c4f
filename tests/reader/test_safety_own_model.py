"""A hostile model and hostile categories, end to end: page, tables, figures, files, token."""

import json
import shutil
from pathlib import Path

import pytest

from hostile import MARKUP, PATHS, TEX, is_unseen
from layerwise.engine.words import category_labels
from layerwise.reader.files import FILES
from layerwise.run import cli
from parsed_page import Page
from tiny_checkpoints import contents, twin_folder

TOKEN = "hf_0123456789abcdefghijABCDEFGHIJ"
HOSTILE = (*MARKUP[:1], *MARKUP[5:7], *TEX[:2], *TEX[4:6], TEX[8], *PATHS[:2])
MODEL = '"><img src=x onerror=alert(1)> $\\frac{$ \\input{x} & %'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results under hostile names."""
    folder = tmp_path_factory.mktemp("run")
    shutil.copytree(twin_folder("gpt_neox"), folder / MODEL)
    pairs = {
        name: {"pairs": [[f"text {n} {m} so", f"not {m} so {n}"] for m in range(3)]}
        for n, name in enumerate(HOSTILE)
    }
    (folder / "pairs.json").write_text(json.dumps(pairs))
    (folder / "prompts.json").write_text(json.dumps(["a prompt", "another one", "a third"]))
    inputs = [f"--{name}={folder / name}.json" for name in ("pairs", "prompts")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_TOKEN", TOKEN)
        patch.setattr("layerwise.reader.of_checkpoint.N_RESAMPLES", 200)
        patch.setattr("layerwise.reader.page.figures.OF_ONE", ("layers", "pairs"))
        run = ["analyze", f"--model={folder / MODEL}", *inputs, f"--out={folder / 'out'}"]
        assert cli.main(run) == 0
    return folder / "out"


def test_names_are_words_of_the_page_and_nothing_else(made: Path) -> None:
    text = (made / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert [*page.packed] == ["files"]
    assert len(page.scripts) == 2
    assert not any(name in page.scripts[-1] for name in (*HOSTILE, MODEL))
    assert {part[0] for part in page.parts if isinstance(part, tuple)}.isdisjoint({"img", "iframe"})
    assert not [name for name, _ in page.values if name.startswith("on")]
    assert all(link.startswith(("#", "data:")) for link in page.links)
    shown = [*category_labels(HOSTILE).values(), MODEL]
    assert [name for name in shown if name not in "".join(page.words)] == []
    assert {sign for sign in text if is_unseen(sign)} == {"\n"}


def test_files_are_called_the_same_whatever_names_say_and_hold_no_token(made: Path) -> None:
    assert set(contents(made)) <= set(FILES)
    assert sorted(path.name for path in made.parent.iterdir()) == sorted(
        [MODEL, "out", "pairs.json", "prompts.json"]
    )
    assert [name for name, content in contents(made).items() if TOKEN.encode() in content] == []
