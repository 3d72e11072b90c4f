"""The words that answer a question, and what they mean; light, for who reads judged claims."""

WORDS = YES, NO, UNDECIDED, NO_SPREAD, TOO_FEW = (
    "yes",
    "no",
    "undecided",
    "no spread",
    "too few",
)
OPPOSITE = {YES: NO, NO: YES}
MEANINGS = {
    YES: "the 95% interval lies where the claim says; where the claim is that there is no effect, "
    "the 90% interval, as in two one-sided tests; where there is a p, it is below 0.05 too",
    NO: "that interval lies wholly where the claim says that the number does not",
    UNDECIDED: "the interval lies across the border, or a p is not below 0.05: these data "
    "cannot tell",
    NO_SPREAD: "there is one number, or none, and no interval",
    TOO_FEW: "so few units that nothing they could show would answer the question",
}
