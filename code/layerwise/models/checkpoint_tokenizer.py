"""A checkpoint's tokenizer, and with its configuration all that is known before the weights.

Ids are those of tokenizer.json, wherever a checkpoint has one. transformers 4 read the file as it
is, so the papers' models were measured, as they were trained, on its ids. transformers 5 builds the
pre-tokenizer of 49 classes (GPT-2, GPT-NeoX, Llama, Gemma, Qwen 2, ...) from its own code instead,
and then splits some texts of some checkpoints differently. Here the generic class loads the file,
and `require_ids_of_file` compares with the tokenizers library alone, because
tokenizer_config.json can change what the file says, and a reader may bring a loaded tokenizer.
"""

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import huggingface_hub
from huggingface_hub.errors import HFValidationError

from layerwise.errors import LayerwiseError, reword_errors
from layerwise.files import read_json, sha256_of
from layerwise.models.checkpoint_config import own_classes

if TYPE_CHECKING:
    import tokenizers

TOKENIZER_FILE = "tokenizer.json"
TOKENIZERS = (TOKENIZER_FILE, "tokenizer.model", "vocab.json")  # one of them is there
# The files that a tokenizer may consist of, in a folder or a commit of the hub.
TOKENIZER_FILES = (
    *("tokenizer*.json", "*.model", "vocab.*", "merges.txt", "chat_template.*"),
    *("special_tokens_map.json", "added_tokens.json"),
)
_SETTINGS = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
# The limit of a decoder's config: the second is MPT's; a class that has another of its own (GPT-2's
# n_positions, RWKV's context_length) answers to the first too.
_N_POSITIONS = ("max_position_embeddings", "max_seq_len")
_ITS_OWN = "save the tokenizer that the model was trained with into the same folder"


@dataclass(frozen=True)
class Declaration:
    """All that texts are checked with, before a weight is looked at.

    Attributes:
        name: what errors call the model.
        place: what they call its tokenizer, a folder or a name.
        n_embeddings: ids are below it, for embeddings and output embeddings have as many rows.
        n_positions: the longest text, in tokens; None: there is no limit (BLOOM, XLNet's -1).
        own_code: classes that the checkpoint brings, and that are never run.
    """

    name: str
    place: object
    tokenizer: Any
    n_embeddings: int
    n_positions: int | None
    own_code: tuple[str, ...] = ()

    @classmethod
    def of_config(cls, name: str, place: object, config: Any, tokenizer: Any) -> "Declaration":
        """Return it of a configuration of transformers."""
        text = config.get_text_config()
        said = (getattr(text, name, None) for name in _N_POSITIONS)
        longest = min((n for n in said if n is not None and n > 0), default=None)
        own_code = (*own_classes(vars(config)), *own_classes(tokenizer.init_kwargs))
        return cls(name, place, tokenizer, text.vocab_size, longest, own_code)

    def of_model(self, model: Any) -> "Declaration":
        """Return the same with the ids that a model really has, embedded and predicted."""
        n_embeddings = len(model.get_input_embeddings().weight)
        n_predicted = getattr(model.get_output_embeddings(), "out_features", n_embeddings)
        return replace(self, n_embeddings=min(n_embeddings, n_predicted))

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
        """The ids of `around`; none where a text is not found among its own tokens."""
        whole = list(self.tokenizer("a").input_ids)
        plain = list(self.tokenizer("a", add_special_tokens=False).input_ids)
        for start in range(len(whole) - len(plain) + 1):
            if whole[start : start + len(plain)] == plain:
                return whole[:start], whole[start + len(plain) :]
        return [], []


def check_tokenizer(path: Path) -> None:
    """Refuse a folder without a tokenizer, or with settings of one that are no strict JSON."""
    if not any((path / name).is_file() for name in TOKENIZERS):
        raise LayerwiseError(
            f"{path}: no tokenizer ({', '.join(TOKENIZERS)}); save it into the same folder"
        )
    for file in filter(Path.is_file, map(path.joinpath, _SETTINGS)):
        read_json(file)


def digest_of_tokenizer(folder: Path) -> str:
    """Return the SHA-256 of names and SHA-256 of the files that a tokenizer consists of."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if any(file.match(pattern) for pattern in TOKENIZER_FILES):
            digest.update(f"{file.name} {sha256_of(file)}\n".encode())
    return digest.hexdigest()


def load_tokenizer(path: Path) -> Any:
    """Load the tokenizer of a folder whose files are checked.

    transformers switches padding and truncation of tokenizer.json off when a tokenizer is called
    as it is here: a text has all its tokens and no others.

    Raises:
        LayerwiseError: for a tokenizer that does not load.
    """
    import transformers

    has_file = (path / TOKENIZER_FILE).is_file()
    kind = transformers.TokenizersBackend if has_file else transformers.AutoTokenizer
    with reword_errors(
        path, "the tokenizer cannot be loaded", "save it again into the same folder"
    ):
        return kind.from_pretrained(path, trust_remote_code=False, local_files_only=True)


def require_no_draws(tokenizer: Any) -> None:
    """Refuse a tokenizer that splits a text at random, as some do in training.

    Raises:
        LayerwiseError: naming what draws: BPE's dropout, or the sampling of a unigram model.
    """
    model = getattr(getattr(tokenizer, "backend_tokenizer", None), "model", None)
    settings = {name: getattr(model, name, None) for name in ("dropout", "alpha", "nbest_size")}
    of_sentencepiece = getattr(tokenizer, "sp_model_kwargs", None) or {}
    sampling = settings | {"enable_sampling": of_sentencepiece.get("enable_sampling")}
    for name, value in sampling.items():
        if value:
            raise LayerwiseError(
                f"a text must have the same ids in every run, this tokenizer draws how it splits "
                f"a text ({name} is {value!r:.20}); switch it off: {name!r} of the model in "
                f"{TOKENIZER_FILE}, tokenizer.backend_tokenizer.model.{name} = None in memory, or "
                "sp_model_kwargs of a tokenizer of sentencepiece"
            )


def require_ids_of_file(tokenizer: Any, texts: Sequence[str]) -> None:
    """Refuse a tokenizer that gives other ids than the tokenizer.json that it was loaded from.

    Tokens that are put around a text are left out: a reader may have switched them on or off, and
    they are recorded. A tokenizer that was loaded from no tokenizer.json passes.

    Raises:
        LayerwiseError: naming the first text with other ids, and the first of these.
    """
    file = _origin(tokenizer)
    if file is None:
        return
    with reword_errors(file, "the tokenizers library cannot read it", _ITS_OWN):
        reference = _read_tokenizer(file, file.stat().st_mtime_ns)
        expected = reference.encode_batch_fast(list(texts), add_special_tokens=False)
        ids_given = tokenizer(list(texts), add_special_tokens=False).input_ids
    for text, encoding, ids in zip(texts, expected, ids_given, strict=True):
        pairs = enumerate(zip_longest(encoding.ids, ids))
        differing = ((place, *pair) for place, pair in pairs if pair[0] != pair[1])
        if (first := next(differing, None)) is not None:
            place, ours, others = first
            raise LayerwiseError(
                f"{file}: ids must be those of this file, {type(tokenizer).__name__} gives other "
                f"ones for {text[:80]!r:.80}: token {place} is {others}, the file has {ours}; load "
                "the tokenizer with transformers.PreTrainedTokenizerFast, which takes the file as "
                "it is, correct tokenizer_config.json, or, if you added tokens, save the tokenizer "
                "and load it from its folder"
            )


def _origin(tokenizer: Any) -> Path | None:
    """Return the tokenizer.json of a tokenizer's folder, or of its model in the hub's cache."""
    place = str(tokenizer.name_or_path)
    if not place:
        return None
    if (file := Path(place) / TOKENIZER_FILE).is_file():
        return file
    try:
        cached = huggingface_hub.try_to_load_from_cache(place, TOKENIZER_FILE)
    except HFValidationError:  # a folder that is gone
        return None
    return Path(cached) if isinstance(cached, str) else None


@functools.lru_cache(maxsize=1)
def _read_tokenizer(file: Path, _changed: int) -> "tokenizers.Tokenizer":
    """Read a tokenizer.json as it is, but for padding and truncation; a large one takes seconds."""
    import tokenizers  # the list of models is read without it

    reference = tokenizers.Tokenizer.from_file(str(file))
    reference.no_padding()
    reference.no_truncation()
    return reference
