"""The trace of one text through a model: states, attention maps and module outputs, as arrays.

A trace holds one unpadded, unbatched text. Every array is float32; from a 16-bit model it holds
the model's own numbers exactly, so a norm "in the dtype of the model" is the float32 norm rounded
to that dtype (`dtype`), which is what a 16-bit kernel with a float32 accumulator gives.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int


@dataclass(frozen=True)
class ModuleStates:
    """Inputs and outputs of one block's attention and MLP, as the modules see them.

    The inputs are what the block's norms put out (OPT-350M, which norms afterwards: the residual
    stream); the outputs are taken before they are added to the residual stream.
    """

    attention_input: Float32[np.ndarray, "token hidden"]
    attention_output: Float32[np.ndarray, "token hidden"]
    mlp_input: Float32[np.ndarray, "token hidden"]
    mlp_output: Float32[np.ndarray, "token hidden"]


@dataclass(frozen=True)
class Stream:
    """The residual stream of one text; see `store` for the convention of layers."""

    dtype: str  # of the model
    # layers 0..n_layers; OPT-350M's last is narrower
    states: tuple[Float32[np.ndarray, "token _"], ...]
    before_norm: Float32[np.ndarray, "token hidden"]  # output of the last block

    @property
    def n_layers(self) -> int:
        return len(self.states) - 1

    @property
    def block_outputs(self) -> tuple[Float32[np.ndarray, "token hidden"], ...]:
        """Outputs of blocks 0..n-1; the last one before the final norm."""
        return (*self.states[1:-1], self.before_norm)


@dataclass(frozen=True)
class Trace(Stream):
    """All of one text through one model."""

    tokens: Int[np.ndarray, " token"]
    embedding: Float32[np.ndarray, "token embedding"]  # of the embedding module, nothing added
    logits: Float32[np.ndarray, " vocabulary"]  # of the last token
    attention: tuple[Float32[np.ndarray, "head token token"], ...] = ()  # per block, if asked for
    modules: tuple[ModuleStates, ...] = ()  # per block, if asked for
