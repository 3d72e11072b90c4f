"""The choices of method under which a central claim is answered as it says."""

from collections.abc import Mapping

from layerwise.engine.paper import Paper
from layerwise.engine.questions.table import base
from layerwise.engine.questions.words import NEVER, TOO_FEW, YES

ANSWERED = "Its questions are answered yes under"


def say_choices(answers: Mapping[str, str], paper: Paper) -> str:
    """Say under which choices the questions of a central claim are answered as it says, and not.

    Arguments:
        answers: {choice: word} of its questions together; of parts that are left out
            `choice/part`, which are counted.
    """
    text = paper.choice_in_words
    answered: dict[str, list[bool]] = {}
    for choice, word in answers.items():
        if word not in (TOO_FEW, NEVER):
            answered.setdefault(text(base(choice)), []).append(word == YES)
    under = [
        f"{name} ({yes.count(True)} of {len(yes)})" if len(yes) > 1 else name
        for name, yes in answered.items()
        if any(yes)
    ]
    not_under = "; ".join(name for name, yes in answered.items() if not any(yes))
    few = "; ".join(
        dict.fromkeys(
            text(base(choice)) for choice in answers if text(base(choice)) not in answered
        )
    )
    sentences = []
    if under:
        sentences += [f"{ANSWERED}: {'; '.join(under)}."]
        sentences += [f"Not under: {not_under}."] if not_under else []
    elif not_under:
        sentences += [f"{ANSWERED} none of these: {not_under}."]
    return " ".join([*sentences, *([f"Too few units under: {few}."] if few else [])])
