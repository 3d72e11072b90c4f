"""The tables of published numbers: transcription, comparison, errors, recording."""

import json

import pytest

from layerwise.engine.published import HEADER, TYPED, Published, pointer, split_pointer
from layerwise.errors import LayerwiseError
from layerwise.papers.fetching.transcription import check_tables, transcribe
from layerwise.papers.shared.published import read_published
from layerwise.papers.shared.result_files import BOOTSTRAP, TABLES


@pytest.fixture
def files():
    """A made-up upstream with every file the tables name."""
    content = {file: {"r": 0.1, "text": "two words"} for files in TABLES.values() for file in files}
    content["dataset.json"] = {"a": {"pairs": [["x", "y"], ["z", "w"]]}, "b": {"pairs": []}}
    content["prompts.json"] = {"anisotropy": {"prompts": ["p", "q", "r"]}}
    content[BOOTSTRAP] = {
        "timestamp": "2026-01-02T13:28:30.448358",
        "model": "EleutherAI/pythia-6.9b",
        "ok": True,
        "layer_results": {"0": {"r": -0.6012808953704523}, "32": {"r": 1e-300}},
        "changes": [],
        "list": [{"a/b": 1}, {"a/b": 2}],
    }
    return content


@pytest.fixture
def folder(tmp_path, files):
    tables = transcribe(lambda file: json.dumps(files[file]).encode())
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    (tmp_path / TYPED).write_text(",".join(HEADER) + "\nnotebook 000,/r/0,-0.60\n")
    return tmp_path


def test_transcribed_numbers_keep_every_digit_and_give_the_file_again(folder, files):
    published = read_published(folder)
    assert published[BOOTSTRAP, "/layer_results/0/r"] == files[BOOTSTRAP]["layer_results"]["0"]["r"]
    assert published[BOOTSTRAP, "/layer_results/32/r"] == 1e-300
    assert published[BOOTSTRAP, "/ok"] is True
    assert published["notebook 000", "/r/0"] == -0.6
    del files[BOOTSTRAP]["timestamp"]
    assert published.document(BOOTSTRAP) == files[BOOTSTRAP]


@pytest.mark.parametrize("names", [("a/b", "c~d", "0"), ("",), ("~1", "/")])
def test_pointer_and_split_pointer_are_inverse(names):
    assert tuple(split_pointer(pointer(*names))) == names


def test_missing_number_refused():
    with pytest.raises(LayerwiseError, match=r"no number '/x' of f; check the key"):
        Published({})["f", "/x"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f,/x,", "must be a JSON number, boolean or label, found ''"),
        ("f,/x,1.2.3", "found '1.2.3'"),
        ("f,/x", "3 columns, found 2"),
        ("notebook 000,/r/0,1", "listed once, '/r/0' of notebook 000 is there twice"),
    ],
)
def test_malformed_table_refused(folder, line, message):
    path = folder / TYPED
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(LayerwiseError, match=message) as error:
        read_published(folder)
    assert "typed.csv, line 3" in str(error.value)
    path.unlink()
    with pytest.raises(LayerwiseError, match=r"typed\.csv: the table is missing"):
        read_published(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("-0.6012808953704523", "-0.6012808953704524"), "'Results/"),
        (lambda text: text[: text.rindex("\n", 0, -1) + 1], "None"),
    ],
    ids=["another digit", "a number less"],
)
def test_check_finds_what_upstreams_files_do_not_say(folder, files, change, message):
    tables = transcribe(lambda file: json.dumps(files[file]).encode())
    check_tables(folder, tables)
    path = folder / "paper2.csv"
    path.write_text(change(path.read_text()))
    with pytest.raises(LayerwiseError, match=rf"paper2\.csv, line \d+: the table says {message}"):
        check_tables(folder, tables)


def test_committed_tables_against_published(root, mirror):
    """Every committed number is what the published file says."""
    check_tables(root / "published", transcribe(lambda file: (mirror / file).read_bytes()))


def test_no_statement_or_prompt_is_committed(root, mirror):
    pairs = json.loads((mirror / "dataset.json").read_text())
    statements = [side for entry in pairs.values() for pair in entry["pairs"] for side in pair]
    text = "".join(path.read_text() for path in (root / "published").glob("*.csv"))
    assert len(statements) == 460
    assert not [statement for statement in statements if statement in text]
