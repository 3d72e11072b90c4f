"""The roles in which rules ask for numbers, and what fills them in print and for a reader's model.

A rule that serves every source asks for a role and never for the source. Print and weights fill a
role with the papers' files; a reader's model fills it with files of its own. What a source does not
have is a role that nothing fills.

preferences         asymmetry and preference by category at the last layer
asymmetries         asymmetry by category, of the models of Paper 1
layers, category_bootstrap, bins, pairs, intervals
                    r over the categories, the bins and the pairs, by layer
depth               the number of blocks
curves              r over the pairs by layer, down to the last one
profiles            anisotropy by layer
gains, spectral     residual gains and spectral norms of one model
sample, norms       gains, and norms, of several models
sizes               r over the categories by layer, of several sizes
benchmark, tuned    gains by prompt of several models, and of tuned ones beside their bases
"""

from collections.abc import Collection

from layerwise.engine.published import OVER_MODELS, Cell, Roles, pointer
from layerwise.papers.shared import result_files as files
from layerwise.papers.shared.names import OWN, READER_ENTRY, SLUG
from layerwise.papers.shared.result_files import CURVES, own_file

PAPERS: Roles = {
    "preferences": {slug: (file, "") for slug, file in files.UA_FILES.items()},
    "asymmetries": {
        model: (files.PAPER1[model], "") for model in ("gemma", "llama", "mistral", "apertus")
    },
    "layers": {SLUG: (files.LAYERS, "")},
    "category_bootstrap": {SLUG: (files.BOOTSTRAP, "")},
    "bins": {SLUG: (files.BINS, "")},
    "pairs": {SLUG: (files.PAIRS, "")},
    "intervals": {SLUG: (files.TYPED_INTERVALS, "")},
    "depth": {SLUG: (files.SCALING, pointer("models", OWN))},
    "curves": {slug: (place.file, pointer(place.group)) for slug, place in CURVES.items()},
    "profiles": {slug: (file, "") for slug, file in files.PROFILES.items()},
    "gains": {},
    "spectral": {},
    "sample": {OVER_MODELS: (files.SWEEP, pointer("models"))},
    "norms": {OVER_MODELS: (files.SPECTRAL, pointer("results"))},
    "sizes": {OVER_MODELS: (files.SCALING, pointer("models"))},
    "benchmark": {OVER_MODELS: (files.BENCHMARK_ROWS, "")},
    "tuned": {OVER_MODELS: (files.TWIN_ROWS, "")},
}
READER_PLACES: dict[str, Cell] = {
    "preferences": (own_file("validation"), ""),
    "asymmetries": (own_file("validation"), ""),
    "layers": (own_file("layers"), ""),
    "category_bootstrap": (own_file("category_bootstrap"), ""),
    "bins": (own_file("bins"), ""),
    "pairs": (own_file("pairs"), ""),
    "intervals": (own_file("intervals"), ""),
    "depth": (own_file("depth"), ""),
    "curves": (own_file("pairs"), pointer("results")),
    "profiles": (own_file("anisotropy"), ""),
    "gains": (own_file("gains"), ""),
    "spectral": (own_file("spectral"), ""),
}


def roles_of_reader(present: Collection[str], *, to_the_end: bool) -> Roles:
    """Return the roles of a reader's model.

    Args:
        present: the files that were measured.
        to_the_end: whether there are three sampled layers with the last among them: of a curve
            that ends before it no layer is a late one.
    """
    absent = set() if to_the_end else {"curves"}
    return {
        role: {READER_ENTRY: place}
        if role not in absent and (place := READER_PLACES.get(role)) and place[0] in present
        else {}
        for role in PAPERS
    }
