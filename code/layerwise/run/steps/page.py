"""the HTML page <- claims, statistics and figures of one source."""

from collections.abc import Iterable
from pathlib import Path

from layerwise.engine.derivation import evidence_of
from layerwise.engine.judged import JudgedClaim
from layerwise.engine.published import Published
from layerwise.engine.records import read_judged
from layerwise.engine.words import display_names
from layerwise.files import read_text, sha256_of, together, write_text
from layerwise.home import Source
from layerwise.models.registry import read_models
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.across.together import PAPERS
from layerwise.papers.fetching.upstream import COMMIT, REPOSITORY, pins_of
from layerwise.papers.shared.published import read_published
from layerwise.present.html import TEMPLATES, linked
from layerwise.present.page import ENVIRONMENT, Page
from layerwise.present.pictures import read_figures
from layerwise.present.small_models import FOLDER, read_small_models
from layerwise.present.trace import Method, methods_of
from layerwise.run.steps import Place, program
from layerwise.shapes import read_choices
from layerwise.statistics.bootstrap import Draws


def run(
    source: Source,
    claims: Place,
    statistics: Place,
    figures: Place,
    out: Place,
    published: Place = Path("published"),
    templates: Place = TEMPLATES / "page",
    models: Place = Path("models.yaml"),
    small: Place = FOLDER,
    asymmetry: Place = Path("docs/asymmetry.svg"),
    params: Place = Path("params.yaml"),
) -> str:
    """Write OUT/index.html, which opens from disk and asks for nothing."""
    judged = read_judged(claims, source, statistics)
    drawn = read_figures(figures)
    numbers, pins = read_published(published), pins_of(published)
    methods = {} if source != "published" else methods_behind(judged.claims, numbers, params)
    names = display_names(read_models(models))
    tree = f"{REPOSITORY}/tree/{COMMIT}"
    shown = Page(
        paper=PAPERS,
        judged=judged,
        figures=drawn,
        published=numbers,
        pins=pins,
        hashes=hashes_behind(claims, published, figures),
        templates=templates,
        methods=methods,
        names=names,
        environment=ENVIRONMENT | {"the papers' repository": linked(tree, {tree: tree})},
        asymmetry=read_text(asymmetry),
        small=read_small_models(small, PAPERS.questions) if source == "published" else None,
    )
    with together(out.parent) as part:
        write_text(part / out.name / "index.html", shown.text)
    n_claims, n_figures = len(judged.claims), len(drawn.pictures)
    return f"{n_claims} claims and {n_figures} figures in {out / 'index.html'}"


def hashes_behind(claims: Path, published: Path, figures: Path) -> dict[str, str]:
    """Return the SHA-256 of the files that the page is made of, by path."""
    drawings = sorted(path for end in ("csv", "svg") for path in figures.glob(f"*.{end}"))
    behind = [claims, *sorted(published.glob("*.csv")), *drawings]
    return {path.as_posix(): sha256_of(path) for path in behind}


def methods_behind(
    claims: Iterable[JudgedClaim], published: Published, params: Path
) -> dict[str, list[Method]]:
    """The functions behind every claim's statistic, as `layerwise trace` shows them."""
    evidence = evidence_of(published, Draws(**read_choices(params, "analyse")), TABLES)
    statistics = (claim.provenance.statistic for claim in claims)
    return methods_of(filter(None, statistics), evidence, TABLES)


if __name__ == "__main__":
    program(run)
