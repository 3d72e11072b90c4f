"""The measured pipeline rehearsed: all of it, before a GPU is rented, on the CPU and offline.

Read in the order in which it happens:

scratch    the repository once more in a folder of its own, its texts and models declared anew; a
           random-weight stand-in of every model in a cache of the hub, at the pinned revisions
running    the stages of the copy's dvc.yaml, a model per core
outcome    which claims got a number, and why the others did not
share      not a rehearsal: the papers' models that a machine without GPU measures in an hour
"""

import hashlib
from pathlib import Path

DISK_BYTES = 1e9  # twins of all models (0.4 GB), and what is measured on them
WORKER_BYTES = 1.2 * 2**30  # a stage, DVC beside it, and a process for its statistics


def default_folder(root: Path, what: str = "rehearsal") -> Path:
    """Return a folder in the user's cache, another one for each place of the repository."""
    import platformdirs

    place = root.resolve()
    digest = hashlib.sha256(str(place).encode()).hexdigest()[:8]
    return platformdirs.user_cache_path("layerwise") / f"{what}-of-{place.name}-{digest}"
