"""figures <- statistics and claims of one source: every figure whose numbers are there."""

from pathlib import Path

from layerwise import workers
from layerwise.files import together, write_json
from layerwise.home import Source
from layerwise.papers.across.figures import DRAWING
from layerwise.papers.across.figures.printing import print_all
from layerwise.present.figures import INDEX
from layerwise.present.figures.numbers import read_numbers
from layerwise.progress import track
from layerwise.run.steps import Place, program


def run(
    source: Source,
    statistics: Place,
    claims: Place,
    out: Place,
    pdf: Place,
    models: Place = Path("models.yaml"),
) -> str:
    """Write OUT/FIGURE.svg, -narrow.svg and .csv, PDF/FIGURE.pdf, and an index of what they show.

    The CSV has the numbers of the points.
    """
    workers.start(DRAWING)
    from layerwise.papers.across.figures.drawing import FIGURES  # they import matplotlib meanwhile

    numbers = read_numbers(source, statistics, claims, models)
    drawn = print_all(numbers, FIGURES, narrow=True)
    entries = []
    with together(out.parent) as part, together(pdf.parent) as printed:
        (printed / pdf.name).mkdir()
        for figure in track(drawn, "figures", "figures", len(FIGURES)):
            figure.save(part / out.name, printed / pdf.name)
            entries.append(figure.entry)
        index = {"random_weights": numbers.random_weights, "figures": entries}
        write_json(part / out.name / INDEX, index)
    absent = [
        f"\n  without {entry['name']}: {entry['left_out']}"
        for entry in entries
        if entry["left_out"]
    ]
    return f"{len(entries) - len(absent)} figures in {out}{''.join(absent)}"


if __name__ == "__main__":
    program(run)
