"""Numbers as a 16-bit format would hold them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float32

from layerwise.errors import LayerwiseError


def round_to(values: Float32[np.ndarray, "*shape"], dtype: str) -> Float32[np.ndarray, "*shape"]:
    """The values rounded to `dtype` (ties to even) and held in float32 again.

    bfloat16 is the upper half of a float32. What float16 cannot hold becomes infinite.

    Raises:
        LayerwiseError: for another dtype than float32, float16 and bfloat16.
    """
    if dtype == "float32":
        return values
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    if dtype != "bfloat16":
        raise LayerwiseError(f"dtype must be float32, float16 or bfloat16, found {dtype!r}")
    bits = values.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    upper = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, upper.view(np.float32))
