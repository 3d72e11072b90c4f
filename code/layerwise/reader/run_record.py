"""The record of a run: what was measured, and how. Every document of the run holds the same one.

Two runs can be compared where their records agree in the texts; what else differs is said.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, read_json
from layerwise.measures.values import sampled_layers
from layerwise.models.passes import VERSION
from layerwise.models.registry import RANDOM
from layerwise.models.store import digest_of_texts
from layerwise.models.texts import StatementPairs
from layerwise.papers.across.analyses import READER_ANALYSES
from layerwise.reader.files import RECORD
from layerwise.statistics.bootstrap import Draws

FORMAT = 3  # raise when `compare` reads other keys of the documents
AGAIN = "run `layerwise analyze` for this model again"
TEXTS = ("side_a", "side_b", "categories")
SELDOM = ("template_options", "own_code", "quantised")  # recorded where there are any
# What may differ between runs that are compared, as a sentence names it.
NAMED = {
    "dtype": "dtype",
    "layers": "layers",
    "prompts": "prompts",
    "seed": "seed",
    "resamples": "resamples",
    "template": "chat template",
    "attention": "attention kernel",
    "template_options": "options of the chat template",
    "layerwise": "version of layerwise",
}


def run_record(
    index: Mapping[str, Any],
    pairs: StatementPairs,
    prompts: Sequence[str],
    layers: Sequence[int],
    draws: Draws,
    limit: int | None = None,
) -> dict[str, Any]:
    """Return the record of a run.

    Args:
        index: of the hidden states: model, revision, dtype, template.
        layers: those that were sampled.
        limit: pairs of each category, where some were left out.
    """
    categories = [pairs.categories[number] for number in pairs.category_of_pair.tolist()]
    return {
        "format": FORMAT,
        "layerwise": layerwise.__version__,
        "model": index["model"],
        "revision": index["revision"],
        RANDOM: bool(index.get(RANDOM, False)),
        "dtype": index.get("dtype"),
        # kernel, logits, batches, and the version of their rules; None: states were given
        "passes": index.get("passes"),
        "template": index["template"],
        "around": index.get("around"),  # tokens put before and behind every text
        "n_layers": index["n_layers"],
        "layers": list(layers),
        "seed": draws.seed,
        "resamples": draws.n_resamples,
        "limit": limit,
        "side_a": digest_of_texts(pairs.side_a),
        "side_b": digest_of_texts(pairs.side_b),
        "categories": digest_of_texts(categories),
        "prompts": digest_of_texts(prompts),
        **{key: index[key] for key in SELDOM if index.get(key)},
    }


def with_record(documents: Mapping[str, JsonObject], record: JsonObject) -> dict[str, JsonObject]:
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
    records = {}
    for name, document in documents.items():
        record = document.get(RECORD) if isinstance(document, Mapping) else None
        record = record if isinstance(record, Mapping) else {}
        if record.get("format") != FORMAT:
            raise LayerwiseError(
                f"{paths[name]}: a document that is compared must hold a record of its run in "
                f"format {FORMAT}, found {record.get('format', 'none')}; {AGAIN}"
            )
        records[name] = record
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


def unlike_texts(records: Mapping[str, JsonObject]) -> list[str]:
    """Return a sentence for each run whose pairs are not those of the first one."""
    (first, expected), *others = records.items()
    sentences = []
    for name, record in others:
        a, b, categories = (record[key] == expected[key] for key in TEXTS)
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


def unlike_settings(records: Mapping[str, JsonObject]) -> list[str]:
    """Return a sentence that names in what else the runs differ; none where they are alike."""
    differing = []
    for key, name in NAMED.items():
        values = {run: _setting(record, key) for run, record in records.items()}
        if len(set(values.values())) > 1:
            listed = "; ".join(f"{run}: {value}" for run, value in values.items())
            differing.append(name if key == "prompts" else f"{name} ({listed})")
    return [f"The runs differ in {', '.join(differing)}."] if differing else []


def _setting(record: JsonObject, key: str) -> str:
    """Return a setting as text; layers that were not chosen follow one rule at every depth."""
    if key == "layers":
        usual = list(sampled_layers(record["n_layers"]))
        layers = record["layers"]
        return "every 4th" if layers == usual else ", ".join(map(str, layers))
    if key == "attention":
        return str(record["passes"]["kernel"] if record["passes"] else "not known")
    if key == "template_options":
        return json.dumps(record.get(key, {}), sort_keys=True)
    return "not known" if record[key] is None else str(record[key])
