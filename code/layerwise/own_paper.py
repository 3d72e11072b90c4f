"""A paper of one's own, judged: describe it, call `judge_paper`, write its page and its LaTeX.

A paper is a `Paper`: `Rule`s in `Document`s, which make statistics from its published numbers;
`Question`s with the `Range` in which a number must lie if a claim is right, and the `FamilyOfTests`
among which each stands; and `Sentences`, which say what is claimed and what stands beside it.
docs/another-paper.md walks through one.
"""

from layerwise.engine.derivation import Document, Rule
from layerwise.engine.judging import JudgedPaper, judge_paper
from layerwise.engine.paper import Paper
from layerwise.engine.question import FamilyOfTests, Question, Range
from layerwise.engine.seen import Claimed, Detail, Sentences
from layerwise.present.publishing import write_latex, write_page

__all__ = [
    "Claimed",
    "Detail",
    "Document",
    "FamilyOfTests",
    "JudgedPaper",
    "Paper",
    "Question",
    "Range",
    "Rule",
    "Sentences",
    "judge_paper",
    "write_latex",
    "write_page",
]
