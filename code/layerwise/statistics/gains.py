"""Residual gains: does a model damp (gain under 1) or expand, and what foretells it (Paper 3).

A gain is the norm of a block's output over that of its input. Words and limits are those of the
sweep, hunt and GPT notebooks.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from layerwise.errors import LayerwiseError

DENSITY_LIMIT = 0.2  # at and above it a model is foretold to damp


def dampens(gain: float, decimals: int | None = None) -> bool:
    """Strictly under 1; with `decimals` after rounding, so that 0.9995 does not at two."""
    return (gain if decimals is None else round(gain, decimals)) < 1


def head_density(n_heads: int, hidden: int) -> float:
    """Heads over the size of a head, which is hidden // heads."""
    return n_heads / (hidden // n_heads)


def depth_bound(n_layers: int) -> float:
    """10^(1/n): n layers of this gain multiply to 10 (eq 3)."""
    return float(10.0 ** (1 / n_layers))


def bound_word(gains: Sequence[float], depths: Sequence[int]) -> str:
    """`holds` where no gain exceeds the bound of its depth, else `violated`."""
    within = [g <= depth_bound(n) for g, n in zip(gains, depths, strict=True)]
    return "holds" if all(within) else "violated"


def share(flags: Sequence[bool]) -> float:
    """Share of true flags."""
    if not flags:
        raise LayerwiseError("a share needs at least one model, found none; check the selection")
    return sum(flags) / len(flags)


def percent(flags: Sequence[bool]) -> int | float:
    """Share in percent, a whole number where it is one."""
    value = 100 * share(flags)
    return int(value) if value == int(value) else value


def density_accuracy(
    densities: Sequence[float], gains: Sequence[float], limit: float = DENSITY_LIMIT
) -> float:
    """Share of models that damp exactly where their density is at or above the limit."""
    pairs = zip(densities, gains, strict=True)
    return share([(density >= limit) == dampens(gain) for density, gain in pairs])


def separating_interval(densities: Sequence[float], gains: Sequence[float]) -> list[float]:
    """[largest density that expands, smallest density that damps].

    Any limit above the first and up to the second separates the models without error.
    """
    pairs = list(zip(densities, gains, strict=True))
    expanding = [density for density, gain in pairs if not dampens(gain)]
    damping = [density for density, gain in pairs if dampens(gain)]
    if not (expanding and damping and max(expanding) < min(damping)):
        raise LayerwiseError(
            f"no limit separates damping densities {damping} from expanding ones {expanding}; "
            "report an accuracy instead"
        )
    return [max(expanding), min(damping)]


def density_verdict(accuracy: float) -> str:
    """VALIDATED from 0.75, PARTIAL from 0.5, else FALSIFIED (the hunt)."""
    if accuracy >= 0.75:
        return "VALIDATED"
    return "PARTIAL" if accuracy >= 0.5 else "FALSIFIED"


def signature(mean_gain: float) -> str:
    """DAMPENER under 0.95, EXPANDER above 1.05, else NEUTRAL (the hunt)."""
    if mean_gain < 0.95:
        return "DAMPENER"
    return "EXPANDER" if mean_gain > 1.05 else "NEUTRAL"


def p_text(p: float) -> str:
    """A p value as papers print it: `< 0.001`, else three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def norm_ratios(norms: Float[np.ndarray, " layer"]) -> Float[np.ndarray, " gain"]:
    """Each norm over the one before it, all positive and finite: one gain fewer than norms."""
    if len(norms) < 2 or not np.all(np.isfinite(norms)) or not np.all(norms > 0):
        raise LayerwiseError(
            f"gains need at least two norms, all positive and finite, found {norms}; "
            "check the hidden states they came from"
        )
    return norms[1:] / norms[:-1]


def contracting_percent(gains: Float[np.ndarray, " gain"]) -> float:
    return float(np.sum(gains < 1) / len(gains) * 100)
