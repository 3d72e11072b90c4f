"""The record of a run: what was measured, and how. Every document of the run holds the same one.

Two runs can be compared where their records agree in the texts; what else differs is said.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NotRequired

import layerwise
from layerwise.engine.question import Results
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, read_json
from layerwise.measures.values import sampled_layers
from layerwise.models.passes import VERSION, PassesRecord
from layerwise.models.registry import RANDOM
from layerwise.models.store import Index, digest_of_texts
from layerwise.models.texts import StatementPairs
from layerwise.papers.across.analyses import READER_ANALYSES
from layerwise.reader.files import RECORD
from layerwise.shapes import Loose, require_shape
from layerwise.statistics.bootstrap import Draws

FORMAT = 3  # raise when `compare` reads other keys of the documents
AGAIN = "run `layerwise analyze` for this model again"


class RunRecord(Loose):
    """The record of a run.

    Attributes:
        passes: kernel, logits, batches, and the version of their rules; None: states were given.
        around: tokens put before and behind every text.
        limit: pairs of each category, where some were left out.
        side_a, side_b, categories, prompts: digests of the texts.
    """

    format: int
    layerwise: str
    model: str
    revision: str
    random_weights: bool
    dtype: str | None
    passes: PassesRecord | None
    template: str
    around: list[list[str]] | None
    n_layers: int
    layers: list[int]
    seed: int
    resamples: int
    limit: int | None
    side_a: str
    side_b: str
    categories: str
    prompts: str
    template_options: NotRequired[JsonObject]
    own_code: NotRequired[list[str]]
    quantised: NotRequired[str]


def run_record(
    index: Index,
    pairs: StatementPairs,
    prompts: Sequence[str],
    layers: Sequence[int],
    draws: Draws,
    limit: int | None = None,
) -> RunRecord:
    """Return the record of a run.

    Args:
        index: of the hidden states.
        layers: those that were sampled.
        limit: pairs of each category, where some were left out.
    """
    categories = [pairs.categories[number] for number in pairs.category_of_pair.tolist()]
    record: RunRecord = {
        "format": FORMAT,
        "layerwise": layerwise.__version__,
        "model": index["model"],
        "revision": index["revision"],
        RANDOM: index.get(RANDOM, False),
        "dtype": index.get("dtype"),
        "passes": index.get("passes"),
        "template": index["template"],
        "around": index.get("around"),
        "n_layers": index["n_layers"],
        "layers": list(layers),
        "seed": draws.seed,
        "resamples": draws.n_resamples,
        "limit": limit,
        "side_a": digest_of_texts(pairs.side_a),
        "side_b": digest_of_texts(pairs.side_b),
        "categories": digest_of_texts(categories),
        "prompts": digest_of_texts(prompts),
    }
    return _with_what_few_have(record, index)


def _with_what_few_have(record: RunRecord, index: Index) -> RunRecord:
    """Return the record with options of a template, own code and quantised weights, if any."""
    if options := index.get("template_options"):
        record["template_options"] = options
    if own_code := index.get("own_code"):
        record["own_code"] = own_code
    if quantised := index.get("quantised"):
        record["quantised"] = quantised
    return record


def with_record(documents: Results, record: RunRecord) -> dict[str, JsonObject]:
    """Return a run's documents with its record in each."""
    return {name: {**document, RECORD: record} for name, document in documents.items()}


def read_run(folder: Path) -> dict[str, JsonObject]:
    """Read the documents of a run from its folder; that on layers must be there.

    Raises:
        LayerwiseError: for a document without a record, or of another run than the others.
    """
    paths = {name: folder / f"{name}.json" for name in READER_ANALYSES}
    if not paths["layers"].exists():
        raise LayerwiseError(
            f"{folder}: results of `layerwise analyze` are compared, there is no layers.json; name "
            "the --out folder of a run"
        )
    documents = {
        name: read_json(path) for name, path in paths.items() if name == "layers" or path.is_file()
    }
    records = {name: _read_record(paths[name], found) for name, found in documents.items()}
    expected = records["layers"]
    passes = expected["passes"]
    if passes is not None and (rules := passes["rules"]) != VERSION:
        raise LayerwiseError(
            f"{folder}: layers and kernels are compared where one version of rules chose them, "
            f"this is {VERSION}, found {rules}; {AGAIN}"
        )
    for name, record in records.items():
        keys = {**expected, **record}
        if differing := [key for key in keys if record.get(key) != expected.get(key)]:
            raise LayerwiseError(
                f"{folder}: all documents must be of one run, {name}.json and layers.json differ "
                f"in {', '.join(differing)}; {AGAIN}, into a folder of its own"
            )
    return documents


def _read_record(path: Path, document: object) -> RunRecord:
    """Return the record that a document of a run holds, of the format that is compared."""
    record = document.get(RECORD) if isinstance(document, Mapping) else None
    record = record if isinstance(record, Mapping) else {}
    if record.get("format") != FORMAT:
        raise LayerwiseError(
            f"{path}: a document that is compared must hold a record of its run in "
            f"format {FORMAT}, found {record.get('format', 'none')}; {AGAIN}"
        )
    checked: RunRecord = require_shape(f"{path}: {RECORD}", RunRecord, record, AGAIN)
    return checked


def unlike_texts(records: Mapping[str, RunRecord]) -> list[str]:
    """Return a sentence for each run whose pairs are not those of the first one."""
    (first, expected), *others = records.items()
    sentences = []
    for name, record in others:
        a, b = record["side_a"] == expected["side_a"], record["side_b"] == expected["side_b"]
        categories = record["categories"] == expected["categories"]
        exchanged = (record["side_a"], record["side_b"]) == (expected["side_b"], expected["side_a"])
        if a and b and categories:
            continue
        if exchanged and not a:
            what = "sides A and B exchanged"
        elif a and b:
            what = "the same pairs in other categories"
        else:
            limits = {record["limit"], expected["limit"]}
            what = "only some of the pairs (limit)" if len(limits) > 1 else "other pairs"
        sentences.append(f"{name} has {what}, compared with {first}.")
    return sentences


def unlike_settings(records: Mapping[str, RunRecord]) -> list[str]:
    """Return a sentence that names in what else the runs differ; none where they are alike."""
    differing = []
    for name, setting in SETTINGS.items():
        settings = {run: setting(record) for run, record in records.items()}
        values = {run: "not known" if value is None else value for run, value in settings.items()}
        if len(set(values.values())) > 1:
            listed = "; ".join(f"{run}: {value}" for run, value in values.items())
            differing.append(name if name == PROMPTS else f"{name} ({listed})")
    return [f"The runs differ in {', '.join(differing)}."] if differing else []


def _layers(record: RunRecord) -> str:
    """Return the layers; those that were not chosen follow one rule at every depth."""
    layers = record["layers"]
    is_usual = layers == list(sampled_layers(record["n_layers"]))
    return "every 4th" if is_usual else ", ".join(map(str, layers))


def _options(record: RunRecord) -> str:
    return json.dumps(record.get("template_options", {}), sort_keys=True)


# What may differ between runs that are compared, as a sentence names it.
PROMPTS = "prompts"  # whose digests say nothing to a reader
SETTINGS: Mapping[str, Callable[[RunRecord], str | int | None]] = {
    "dtype": lambda record: record["dtype"],
    "layers": _layers,
    PROMPTS: lambda record: record["prompts"],
    "seed": lambda record: record["seed"],
    "resamples": lambda record: record["resamples"],
    "chat template": lambda record: record["template"],
    "attention kernel": lambda record: record["passes"] and record["passes"]["kernel"],
    "options of the chat template": _options,
    "version of layerwise": lambda record: record["layerwise"],
}
