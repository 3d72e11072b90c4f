"""verdicts <- ledger and statistics."""

from collections import Counter
from pathlib import Path

from layerwise.files import sha256_of, together, write_json
from layerwise.inputs.measured import read_measurements
from layerwise.inputs.models import read_models
from layerwise.inputs.published import read_published
from layerwise.ledger.judging import input_hashes, judge_ledger, read_sides
from layerwise.ledger.origins import Origins
from layerwise.ledger.tally import in_short
from layerwise.ledger.verdicts import count_verdicts
from layerwise.steps import Place, Source, program


def run(
    source: Source,
    statistics: Place,
    out: Place,
    numbers: Place = Path("published"),
    claims: Place = Path("claims"),
    published: Place = Path("published"),
    models: Place = Path("models.yaml"),
) -> str:
    """Judge every claim; beside the records `verdicts.json` counts verdicts and grades.

    `tally.json` has the few of these counts that fit beside each other in DVC's tables.

    Of a measured source NUMBERS is the folder of the models' measurements: the records name the
    runs that their inputs come from, `runs` what measured them, `failed` and `left_out` what was
    not, and how many claims wait for it.
    """
    tables, origins = read_published(published), None
    if source == "measured":
        origins = Origins(read_measurements(numbers), read_models(models), tables)
    judged = judge_ledger(claims, read_sides(source, statistics, tables, origins), tables)
    records = judged["claims"]
    counts = count_verdicts(records, lambda record: f"paper{record['paper']}")
    if origins is None:
        behind = {"inputs": input_hashes(records, published)}
    else:
        behind = origins.document(records, numbers)
    hashes = {path.name: sha256_of(path) for path in sorted(statistics.glob("*.json"))}
    document = {"source": source, "counts": counts, "statistics": hashes, **behind, **judged}
    grades = Counter(headline["grade"] for headline in judged["headlines"])
    with together(out.parent) as part:
        write_json(part / out.name, document)
        write_json(part / "verdicts.json", {**counts, "headlines": grades})
        write_json(part / "tally.json", in_short(records, judged["headlines"]))
    return f"{len(records)} claims judged in {out}"


if __name__ == "__main__":
    program(run)
