"""A hostile model and hostile categories, end to end: page, tables, figures, files, token."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from test_paper import SIGNS, depth, tokens

from hostile import MARKUP, PATHS, TEX, is_unseen
from layerwise.run import cli
from parsed_page import Page
from tiny_checkpoints import contents, twin_folder

TOKEN = "hf_0123456789abcdefghijABCDEFGHIJ"
HOSTILE = (*MARKUP[:1], *MARKUP[5:7], *TEX[:2], *TEX[4:6], TEX[8], *PATHS[:2])
# As long as the hostile ones: a table's columns are made for what is in them.
PLAIN = tuple(f"{chr(97 + n)}".ljust(len(name), "x") for n, name in enumerate(HOSTILE))
MODELS = ('"><img src=x onerror=alert(1)> $\\frac{$ \\input{x} & %', "model")

FIGURE = re.compile("<svg .*?</svg>", re.DOTALL)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Results under hostile names and under plain ones; all numbers are the same."""
    folders = []
    for names, model in zip((HOSTILE, PLAIN), MODELS, strict=True):
        folder = tmp_path_factory.mktemp("run")
        shutil.copytree(twin_folder("gpt_neox"), folder / model)
        pairs = {
            name: {"pairs": [[f"text {n} {m} so", f"not {m} so {n}"] for m in range(3)]}
            for n, name in enumerate(names)
        }
        (folder / "pairs.json").write_text(json.dumps(pairs))
        (folder / "prompts.json").write_text(json.dumps(["a prompt", "another one", "a third"]))
        inputs = [f"--{name}={folder / name}.json" for name in ("pairs", "prompts")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HF_TOKEN", TOKEN)
            patch.setattr("layerwise.reader.of_checkpoint.N_RESAMPLES", 200)
            patch.setattr("layerwise.reader.page.figures.OF_ONE", ("layers", "pairs"))
            run = ["analyze", f"--model={folder / model}", *inputs, f"--out={folder / 'out'}"]
            assert cli.main(run) == 0
        folders.append(folder / "out")
    return folders[0], folders[1]


def test_a_page_across_hostile_models_has_the_elements_of_a_harmless_one(
    made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run beside a copy of itself under another hostile, or harmless, name.

    One figure is enough here: what is compared is the page without them.
    """
    monkeypatch.setattr("layerwise.reader.page.figures.ACROSS", ("by_depth",))
    pages = []
    for number, (folder, names) in enumerate(zip(made, (MARKUP, PLAIN), strict=True)):
        copy, out = tmp_path / f"copy{number}", tmp_path / f"out{number}"
        shutil.copytree(folder, copy)
        layers = json.loads((copy / "layers.json").read_text(encoding="utf-8"))
        layers["model_display"] = names[0]
        (copy / "layers.json").write_text(json.dumps(layers))
        assert cli.main(["scaling", str(folder), str(copy), f"--out={out}"]) == 0
        pages.append(Page(FIGURE.sub("", (out / "scaling.html").read_text(encoding="utf-8"))))
        assert not {path.name for path in out.rglob("*")} & {*MODELS, names[0]}
    assert pages[0].parts == pages[1].parts
    assert MARKUP[0] in "".join(pages[0].words)


def test_files_are_called_the_same_whatever_names_say(made: tuple[Path, Path]) -> None:
    hostile, plain = made
    assert [*contents(hostile)] == [*contents(plain)]
    found = json.loads((hostile / "validation.json").read_text(encoding="utf-8"))
    assert [name for name in found if name in HOSTILE] == list(HOSTILE)
    assert sorted(path.name for path in hostile.parent.iterdir()) == sorted(
        [MODELS[0], "out", "pairs.json", "prompts.json"]
    )


def test_the_page_has_the_elements_of_a_harmless_one(made: tuple[Path, Path]) -> None:
    pages = [(folder / "index.html").read_bytes().decode("utf-8") for folder in made]
    drawn = [Page("".join(FIGURE.findall(page))) for page in pages]
    kinds = [{str(part) for part in page.parts} for page in drawn]
    assert kinds[0] <= kinds[1]  # a longer name may break a label into more lines
    hostile, plain = (Page(FIGURE.sub("", page)) for page in pages)
    assert hostile.parts == plain.parts
    links = [[link for link in page.links if link[:5] != "data:"] for page in (hostile, plain)]
    assert links[0] == links[1]
    assert all("javascript:" not in link for link in links[0])
    words = "".join([*hostile.words, *drawn[0].words])
    assert [name for name in (*HOSTILE, MODELS[0]) if name not in words] == []
    assert {sign for sign in pages[0] if is_unseen(sign)} == {"\n"}


def test_the_tables_have_the_commands_of_harmless_ones(made: tuple[Path, Path]) -> None:
    hostile, plain = ((folder / "tables.tex").read_text(encoding="utf-8") for folder in made)
    more = Counter(tokens(hostile)) - Counter(tokens(plain))
    assert {token for token in more if token[0] == "\\"} <= SIGNS
    assert not {"$", "&", "#", "~", "^", "%"} & set(more)
    assert depth(hostile) == depth(plain) == 0
    assert hostile.count("\n") == plain.count("\n")


def test_the_token_of_the_hub_is_in_no_file(made: tuple[Path, Path]) -> None:
    found = contents(made[0])
    assert len(found) > 7
    assert [name for name, content in found.items() if TOKEN.encode() in content] == []
