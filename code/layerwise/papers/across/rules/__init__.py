"""Rules that are about several papers."""
