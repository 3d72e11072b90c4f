"""A checkpoint's tokenizer, and with its configuration all that is known before the weights.

A guard on tokenizer.json names the place that it is about: a trained vocabulary holds every word,
`dropout` among them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import is_file, read_json
from layerwise.models.checkpoint_config import declared, in_words

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")  # one of them is there
# What a tokenizer may consist of, in a folder or a commit of the hub.
FILES = (
    *TOKENIZERS,
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("merges.txt", "vocab.txt", "chat_template.jinja", "chat_template.json"),
)
PROBE = "Water boils at 100 degrees."  # of several words, in every alphabet that knows bytes
MOST_TOKENS = 256  # of the probe, what is put before and behind it included
_ITS_OWN = "save the tokenizer that the model was trained with into the same folder"


@dataclass(frozen=True)
class Declaration:
    """What a checkpoint says of itself before a weight is looked at: configuration, tokenizer."""

    name: str
    place: object  # for errors: the folder
    config: Any
    tokenizer: Any
    n_embeddings: int  # ids are below it

    @property
    def n_positions(self) -> int | None:
        """The longest text, in tokens; None: BLOOM has no limit."""
        return getattr(self.config, "max_position_embeddings", None)

    @property
    def adds_bos(self) -> bool:
        """Whether the tokenizer puts a BOS token before every text."""
        before, _ = self._ids_around
        return before[:1] == [self.tokenizer.bos_token_id]

    @property
    def around(self) -> tuple[list[str], list[str]]:
        """The tokens that the tokenizer puts before and behind every text."""
        before, behind = self._ids_around
        names = self.tokenizer.convert_ids_to_tokens
        return names(before), names(behind)

    @property
    def _ids_around(self) -> tuple[list[int], list[int]]:
        """Their ids; none where a text alone is not found in the text with special tokens."""
        whole = list(self.tokenizer("a").input_ids)
        plain = list(self.tokenizer("a", add_special_tokens=False).input_ids)
        for start in range(len(whole) - len(plain) + 1):
            if whole[start : start + len(plain)] == plain:
                return whole[:start], whole[start + len(plain) :]
        return [], []


def declare(path: Path, name: str) -> Declaration:
    """Configuration and tokenizer of a folder whose files are checked; weights may be missing."""
    config = declared(path)
    return Declaration(name, path, config, load_tokenizer(path), config.vocab_size)


def check_tokenizer(path: Path) -> None:
    """Refuse a folder without a tokenizer, or with one that drops merges at random."""
    if not any(is_file(path / name) for name in TOKENIZERS):
        raise LayerwiseError(
            f"{path}: no tokenizer ({', '.join(TOKENIZERS)}); save it into the same folder"
        )
    if not is_file(file := path / "tokenizer.json"):
        return
    document = read_json(file)
    document = document if isinstance(document, dict) else {}
    model = document.get("model")
    if isinstance(model, dict) and model.get("dropout"):
        raise LayerwiseError(
            f"{file}: a text has one tokenization, this tokenizer drops merges at random "
            f"(/model/dropout {model['dropout']!r:.40}); set it to null"
        )


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a folder, whose files are checked, once it has shown what it does.

    Called as it is here, transformers switches padding and truncation of tokenizer.json off: a text
    has all its tokens and no others.
    """
    import transformers

    words = in_words(path, "the tokenizer cannot be loaded", "save it again into the same folder")
    with words:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            path, trust_remote_code=False, local_files_only=True
        )
        n_tokens = len(tokenizer(PROBE).input_ids)
        plain = len(tokenizer(PROBE, add_special_tokens=False).input_ids)
    if plain < 2 or n_tokens > MOST_TOKENS:
        raise LayerwiseError(
            f"{path}: a tokenizer makes 2 to {MOST_TOKENS} tokens of {PROBE!r}, this one "
            f"{plain} and {n_tokens - plain} around them; {_ITS_OWN}"
        )
    return tokenizer
