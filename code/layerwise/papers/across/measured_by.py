"""What has to be measured for the answers to each question: the experiments of models.yaml.

An answer about one model rests on that model (`of_each`), unless it is held against others; one
over models rests on all that the published table has.
"""

from collections.abc import Mapping

from layerwise.engine.settling import MeasuredBy
from layerwise.papers.shared.names import SLUG

PAIRS, PROMPTS = 230, 25  # of a model
# The survey's, without GPT-2: it was measured for a figure, and is no model of the table.
SURVEYED = (
    "pythia-6p9b",
    "gpt-neo-125m",
    "gpt-neo-1p3b",
    "gpt-neo-2p7b",
    "gpt-j-6b",
    "opt-125m",
    "opt-350m",
    "opt-1p3b",
    "opt-2p7b",
    "opt-6p7b",
    "bloom-560m",
    "bloom-1b1",
    "bloom-1b7",
    "bloom-3b",
    "falcon-7b",
    "stablelm-base-alpha-3b",
)
# Those of the spectral norms whose gain a table has: not GPT-2's either.
WITH_NORMS_AND_GAINS = (
    "pythia-160m",
    "pythia-410m",
    "gpt-neo-125m",
    "opt-125m",
    "opt-350m",
    "bloom-560m",
)
CATEGORIES_OF_ONE = MeasuredBy(("p1_ua",), of_each=True)
CATEGORIES_OF_ALL = MeasuredBy(("p1_ua",))
CURVE = MeasuredBy(("p2_layers",), of_each=True, units=PAIRS)
SIZE = MeasuredBy(("p2_scaling",), of_each=True)
SURVEY = MeasuredBy(("hunt",), models=SURVEYED)
BENCHMARK = MeasuredBy(("bench",), units=PROMPTS)

MEASURED_BY: Mapping[str, MeasuredBy] = {
    "calibration": CATEGORIES_OF_ONE,
    "positive_on_neutral": CATEGORIES_OF_ONE,
    "numeric": CATEGORIES_OF_ONE,
    "facts_above_models": CATEGORIES_OF_ALL,
    "business_mean": CATEGORIES_OF_ALL,
    "business_below_models": CATEGORIES_OF_ALL,
    "early": CURVE,
    "late": CURVE,
    "late_inversion": CURVE,
    "turn_apart": CURVE,
    "below_other": MeasuredBy(("p2_layers",), models=("apertus-8b",), units=PAIRS),
    "no_inversion": CURVE,
    "everywhere_negative": MeasuredBy(
        ("p2_layers",), models=("llama-3p1-8b-instruct",), units=PAIRS
    ),
    "mid_bins": MeasuredBy(("p2_layers",), models=(SLUG,)),
    "category_mid": SIZE,
    "category_inversion": SIZE,
    "peak_shift": MeasuredBy(("p2_scaling",)),
    "depth_gain": MeasuredBy(("sweep",)),
    "bound": MeasuredBy(("sweep", "hunt"), of_each=True),
    "heritage": SURVEY,
    "crowding": SURVEY,
    "heritage_over_geometry": SURVEY,
    "geometry_over_scale": SURVEY,
    "spectral_predicts": MeasuredBy(("spectral", "sweep", "hunt"), models=WITH_NORMS_AND_GAINS),
    "trace": MeasuredBy(("h4",)),
    "lstar": MeasuredBy(("lstar",)),
    "expansion": BENCHMARK,
    "gain_order": BENCHMARK,
    "side_kept": MeasuredBy(("twin",), units=PROMPTS),
    "tuned_families": MeasuredBy(("twin",)),
    "bell": MeasuredBy(("aniso",), models=(SLUG,)),
}
