"""The choices of method: the ways to ask a question beside the papers' own."""

from enum import StrEnum

from layerwise.engine import published


class Choice(StrEnum):
    """A choice of method.

    What is measured under a choice, the rule that asks for it and its words name it by its member,
    so that a misspelt one is an error and not a choice that nothing answers.
    """

    PUBLISHED = published.PUBLISHED
    # which units, and how many tests
    CLUSTERS = "clusters"
    PAIRED = "paired"
    BOOTSTRAP = "bootstrap"
    SPEARMAN = "spearman"
    CATEGORY_OUT = "category_out"
    MODEL_OUT = "model_out"
    LAYERS_AT_ONCE = "layers_at_once"
    TESTS_AT_ONCE = "tests_at_once"
    LAWS_AT_ONCE = "laws_at_once"
    MODELS_AT_ONCE = "models_at_once"
    PHASES_AT_ONCE = "phases_at_once"
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
    EVERY_LAYER = "every_layer"
    PHASE_MEAN = "phase_mean"
    # which run, which models
    HUNT = "hunt"
    FAMILY = "family"
    POOLED = "pooled"
    WITH_GPT2 = "with_gpt2"
    META_ALONE = "meta_alone"
    UNSEEN = "unseen"
    # which number
    VALUE_NORMS = "value_norms"
    FROBENIUS = "frobenius"
    MEAN_OF_RATIOS = "mean_of_ratios"
    GEOMETRIC = "geometric"
    CORRECT_SLICES = "correct_slices"
    MULTIHEAD = "multihead"
    LARGEST_BLOCK = "largest_block"
    INNER_BLOCKS = "inner_blocks"


STATES = (Choice.BEFORE_NORM, Choice.ALL_TOKENS, Choice.LAST_TOKEN, Choice.FIRST_TOKEN)
