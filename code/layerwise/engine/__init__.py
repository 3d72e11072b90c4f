"""Numbers with their origin, rules, claims, verdicts, questions and marks; knows no paper.

published, measured   the numbers of a source: printed, or measured in the printed ones' places
evidence, derivation  what rules read; documents made by tables of rules
analysing             all tables of a paper over one source
experiment            which text and measure fill which place of the published files
claims, words         the ledger in claims/; what texts call models, categories and measures
verdicts, origins     one rule between printed and recomputed; which run measured a cell
central, marks        the central claims, each one record; the rule that marks them
settling, prospects   what would settle an open one; computed from the law of its interval
seen, units           what their sentences speak of; what so few units can tell
findings, story       what does not stand beside them, a fact each; what readers are left with
tally                 how many claims have each verdict
judging, records      all of these over one source, as results/SOURCE/claims.json; that file read
questions             claims as questions: where a number must lie, and the word that answers
paper, recomputing    a paper as one value; judged by its published numbers in one call

For a paper of one's own (docs/another-paper.md): describe it as a `Paper` of `Rule`s in
`Document`s, `Question`s and `Sentences`, and `judge_paper` it. `layerwise.present` makes a page and
LaTeX of the result.
"""

from importlib import import_module

TYPE_CHECKING = False  # for type checkers it is true; `typing` itself takes long to import
if TYPE_CHECKING:
    from typing import Any

    from layerwise.engine.derivation import Document, Rule
    from layerwise.engine.paper import Paper
    from layerwise.engine.questions.question import Question, Range
    from layerwise.engine.recomputing import JudgedPaper, judge_paper
    from layerwise.engine.seen import Claimed, Sentences

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
]
_MODULES = {
    "Claimed": "seen",
    "Document": "derivation",
    "Rule": "derivation",
    "Paper": "paper",
    "Question": "questions.question",
    "Range": "questions.question",
    "JudgedPaper": "recomputing",
    "Sentences": "seen",
    "judge_paper": "recomputing",
}


def __getattr__(name: str) -> "Any":
    if name not in _MODULES:
        raise AttributeError(f"module 'layerwise.engine' has no attribute {name!r}")
    return getattr(import_module(f"layerwise.engine.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
