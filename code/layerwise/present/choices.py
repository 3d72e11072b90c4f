"""The papers' questions as rows: what each choice of method answers, for which models."""

from collections.abc import Mapping, Sequence
from typing import Any

from layerwise.engine.paper import Paper
from layerwise.engine.questions.question import (
    NEVER,
    OVER_MODELS,
    PUBLISHED,
    TOO_FEW,
    WORDS,
    YES,
)
from layerwise.engine.questions.table import as_many_by_chance, base, by_choice, cells
from layerwise.engine.words import Names, in_words, named, plain

LISTED = 6  # models named beside an answer; of more, how many
ANSWERED = "Its questions are answered yes under"
Row = dict[str, Any]


def rows(
    paper: Paper,
    questions: Mapping[str, Any],
    headlines: Sequence[Mapping[str, Any]],
    names: Names,
    control: Sequence[Mapping[str, Any]],
) -> list[Row]:
    """A row for every question that was answered: as the papers asked it, and under other choices.

    Arguments:
        headlines: the central claims, which ask them.
        control: the questions' documents of every draw of random weights.
    """
    found = []
    for name, question in paper.questions.items():
        document = questions.get(name, {})
        if not (answers := by_choice(document, paper.choice_in_words)):
            continue
        random = as_many_by_chance(
            document, [draw.get(name, {}) for draw in control], paper.choice_in_words
        )
        unlike = otherwise(document, paper)
        said = {
            choice: {"words": words(of, names), "random": random.get(choice)}
            for choice, of in answers.items()
        }
        asked = said.pop(paper.choice_in_words(PUBLISHED), None)
        found.append(
            {
                "name": name,
                "question": question,
                "asked": asked,
                "others": said,
                "unlike": len([choice for choice in said if choice in unlike]),
                "headlines": [one for one in headlines if name in one["asked"]],
            }
        )
    return found


def words(answers: Mapping[str, Sequence[str]], names: Names) -> list[Row]:
    """The words that answer, each with the models it answers for: by name, or how many."""
    found = []
    for word in WORDS:
        models = answers.get(word, ())
        listed = ", ".join(sorted(filter(None, (_called(model, names) for model in models))))
        if models:
            found.append({"word": word, "n": len(models), "models": listed})
    return found


def _called(model: str, names: Names) -> str:
    """A model, and what is left out; nothing of what is about no single one and leaves none out."""
    of, without, part = model.partition(" without ")
    left_out = names.get(plain(part)) or in_words(part.replace(" ", "_")).replace("_", " ")
    return " ".join(
        [
            *([] if of == OVER_MODELS else [named(of, names)]),
            *([f"without {left_out}"] if without else []),
        ]
    )


def claimed_under(answers: Mapping[str, str], paper: Paper) -> str:
    """Under which choices the questions of a central claim are answered as it says, and not.

    Arguments:
        answers: {choice: word} of its questions together; of parts that are left out
            `choice/part`, which are counted.
    """
    text = paper.choice_in_words
    found: dict[str, list[bool]] = {}
    for choice, word in answers.items():
        if word not in (TOO_FEW, NEVER):
            found.setdefault(text(base(choice)), []).append(word == YES)
    under = [f"{name} ({yes.count(True)} of {len(yes)})" if len(yes) > 1 else name
             for name, yes in found.items() if any(yes)]  # fmt: skip
    not_under = "; ".join(name for name, yes in found.items() if not any(yes))
    few = "; ".join(
        dict.fromkeys(text(base(one)) for one in answers if text(base(one)) not in found)
    )
    told = []
    if under:
        told += [f"{ANSWERED}: {'; '.join(under)}."]
        told += [f"Not under: {not_under}."] if not_under else []
    elif not_under:
        told += [f"{ANSWERED} none of these: {not_under}."]
    return " ".join([*told, *([f"Too few units under: {few}."] if few else [])])


def otherwise(document: Mapping[str, Any], paper: Paper) -> set[str]:
    """The choices, in words, under which some model's answer is not that of the papers' choice."""
    found = list(cells(document))
    in_print = {model: answer["word"] for model, choice, answer in found if choice == PUBLISHED}
    return {
        paper.choice_in_words(base(choice))
        for model, choice, answer in found
        if model in in_print and answer["word"] != in_print[model]
    }
