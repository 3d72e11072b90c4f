"""A checkpoint before its weights are loaded: its folder, config, tokenizer and headers, read once.

Hub, dry run, preflight and load share one `CheckpointFiles`; each part of it is read when it is
first asked for, and what it shows is refused there.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError, reword_errors
from layerwise.files import require_name, sha256_of
from layerwise.models.checkpoint_config import ONE_MODEL, check_config, check_n_blocks, declared
from layerwise.models.checkpoint_folder import (
    Stored,
    check_adapters,
    refuse_gguf,
    refuse_revision,
    stored_tensors,
    weight_files,
)
from layerwise.models.checkpoint_tokenizer import (
    Declaration,
    check_tokenizer,
    digest_of_tokenizer,
    load_tokenizer,
)
from layerwise.models.families import FAMILIES, declared_heads


@dataclass(frozen=True)
class CheckpointFiles:
    """The files of a checkpoint, and what they say.

    Attributes:
        name: what results and errors call the model.
        folder: with config.json and the tokenizer; with the weights too unless they are `absent`.
        commit: of a model of the hub; None: the folder is the reader's.
        weights: bytes of each file of weights.
        absent: whether the weights are still on the hub.
    """

    name: str
    folder: Path
    commit: str | None = None
    weights: Mapping[str, int] = field(default_factory=dict)
    absent: bool = False

    @cached_property
    def config(self) -> Any:
        """The configuration as transformers takes it; loading works on copies."""
        if not self.absent:  # before transformers makes a list with an entry for each block
            check_n_blocks(self.folder, len(self.tensors))
        return declared(self.folder)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer of the files."""
        return load_tokenizer(self.folder)

    @cached_property
    def declaration(self) -> Declaration:
        """All that texts are checked with."""
        return Declaration.of_config(self.name, self.folder, self.config, self.tokenizer)

    @cached_property
    def tensors(self) -> list[Stored]:
        """Every stored tensor by its header, but for leftover buffers; none of absent weights."""
        return [] if self.absent else stored_tensors(self.folder)

    @cached_property
    def skeleton(self) -> Any:
        """The declared model without weights, with which every stored tensor was compared."""
        import torch  # what a folder alone shows is refused without it

        from layerwise.models.architectures import model_class
        from layerwise.models.checkpoint_weights import check_tensors

        file = self.folder / "config.json"
        with reword_errors(file, "no model can be built of it", ONE_MODEL), torch.device("meta"):
            model = model_class(self.config)._from_config(self.config, dtype=torch.float32)
        if not self.absent:
            check_tensors(self.folder, model, self.tensors)
        return model

    @cached_property
    def tokenizer_sha256(self) -> str:
        """The digest of the tokenizer's files."""
        return digest_of_tokenizer(self.folder)

    @cached_property
    def revision(self) -> str:
        """The commit; of a folder a digest of config and weights."""
        if self.commit is not None:
            return self.commit
        digest = hashlib.sha256()
        for file in (self.folder / "config.json", *weight_files(self.folder)):
            digest.update(sha256_of(file).encode())
        return f"sha256:{digest.hexdigest()}"

    def with_weights(self, folder: Path) -> "CheckpointFiles":
        """Return the same checkpoint in the folder to which its weights have come."""
        fetched = replace(self, folder=folder, absent=False)
        known = ("config", "tokenizer")  # of the same commit, and read
        fetched.__dict__.update({part: vars(self)[part] for part in known if part in vars(self)})
        return fetched

    def outline(self, dtype: str, device: str) -> "Outline":
        """Return what is known of the model before its weights are loaded."""
        from layerwise.models.blocks import find_blocks  # and torch

        blocks = find_blocks(self.skeleton)
        download = sum(self.weights.values()) if self.absent else 0
        declaration = self.declaration.of_model(self.skeleton)
        return Outline.of_model(self.skeleton, blocks, declaration, dtype, device, download)


@dataclass(frozen=True)
class Outline:
    """The sizes of a model, and how it is run.

    Attributes:
        dtype, device: in which it is run, and where.
        key_size: the columns of W_K, fewer than those of W_Q where heads share keys; 0 where the
            layout of the weights is not known.
        download: bytes of weights that the hub has and this machine has not.
    """

    declaration: Declaration
    dtype: str
    device: str
    family: str
    n_layers: int
    hidden_size: int
    key_size: int
    n_parameters: int
    download: int = 0

    @classmethod
    def of_model(
        cls,
        model: Any,
        blocks: Sequence[Any],
        declaration: Declaration,
        dtype: str,
        device: str,
        download: int = 0,
    ) -> "Outline":
        """Return it of a model with its weights, or of the skeleton of one."""
        config = model.config
        is_known = config.model_type in FAMILIES
        return cls(
            declaration,
            dtype,
            device,
            family=config.model_type,
            n_layers=len(blocks),
            hidden_size=config.get_text_config().hidden_size,
            key_size=declared_heads(config).heights["W_K"] if is_known else 0,
            n_parameters=sum(weight.numel() for weight in model.parameters()),
            download=download,
        )


def open_folder(path: str | Path, revision: str | None = None) -> CheckpointFiles:
    """Return the files of a reader's folder, if it has all that a checkpoint needs.

    Raises:
        LayerwiseError: for a config.json, a tokenizer or a file of weights that is missing or is
            not what can be measured, a name that cannot be shown, or a revision.
    """
    path = Path(path)
    refuse_revision(path, revision)
    refuse_gguf(path)
    if not path.is_dir():
        raise LayerwiseError(f"{path}: a checkpoint is a folder, this is none; check the path")
    require_name("the name of the checkpoint's folder", path.resolve().name)
    check_adapters(path, [file.name for file in path.iterdir()])
    check_config(path)
    check_tokenizer(path)
    weights = {file.name: file.stat().st_size for file in weight_files(path)}
    files = CheckpointFiles(path.resolve().name, path, weights=weights)
    _ = files.tensors  # a file that is cut off shows it
    return files
