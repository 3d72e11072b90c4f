"""A paper of one's own, judged: describe it, call `judge_paper`, write its page and its LaTeX.

A paper is a `Paper`: `Rule`s in `Document`s, which make statistics from its published numbers;
`Question`s with the `Range` in which a number must lie if a claim is right; and `Sentences`, which
say what stands. docs/another-paper.md walks through one.
"""

from layerwise.engine.derivation import Document, Rule
from layerwise.engine.judging import JudgedPaper, judge_paper
from layerwise.engine.paper import Paper
from layerwise.engine.question import Question, Range
from layerwise.engine.seen import Claimed, Sentences
from layerwise.present.publishing import write_latex, write_page

__all__ = [
    "Claimed",
    "Document",
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
