"""The answers of readers' models, and the papers' models beside them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from layerwise.engine.answers import Answer, RowsByQuestion, read_answer_rows, read_answers
from layerwise.engine.derivation import derive
from layerwise.engine.evidence import Evidence
from layerwise.engine.published import DECIDES, OVER_MODELS, PUBLISHED
from layerwise.engine.question import ModelAnswers, Printed, Results, documents_of_questions
from layerwise.papers.across.questions import QUESTIONS, rows
from layerwise.papers.shared.published import tables_of_reader
from layerwise.papers.shared.result_files import SWEEP
from layerwise.statistics.bootstrap import LEVEL, N_RESAMPLES, SEED, Draws

THEIRS = "the papers' models"  # of a number that is about all of them at once
AGAIN = "run `layerwise analyze` for this model again"


def answers(results: Results, printed: Printed) -> list[ModelAnswers]:
    """Return the answers that the result files of one model give, in the papers' order."""
    answered = results.get("sensitivity", {}).get("rows", [])
    return _collect_answers(read_answer_rows(answered, AGAIN), printed)


def answers_over_models(models: Mapping[str, Results], printed: Printed) -> list[ModelAnswers]:
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
    return _collect_answers(read_answer_rows(rows(several, ["depth_gain"]), AGAIN), printed)


def _collect_answers(answered: RowsByQuestion, printed: Printed) -> list[ModelAnswers]:
    """Return the answers that decide, each with those by other readings, in the papers' order."""
    return [
        ModelAnswers(
            question.alone(),
            by_reading[DECIDES],
            {reading: answer for reading, answer in by_reading.items() if reading != DECIDES},
            printed[name],
        )
        for name, question in QUESTIONS.items()
        if DECIDES in (by_reading := answered.get(name, {}))
    ]


def answers_in_print(evidence: Evidence) -> dict[str, dict[str, Answer]]:
    """Return by question the answer of each of the papers' models.

    It is the one that decides; where print lacks what this takes, that of the papers.
    """
    questions = {
        name: replace(
            question,
            readings={
                reading: rule
                for reading, rule in question.readings.items()
                if reading in (DECIDES, PUBLISHED)
            },
        )
        for name, question in QUESTIONS.items()
    }
    answered = derive(partial(documents_of_questions, questions), evidence)
    return {
        name: {
            THEIRS if model == OVER_MODELS else model: answer
            for model, by_reading in by_model.items()
            if (answer := by_reading.get(DECIDES) or by_reading.get(PUBLISHED))
        }
        for name, by_model in read_answers({"questions": answered.documents}).items()
    }
