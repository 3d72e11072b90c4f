"""Curves over relative depth (layer over number of blocks), as figures read them."""

from collections.abc import Mapping

Curve = list[tuple[float, float]]  # (depth, value)
Curves = Mapping[str, Mapping[str, Curve]]  # by quantity, then by model
