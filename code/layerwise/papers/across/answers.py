"""The answers of readers' models, and the papers' models beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from layerwise.engine.answer_words import WORDS
from layerwise.engine.derivation import derive
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import OVER_MODELS, PUBLISHED
from layerwise.engine.question import Answer, Printed, Results, cells, documents_of_questions
from layerwise.papers.across.questions import QUESTIONS, rows
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.result_files import SWEEP
from layerwise.shapes import Loose, require_shape
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws
from layerwise.statistics.estimates import Estimate, without_interval

THEIRS = "the papers' models"  # of a number that is about all of them at once
AGAIN = "run `layerwise analyze` for this model again"


class AnswerRow(Loose):
    """An answer in sensitivity.json."""

    question: str
    choice: str
    value: float
    low: float | None
    high: float | None
    n: int
    unit: str
    where: str
    word: Literal[WORDS]  # type: ignore[valid-type]


def answers(results: Results, printed: Printed) -> list[Answer]:
    """Return the answers that the result files of one model give, in the papers' order."""
    answered = results.get("sensitivity", {}).get("rows", [])
    require_shape("sensitivity.json: rows", list[AnswerRow], answered, AGAIN)
    return _answers(answered, printed)


def answers_over_models(models: Mapping[str, Results], printed: Printed) -> list[Answer]:
    """Return the answer to the question of depth and gain over several readers' models."""
    gains = [
        {**results["gains"], "model": name}
        for name, results in models.items()
        if "gains" in results
    ]
    if not gains:
        return []
    draws = Draws(N_RESAMPLES, LEVEL, SEED)  # nothing is drawn
    sample = {"sample": {OVER_MODELS: (SWEEP, "/models")}}
    several = Evidence(tables_of_reader({SWEEP: {"models": gains}}, sample), draws)
    return _answers(rows(several, ["depth_gain"]), printed)


def _answers(answered: Sequence[Mapping[str, Any]], printed: Printed) -> list[Answer]:
    in_order = []
    for name, question in QUESTIONS.items():
        by_choice = {row["choice"]: row for row in answered if row["question"] == name}
        asked = by_choice.pop(PUBLISHED, None)
        if asked is not None:
            estimates = {choice: _estimate(row) for choice, row in by_choice.items()}
            words = {choice: row["word"] for choice, row in by_choice.items()}
            in_order.append(
                Answer(question, _estimate(asked), estimates, printed[name], words, asked["word"])
            )
    return in_order


def _estimate(row: Mapping[str, Any]) -> Estimate:
    if row["low"] is None:
        return without_interval(row["value"], row["n"], row["unit"], row["where"])
    ends = row["low"], row["high"]
    return Estimate(row["value"], *ends, row["n"], row["unit"], where=row["where"])


def numbers_in_print(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Return by question the number of each of the papers' models, as the papers took it."""
    as_published = {
        name: replace(
            question,
            choices={
                choice: rule for choice, rule in question.choices.items() if choice == PUBLISHED
            },
        )
        for name, question in QUESTIONS.items()
    }
    answered = derive(partial(documents_of_questions, as_published), evidence)
    return {
        name: {
            THEIRS if model == OVER_MODELS else model: answer["value"]
            for model, _, answer in cells(document)
        }
        for name, document in answered.documents.items()
    }
