"""What is checked of a model once its shapes are known: before any pass, and in a dry run."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from layerwise.files import is_first_process
from layerwise.measures.values import sampled_layers
from layerwise.models.needs import BATCH_TOKENS, kept_bytes
from layerwise.models.partial import require_room
from layerwise.models.registry import BYTES
from layerwise.models.store import POOLINGS
from layerwise.reader.request import Request
from layerwise.reader.results_folder import alone, of_states

if TYPE_CHECKING:  # torch is imported once the texts and choices are right
    from layerwise.models.load import Checkpoint
    from layerwise.models.token_ids import Ids

OF_ARRAY = 128  # bytes in the header of a batch's file
# Bytes of result files, tables, figures and page, and more for each pair, category and layer: 400
# pairs in 20 categories at 2 layers had 785,150.
OF_PAGE, OF_EACH = 4 * 2**20, 10 * 2**10


@dataclass(frozen=True)
class Checked:
    """A request on a model, which is loaded or has shapes alone, once all of it is right.

    Attributes:
        ids: of every statement and prompt, by kind.
        sampled: the layers.
        states: bytes of hidden states on disk, of the model measured once.
        download: bytes of weights that the hub has and this machine has not.
    """

    request: Request
    loaded: "Checkpoint"
    ids: Mapping[str, Sequence["Ids"]]
    sampled: Sequence[int]
    states: int
    download: int = 0

    @property
    def tokens(self) -> dict[str, int]:
        """How many the statements have together, and the prompts."""
        return {kind: sum(map(len, texts)) for kind, texts in self.ids.items()}

    @property
    def replicates(self) -> int:
        """How many with rounding noise: none where nothing rounds."""
        return self.request.choices["replicates"] if BYTES[self.loaded.dtype] == 2 else 0

    @property
    def times(self) -> int:
        """How often the texts are run: by the model, as replicates, and by random weights."""
        return 1 + self.replicates + self.request.choices["control"]

    @property
    def written(self) -> int:
        """Bytes of all that the run writes, at most."""
        n_parts = len(self.request.pairs) + len(self.request.pairs.categories) + len(self.sampled)
        return self.times * self.states + OF_PAGE + OF_EACH * n_parts


def check_model(model: str | Path, request: Request) -> Checked:
    """Check a request on a model whose weights stay where they are, and that its folder is free.

    Of a model of the hub config and tokenizer are fetched.

    Raises:
        LayerwiseError: as for `analyze`, but for what numbers alone can show.
    """
    from layerwise.models.load import load_shapes

    out = request.choices["out"]
    if out is not None and is_first_process():
        with alone(out):
            pass
    with request.blamed():
        loaded, download = load_shapes(model, **request.loading)
    return check(loaded, request, download)


def check(loaded: "Checkpoint", request: Request, download: int = 0) -> Checked:
    """Check texts and layers of a request on a model.

    Raises:
        LayerwiseError: if the model cannot take a text, or has not such a layer.
    """
    from layerwise.models.batches import plan_batches
    from layerwise.models.token_ids import check_texts

    with request.blamed():
        ids = check_texts(loaded.declaration, request.texts, request.template)
    sampled = sampled_layers(loaded.n_layers, layers=request.choices["layers"])
    lengths = {kind: [len(one) for one in of] for kind, of in ids.items()}
    sizes = loaded.hidden_size, loaded.n_layers
    n_prompt_tokens = sum(lengths["prompts"])
    states = kept_bytes(len(lengths["statements"]), n_prompt_tokens, *sizes, loaded.dtype)
    batches = [len(plan_batches(kind, of, BATCH_TOKENS)) for kind, of in lengths.items()]
    headers = sum(batches) * len(POOLINGS) * (loaded.n_layers + 2) * OF_ARRAY
    return Checked(request, loaded, ids, sampled, states + headers, download)


def check_each(todo: Sequence[tuple[str, Request]]) -> list[Checked]:
    """The same of several models, and that there is room for all that is written of all of them.

    Raises:
        LayerwiseError: before anything is measured of one of them.
    """
    every = [check_model(model, request) for model, request in todo]
    require_room_for(every)
    return every


def require_room_for(every: Sequence[Checked]) -> None:
    """Refuse a disk that is too full for all that these runs write; the first process looks.

    Hidden states that a run before left are not written again. Where no folder is given, each run
    has one for its time.
    """
    if not is_first_process():
        return
    more = []
    for one in every:
        out = one.request.choices["out"]
        there = 0 if out is None else sum(map(_bytes_in, of_states(out)))
        more.append(max(0, one.written - there))
    given = every[0].request.choices["out"]
    if given is None:
        require_room(Path(tempfile.gettempdir()), max(more))
    else:
        require_room(given, sum(more))


def _bytes_in(folder: Path) -> int:
    """Of the files below a folder; what a link leads to is elsewhere."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())
