"""The table of all figures; figures that are about several papers."""

DRAWING = f"{__name__}.drawing"  # with matplotlib: what the processes that draw import
