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
    NEEDS_WEIGHTS: "what varies was not published, so that the number needs the weights",
    NO_CATEGORIES: "the units come from one category, or from none that is told, so that nothing "
    "says how far others would move the number",
    NO_SPREAD: "there is one number, or none, and no interval",
    TOO_FEW: "so few units that nothing they could show would answer the question",
    UNDECIDED: "the interval lies across the border: these data cannot tell",
}
