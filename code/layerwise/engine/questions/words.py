"""The words that answer a question, and the choice that the papers made."""

PUBLISHED = "published"  # the choice: as the papers did
WORDS = YES, NO, UNDECIDED, TOO_FEW, NEVER = (
    "yes",
    "no",
    "undecided",
    "too few",
    "cannot be answered",
)
OPPOSITE = {YES: NO, NO: YES}
MEANINGS = {
    YES: "the 95% interval lies where the claim says; where the claim is that there is no effect, "
    "the 90% interval, as in two one-sided tests; where there is a p, it is below 0.05 too",
    NO: "the 95% interval lies wholly where the claim says that the number does not",
    UNDECIDED: "neither: these data cannot tell",
    TOO_FEW: "one number without an interval",
    NEVER: "so few units that nothing they could show would answer the question",
}
