"""the HTML page <- claims, statistics and figures of one source."""

from pathlib import Path

from layerwise.files import numbered, read_json, sha256_of, write_text
from layerwise.inputs.measured import CONTROL
from layerwise.inputs.published import read_published
from layerwise.inputs.upstream import read_registry
from layerwise.ledger.records import read_judged
from layerwise.pages.page import page
from layerwise.pages.pictures import read_figures
from layerwise.steps import Place, Source, program

ANSWERS = "questions.json"  # of the statistics


def run(
    source: Source,
    claims: Place,
    statistics: Place,
    figures: Place,
    out: Place,
    published: Place = Path("published"),
    templates: Place = Path("report/templates"),
) -> str:
    """Write OUT/index.html: one file that opens from disk and asks for nothing."""
    document = read_judged(claims, source, statistics)
    questions = read_json(statistics / ANSWERS)["documents"]
    control = [read_json(draw / ANSWERS)["documents"] for draw in numbered(statistics / CONTROL)]
    drawn = read_figures(figures)
    behind = [claims, *sorted(published.glob("*.csv")), *sorted(figures.glob("*.svg"))]
    hashes = {path.as_posix(): sha256_of(path) for path in behind}
    numbers, registry = read_published(published), read_registry(published)
    text = page(document, questions, drawn, numbers, registry, hashes, templates, control)
    write_text(out / "index.html", text)
    n_claims, n_figures = len(document["claims"]), len(drawn.pictures)
    return f"{n_claims} claims and {n_figures} figures in {out / 'index.html'}"


if __name__ == "__main__":
    program(run)
