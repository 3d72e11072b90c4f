"""A request on a model of which an outline is known: it is checked, and its cost known.

`analyze` and its dry run both begin here.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from layerwise.files import is_first_process
from layerwise.measures.values import sampled_layers
from layerwise.models.batches import plan_batches
from layerwise.models.checkpoint import CheckpointFiles, Outline
from layerwise.models.checkpoint_config import quiet
from layerwise.models.hub import look_up
from layerwise.models.load import check_loading
from layerwise.models.needs import BATCH_TOKENS, kept_bytes, require_room
from layerwise.models.registry import BYTES
from layerwise.models.store import POOLINGS
from layerwise.models.token_ids import Ids, check_texts
from layerwise.reader.request import Request
from layerwise.reader.results_folder import places_of_states

HEADER = 128  # bytes in the header of a batch's file, for each array
# Bytes of result files, tables, figures and page, and more for each pair, category and layer: 400
# pairs in 20 categories at 2 layers had 785,150.
RESULTS, RESULTS_OF_EACH = 4 * 2**20, 10 * 2**10


@dataclass(frozen=True)
class Prepared:
    """A request on a model, once all of it is right.

    Attributes:
        ids: of every statement and prompt, by kind.
        sampled: the layers.
        states: bytes of hidden states on disk, of the model measured once.
    """

    request: Request
    outline: Outline
    ids: Mapping[str, Sequence[Ids]]
    sampled: Sequence[int]
    states: int

    @property
    def tokens(self) -> dict[str, int]:
        """The tokens of all statements, and of all prompts."""
        return {kind: sum(map(len, texts)) for kind, texts in self.ids.items()}

    @property
    def replicates(self) -> int:
        """The replicates with rounding noise: none where nothing rounds."""
        return self.request.choices["replicates"] if BYTES[self.outline.dtype] == 2 else 0

    @property
    def times(self) -> int:
        """How often the texts are run: by the model, its replicates and random weights."""
        return 1 + self.replicates + self.request.choices["control"]

    @property
    def written(self) -> int:
        """The bytes of all that the run writes, at most."""
        n_parts = len(self.request.pairs) + len(self.request.pairs.categories) + len(self.sampled)
        return self.times * self.states + RESULTS + RESULTS_OF_EACH * n_parts


def prepare_from_files(model: str | Path, request: Request) -> tuple[CheckpointFiles, Prepared]:
    """Check a request on a model whose weights stay where they are.

    Config and tokenizer of a model on the hub are fetched. The run and its dry run both begin here,
    so they refuse the same; the run goes on to load the files, and to hold its passes against the
    model's own.

    Raises:
        LayerwiseError: as for `analyze`, but for what the loaded model alone can show.
    """
    choices = request.choices
    with quiet():
        files = request.files or look_up(str(model), choices["revision"])
        dtype = choices["dtype"] or "float32"
        device = check_loading(
            files, dtype, choices["device"] or "cpu", draws_beside=choices["control"] > 0
        )
        return files, prepare(files.outline(dtype, device), request)


def prepare(outline: Outline, request: Request) -> Prepared:
    """Check texts and layers of a request on a model, and the room on the disk.

    Raises:
        LayerwiseError: if the model cannot take a text, or has no such layer, or the disk is too
            full.
    """
    with request.blamed():
        ids = check_texts(outline.declaration, request.texts, request.template)
    n_layers, dtype = outline.n_layers, outline.dtype
    sampled = sampled_layers(n_layers, layers=request.choices["layers"])
    lengths = {kind: list(map(len, texts)) for kind, texts in ids.items()}
    n_prompt_tokens = sum(lengths["prompts"])
    states = kept_bytes(
        len(lengths["statements"]), n_prompt_tokens, outline.hidden_size, n_layers, dtype
    )
    n_batches = sum(len(plan_batches(kind, n, BATCH_TOKENS)) for kind, n in lengths.items())
    headers = n_batches * len(POOLINGS) * (n_layers + 2) * HEADER
    prepared = Prepared(request, outline, ids, sampled, states + headers)
    if is_first_process():
        require_room_for(prepared)
    return prepared


def require_room_for(prepared: Prepared) -> None:
    """Refuse a disk that is too full for all that a run writes.

    Hidden states that an earlier run left are not written again.
    """
    out = prepared.request.choices["out"]
    if out is None:  # there is a folder for the time of the run
        require_room(Path(tempfile.gettempdir()), prepared.written)
    else:
        present = sum(map(_bytes_in, places_of_states(out)))
        require_room(out, max(0, prepared.written - present))


def _bytes_in(folder: Path) -> int:
    """Return the bytes of the files below a folder; what a link leads to is elsewhere."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())
