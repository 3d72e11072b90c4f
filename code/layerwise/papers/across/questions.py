"""The papers' central claims as questions: one rule for print, weights and a reader's model."""

from collections.abc import Iterable

from layerwise.engine.answers import AnswerRow, read_answers, rows_of
from layerwise.engine.derivation import Document, derive
from layerwise.engine.evidence import Evidence
from layerwise.engine.question import Question, document, documents_of_questions
from layerwise.papers.paper1 import questions as paper1
from layerwise.papers.paper2.questions import categories, curves
from layerwise.papers.paper3.questions import gains, samples, weights

# The modules that ask, in the order of lists.
ASKING = (paper1, curves, categories, gains, samples, weights)
QUESTIONS: dict[str, Question] = {
    question.name: question for module in ASKING for question in module.QUESTIONS
}


def documents(evidence: Evidence) -> dict[str, Document]:
    """Return a document per question: `models/MODEL/READING[/PART]` is an answer."""
    return documents_of_questions(QUESTIONS, evidence)


def rows(evidence: Evidence, names: Iterable[str] = tuple(QUESTIONS)) -> list[AnswerRow]:
    """Return the answers to the questions, as a reader's result file holds them.

    A reader asks of one model, so that no question stands in the papers' family of models.
    """
    documents = {name: document(QUESTIONS[name].alone(), evidence) for name in names}
    answers = read_answers({"questions": derive(documents, evidence).documents})
    return [
        row
        for name, by_model in answers.items()
        for by_reading in by_model.values()
        for row in rows_of(name, by_reading)
    ]


DOCUMENTS = documents
