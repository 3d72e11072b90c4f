"""`layerwise.compare`: scaling.json and its page <- the result files of several analyses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NotRequired

from layerwise.analyses import OF_READER, scaling
from layerwise.errors import LayerwiseError, system_in_words
from layerwise.files import read_json, sha256_of
from layerwise.inputs.given import Folder
from layerwise.inputs.shapes import Loose, converted, require_shape
from layerwise.pages.own_model.across import page_of
from layerwise.places.folders import STATES
from layerwise.places.models import RANDOM
from layerwise.reader.papers import papers
from layerwise.reader.result import Document, Result
from layerwise.reader.result_shapes import AGAIN, require_whole
from layerwise.reader.results_folder import check_comparison_folder
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws


class OfStates(Loose):
    """What is read of the index of hidden states."""

    model: str
    random_weights: NotRequired[bool]


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
        models: results of `analyze` or `measure`, each of one model, or the folders that hold
            their files; at least two.
        out: the folder of scaling.json, its page, figures and tables; None: none are written.

    Raises:
        LayerwiseError: for fewer than two models, a result of several, a folder without
            `layers.json`, a result file of another shape, or two of one name.
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
    place: Path | None = converted("compare: out", Folder, out)
    if place is not None:
        check_comparison_folder(place)
    analysed = [_of(one) for one in given]
    documents = _by_name(analysed)
    comparison = scaling.compare({display: of["layers"] for display, of in documents.items()})
    of_papers = papers(Draws(N_RESAMPLES, LEVEL, SEED))
    own = page_of(documents, comparison, of_papers.evidence, of_papers.printed, of_papers.curves)
    chosen = [line for name, of in documents.items() for line in _cautions(name, of)]
    own = replace(
        own,
        settings=[*own.settings, *(one for of in analysed for one in of.settings)],
        cautions=[*own.cautions, *chosen],
        random_weights=any(of.has_random_weights for of in analysed),
    )
    found = Result(documents, {"scaling": comparison}, own, of_papers.curves)
    return found if place is None else found.save(place)


def _of(given: Result | str | Path) -> Analysed:
    """What was given, or what its folder holds, of which the document on layers must be there."""
    if isinstance(given, Result):
        if len(given.models) != 1:
            raise LayerwiseError(
                f"scaling compares results of one model each, found one of {len(given.models)} "
                f"({', '.join(given.models)!s:.200}); give the results of these models themselves"
            )
        (documents,) = given.models.values()
        return Analysed(documents, given._page.random_weights)
    folder = Path(given)
    paths = {name: folder / f"{name}.json" for name in OF_READER}
    found = {
        name: read_json(path) for name, path in paths.items() if name == "layers" or path.is_file()
    }
    for name, document in found.items():
        require_whole(paths[name], document)
    return Analysed(found, _is_random(folder, found["layers"]["model"]), folder)


def _cautions(name: str, documents: Mapping[str, Document]) -> list[str]:
    """What was measured of a model in another way than of the papers', and perhaps of others."""
    chosen = documents.get("validation", {}).get("_metadata", {})
    found = []
    if "limit" in chosen:
        found.append(f"{name}: only the first {chosen['limit']} pairs of each category.")
    if chosen.get("chat_template"):
        found.append(f"{name}: statements in its chat template.")
    return found


def _is_random(folder: Path, model: str) -> bool:
    """Whether the results were measured on random weights, as the states beside them say.

    States of another model are those of an earlier run.
    """
    path = folder / STATES / "index.json"
    if not path.is_file():
        return False
    index = require_shape(path, OfStates, read_json(path), AGAIN)
    return index["model"] == model and index.get(RANDOM, False)


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
