"""report and supplement as LaTeX <- claims, statistics, figures of one source."""

from pathlib import Path

from layerwise.engine.records import read_judged
from layerwise.engine.words import display_names
from layerwise.home import Source
from layerwise.models.registry import read_models
from layerwise.papers.across.together import PAPERS
from layerwise.papers.fetching.upstream import COMMIT, REPOSITORY
from layerwise.present.paper import Report
from layerwise.present.pictures import read_figures
from layerwise.present.small_models import FOLDER, read_small_models
from layerwise.run.steps import Place, program
from layerwise.shapes import SECTIONS, read_choices


def run(
    source: Source,
    claims: Place,
    statistics: Place,
    figures: Place,
    pdf: Place,
    out: Place,
    templates: Place = Path("paper"),
    params: Place = Path("params.yaml"),
    citation: Place = Path("CITATION.cff"),
    models: Place = Path("models.yaml"),
    small: Place = FOLDER,
) -> str:
    """Write OUT/report.tex and OUT/supplement.tex, with their figures beside them."""
    drawn = read_figures(figures)
    report = Report(
        judged=read_judged(claims, source, statistics),
        figures=pdf,
        drawn=drawn,
        templates=templates,
        params={name: read_choices(params, name) for name in SECTIONS},
        citation=citation,
        names=display_names(read_models(models)),
        upstream={"address": REPOSITORY, "commit": COMMIT},
        small=read_small_models(small, PAPERS.questions) if source == "published" else None,
    )
    report.write(out)
    return f"report, supplement, table and {len(drawn.pictures)} figures in {out}"


if __name__ == "__main__":
    program(run)
