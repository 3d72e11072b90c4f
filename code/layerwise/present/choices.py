"""The choices of method under which a central claim is answered as it says."""

from collections.abc import Mapping

from layerwise.engine.paper import Paper
from layerwise.engine.questions.question import NEVER, TOO_FEW, YES
from layerwise.engine.questions.table import base

ANSWERED = "Its questions are answered yes under"


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
