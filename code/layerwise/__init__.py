"""Recompute the numbers of the transformer-dynamics papers, layer by layer."""

__version__ = "0.1.0"
