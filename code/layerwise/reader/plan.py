"""The dry run of `analyze`: what it would compute, with memory, disk and time.

What the run decides before it loads the weights is decided here, by the same functions: the
declared model is built without weights, and every stored tensor compared with it by its header.
What is left to the run is the probe of the loaded model (`models.probe`).

Memory, passes and loading are those of `models.needs`. The density near a statement compares every
pair with every other: 4 * pairs squared * hidden size operations, twice for a layer (with the first
token and without) and once before the final norm. All else was measured once (benchmarks/README.md)
on a core like those that `needs` assumes. How long this machine takes is said as a range, from a
matrix product of the run's shape that is timed here: a pass reaches all of its rate at best, and
half of it as a rule.
"""

import time
from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

from layerwise.errors import system_in_words
from layerwise.files import is_first_process
from layerwise.models import needs
from layerwise.models.batches import widest_batch
from layerwise.models.passes import ROWS, TOKENS, tokens_of_probe
from layerwise.models.registry import BYTES
from layerwise.reader.foreseen import first_statement, foresee_cautions
from layerwise.reader.request import request_of
from layerwise.reader.results_folder import alone
from layerwise.workers import MOST, usable_cores

if TYPE_CHECKING:
    from layerwise.reader.prepared import Prepared

# What the run decides beyond it.
PROBED = (
    "the run also holds the loaded model against its own forward, on "
    f"{ROWS * TOKENS} tokens of the statements, texts of three lengths and the widest batch"
)
RIGHT = f"config, tokenizer, texts and every stored tensor are right; {PROBED}"
TO_COME = f"config, tokenizer and texts are right, tensors are checked once they are here; {PROBED}"
# Seconds of one core.
START = 4.5  # the interpreter, imports, checks, the loaded model but for its weights
PAIRS = 0.5, 0.001  # resamples and bins: once, and for every pair and layer
FIGURES = 5.5
PRODUCTS = 9  # that are timed
USUAL = 2  # times the shortest time: a pass reaches half the rate of a matrix product


def seconds_of_passes(prepared: "Prepared") -> float:
    """Return how long the passes of the model will take, once."""
    outline = prepared.outline
    tokens = sum(prepared.tokens.values())
    return needs.seconds_of_passes(outline.n_parameters, tokens, outline.dtype, outline.device)


def estimate_range(prepared: "Prepared") -> tuple[float, float]:
    """Return how long a run will take here at least and as a rule, by a product that is timed.

    Of a GPU the rate is assumed, and the range begins with it.
    """
    seconds, device = estimate_seconds(prepared), prepared.outline.device
    if device != "cpu":
        return seconds, USUAL * seconds
    tokens = min(needs.BATCH_TOKENS, sum(prepared.tokens.values()))
    rate = measure_rate(tokens, prepared.outline.hidden_size)
    least = seconds * needs.assumed_rate(device) / rate
    return least, USUAL * least


def measure_rate(tokens: int, hidden_size: int) -> float:
    """Return the FLOP/s of a matrix product, of so many tokens and the weights of an MLP."""
    import torch

    states, weights = torch.ones(tokens, hidden_size), torch.ones(hidden_size, 4 * hidden_size)
    taken = []
    for _ in range(PRODUCTS):
        begun = time.perf_counter()
        torch.mm(states, weights)
        taken.append(time.perf_counter() - begun)
    return 2 * states.numel() * weights.shape[1] / median(taken)


def estimate_seconds(prepared: "Prepared") -> float:
    """Return how long a run takes on the machine that `needs` assumes, from command to page."""
    request, outline, n_pairs = prepared.request, prepared.outline, len(prepared.request.pairs)
    workers = min(usable_cores(), MOST)
    spectral_workers = needs.processes_for_spectra(outline.hidden_size)
    weights = 0.0
    if "spectral" not in request.choices["without"] and outline.key_size:
        sizes = (outline.n_layers, outline.hidden_size, outline.key_size)
        weights = needs.seconds_of_spectra(*sizes) / spectral_workers
    compared = (2 * len(prepared.sampled) + 1) * 4 * n_pairs**2 * outline.hidden_size
    once, for_each = PAIRS
    statistics = once + for_each * n_pairs * len(prepared.sampled)
    statistics += compared / needs.assumed_rate("cpu")
    loading = needs.seconds_of_loading(outline.n_parameters, outline.dtype)
    lengths = {kind: list(map(len, texts)) for kind, texts in prepared.ids.items()}
    of_all = [length for of_kind in lengths.values() for length in of_kind]
    widest = widest_batch(lengths, needs.BATCH_TOKENS)
    tokens = tokens_of_probe(of_all, len(widest.members) * widest.length)
    probed = needs.seconds_of_passes(outline.n_parameters, tokens, outline.dtype, outline.device)
    repeated = prepared.times * (seconds_of_passes(prepared) + statistics)
    spectra = (1 + request.choices["control"]) * weights
    return probed + repeated + spectra + START + FIGURES / workers + loading


@system_in_words()
def plan(model: str, pairs: Any, prompts: Any, choices: Mapping[str, object]) -> str:
    """Check everything of a request that can be checked; say what is to come, a line a part.

    Config and tokenizer of a model on the hub are fetched, weights are not.

    Arguments:
        choices: `Choices`, as they were given.

    Raises:
        LayerwiseError: as for `analyze`, but for what forward passes alone can show.
    """
    request = request_of(model, pairs, prompts, choices)
    out = request.choices["out"]
    if out is not None and is_first_process():
        with alone(out):  # nobody else writes there
            pass
    # and with it torch, now that the inputs are right
    from layerwise.reader.prepared import prepare_from_files

    _, prepared = prepare_from_files(model, request)
    lines = [f"{name:<8} {text}" for name, text in describe(prepared).items()]
    lines += [f"Warning: {caution}" for caution in foresee_cautions(prepared)]
    ending = TO_COME if prepared.outline.download else RIGHT
    return "\n".join([*lines, f"dry run, nothing was computed: {ending}"])


def describe(prepared: "Prepared") -> dict[str, str]:
    """Return what will be computed, and what it takes."""
    from layerwise.models.devices import free_bytes

    request, outline, tokens = prepared.request, prepared.outline, prepared.tokens
    choices, pairs = request.choices, request.pairs
    size, n_layers = outline.hidden_size, outline.n_layers
    memory = int(needs.bytes_of(outline.n_parameters, size, n_layers, outline.dtype))
    if choices["control"]:  # the model stays beside each draw
        memory += outline.n_parameters * BYTES[outline.dtype]
    text, ids = first_statement(prepared)
    least, usual = map(needs.spell_seconds, estimate_range(prepared))
    share = prepared.times * seconds_of_passes(prepared) / estimate_seconds(prepared)
    n_pairs = str(len(pairs))
    if len(pairs) < request.n_given:
        n_pairs = f"{n_pairs} of {request.n_given}"
    lines = {
        "model": f"{outline.declaration.name}: {outline.family}, {n_layers} blocks, hidden "
        f"size {size}, {outline.n_parameters / 1e6:,.1f} million parameters, {outline.dtype} on "
        f"{outline.device}",
        "pairs": f"{n_pairs} in {len(pairs.categories)} categories, "
        f"{tokens['statements']:,} tokens"
        + (" in the model's chat template" if choices["chat_template"] else ""),
        "prompts": f"{len(request.prompts)}, {tokens['prompts']:,} tokens",
        "first": f'"{text}", as token ids {ids}',
        "layers": ", ".join(map(str, prepared.sampled)),
        "memory": f"{needs.spell_bytes(memory)}, {needs.spell_bytes(free_bytes(outline.device))} "
        f"free on {outline.device}",
        "disk": f"{needs.spell_bytes(prepared.written)} at most in {choices['out']}, "
        f"{needs.spell_bytes(prepared.times * prepared.states)} of them hidden states",
        "time": f"{least} to {usual} here, {share:.0%} of it passes of the model",
    }
    if prepared.times > 1:
        lines["again"] = (
            f"{prepared.replicates} replicates with rounding noise, {choices['control']} draws of "
            "random weights, in disk and time"
        )
    if outline.download:
        lines["fetch"] = f"{needs.spell_bytes(outline.download)} of weights from the hub"
    return lines
