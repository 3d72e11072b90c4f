"""Every figure that the numbers of a source allow."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from matplotlib.figure import Figure

from layerwise.papers.across.figures import own
from layerwise.papers.paper1 import figures as paper1
from layerwise.papers.paper2 import figures as paper2
from layerwise.papers.paper3 import figures as paper3
from layerwise.papers.shared.terms import OVER_MODELS
from layerwise.present.figures.numbers import OWN, NothingToDraw, Numbers
from layerwise.present.figures.picture import Picture
from layerwise.present.figures.points import csv_of_points
from layerwise.present.figures.style import as_files, as_narrow_svg, figure_note, house_style
from layerwise.present.figures.svg import as_svg

# What draws a figure, and the analyses it reads: beside the claims of the first it is shown. The
# function's name is the figure's and its label's, its docstring the caption.
READS: dict[Callable[[Numbers], Figure], tuple[str, ...]] = {
    paper1.asymmetry_by_category: ("calibration",),
    paper2.validation: ("validation",),
    paper2.layer_curves: ("cross_model", "pairs", "phases", "questions"),
    paper2.template_comparison: ("cross_model",),
    paper3.depth_gain: ("depth_gain", "lab_heritage", "questions"),
    paper3.lab_heritage: ("lab_heritage", "questions"),
    paper3.spectral_norms: ("spectral_norms", "questions"),
    paper3.critical_layer: ("critical_layer", "questions"),
    paper3.anisotropy: ("anisotropy",),
}
# Of readers' own models alone: of one model, and across several.
OF_READER: dict[Callable[[Numbers], Figure], tuple[str, ...]] = {
    paper2.layers: ("layers", "category_bootstrap"),
    paper2.pairs: ("pairs",),
    paper2.within_categories: ("sensitivity",),
    paper2.by_pair: ("pairs", "by_pair", "validation"),
    own.gains: ("gains", OVER_MODELS),
    own.spectral: ("spectral", OVER_MODELS),
    own.by_depth: ("layers", "category_bootstrap", "pairs", "anisotropy", "gains", OVER_MODELS),
}
_ALL = {function.__name__: (function, reads) for function, reads in (READS | OF_READER).items()}
FIGURES = [function.__name__ for function in READS]


@dataclass(frozen=True)
class Drawn:
    """A figure and its message, a sentence of its numbers; or the reason why there is none."""

    name: str
    analysis: str  # beside whose claims it is shown
    caption: str  # what it shows and how to read it, for any numbers
    figure: Figure | None
    title: str = ""
    note: str = ""  # what the footer says of these numbers, besides the source
    reason: str = ""
    csv: str = ""  # of its points

    def _repr_svg_(self) -> str | None:
        """In a notebook."""
        with house_style():
            return None if self.figure is None else as_svg(self.figure, self.name)

    @property
    def picture(self) -> Picture:
        """The same as files; the figure is freed."""
        about = self.name, self.analysis, self.caption
        if self.figure is None:
            return Picture(*about, reason=self.reason)
        pdf, svg = as_files(self.figure, self.name)
        return Picture(*about, self.title, self.note, pdf=pdf, svg=svg, csv=self.csv)


def draw(name: str, numbers: Numbers) -> Drawn:
    """Draw one figure."""
    function, reads = _ALL[name]
    about = name, reads[0], " ".join((function.__doc__ or "").split())
    try:
        with house_style():
            figure = function(_read_by(name, numbers))
    except NothingToDraw as reason:
        return Drawn(*about, None, reason=str(reason))
    title = " ".join(figure.get_suptitle().replace(r"\$", "$").split())
    has_tables = numbers.source == OWN  # a reader's, with the same numbers
    csv = csv_of_points(figure) if function in READS and not has_tables else ""
    return Drawn(*about, figure, title, figure_note(figure), csv=csv)


def draw_all(numbers: Numbers, names: Iterable[str] = FIGURES) -> Iterator[Drawn]:
    """Yield every figure, in the papers' order, one at a time: a figure holds much memory."""
    for name in names:
        yield draw(name, numbers)


def draw_picture(name: str, numbers: Numbers, narrow: bool = False) -> Picture:
    """Draw one figure as its files.

    Arguments:
        narrow: draw it for a phone too.
    """
    picture = draw(name, numbers).picture
    if not narrow or picture.reason:
        return picture
    stacked = draw(name, replace(numbers, narrow=True, missing=[])).figure
    assert stacked is not None
    return replace(picture, narrow=as_narrow_svg(stacked, name))


def _read_by(name: str, numbers: Numbers) -> Numbers:
    """Return the numbers that one figure reads, and no others."""
    _, reads = _ALL[name]
    known = {
        analysis: numbers.statistics[analysis]
        for analysis in reads
        if analysis in numbers.statistics
    }
    return replace(numbers, statistics=known, missing=[])
