"""The three papers as one value, for all that is about them together."""

from layerwise.engine.paper import Paper
from layerwise.engine.seen import Sentences
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.across.story import STORY, surprises
from layerwise.papers.paper1 import central as central1
from layerwise.papers.paper1 import findings as findings1
from layerwise.papers.paper2 import central as central2
from layerwise.papers.paper2 import findings as findings2
from layerwise.papers.paper3 import central as central3
from layerwise.papers.paper3 import findings as findings3
from layerwise.papers.paper3.rules.anisotropy import SHIFTED
from layerwise.papers.shared.questions import TEXTS

PAPERS = Paper(
    name="the papers' table",
    title="Three papers on transformer dynamics, recomputed",
    about="D. D'Elia's papers compare how tightly a language model embeds two framings of a "
    "statement (Paper 1, uniformity asymmetry). They claim that this asymmetry correlates with "
    "the framing that the model finds more likely, with a sign that changes with depth (Paper 2, "
    "layer-wise dynamics), and that the residual stream obeys laws like those of thermodynamics "
    "(Paper 3).",
    links={
        "Paper 1": "https://doi.org/10.5281/zenodo.18110161",
        "Paper 2": "https://doi.org/10.5281/zenodo.18142454",
        "Paper 3": "https://doi.org/10.5281/zenodo.18165365",
    },
    rules=TABLES,
    questions=QUESTIONS,
    readings=TEXTS,
    sentences=Sentences(central1.sentences | central2.sentences | central3.sentences),
    story=STORY,
    shifted={"anisotropy": SHIFTED},
    findings=Sentences(findings1.findings | findings2.findings | findings3.findings),
    surprises=surprises,
)
