"""The texts that are put into the papers' models, and what is left of them where some overflow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from layerwise.files import JsonObject, read_json
from layerwise.models.forward import UnsoundTexts
from layerwise.models.texts import StatementPairs
from layerwise.papers.fetching import upstream
from layerwise.papers.fetching.texts import read_pairs, read_prompts


@dataclass(frozen=True)
class Texts:
    """The texts that are put into the models."""

    pairs: StatementPairs
    prompts: tuple[str, ...]  # whose token states an extraction keeps
    sets: JsonObject  # {set: {"prompts": ...}}, as fetched

    def without(self, categories: Sequence[str], *, prompts: bool) -> "Texts":
        """Return the texts but for the pairs of these categories, and but for all prompts."""
        kept = [name for name in self.pairs.categories if name not in categories]
        return replace(
            self,
            pairs=self.pairs.of_categories(kept),
            prompts=() if prompts else self.prompts,
        )


def read_texts(data: Path) -> Texts:
    """Return the papers' statement pairs and prompts, as fetched into a folder."""
    pairs, prompts = data / upstream.DATASET, data / upstream.PROMPTS
    return Texts(read_pairs(pairs), read_prompts(prompts), read_json(prompts))


@dataclass(frozen=True)
class Lacking:
    """What an extraction does without, because a model's states of some texts are not sound.

    A number of a category rests on all its pairs, the profile of anisotropy on all prompts.
    """

    categories: Sequence[str] = ()
    prompts: bool = False
    why: str = ""

    @classmethod
    def of_texts(cls, texts: Texts, unsound: UnsoundTexts) -> "Lacking":
        """Return what rests on the texts that an error names."""
        pairs = texts.pairs
        hit = {
            pairs.categories[pairs.category_of_pair[number % len(pairs)]]
            for number in unsound.numbers["statements"]
        }
        categories = [name for name in pairs.categories if name in hit]
        prompts = bool(unsound.numbers["prompts"])
        names = ", ".join([*categories, *["all prompts"] * prompts])
        return cls(categories, prompts, f"without {names}: {unsound}")
