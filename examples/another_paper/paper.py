"""A toy paper on eight language models, judged and shown without a line of the papers' code.

    python paper.py [FOLDER]

writes index.html and report.tex into FOLDER (`out` by default).
"""

import sys
from pathlib import Path

import numpy as np

from layerwise.own_paper import (
    Claimed,
    Detail,
    Document,
    Paper,
    Question,
    Range,
    Rule,
    Sentences,
    judge_paper,
    write_latex,
    write_page,
)
from layerwise.statistics.estimates import pearson_estimate

HERE = Path(__file__).resolve().parent
RESULTS = "results.json"  # the paper's file of results, whose numbers published/models.csv holds


def depths_and_losses(results):
    """Return the number of blocks and the loss of every model, as two series."""
    return np.array([(model.n_layers, model.loss) for model in results.models], dtype=float).T


def depth_r(results):
    """Return Pearson's r of depth and loss."""
    return np.corrcoef(*depths_and_losses(results))[0, 1]


RULES = {
    "mean_loss": Rule(lambda results: depths_and_losses(results)[1].mean(), "mean of the losses"),
    "depth_r": depth_r,
}
DEPTH = Question(
    name="depth",
    paper=1,
    says="Deeper models have a lower loss.",
    number="r of depth and loss",
    unit="models",
    models=lambda evidence: {"all models": evidence[RESULTS]},
    readings={"decides": lambda results: pearson_estimate(*depths_and_losses(results), "models")},
    within=Range(below=0),
)
sentences = Sentences()


@sentences("p1.depth")
def depth(seen):
    """Tell what the paper claims, and what else differs from print."""
    r = seen.claim("p1.r")
    yield Claimed(f"Over eight models, loss falls with depth (r = {r.printed}).")
    if r.falls:
        yield Detail(f"r is {r:+.2f}, not {r.printed}.")


PAPER = Paper(
    name="the toy paper",
    title="Depth and loss of eight toy models, recomputed",
    about="A toy paper that claims that deeper language models have a lower loss.",
    rules={"models": {"all": Document(RESULTS, {"": RULES})}},
    questions={"depth": DEPTH},
    readings={"decides": "r over the models"},
    sentences=sentences,
)

if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    judged = judge_paper(PAPER, HERE)
    write_page(judged, out / "index.html")
    write_latex(judged, out / "report.tex")
    for claim, verdict in {**judged.verdicts, **judged.marks}.items():
        print(f"{claim}: {verdict}")
