"""Why a run gave nothing, in a sentence that a result file and a page can hold."""

import traceback

from layerwise.errors import LayerwiseError, refused
from layerwise.models.fitting import is_out_of_memory


def reason_of(error: Exception) -> str:
    """Return why something gave nothing, in a sentence; what nobody foresaw is shown whole too."""
    if isinstance(error, LayerwiseError):
        return str(error)
    said = next(iter(str(error).splitlines()), "")
    if is_out_of_memory(error):
        return f"out of memory ({said}); measure it where there is more"
    if isinstance(error, OSError):
        return refused(error)
    traceback.print_exception(error)
    return f"it broke off ({type(error).__name__}: {said}); the log has the place"
