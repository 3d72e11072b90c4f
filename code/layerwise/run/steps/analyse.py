"""statistics <- the numbers of one source: all analyses, in one process."""

from pathlib import Path

from layerwise.engine.judging import errors_naming, statistics_files
from layerwise.engine.measured import all_fragments, is_random, measured, read_measurements, sides
from layerwise.engine.published import Published
from layerwise.files import together, write_json
from layerwise.home import Source
from layerwise.models.registry import RANDOM
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.shared.published import read_published
from layerwise.run.steps import Place, program
from layerwise.shapes import read_choices
from layerwise.statistics.bootstrap import Draws


def run(
    source: Source,
    out: Place,
    numbers: Place = Path("published"),
    published: Place = Path("published"),
    params: Place = Path("params.yaml"),
) -> str:
    """Write OUT/ANALYSIS.json: documents, and what in them was derived or given, from which cells.

    What the numbers do not have is `undefined`, with the reason. Of a measured source NUMBERS is
    the folder of the models' measurements; what was not measured is `missing`, with its cell. The
    same statistics of every replicate with rounding noise go to OUT/noise/NUMBER, those of every
    draw of random weights to OUT/control/NUMBER.
    """
    tables, draws = read_published(published), Draws(**read_choices(params, "analyse"))
    wanted: dict[str, tuple[Published, dict[str, bool]]] = {"": (tables, {})}
    if source == "measured":
        for folder, side in sides(read_measurements(numbers)).items():
            wanted[folder] = measured(tables, all_fragments(side)), {RANDOM: is_random(side)}
    with together(out.parent) as part:
        for folder, (cells, head) in wanted.items():
            with errors_naming(numbers):
                files = statistics_files(TABLES, cells, draws)
            for name, parts in files.items():
                write_json(
                    part / out.name / folder / f"{name}.json", {"analysis": name, **head, **parts}
                )
    return f"{len(TABLES)} analyses of the {source} numbers in {out}"


if __name__ == "__main__":
    program(run)
