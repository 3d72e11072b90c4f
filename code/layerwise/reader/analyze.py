"""The papers' analyses of a reader's own model, pairs and prompts: `layerwise.analyze`."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layerwise import workers
from layerwise.errors import LayerwiseError, system_in_words
from layerwise.files import is_first_process, n_processes
from layerwise.home import STATES
from layerwise.papers.across.figures import DRAWING
from layerwise.reader.request import Choices, Request, request_of
from layerwise.reader.results_folder import alone, remove_states
from layerwise.shapes import choices_of, read_model

if TYPE_CHECKING:  # torch, and what draws, are imported once the inputs are right
    from layerwise.reader.result import Result


@system_in_words()
def analyze(
    model: Any,
    pairs: Any,
    prompts: Any = None,
    *,
    tokenizer: Any = None,
    out: str | Path | None = None,
    revision: str | None = None,
    dtype: Any = None,
    device: Any = None,
    layers: Sequence[int] | None = None,
    seed: int = 42,
    without: Sequence[str] = (),
    limit: int | None = None,
    chat_template: bool = False,
    template_options: Mapping[str, Any] | None = None,
    replicates: int = 5,
    control: int = 0,
    keep_states: bool = False,
    private_texts: bool = False,
) -> "Result":
    """Take the papers' measurements of a model: all but seed and layers is as published.

    Args:
        model: a checkpoint folder, a hub id (safetensors only; no code of a checkpoint is ever
            run), or a causal language model of transformers that is loaded already.
        pairs: statement pairs: a file (JSON, CSV, JSON Lines), what JSON holds, by category or as a
            list of pairs, a data frame with the columns category (may be missing), a, b; or
            `"papers"`, the papers' own 230.
        prompts: single texts, for gains and anisotropy: a file, a list of texts, a data frame with
            the column prompt, or `"papers"`; None: these two are left out.
        tokenizer: of a loaded model.
        out: the folder of the result files, where a killed run is resumed (a loaded model is
            always measured anew); None: none are written. A launcher's processes share the batches,
            the first of them writes the rest.
        keep_states: leave the pooled hidden states in `out`, where the same call with other
            choices for the resampling takes them up; they are removed once the results are there.
        revision: commit, tag or branch of a hub id; `main` by default. The commit is recorded.
        dtype: float32 (the default), float16 or bfloat16, or torch's own, say `torch.float16`; a
            loaded model has its own.
        device: cpu (the default), cuda, cuda:1, or auto (several GPUs), or torch's own; a loaded
            model has its own.
        layers: numbers from 0 (what enters block 0) to n_layers (after the final norm); every 4th
            and the last by default.
        seed: for the resampling.
        without: gains, spectral or both, to leave out.
        limit: only so many pairs of each category, the first ones; at least 2; for a first look.
        chat_template: put every statement into the tokenizer's own chat template, as Paper 2 did:
            one message of a user, no header of an answer. Prompts stay as they are. A template
            that writes the date writes 26 Jul 2024 on every day.
        template_options: values for variables of the chat template, as `{"enable_thinking":
            False}`, of the kinds that JSON has; recorded.
        replicates: how often a model in 16 bits is measured again with noise of the size of
            rounding, which says how far every answer may move; none in float32.
        control: how many draws of random weights, in the same architecture and with the same
            tokenizer and texts, are measured in the same way; each takes as long as the model, and
            its memory beside it. The model's own results are written before the first; a draw for
            which memory runs out is left out, with a warning.
        private_texts: leave every statement out of the page and the tables, which show them pair by
            pair otherwise: for texts that must not be passed on.

    Raises:
        LayerwiseError: with the rule, what came and the fix. Texts and checkpoint folder are
            checked before torch is imported; after an error nothing is left behind.
    """
    choices = choices_of(Choices, locals())
    model = read_model(model)
    is_loaded = not isinstance(model, str | Path)
    if tokenizer is not None and not is_loaded:
        raise LayerwiseError(
            "a tokenizer belongs to a loaded model; folders and hub ids have their own, leave it "
            "out"
        )
    if is_loaded and (revision, dtype, device) != (None, None, None):
        raise LayerwiseError(
            "a loaded model has its revision, dtype and device; load it with those you want"
        )
    return _analyze(model, tokenizer, request_of(model, pairs, prompts, choices))


def _analyze(model: Any, tokenizer: Any, request: Request) -> "Result":
    """Analyse a model, loaded already or to be loaded, as it is requested."""
    is_loaded = not isinstance(model, str | Path)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(_folder(request.choices["out"]))
        writes = request.choices["out"] is not None and is_first_process()
        if writes:
            stack.enter_context(alone(folder))
            workers.start(DRAWING)  # while this process computes
        # and with it torch, now that the inputs are right
        from layerwise.models.hidden_states import probe_in_all, wait_for_all
        from layerwise.models.kernels import callers_precision
        from layerwise.models.load import from_memory, load
        from layerwise.reader.of_checkpoint import analyze_checkpoint
        from layerwise.reader.prepared import prepare, prepare_from_files

        with request.blamed(), callers_precision():
            if is_loaded:
                checkpoint = from_memory(model, tokenizer)
                prepared = prepare(checkpoint.outline, request)
            else:
                files, prepared = prepare_from_files(model, request)
                checkpoint = load(files, prepared.outline.dtype, prepared.outline.device)
            checkpoint = replace(checkpoint, passes=probe_in_all(checkpoint, prepared.ids))
            result = analyze_checkpoint(
                checkpoint, prepared, folder / STATES, folder if writes else None
            )
        if not request.choices["keep_states"]:
            wait_for_all(checkpoint)  # the other processes read them
            if writes:
                remove_states(folder)
        return result


@contextlib.contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Give the folder of hidden states and results: one for the time of the block where it is None.

    Raises:
        LayerwiseError: for several processes, which must be given one.
    """
    if out is not None:
        yield out
        return
    if n_processes() > 1:
        raise LayerwiseError(
            "several processes work in one folder, found none; give `out`, the same in all"
        )
    with tempfile.TemporaryDirectory(prefix="layerwise-") as folder:
        yield Path(folder)
