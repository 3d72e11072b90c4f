"""Names alone: what files and print call models, categories, matrices and choices of method.

Whoever fills a place and whoever reads it take its name from here, so neither knows the other. It
holds no rule: a change here asks for another measurement.
"""

from enum import StrEnum

from layerwise.engine import published

SLUG = "pythia-6p9b"  # the model of Paper 2's notebooks on layers
OWN = "Pythia-6.9B"  # the same in the file over the sizes
READER_ENTRY = "reader"  # the entry of a model that has no published place

# The models whose curves over layers Paper 2 prints, as it writes them.
NAMES = {
    SLUG: OWN,
    "llama-3p1-8b": "Llama-3.1-8B",
    "apertus-8b": "Apertus-8B",
    "gemma-2b": "Gemma-2B",
}
# Where `beyond/choices` has a model that a file of Paper 1 or 2 calls otherwise.
EXTRACTIONS = {
    "llama": "llama-3p1-8b",
    "gemma": "gemma-2-9b",
    "mistral": "mistral-7b",
    "apertus": "apertus-8b",
    "llama-3p1-8b-instruct-template": "llama-3p1-8b-instruct-templated",
}

# Categories of the statement pairs.
NUMERIC = "ground_truth_numeric"
FACTS = "scientific_facts"
# What a message calls the two series of a correlation over the categories.
SERIES = ("the asymmetry of the categories", "the preference of the categories")

# The attention's matrices, as the published files order them, and how fused ones are cut.
MATRICES = ("W_V", "W_O", "W_Q", "W_K")
LEGACY, CORRECT = "legacy", "correct"
SLICINGS = (LEGACY, CORRECT)  # into thirds, as the notebooks did; head by head, where rows go so


class Choice(StrEnum):
    """A choice of method.

    What is measured under a choice, the rule that asks for it and its words name it by its member,
    so that a misspelt one is an error and not a choice that nothing answers.
    """

    DECIDES = published.DECIDES
    PUBLISHED = published.PUBLISHED
    # which units
    ALL_PAIRS = "all_pairs"
    BOOTSTRAP = "bootstrap"
    SPEARMAN = "spearman"
    CATEGORY_OUT = "category_out"
    MODEL_OUT = "model_out"
    RANDOM_BINS = "random_bins"
    # which state
    BEFORE_NORM = "before_norm"
    ALL_TOKENS = "all_tokens"
    LAST_TOKEN = "last_token"
    FIRST_TOKEN = "first_token"
    # which layers
    FIRST_LAYER = "first_layer"
    LAST_LAYER = "last_layer"
    WITHOUT_LAST = "without_last"
    BY_DEPTH = "by_depth"
    PHASE_MEAN = "phase_mean"
    # which run, which models
    FAMILY = "family"
    POOLED = "pooled"
    WITH_GPT2 = "with_gpt2"
    UNSEEN = "unseen"
    # which number
    BY_MEANS = "by_means"
    VALUE_NORMS = "value_norms"
    CORRECT_SLICES = "correct_slices"
    MULTIHEAD = "multihead"
    INNER_BLOCKS = "inner_blocks"


STATES = (Choice.BEFORE_NORM, Choice.ALL_TOKENS, Choice.LAST_TOKEN, Choice.FIRST_TOKEN)
