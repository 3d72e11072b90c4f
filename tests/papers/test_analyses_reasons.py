"""Numbers in the reasons of the ledger, held against the tables that they were read from.

A reason stands beside the claim that it denies or explains, as a text; what it says in numbers is
taken from the published files, or from print itself, and made anew here.
"""

import re
from fnmatch import fnmatch

import pytest

from judged import at, ledger

ARGMAX, SIGNS = "critical_layer:argmax:", "critical_layer:sign_change:"
# --- what a reason computes -----------------------------------------------------------------------


def gpt2_gains(read, pick):
    return pick(test["mean"] for test in read("lab_heritage:gpt2:/tests").values())


def of_benchmark(read, pick):
    models = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")
    return pick(read(f"thermodynamic_benchmark:{model}:/distance_r") for model in models)


# By claim: what stands in its reasons, and where its numbers are from.
NUMBERS = [
    (
        "p1.readme.effect_rule",
        "Mistral's {:.2f} lies",
        "calibration:mistral:/_global_stats/neutral_only/cohens_d",
    ),
    ("p3.map.figA2", "file has {:.1f}%", f"{SIGNS}/overall_mape"),
    ("p3.map.figA2", "figure's {:.1f} are", f"{ARGMAX}/overall_mape"),
    (
        "p3.notebook.inputdep.pangram",
        "metric that gave {:.2f},",
        "sequence_gains:llama3.1-8b:/last_gain",
    ),
    (
        "p3.bentov.pythia_direction",
        "p of r is {:.2f}",
        "thermodynamic_benchmark:Pythia-6.9B:/entropy/Pearson_p",
    ),
    ("p3.bentov.layernorm", "gains of {:.2f} to", lambda read: gpt2_gains(read, min)),
    ("p3.bentov.layernorm", "to {:.2f}", lambda read: gpt2_gains(read, max)),
    ("p3.bentov.law", "from {:.2f} to", lambda read: of_benchmark(read, min)),
    ("p3.bentov.law", "to {:.2f}", lambda read: of_benchmark(read, max)),
]
# Decimals that are no number of a table: bounds that a reading sets, and coefficients as printed.
SET = {
    "p1.*": ["0.015"],  # the paper's calibration zone
    "p1.control.page.unrelated": ["0.005", "0.00"],
    "p2.disc.mid_transition": ["0.1"],
    "p3.eli5.size": ["0.05"],
}
DECIMAL = re.compile(r"(?<![\w.-])-?\d+\.\d+(?![\w.]*\w)")
QUOTED = re.compile(r"(.+) has .+ at (/\S+)")  # a published label or number, with its place
PLACE = re.compile(r"(sections?|table|lemma|proposition|theorem|corollary) [\d.]+")


class Reading:
    """The number that stands at a place: a statistic, a published cell, or print."""

    def __init__(self, works, published, claims):
        self.works, self.published, self.claims = works, published, claims

    def __call__(self, place):
        if "#" in place:
            return self.published.value(*place.split("#", 1))
        analysis, _, statistic = place.partition(":")
        document, _, key = statistic.partition(":")
        return (
            at(self.works[analysis], statistic) if key else self.works[analysis].documents[document]
        )

    def printed(self, id):
        return self.claims[id].printed


@pytest.fixture(scope="module")
def read(works, published, root):
    claims = {claim.id: claim for claim in ledger(root)}
    return Reading(works, published, claims)


def reasons(claim):
    """What is said of a claim in our words."""
    return " | ".join([*own_words(claim), claim.why or ""])


def own_words(claim):
    return [said for said in claim.against if isinstance(said, str)]


@pytest.mark.parametrize(("pattern", "said", "sources"), [(a, b, c) for a, b, *c in NUMBERS])
def test_a_number_in_a_reason_is_that_of_its_source(read, pattern, said, sources):
    values = [read(source) if isinstance(source, str) else source(read) for source in sources]
    claims = [claim for id, claim in read.claims.items() if fnmatch(id, pattern)]
    assert claims
    for claim in claims:
        assert said.format(*values) in reasons(claim), (claim.id, values)


def test_every_decimal_in_a_reason_has_a_source(read):
    left = {}
    for id, claim in read.claims.items():
        text = PLACE.sub("", reasons(claim))
        known = [
            decimal
            for pattern, decimals in SET.items()
            if fnmatch(id, pattern)
            for decimal in decimals
        ]
        for file, key in (
            match.groups() for match in map(QUOTED.fullmatch, own_words(claim)) if match
        ):
            known += DECIMAL.findall(str(read(f"{file}#{key}")))
        for pattern, said, *sources in NUMBERS:
            if fnmatch(id, pattern):
                values = [
                    read(source) if isinstance(source, str) else source(read) for source in sources
                ]
                known += DECIMAL.findall(said.format(*values))
        if missing := set(DECIMAL.findall(text)) - set(known):
            left[id] = missing
    assert left == {}
