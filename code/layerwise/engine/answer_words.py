"""The words that answer a question, and what they mean; light, for who reads judged claims."""

from typing import TYPE_CHECKING, Literal

YES, NO = "yes", "no"
# Why an answer is open, the reason that lies deepest first: with better data the next would show.
OPEN_WORDS = NEEDS_WEIGHTS, NO_CATEGORIES, NO_SPREAD, TOO_FEW, UNDECIDED = (
    "needs weights",
    "no categories",
    "no spread",
    "too few",
    "undecided",
)
WORDS = (YES, NO, *OPEN_WORDS)
if TYPE_CHECKING:
    Word = str
else:
    Word = Literal[WORDS]
OPPOSITE = {YES: NO, NO: YES}
MEANINGS = {
    YES: "the interval that decides lies where the claim says",
    NO: "the interval that decides lies wholly where the claim says that the number does not",
    NEEDS_WEIGHTS: "it takes numbers that were not published and must be measured",
    NO_CATEGORIES: "pairs or prompts come in one category or in none, so that nothing tells "
    "whether they are independent",
    NO_SPREAD: "there are single numbers, without an interval",
    TOO_FEW: "so few units could not answer, whatever they showed",
    UNDECIDED: "an interval includes both answers",
}
