"""The words that readers see for keys: models, categories, poolings, measures, experiments."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from layerwise.home import here
from layerwise.models.registry import Model, read_models

Names = Mapping[str, str]  # what a model is called, by all that files call it, `plain`

DISPLAYS = {
    "ground_truth_numeric": "numeric facts",
    "ground_truth_nonnumeric": "non-numeric facts",
}
WORDS = {
    **DISPLAYS,
    "gt_numeric": DISPLAYS["ground_truth_numeric"],
    "gt_nonnumeric": DISPLAYS["ground_truth_nonnumeric"],
    "tech_philosophy": "tech philosophy",
    "scientific_facts": "scientific facts",
    "mean_pooled": "mean over the tokens",
    "last_token": "last token",
    "first_token": "first token",
    "centroid_asymmetry": "centroid asymmetry",
    "cross_centroid": "cross-centroid asymmetry",
    "margin_asymmetry": "margin asymmetry",
    "knn_density_asymmetry": "kNN density asymmetry",
    "within_pair_sim": "similarity within the pair",
}
# Experiments, by their names in `models.yaml`.
STUDIES = {
    # Papers 1 and 2: hidden states of the statement pairs
    "p1_ua": "asymmetry",
    "p1_outcorr": "preference",
    "p1_pythia_ua": "asymmetry by size",
    "p2_layers": "curves over layers",
    "p2_scaling": "curves by size",
    # Paper 3
    "sweep": "Pythia sizes",
    "hunt": "survey",
    "clean": "survey in float32",
    "bench": "benchmark",
    "twin": "tuned models",
    "gpt2_ln": "norms of GPT-2",
    "gptj": "parallel blocks",
    "ffn": "attention and MLP",
    "scaling": "MLP by size",
    "fourmodel": "four models",
    "mistral": "Mistral's norms",
    "llama_anom": "LLaMA's unembedding",
    "llama23": "LLaMA 2 and 3.1",
    "inputdep": "input dependency",
    "perhead": "single heads",
    "spectral": "spectral norms",
    "h4": "sheaf trace",
    "h4ext": "sheaf trace in 4 bits",
    "lstar": "critical layer",
    "rmap": "restriction maps",
    "opt": "OPT's anomaly",
    "aniso": "anisotropy",
}
_KEY = re.compile(rf"\b({'|'.join(WORDS)})\b")
# opt-2.7b, gpt-j-6B; not within a path, or the name that a model has on the hub: it is code.
_SLUG = re.compile(
    r"(?<![\w/])(?>[A-Za-z][A-Za-z0-9]*(?:-[a-zA-Z0-9]+(?:\.[0-9]+[a-zA-Z]*)?)+)(?![\w/])"
)


def display_names(models: Mapping[str, Model]) -> dict[str, str]:
    """Return the display names of models, by every name that `slugs` knows.

    Arguments:
        models: the registry, `read_models`.
    """
    return {name: models[slug].display for name, slug in slugs(models).items()}


def names_here() -> Names:
    """The names of the registry that belongs to what is read here."""
    return display_names(read_models(here() / "models.yaml"))


def slugs(models: Mapping[str, Model]) -> dict[str, str]:
    """The slug of a model by all that the published files and our tables call it, `plain`."""
    slug_by_name: dict[str, str] = {}
    for slug, model in models.items():
        known = [slug, model.hub, model.display]
        if any("p1_ua" in extraction.experiments for extraction in model.extractions.values()):
            known.append(slug.partition("-")[0])  # as Paper 1's files do: llama
        slug_by_name |= dict.fromkeys(map(plain, known), slug)
    return slug_by_name


def plain(name: str) -> str:
    """A model's name without its owner: small letters, digits, and a p for the decimal point."""
    short = re.sub(r"(?<=\d)\.(?=\d)", "p", name.rpartition("/")[2].lower())
    return re.sub(r"[^a-z0-9]", "", short)


def label_model(model: str, names: Names) -> str:
    """Return a model's display name; `SLUG-templated` becomes "NAME, templated"."""
    if " < " in model:
        return " < ".join(label_model(part, names) for part in model.split(" < "))
    if display := names.get(plain(model)):
        return display
    start, _, condition = model.rpartition("-")
    known = names.get(plain(start)) if condition.isalpha() else None
    return f"{known}, {condition}" if known else model


def in_words(text: str, names: Names = MappingProxyType({})) -> str:
    """A text with the keys of categories, poolings, measures and models in words."""
    text = _KEY.sub(lambda key: WORDS[key[1]], text)
    return _SLUG.sub(lambda slug: names.get(plain(slug[0]), slug[0]), text) if names else text


def studies(experiments: Iterable[str]) -> str:
    """Experiments by the names that people read, each once."""
    return ", ".join(STUDIES.get(name, name) for name in dict.fromkeys(experiments))
