"""verdicts <- ledger and statistics."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from layerwise.engine.judging import (
    input_hashes,
    judge_ledger,
    read_sides,
    read_trained,
    table_hashes,
)
from layerwise.engine.marks import mark_text
from layerwise.engine.measured import read_measurements
from layerwise.engine.origins import Behind, Origins
from layerwise.engine.published import TYPED
from layerwise.engine.records import (
    JudgedSource,
    as_json,
    hashes_judged_from,
    hashes_of,
    in_short,
    sealed,
    verdicts_csv,
)
from layerwise.engine.words import display_names
from layerwise.files import together, write_json, write_text
from layerwise.home import Source
from layerwise.models.registry import read_models
from layerwise.papers.across.together import PAPERS
from layerwise.papers.fetching.upstream import pins_of
from layerwise.papers.shared.published import read_published
from layerwise.run.steps import Place, program


def run(
    source: Source,
    statistics: Place,
    out: Place,
    numbers: Place = Path("published"),
    claims: Place = Path("claims"),
    published: Place = Path("published"),
    models: Place = Path("models.yaml"),
    trained: Place = Path("examples/measured"),
) -> str:
    """Judge every claim; beside the records `verdicts.json` counts verdicts and marks.

    `verdicts.csv` has each of them, so that git shows what moved; `tally.json` has the few of these
    counts that fit beside each other in DVC's tables.

    Of a measured source NUMBERS is the folder of the models' measurements: the records name the
    runs that their inputs come from, `runs` what measured them, `failed` and `left_out` what was
    not, and how many claims wait for it.

    Sentences may name the answers of the small models in TRAINED.
    """
    tables, origins, registry = read_published(published), None, read_models(models)
    if source == "measured":
        origins = Origins(read_measurements(numbers), registry, tables)
    sides = read_sides(source, statistics, tables, origins)
    names = display_names(registry)
    judged = judge_ledger(claims, sides, tables, PAPERS, read_trained(trained), names)
    judged = replace(
        judged,
        **_behind(judged, origins, numbers, published)._asdict(),
        statistics=hashes_of(statistics),
        judged_from=hashes_judged_from(claims, published),
    )
    marks = Counter(mark_text(claim.mark, claim.why) for claim in judged.central)
    with together(out.parent) as part:
        write_json(part / out.name, sealed(as_json(judged, source)))
        write_json(part / "verdicts.json", {**judged.counts, "central": marks})
        write_text(part / "verdicts.csv", verdicts_csv(judged))
        write_json(part / "tally.json", in_short(judged))
    return f"{len(judged.claims)} claims judged in {out}"


def _behind(
    judged: JudgedSource, origins: Origins | None, numbers: Path, published: Path
) -> Behind:
    """Return the files and runs that judged claims rest on: measured ones, else the tables."""
    if origins is not None:
        return origins.behind(judged.claims, numbers)
    known = table_hashes(published, [TYPED]) | pins_of(published)
    return Behind(input_hashes(judged.claims, known), {}, {}, {})


if __name__ == "__main__":
    program(run)
