"""`layerwise.compare`: scaling.json and its page <- the result files of several analyses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from layerwise.engine.question import Results
from layerwise.errors import LayerwiseError, system_in_words
from layerwise.models.registry import RANDOM
from layerwise.papers.paper2.rules import scaling
from layerwise.reader.files import RECORD, RECORDS
from layerwise.reader.page.across import page_of
from layerwise.reader.papers import papers
from layerwise.reader.result import Result
from layerwise.reader.results_folder import check_comparison_folder
from layerwise.reader.run_record import RunRecord, read_run, unlike_settings, unlike_texts
from layerwise.shapes import Folder, converted, read_place
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

UNLIKE = "_unlike"  # in scaling.json: the sentences on what differs between the runs


@dataclass(frozen=True)
class Analysed:
    """One of the models: its result documents, and the folder that they were read from."""

    documents: Results
    folder: Path | None = None

    @property
    def display(self) -> str:
        return str(self.documents["layers"]["model_display"])

    @property
    def record(self) -> RunRecord:
        record: RunRecord = self.documents["layers"][RECORD]
        return record


@system_in_words()
def compare(
    models: Sequence[Result | str | Path],
    out: str | Path | None = None,
    *,
    other_pairs: bool = False,
) -> Result:
    """Compare several models with each other and the papers': curves, peaks, claims, in this order.

    Args:
        models: results of `analyze` or `measure`, each of one model, or the folders that hold
            their files; at least two.
        out: the folder of scaling.json, its page, figures and tables; None: none are written.
        other_pairs: compare runs on other pairs too, or on pairs with their sides exchanged; the
            result says so.

    Raises:
        LayerwiseError: for fewer than two models, a result of several, a folder without
            `layers.json` or with documents of several runs, two of one name, or other pairs that
            were not asked for.
    """
    models = _require_several(models)
    place: Path | None = converted("compare: out", Folder, out)
    if place is not None:
        check_comparison_folder(place)
    analysed = list(map(_analysed, models))
    by_name = dict(zip(_names(analysed), analysed, strict=True))
    documents = {name: model.documents for name, model in by_name.items()}
    records = {name: model.record for name, model in by_name.items()}
    unlike = _differences(documents, records, other_pairs) + unlike_settings(records)
    curves = {name: results["layers"] for name, results in documents.items()}
    comparison = scaling.compare_curves(curves)
    of_papers = papers(Draws(N_RESAMPLES, LEVEL, SEED))
    chosen = [caution for name, record in records.items() for caution in _cautions(name, record)]
    is_random = any(record[RANDOM] for record in records.values())
    page = page_of(documents, comparison, of_papers, [*unlike, *chosen], random_weights=is_random)
    about = {RECORDS: records, **({UNLIKE: unlike} if unlike else {})}
    result = Result(documents, {"scaling": {**comparison, **about}}, page, of_papers.curves)
    return result if place is None else result.save(place)


def _require_several(models: Sequence[Result | str | Path]) -> list[Result | str | Path]:
    """Return the models as a list, once there are two or more."""
    if isinstance(models, str | Path | Result):
        raise LayerwiseError(
            f"compare: the models are a list, found a single {type(models).__name__}; give results "
            "or folders as a list, compare([a, b])"
        )
    models = list(models)
    if len(models) < 2:
        raise LayerwiseError(
            f"compare takes at least two models, found {len(models)}; "
            "name the --out folders of several `layerwise analyze` runs"
        )
    return models


def _differences(
    documents: Mapping[str, Results],
    records: Mapping[str, RunRecord],
    other_pairs: bool,
) -> list[str]:
    """Return a sentence for each run on other pairs; refuse them unless they are asked for.

    Runs without preferences are refused anyhow: they have no curve.
    """
    without = [name for name, results in documents.items() if "asymmetries" in results["layers"]]
    if without:
        raise LayerwiseError(
            "models are compared by r of asymmetry and preference over the categories, found none "
            f"of {', '.join(without)}; measure preferences too, on pairs in three categories or "
            "more"
        )
    unlike = unlike_texts(records)
    if unlike and not converted("compare: other_pairs", bool, other_pairs):
        raise LayerwiseError(
            f"models are compared on the same pairs; {' '.join(unlike)} Measure them on the same "
            "file, or ask for it: --other-pairs"
        )
    return unlike


def _analysed(model: Result | str | Path) -> Analysed:
    """Return the documents that were given, or those of a folder."""
    if isinstance(model, Result):
        if len(model.models) != 1:
            raise LayerwiseError(
                f"compare takes results of one model each, found one of {len(model.models)} "
                f"({', '.join(model.models)!s:.200}); give the results of these models themselves"
            )
        (documents,) = model.models.values()
        return Analysed(documents)
    folder = read_place("models", model)
    return Analysed(read_run(folder), folder)


def _cautions(name: str, record: RunRecord) -> list[str]:
    """Return what was measured of a model in another way than of the papers'."""
    cautions = []
    if record["limit"] is not None:
        cautions.append(f"{name}: only the first {record['limit']} pairs of each category.")
    if record["template"] != "none":
        cautions.append(f"{name}: statements in its chat template.")
    if own_code := record.get("own_code"):
        cautions.append(f"{name}: without code of its own ({', '.join(own_code)}).")
    if how := record.get("quantised"):
        cautions.append(f"{name}: quantised weights ({how}).")
    return cautions


def _names(analysed: Sequence[Analysed]) -> list[str]:
    """Return the models' names; another checkpoint of one is told by its folder.

    Raises:
        LayerwiseError: for two of one name.
    """
    names: list[str] = []
    folders: set[Path] = set()
    for model in analysed:
        name = model.display
        if name in names and model.folder is not None and model.folder not in folders:
            name = f"{name} ({model.folder.name})"
        if name in names:
            raise LayerwiseError(
                f"{model.folder or name}: two of the models are named {name!r}; save each result "
                "into a folder and compare the folders, or set `model.name_or_path` of one before "
                "it is analyzed"
            )
        names.append(name)
        folders |= {model.folder} if model.folder else set()
    return names
