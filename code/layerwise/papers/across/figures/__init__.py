"""The table of all figures; figures that are about several papers."""
