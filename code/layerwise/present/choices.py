"""The choices of method under which a central claim is answered as it says."""

from collections.abc import Mapping

from layerwise.engine.answer_words import NO_SPREAD, TOO_FEW, YES
from layerwise.engine.marks import UNANSWERED
from layerwise.engine.paper import Paper
from layerwise.engine.question import base

# Why the numbers do not answer under a choice.
_NO_ANSWER = {
    NO_SPREAD: "Not answered, as there are single numbers without an interval",
    TOO_FEW: "Not answered, as the units are too few",
}


def say_choices(answers: Mapping[str, str], paper: Paper) -> str:
    """Say under how many choices, and which, the questions of a claim are answered as it says.

    Of the papers' way alone there is nothing to say: the mark says it.

    Arguments:
        answers: {choice: word} of its questions together; of parts that are left out
            `choice/part`, which are counted.
    """
    text = paper.choice_in_words
    answered: dict[str, list[bool]] = {}
    for choice, word in answers.items():
        if word not in UNANSWERED:
            answered.setdefault(text(base(choice)), []).append(word == YES)
    under = [
        f"{name} ({yes.count(True)} of {len(yes)})" if len(yes) > 1 else name
        for name, yes in answered.items()
        if any(yes)
    ]
    not_under = [name for name, yes in answered.items() if not any(yes)]
    sentences = []
    if len(answered) > 1 and not_under and under:
        sentences = [
            f"Answered yes under {len(under)} of {len(answered)} choices: {'; '.join(under)}.",
            f"Not answered yes under: {'; '.join(not_under)}.",
        ]
    elif len(answered) > 1:
        which = "all" if under else "none"
        listed = "; ".join(under or not_under)
        sentences = [f"Answered yes under {which} of {len(answered)} choices: {listed}."]
    for why in UNANSWERED:
        names = dict.fromkeys(
            text(base(choice))
            for choice, word in answers.items()
            if word == why and text(base(choice)) not in answered
        )
        if names and len(answers) > 1:
            sentences.append(f"{_NO_ANSWER[why]}: {'; '.join(names)}.")
    return " ".join(sentences)
