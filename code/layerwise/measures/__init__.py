"""Measures: hidden states -> values. Pure functions, float64 inside."""
