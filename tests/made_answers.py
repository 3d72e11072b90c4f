"""Answers made up for tests, and the statistics of a source that hold them."""

from collections.abc import Mapping
from typing import Any

from layerwise.engine.answers import Answer, Interval
from layerwise.engine.question import ModelAnswers
from layerwise.engine.verdicts import Statistics
from layerwise.papers.across.questions import QUESTIONS

Ends = tuple[float, float]
Asked = Mapping[str, Answer | Mapping[str, Answer]]  # by reading, and there perhaps by part


def answer(
    word: str = "yes",
    value: float = 0.5,
    ends: Ends | None = (0.1, 0.9),
    *,
    deciding: Ends | None = None,
    level: float | None = 0.95,
    p: float | None = None,
    n: int = 9,
    unit: str = "pairs",
    **fields: Any,
) -> Answer:
    """An answer of this word, whatever its numbers say.

    Arguments:
        deciding: `ends`, if left out.
    """
    decides = ends if deciding is None else deciding
    return Answer(
        value,
        word,
        None if ends is None else Interval(*ends),
        None if decides is None else Interval(*decides),
        None if decides is None else level,
        p,
        n,
        unit,
        **fields,
    )


def model_answers(
    asked: Answer, others: Mapping[str, Answer] | None = None, question: str = "late"
) -> ModelAnswers:
    """The answers of one model to a question of the papers, without theirs beside."""
    return ModelAnswers(QUESTIONS[question], asked, others or {}, {})


def statistics(answers: Mapping[str, Mapping[str, Asked]], **documents: Any) -> Statistics:
    """The statistics of a source with these answers by question and model, and other documents."""
    questions = {
        name: {
            "models": {
                model: {reading: _record(given) for reading, given in by_reading.items()}
                for model, by_reading in by_model.items()
            }
        }
        for name, by_model in answers.items()
    }
    return Statistics("published", {"questions": questions, **documents})


def _record(given: Answer | Mapping[str, Answer]) -> Any:
    if isinstance(given, Answer):
        return given.record()
    return {part: one.record() for part, one in given.items()}
