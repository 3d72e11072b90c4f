"""Models and keys of files have the names that readers know, wherever people read."""

import re

import pytest

from layerwise.engine.words import display_names, in_words, label_model, words_here
from layerwise.files import read_json
from layerwise.models.registry import read_models
from layerwise.present.records import PROSE, readable

PARTS = ("headlines", "findings", "story", "claims")  # of judged claims
STYLE = "style.md"  # quotes names that are to be avoided


@pytest.fixture
def misnamed(root):
    """`misnamed(text)`: models in it that are called by another name than their display name."""
    names = display_names(read_models(root / "models.yaml"))
    models = read_models(root / "models.yaml").values()
    known = {name for one in models for name in (one.slug, one.hub.rpartition("/")[2], one.display)}
    longest = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    name = re.compile(rf"(?<![\w/.-])({longest})(?![\w/-])", re.IGNORECASE)

    def found(text):
        left = re.sub(r"```.*?```|`[^`]*`|<!--.*?-->|https?://\S+", "", text, flags=re.DOTALL)
        return [one for one in name.findall(left) if one != label_model(one, names)]

    return found


def strings(value):
    """The texts in a value and below; what numbers rest on is no text."""
    if isinstance(value, dict):
        return [text for name, of in value.items() if name != "inputs" for text in strings(of)]
    below = value if isinstance(value, list) else []
    return [value] if isinstance(value, str) else [text for of in below for text in strings(of)]


def test_models_have_the_names_that_readers_know(root, results, misnamed):
    """In sentences and beside claims, on every page of docs/, and on the terminal."""
    judged = read_json(results / "published" / "claims.json")
    names = display_names(read_models(root / "models.yaml"))
    told = [one for part in PARTS for one in readable(judged[part], names)]
    texts = [
        text for one in told for name in (*PROSE, "readings") for text in strings(one.get(name))
    ]
    assert len(texts) > 3_000
    assert [text for text in texts if misnamed(text)] == []


def test_a_model_is_misnamed_where_it_is_text(misnamed):
    said = "Of opt-2.7b, `opt-2.7b`, OPT-2.7B, org/opt-2.7b and Pythia-6.9b"
    assert misnamed(said) == ["opt-2.7b", "Pythia-6.9b"]


def test_keys_of_files_are_put_into_words():
    assert in_words("UA of gt_numeric, last_token, layer 3") == (
        "UA of numeric facts, last token, layer 3"
    )
    assert in_words("my_last_token_file") == "my_last_token_file"
    assert not any("_" in words for words in words_here()["keys"].values())
