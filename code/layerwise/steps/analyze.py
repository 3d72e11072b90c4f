"""The papers' analyses of a user's own model, pairs and prompts: from Python and as a verb."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from typing_extensions import TypedDict

from layerwise import workers
from layerwise.errors import LayerwiseError, TextError
from layerwise.extraction.checkpoint_folder import check_folder
from layerwise.files import from_environment, is_first_process, locked
from layerwise.inputs.models import Dtype
from layerwise.inputs.shapes import Device, Seed, Times, converted
from layerwise.inputs.texts import StatementPairs, place_of, read_pairs, read_prompts
from layerwise.pages.own_model import require_templates
from layerwise.places.folders import AGAIN, STATES

if TYPE_CHECKING:  # what draws is imported once the inputs are right
    from layerwise.steps.results import Result


class Choices(TypedDict):
    """What a caller is left to choose, as `analyze` explains it."""

    out: Path | None
    revision: str | None
    dtype: Dtype | None
    device: Device | None
    layers: list[int] | None
    seed: Seed
    without: list[Literal["gains", "spectral"]]
    replicates: Times
    control: Times


def analyze(
    model: Any,
    pairs: Any,
    prompts: Any = None,
    *,
    tokenizer: Any = None,
    out: str | Path | None = None,
    revision: str | None = None,
    dtype: str | None = None,
    device: str | None = None,
    layers: Sequence[int] | None = None,
    seed: int = 42,
    without: Sequence[str] = (),
    replicates: int = 5,
    control: int = 0,
) -> "Result":
    """The papers' measurements of a model: everything but seed and layers is as published.

    Args:
        model: a checkpoint folder, a hub id (safetensors only; no code of a checkpoint is ever
            run), or a causal language model of transformers that is loaded already.
        pairs: statement pairs: a file (JSON, CSV, JSON Lines), what JSON holds as a dictionary, a
            data frame with the columns category, a, b; or `"papers"`, the papers' own 230.
        prompts: single texts, for gains and anisotropy: a file, a list of texts, a data frame with
            the column prompt, or `"papers"`; None: these two are left out.
        tokenizer: of a loaded model.
        out: the folder of the result files, where a killed run is resumed; None: none are
            written. A launcher's processes share the batches, the first of them writes the rest.
        revision: commit, tag or branch of a hub id; `main` by default. The commit is recorded.
        dtype: float32 (the default), float16 or bfloat16; a loaded model has its own.
        device: cpu (the default), cuda, cuda:1, or auto (several GPUs); a loaded model has its own.
        layers: numbers from 0 (what enters block 0) to n_layers (behind the final norm); every 4th
            and the last by default.
        seed: of every resample.
        without: gains, spectral or both, to leave out.
        replicates: how often a model in 16 bits is measured again with noise of the size of
            rounding, which says how far every answer may move; none in float32.
        control: how many draws of random weights, in the same architecture and with the same
            tokenizer and texts, are asked the same; each takes as long as the model, and its
            memory beside it.

    Raises:
        LayerwiseError: with the rule, what came and the fix. Texts and checkpoint folder are
            checked before torch is imported; after an error nothing is left behind.
    """
    is_loaded = not isinstance(model, str | Path)
    if is_loaded and (revision, dtype, device) != (None, None, None):
        raise LayerwiseError(
            "a loaded model has its revision, dtype and device; load it with those you want"
        )
    asked = {
        "out": out,
        "revision": revision,
        "dtype": dtype,
        "device": device,
        "layers": layers,
        "seed": seed,
        "without": without,
        "replicates": replicates,
        "control": control,
    }
    statement_pairs, texts, chosen = checked(model, pairs, prompts, asked)
    with contextlib.ExitStack() as stack:
        if chosen["out"] is None:
            if from_environment("WORLD_SIZE", 1, 2**16) not in (None, 1):
                raise LayerwiseError(
                    "several processes work in one folder, found none; give `out`, the same in all"
                )
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="layerwise-")))
        else:
            folder = chosen["out"]
        if writes := chosen["out"] is not None and is_first_process():
            stack.enter_context(_alone(folder))
            workers.start("layerwise.figures.drawing")  # while this process computes
        # and with it torch, now that the inputs are right
        from layerwise.extraction.load import from_memory, load_model
        from layerwise.steps.own_model import analyzed

        with blamed(statement_pairs, prompts):
            if is_loaded:
                was_training = getattr(model, "training", False)
                checkpoint = from_memory(model, tokenizer)
                stack.callback(model.train, was_training)
            else:
                checkpoint = load_model(str(model), **how(chosen, statement_pairs, texts))
            result = analyzed(
                checkpoint, statement_pairs, texts, folder / STATES, named(pairs),
                layers=chosen["layers"], seed=chosen["seed"], without=chosen["without"],
                replicates=chosen["replicates"], control=chosen["control"],
            )  # fmt: skip
        return result.save(folder) if writes else result


def how(chosen: Choices, pairs: StatementPairs, texts: Sequence[str]) -> dict[str, Any]:
    """How the model is loaded, and the texts that it is to take."""
    return {
        "dtype": chosen["dtype"] or "float32",
        "device": chosen["device"] or "cpu",
        "revision": chosen["revision"],
        "texts": {"statements": pairs.statements, "prompts": texts},
    }


@contextlib.contextmanager
def blamed(pairs: StatementPairs, prompts: Any) -> Iterator[None]:
    """Inside the block, an error about a text says where that text stands."""
    try:
        yield
    except TextError as error:
        is_pair = error.kind == "statements"
        place = place_of(pairs, error.number) if is_pair else named(prompts)
        raise LayerwiseError(f"{place}: {error}") from None


def named(given: Any) -> str:
    """What errors call the pairs or prompts that were given."""
    return str(given) if isinstance(given, str | Path) else f"the given {type(given).__name__}"


def checked(
    model: Any, pairs: Any, prompts: Any, asked: dict[str, Any]
) -> tuple[StatementPairs, tuple[str, ...], Choices]:
    """The texts and the choices, if all that can be checked before a forward pass is right.

    Raises:
        LayerwiseError: if it is not; torch is not imported for that.
    """
    chosen: Choices = converted("analyze", Choices, asked)
    found = read_pairs(pairs), () if prompts is None else read_prompts(prompts)
    if isinstance(model, str | Path) and Path(model).exists():
        check_folder(Path(model))
    if (out := chosen["out"]) is not None:
        if out.exists() and not out.is_dir():
            raise LayerwiseError(
                f"{out}: --out must be a folder, found a file; choose another place"
            )
        require_templates()
    return *found, chosen


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Inside the block this run alone works in `out`; when a rule is broken, what it made goes."""
    from layerwise.extraction.partial import partial_of

    folders = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        with locked(out / STATES):
            places = (out / STATES, partial_of(out / STATES), out / AGAIN)
            made = [one for one in places if not one.exists()]
            try:
                yield
            except LayerwiseError:
                for one in made:
                    shutil.rmtree(one, ignore_errors=True)
                raise
    finally:
        for folder in folders:
            with contextlib.suppress(OSError):  # there is something in it, or it never was
                folder.rmdir()
