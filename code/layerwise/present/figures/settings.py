"""Matplotlib's settings as it has them itself: those of a user, say of a matplotlibrc, stay out."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from matplotlib import rc_context, rcParamsDefault


def own_settings(changes: Mapping[Any, Any] = {}) -> AbstractContextManager[None]:
    """Inside the block matplotlib has its defaults and these changes; then it is as it was."""
    settings: dict[Any, Any] = {**rcParamsDefault, **changes}
    del settings["backend"]  # what draws on a screen is the user's
    return rc_context(settings)
