"""`layerwise.compare`: scaling.json and its page <- the result files of several analyses."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from layerwise.analyses import OF_READER, scaling
from layerwise.errors import LayerwiseError, system_in_words
from layerwise.files import read_json, sha256_of
from layerwise.inputs.shapes import Loose, Place, Whole, converted, require_shape
from layerwise.pages.own_model.across import page_of
from layerwise.reader.papers import papers
from layerwise.reader.result import Document, Result
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

AGAIN = "run `layerwise analyze` for this model again"


class OfLayer(Loose):
    """r over categories."""

    correlation: float | None  # None: a side is constant, as the first token of every text
    p_value: float | None


class Layers(Loose):
    """What `compare` reads of a layers.json."""

    model: str
    model_display: str
    n_layers: Whole
    strategies: dict[str, OfLayer]


@dataclass(frozen=True)
class Analysed:
    """One of the models: its result documents, and the folder that they were read from."""

    documents: Mapping[str, Document]
    has_random_weights: bool
    folder: Path | None = None

    @property
    def display(self) -> str:
        return str(self.documents["layers"]["model_display"])

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The file that the comparison rests on, and its hash."""
        if self.folder is None:
            return []
        digest = sha256_of(self.folder / "layers.json")
        return [(f"{self.folder}/layers.json", f"sha256:{digest}")]


@system_in_words()
def compare(models: Sequence[Result | str | Path], out: str | Path | None = None) -> Result:
    """Several models beside each other and the papers': curves, peaks and claims, in this order.

    Args:
        models: results of `analyze`, or the folders that hold their files; at least two.
        out: the folder of scaling.json, its page, figures and tables; None: none are written.

    Raises:
        LayerwiseError: for fewer than two models, a folder without `layers.json`, a result file of
            another shape, or two of one name.
    """
    is_one = isinstance(models, str | Path | Result) or not isinstance(models, Iterable)
    given: list[Any] = [models] if is_one else list(models)
    if wrong := [one for one in given if not isinstance(one, str | Path | Result)]:
        raise LayerwiseError(
            "scaling compares results of `analyze` or their folders, found "
            f"{type(wrong[0]).__name__}; name the --out folders of several runs"
        )
    if len(given) < 2:
        raise LayerwiseError(
            f"scaling compares at least two models, found {len(given)}; "
            "name the --out folders of several `layerwise analyze` runs"
        )
    if out is not None:
        out = converted("compare: out", Place, out)
    analysed = [_of(one) for one in given]
    documents = _by_name(analysed)
    comparison = scaling.compare({display: of["layers"] for display, of in documents.items()})
    of_papers = papers(Draws(N_RESAMPLES, LEVEL, SEED))
    with _whole(documents):
        own = page_of(
            documents, comparison, of_papers.evidence, of_papers.printed, of_papers.curves
        )
        chosen = [line for name, of in documents.items() for line in _cautions(name, of)]
        own = replace(
            own,
            settings=[*own.settings, *(one for of in analysed for one in of.settings)],
            cautions=[*own.cautions, *chosen],
            random_weights=any(of.has_random_weights for of in analysed),
        )
        found = Result(documents, {"scaling": comparison}, own, of_papers.curves)
        return found if out is None else found.save(out)


def _of(given: Result | str | Path) -> Analysed:
    """What was given, or what its folder holds, of which the document on layers must be there."""
    if isinstance(given, Result):
        return Analysed(next(iter(given.models.values())), given._page.random_weights)
    folder = Path(given)
    require_shape(folder / "layers.json", Layers, read_json(folder / "layers.json"), AGAIN)
    names = [name for name in OF_READER if (folder / f"{name}.json").is_file()]
    documents = {name: read_json(folder / f"{name}.json") for name in names}
    return Analysed(documents, _is_random(folder), folder)


def _cautions(name: str, documents: Mapping[str, Document]) -> list[str]:
    """What was measured of a model in another way than of the papers', and perhaps of others."""
    chosen = documents.get("validation", {}).get("_metadata", {})
    found = []
    if "limit" in chosen:
        found.append(f"{name}: only the first {chosen['limit']} pairs of each category.")
    if chosen.get("chat_template"):
        found.append(f"{name}: statements in its chat template.")
    return found


def _is_random(folder: Path) -> bool:
    index = folder / "hidden_states" / "index.json"
    return index.is_file() and bool(read_json(index).get("random_weights"))


def _by_name(analysed: Sequence[Analysed]) -> dict[str, Mapping[str, Document]]:
    """The documents by the models' names; another checkpoint of one is told by its folder.

    Raises:
        LayerwiseError: for two of one name.
    """
    found: dict[str, Mapping[str, Document]] = {}
    folders: set[Path] = set()
    for of in analysed:
        display = of.display
        if display in found and of.folder is not None and of.folder not in folders:
            display = f"{display} ({of.folder.name})"
        if display in found:
            raise LayerwiseError(
                f"{of.folder or display}: two of the models are named {display!r}; name each "
                "model once"
            )
        found[display] = of.documents
        folders |= {of.folder} if of.folder else set()
    return found


@contextlib.contextmanager
def _whole(documents: Mapping[str, Any]) -> Iterator[None]:
    """Inside the block, a number that a result file lacks is said to be missing there."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise LayerwiseError(
            f"a result file of {', '.join(documents)} lacks {error}; run `layerwise "
            "analyze` for these models again"
        ) from None
