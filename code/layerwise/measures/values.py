"""Values of one model: everything the statistics need, small enough for memory."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Int

from layerwise.errors import LayerwiseError
from layerwise.measures.anisotropy import Anisotropy
from layerwise.statistics.sizes import MIN_POINTS

# readings of the last layer
POOLED = MEAN_POOLED, LAST_TOKEN, FIRST_TOKEN = "mean_pooled", "last_token", "first_token"
ANISOTROPY = tuple(field.name for field in fields(Anisotropy) if field.name != "eigenvalues")
# A mean pairwise cosine above this: all vectors are equal. The offset of norms takes 2e-10 / norm
# off the cosine of equal vectors.
IDENTICAL = 1 - 1e-6


def layer_reading(layer: int) -> str:
    """Return the name of the mean over a layer's tokens but the first."""
    return f"layer_{layer}"


def all_tokens_reading(layer: int) -> str:
    """Return the name of the mean over all tokens of a layer."""
    return f"{layer_reading(layer)}_all_tokens"


def before_norm_reading(n_layers: int) -> str:
    """Return the name of the last layer's mean before the final norm."""
    return f"{layer_reading(n_layers)}_before_norm"


@dataclass(frozen=True)
class Output:
    """What the output of a model says of the pairs; an embedding model has none."""

    preferences: Float[np.ndarray, " pair"]  # NLL(B) - NLL(A), nats
    nll: Float[np.ndarray, "side pair"]  # mean over the predicted tokens, nats
    bin_preference: dict[int, Float[np.ndarray, "layer perm k"]]
    stable_preference: Float[np.ndarray, " bin"]


@dataclass(frozen=True)
class Values:
    """Values of one model; a reading is a layer and a pooling, a side is 0 (A) or 1 (B)."""

    model: str
    display: str
    n_layers: int
    hidden_size: int
    n_prompts: int
    seed: int
    n_permutations: int
    k_stable: int
    layers: tuple[int, ...]  # sampled, ascending
    k_values: tuple[int, ...]
    categories: tuple[str, ...]
    readings: tuple[str, ...]
    neutral: tuple[str, ...]  # categories that are marked so; empty where none is
    category_of_pair: Int[np.ndarray, " pair"]
    uniformity: Float[np.ndarray, "reading category side"]
    pair_metrics: Float[np.ndarray, "layer metric pair"]
    # of the last layer; None, as the next: such states were not given
    pair_metrics_before_norm: Float[np.ndarray, "metric pair"] | None
    pair_metrics_all_tokens: Float[np.ndarray, "layer metric pair"] | None
    # of the last layer: UA of each pair's category without the pair, and the pair's term in it
    asymmetry_without: Float[np.ndarray, " pair"]
    exchange_terms: Float[np.ndarray, " pair"]
    bin_asymmetry: dict[int, Float[np.ndarray, "layer perm k"]]
    stable_asymmetry: Float[np.ndarray, "layer bin"]
    anisotropy: Float[np.ndarray, "measure depth"]  # layers 0..n_layers, then before the norm
    # of the first component; layers 0..n_layers, not the sampled ones
    shares_by_prompt: Float[np.ndarray, "prompt each_layer"]
    eigenvalues: Float[np.ndarray, "depth kept"]  # no depth without prompts
    output: Output | None  # None: no NLL was given

    @property
    def n_pairs(self) -> int:
        return len(self.category_of_pair)

    @property
    def has_r_over_categories(self) -> bool:
        """Whether there are preferences, and categories enough to correlate over them."""
        return self.output is not None and len(self.categories) >= MIN_POINTS

    @property
    def preferences(self) -> Float[np.ndarray, " pair"]:
        """NLL(B) - NLL(A) of every pair, nats.

        Raises:
            LayerwiseError: where no NLL was given.
        """
        return self.known_output.preferences

    @property
    def known_output(self) -> Output:
        """What the output says.

        Raises:
            LayerwiseError: where no NLL was given.
        """
        if self.output is None:
            raise LayerwiseError(
                f"a preference is a difference of NLL, none was given of {self.display}; give it"
            )
        return self.output

    def asymmetries(self, reading: str) -> Float[np.ndarray, " category"]:
        """UA of each category."""
        uniformity = self.uniformity[self.readings.index(reading)]
        return uniformity[:, 0] - uniformity[:, 1]

    def has_no_r(self, reading: str) -> bool:
        """True where every statement has the same vector, as the first token after a BOS has.

        Or every category the same asymmetry: 0, if the sides of a pair begin with the same word.
        """
        asymmetries = self.asymmetries(reading)
        if len(asymmetries) > 1 and np.all(asymmetries == asymmetries[0]):
            return True
        uniformity = self.uniformity[self.readings.index(reading)]
        return bool(np.all(uniformity > IDENTICAL))

    def category_preferences(self) -> Float[np.ndarray, " category"]:
        """Mean preference of each category, nats."""
        members = [self.category_of_pair == number for number in range(len(self.categories))]
        return np.array([self.preferences[pairs].mean() for pairs in members])


def sampled_layers(
    n_layers: int, *, layers: Sequence[int] | None = None, layer_step: int = 4
) -> tuple[int, ...]:
    """The given layers, ascending, or every layer_step-th from 0 and the last (notebook 002)."""
    if layers is None:
        return tuple(sorted({*range(0, n_layers + 1, layer_step), n_layers}))
    if not layers:
        raise LayerwiseError(
            "layers must name at least one layer, found none; name some, or leave it out"
        )
    outside = [layer for layer in layers if not 0 <= layer <= n_layers]
    if outside:
        raise LayerwiseError(
            f"a layer is a number from 0 to n_layers = {n_layers}, "
            f"found {', '.join(map(str, outside))}; choose layers of this model"
        )
    return tuple(sorted(set(layers)))
