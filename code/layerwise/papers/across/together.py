"""The three papers as one value, for all that is about them together."""

from layerwise.engine.paper import Paper
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.shared.questions.choices import TEXTS

PAPERS = Paper("the papers' table", TABLES, QUESTIONS, TEXTS)
