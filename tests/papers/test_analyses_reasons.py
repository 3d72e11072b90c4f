"""Numbers in the reasons of the ledger, held against the tables that they were read from.

A reason stands beside the claim that it denies or explains, as a text; what it says in numbers is
taken from the published files, or from print itself, and made anew here.
"""

import re
from fnmatch import fnmatch

import pytest

from judged import at
from layerwise.engine.claims import read_ledger
from layerwise.papers.shared.names.result_files import MAPS, MODULES

ARGMAX, SIGNS = "critical_layer:argmax:", "critical_layer:sign_change:"
HUNT = "lab_heritage:hunt:/tested_results"


# --- what a reason computes -----------------------------------------------------------------------


def rows(read, of):
    return [one for one in read(HUNT) if of(one)]


def cosines(read, model, pick):
    """The least or the largest mean cosine of a model of Paper 1, over categories and sides."""
    found = read(f"calibration:{model}:")
    sides = ("uniformity_a", "uniformity_b")
    return pick(of[s] for of in found.values() if "uniformity_a" in of for s in sides)


def printed_errors(read):
    """Mean of the errors that the page of the third formula lists."""
    found = [one.printed for id, one in read.claims.items() if fnmatch(id, "*.third.*.eq6_error")]
    assert len(found) == 8
    return sum(found) / 8


def balanced(read, n_layers):
    """L* over depth by the formula with the gain, of as many heads as blocks and a gain of 1."""
    return -0.20 + 0.029 * n_layers + 12.3 / n_layers - 0.41


def law_of_two(read, parameters):
    """The last MLP's gain of 6.9 billion parameters, grown with their 0.35th power."""
    gain = at_layer(read, f"{MODULES['pythia-6p9b']}#/mlp/gains", 31)
    return round(gain, 2) * (parameters / 6.9e9) ** 0.35


def at_layer(read, file_and_key, layer):
    return read(f"{file_and_key}/{layer}")


def gpt2_gains(read, pick):
    return pick(of["mean"] for of in read("lab_heritage:gpt2:/tests").values())


def of_benchmark(read, pick):
    models = ("Pythia-6.9B", "Mistral-7B", "LLaMA-3.1-8B", "Gemma-7B")
    return pick(read(f"thermodynamic_benchmark:{model}:/distance_r") for model in models)


def largest_ratio(read):
    """Of the restriction maps, where it is a number."""
    found = read(f"{MAPS}#/restriction_maps/contraction_ratios")
    return max(one for one in found if one == one)


def largest_trace_number(read):
    found = [one for one in read(f"{MAPS}#/sheaf_laplacian/traces") if one == one]
    assert found[17] == max(found)
    assert found[-1] < max(found) / 2
    return max(found)


def n_wide_expanding(read):
    n = len(rows(read, lambda m: m["d_head"] <= 128 and m["gain_no_ln_mean"] > 1))
    return {9: "nine"}[n]


def n_dense_expanding(read):
    """Models of the hunt with a density over 0.2 that expand."""
    found = rows(read, lambda m: m["rho"] > 0.2 and m["gain_no_ln_mean"] > 1)
    return {6: "six"}[len(found)]


# By claim: what stands in its reasons, and where its numbers are from.
NUMBERS = [
    ("p1.readme.effect_rule", "Mistral's {:.2f} lies",
     "calibration:mistral:/_global_stats/neutral_only/cohens_d"),
    ("p3.draft.lstar.sign_change", "steepest trace gives {:.1f}", f"{ARGMAX}/overall_mape"),
    ("p3.draft.lstar.sign_change", "{:.1f} as if", f"{SIGNS}/overall_mape"),
    ("p3.draft.lstar.sign_change", "{:.1f} and", lambda read: read.printed("p3.draft.lstar.v3")),
    ("p3.draft.lstar.neutral", "{:.2f} is the mean", f"{ARGMAX}/offset/Meta"),
    ("p3.draft.lstar.heads", "term {:.1f}/H", "Paper 3#/l_star/heads"),
    ("p3.draft.crowding.escape", "has {} more above 0.2", n_dense_expanding),
    ("p3.draft.rmap.collapse", "is {:.2f} at layer 10",
     "sheaf_trace:pythia-1.4b-layers:/attention_entropies/10"),
    ("p3.draft.rmap.collapse", "to {:.2f} at layer 17",
     f"{MAPS}#/restriction_maps/attention_entropies/17"),
    ("p3.draft.lstar.regime", "eight models has {} blocks",
     lambda read: max(of["layers"] for of in read("layer_formulas:models:").values())),
    ("p3.draft.lstar.regime", "of the six {}",
     lambda read: max(of["L"] for of in read(f"{ARGMAX}/results"))),
    ("p3.formula.last.improvement", "errors {:.1f} and",
     lambda read: read.printed("p3.formula.last.error.first")),
    ("p3.formula.last.improvement", "{:.1f} give {:.1f}",
     lambda read: read.printed("p3.formula.last.error.gain"),
     lambda read: 100 * (1 - read.printed("p3.formula.last.error.gain")
                         / read.printed("p3.formula.last.error.first"))),
    ("p3.formula.*.column", "mean of {:.1f}", printed_errors),
    ("p3.formula.last.golden", "gives {:.2f} at 12", lambda read: balanced(read, 12)),
    ("p3.formula.last.golden", "and {:.2f} at 32", lambda read: balanced(read, 32)),
    ("p3.formula.last.overfitting", "misses by {:.1f} %", f"{ARGMAX}/unseen/formula"),
    ("p3.formula.last.overfitting", "L/2 by {:.2f}", f"{ARGMAX}/unseen/half_depth"),
    ("p3.formula.*.inversion", "is layer {} and", "layer_formulas:models:/pythia-6.9b/layer"),
    ("p3.formula.*.inversion", "inversion at {};", "anisotropy:pythia-6p9b:/category_inversion"),
    ("p3.formula.*.inversion", "has L* {} and", "layer_formulas:models:/gemma-2b/layer"),
    ("p3.page.llama.pangram", "has {:.2f} for", "sequence_gains:texts:/Original/gain"),
    ("p3.page.llama.factual", "mean of {:.2f},",
     "thermodynamic_benchmark:LLaMA-3.1-8B:/category/Factual/gain"),
    ("p3.page.llama.factual", "test of the {:.2f} that", "sequence_gains:llama3.1-8b:/last_gain"),
    ("p3.page.llama.rmsnorm", "LLaMA-2 at {:.2f}", "sequence_gains:llama2-7b:/last_gain"),
    ("p3.page.llama.rmsnorm", "LLaMA-3.1 at {:.2f}", "sequence_gains:llama3.1-8b:/last_gain"),
    ("p3.page.complete.paper1", "have {:.2f} to", lambda read: cosines(read, "llama", min)),
    ("p3.page.complete.paper1", "to {:.2f}", lambda read: cosines(read, "llama", max)),
    ("p3.page.ffn.predicts.*", "{:.2f} at 6.9", f"{MODULES['pythia-6p9b']}#/mlp/gains/31"),
    ("p3.page.ffn.predicts.GPT-3", "number reaches {:.0f}", lambda read: law_of_two(read, 175e9)),
    ("p3.page.ffn.predicts.GPT-4", "number reaches {:.0f}", lambda read: law_of_two(read, 1.0e12)),
    ("p3.page.maps.trace", "{:.1f} is that of layer 17", largest_trace_number),
    ("p3.page.mistral.mixed", "has {:.2f} for Pythia", "sequence_gains:pythia-6.9b:/last_gain"),
    ("p3.page.mistral.mixed", "and {:.2f} for Gemma", "sequence_gains:gemma-7b:/last_gain"),
    ("p3.page.*.gemma_gain", "its {:.0f} multiplies",
     "unembedding:gemma2-9b:/effective_amplification"),
    ("p3.lstar.definition", "by {:.1f} % of depth", f"{SIGNS}/overall_mape"),
    ("p3.map.figA2", "file has {:.1f} %", f"{SIGNS}/overall_mape"),
    ("p3.map.figA2", "figure's {:.1f} are", f"{ARGMAX}/overall_mape"),
    ("p3.notebook.inputdep.pangram", "metric that gave {:.2f},",
     "sequence_gains:llama3.1-8b:/last_gain"),
    ("p3.bentov.pythia_direction", "p of r is {:.2f}",
     "thermodynamic_benchmark:Pythia-6.9B:/entropy/Pearson_p"),
    ("p3.bentov.layernorm", "gains of {:.2f} to", lambda read: gpt2_gains(read, min)),
    ("p3.bentov.layernorm", "to {:.2f}", lambda read: gpt2_gains(read, max)),
    ("p3.bentov.law", "from {:.2f} to", lambda read: of_benchmark(read, min)),
    ("p3.bentov.law", "to {:.2f}", lambda read: of_benchmark(read, max)),
    ("p3.theory.hodge.near_heads", "Pythia-160M's {:.1f} is",
     "sheaf_trace:pythia-160m:/heads_over_slice"),
    ("p3.theory.hodge.near_heads", "has {:.0f} with 16",
     "sheaf_trace:pythia-410m:/heads_over_slice"),
    ("p3.theory.hodge.factor", "give {:.0f} and", lambda read: 12.0 / 1.7),
    ("p3.theory.hodge.factor", "and {:.0f}", lambda read: 12.0 / 0.4),
    ("p3.theory.answer.maps", "largest is {:.2f}", largest_ratio),
    ("p3.theory.answer.energy", "is {:.0f} times", "sequence_gains:gemma-7b:/final_cumulative"),
    ("p3.report.stream", "is {:.0f} times", "sequence_gains:pythia-6.9b:/final_cumulative"),
    ("p3.report.stream", "gain of {:.2f} is", "thermodynamic_benchmark:Pythia-6.9B:/base_level"),
    ("p3.report.signature", "p is {:.2f} in Pythia",
     "thermodynamic_benchmark:Pythia-6.9B:/entropy/Pearson_p"),
    ("p3.report.signature", "and {:.2f} in GPT-J", "lab_heritage:gptj:/tests/GPT-J-6B/bentov_p"),
    ("p3.report.threshold", "{} models of the survey", n_wide_expanding),
]  # fmt: skip
# Decimals that are no number of a table: bounds that a reading sets, and coefficients as printed.
SET = {
    "p1.*": ["0.015"],  # the paper's calibration zone
    "p1.readme.effect_rule": ["0.3"],
    "p1.control.page.unrelated": ["0.005", "0.00"],
    "p2.disc.mid_transition": ["0.1"],
    "p3.draft.crowding.escape": ["0.2"],
    "p3.eli5.size": ["0.05"],
    "p3.formula.last.load": ["-0.16", "-0.41"],
    "p3.page.complete.paper1": ["0.58", "0.68"],  # of the page, which names another study
    "p3.page.ffn.predicts.*": ["6.9", "0.35"],
    "p3.page.scaling.ci99_*": ["3.7"],  # of Student's t with six degrees of freedom
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
    claims = {claim.id: claim for claim in read_ledger(root / "claims", published)}
    return Reading(works, published, claims)


def reasons(claim):
    """What is said of a claim in words."""
    return " | ".join([*claim.against, claim.why or ""])


@pytest.mark.parametrize(("pattern", "said", "sources"), [(a, b, c) for a, b, *c in NUMBERS])
def test_a_number_in_a_reason_is_that_of_its_source(read, pattern, said, sources):
    values = [read(of) if isinstance(of, str) else of(read) for of in sources]
    claims = [claim for id, claim in read.claims.items() if fnmatch(id, pattern)]
    assert claims
    for claim in claims:
        assert said.format(*values) in reasons(claim), (claim.id, values)


def test_every_decimal_in_a_reason_has_a_source(read):
    left = {}
    for id, claim in read.claims.items():
        text = PLACE.sub("", reasons(claim))
        known = [one for pattern, ones in SET.items() if fnmatch(id, pattern) for one in ones]
        for file, key in (of.groups() for of in map(QUOTED.fullmatch, claim.against) if of):
            known += DECIMAL.findall(str(read(f"{file}#{key}")))
        for pattern, said, *sources in NUMBERS:
            if fnmatch(id, pattern):
                values = [read(of) if isinstance(of, str) else of(read) for of in sources]
                known += DECIMAL.findall(said.format(*values))
        if missing := set(DECIMAL.findall(text)) - set(known):
            left[id] = missing
    assert left == {}


def test_norms_of_the_spectral_run_are_over_one(read):
    """p3.discussion.maps: not of one model alone."""
    models = [
        of for of in read.works["spectral_norms"].documents.values() if "W_V_spectral_norm" in of
    ]
    assert len(models) == 7
    assert min(min(of["W_V_spectral_norm"]) for of in models) > 1
