"""What a reader of an own model's tables must know: warnings that its data call for."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from layerwise.engine.question import Results
from layerwise.engine.words import category_labels
from layerwise.measures.values import Values
from layerwise.models.doubtful_texts import LOST, is_invisible, is_leftover
from layerwise.models.texts import StatementPairs, numbered_place
from layerwise.papers.paper3.rules.anisotropy import FILLED, filled_by_one_direction
from layerwise.papers.shared.rules import decisive_category, r_without_each_category
from layerwise.present.error_rates import power_by_categories
from layerwise.statistics.sizes import FEWEST_PAIRS, MIN_POINTS

PAPERS_FEWEST = 20  # pairs of the papers' smallest category
FEWEST_CATEGORIES = 6  # of the papers
SHOWN = 3  # texts that a warning names
# What may be found in texts, and what it means for them.
DOUBTS = {
    "special": (
        "Special tokens of the tokenizer stand",
        "the model takes them for marks of a conversation or of a text's ends, not for words.",
    ),
    "twice": (
        "Two BOS tokens stand first, the text's own and the tokenizer's,",
        "means over tokens leave out the first of them alone.",
    ),
    "leftover": (
        "What a program writes for a missing value, an error or a formula stands alone",
        "it is measured like any text. Correct the file, or leave these out.",
    ),
    "invisible": (
        "Only invisible characters stand",
        "they are measured like any text. Correct the file, or leave these out.",
    ),
    "lost": (
        "U+FFFD, a character that was lost when a file was decoded, stands",
        "it is measured like any character. Read the file again in its own encoding.",
    ),
}
# Of a loaded model in 16 bits: no file says whether loading rounded its weights.
WEIGHTS_AS_EXACT = (
    "The replicates take the weights of the loaded model as exact. If they were rounded to 16 bits "
    "when it was loaded, an answer moves by more than is said here; the model's folder, analyzed "
    "in their place, shows by how much."
)
# Of an embedding model, whose states alone are given.
WITHOUT_PREFERENCE = (
    "No NLL was given, so that no preference is known: there is asymmetry alone. Every question, "
    "table and figure on its correlation with preference, over categories, bins or pairs, is left "
    "out."
)


def cautions(values: Values, pairs: StatementPairs, n_prompt_tokens: int) -> list[str]:
    """Return the warnings, a sentence or two each; none where nothing is amiss.

    Arguments:
        values: what the analyses were made from.
        n_prompt_tokens: tokens of all prompts together.
    """
    return [
        *(_number_cautions(len(pairs.categories)) if values.output is not None else ()),
        *_category_cautions(pairs, has_preferences=values.output is not None),
        *_bin_cautions(values),
        *_prompt_cautions(n_prompt_tokens, values.hidden_size),
    ]


def limit_cautions(pairs: StatementPairs, n_given: int) -> list[str]:
    """Say what --limit left out; nothing where all pairs were taken."""
    if len(pairs) == n_given:
        return []
    largest = int(np.bincount(pairs.category_of_pair).max())
    return [
        f"A first look: {len(pairs)} of {n_given} pairs, the first {largest} of each category "
        "(--limit). The answers are of these pairs alone."
    ]


def template_cautions(n_bos: int, idle: Sequence[str] = ()) -> list[str]:
    """Warn of what the statements' chat template means for the measurement.

    Arguments:
        n_bos: BOS tokens that a statement in its template begins with.
        idle: options of the template that change no statement.
    """
    twice = (
        " Each begins with two BOS tokens, the template's and the tokenizer's, as Paper 2's did."
        if n_bos == 2
        else ""
    )
    warned = [
        "The statements stand in the model's own chat template: means over tokens include the "
        f"template's tokens, which all statements share.{twice}"
    ]
    if idle:
        warned.append(
            f"Options of the chat template that change no statement: {', '.join(idle)}. What a "
            "template writes at the head of an answer is not there, unless add_generation_prompt "
            "is true."
        )
    return warned


def own_code_cautions(classes: Sequence[str], family: str) -> list[str]:
    """Warn of a checkpoint's own code, which is never run; nothing where it brings none."""
    if not classes:
        return []
    return [
        f"The checkpoint names code of its own ({', '.join(classes)}), which is never run: it is "
        f"measured as transformers' own {family}. If that code computes anything else, these "
        "numbers are of another model than its authors'."
    ]


def left_out_cautions(n_virtual: int) -> list[str]:
    """Warn of a loaded model around which an object of peft puts virtual tokens before texts."""
    if not n_virtual:
        return []
    return [
        f"An object of peft in this program puts {n_virtual} virtual tokens before every text that "
        "it gives to this model (prompt or prefix tuning). The model is measured without them."
    ]


def idle_cautions(adapters: Sequence[str]) -> list[str]:
    """Warn of adapters of peft inside a loaded model that are active and do not act."""
    if not adapters:
        return []
    return [
        f"Adapters that are active do not act, as another one is merged or all are disabled: "
        f"{', '.join(adapters)}. The model is measured as it runs, without them."
    ]


def quantised_cautions(how: str) -> list[str]:
    """Warn of a loaded model whose weights are quantised."""
    if not how:
        return []
    return [
        f"The weights are quantised ({how}): every number is of the model as it runs so. How far "
        "that lies from its weights before is in no interval, and the papers' models were not."
    ]


def text_cautions(
    kind: str,
    texts: Sequence[str],
    pairs: StatementPairs,
    of_tokens: Mapping[str, Mapping[int, str]] = MappingProxyType({}),
    *,
    private: bool = False,
) -> list[str]:
    """Warn of texts that are probably not what their author meant.

    Arguments:
        kind: statements, which are those of the pairs, or prompts.
        of_tokens: what a tokenizer found in which texts, by the same names as in `DOUBTS`.
        private: no text is quoted.
    """
    found = {
        **of_tokens,
        "leftover": {
            n: "" if private else f"{text:.40}" for n, text in enumerate(texts) if is_leftover(text)
        },
        "invisible": {n: "" for n, text in enumerate(texts) if is_invisible(text)},
        "lost": {n: "" for n, text in enumerate(texts) if LOST in text},
    }

    def describe(number: int, what: str) -> str:
        place = f"prompt {number}" if kind == "prompts" else numbered_place(pairs, number)
        return f"{what} in {place}" if what else place

    warned = []
    for doubt, (what, meaning) in DOUBTS.items():
        if doubtful := [*found.get(doubt, {}).items()]:
            named = [describe(*text) for text in doubtful[:SHOWN]]
            more = ["..."] if len(doubtful) > SHOWN else []
            count = f"{len(doubtful)} of {len(texts)} {kind}"
            warned.append(f"{what} in {count} ({'; '.join(named + more)}): {meaning}")
    return warned


@dataclass(frozen=True)
class Predicted:
    """How well a model predicts, in nats per predicted token.

    Attributes:
        statements: the mean NLL of the statements.
        paragraph: that of a plain English paragraph; None where the model cannot take it.
        n_embeddings: the tokens to guess from: a guess has the NLL log(n_embeddings).
    """

    statements: float
    paragraph: float | None
    n_embeddings: int

    @property
    def guess(self) -> float:
        """The NLL of a guess among all tokens."""
        return math.log(self.n_embeddings)

    def __str__(self) -> str:
        numbers = {
            "statements": self.statements,
            "a plain English paragraph": self.paragraph,
            "a guess": self.guess,
        }
        return ", ".join(f"{what} {nats:.2f}" for what, nats in numbers.items() if nats is not None)


def prediction_cautions(predicted: Predicted) -> list[str]:
    """Warn of a model that predicts the statements worse than a guess among all tokens does."""
    if predicted.statements <= predicted.guess:
        return []
    return [
        f"The model predicts the statements' tokens worse than a guess: {predicted.statements:.1f} "
        f"nats a token, a guess among its {predicted.n_embeddings:,} tokens has "
        f"{predicted.guess:.1f}. As a rule the tokenizer is that of another model, or the weights "
        "are not trained."
    ]


def around_cautions(before: Sequence[str], behind: Sequence[str]) -> list[str]:
    """Warn of the tokens that the tokenizer puts around every text; one before it is dropped."""
    if not behind and len(before) <= 1:
        return []
    return [
        f"The tokenizer puts {' '.join(before) or 'nothing'} before every text and "
        f"{' '.join(behind) or 'nothing'} behind it. All but the first of these tokens are "
        "part of every mean over tokens and of the NLL, as the texts' own are."
    ]


def _number_cautions(n: int) -> list[str]:
    """Warn of few categories, over which asymmetry and preference are to correlate."""
    warned = []
    if n < MIN_POINTS:
        warned.append(
            f"The pairs come in {'two categories' if n > 1 else 'one category or in none'}: what "
            f"correlates over the categories takes {MIN_POINTS} and is left out. Layers, "
            "preferences and r over the pairs are measured."
        )
    if n == 1:
        warned.append(
            "Statements of one kind hang together, so whether other kinds would say the same "
            'cannot be told from these pairs: such an answer is open, "no categories". Ten '
            "categories of twenty pairs, named in a column `category`, make a good file."
        )
    if 1 < n < FEWEST_CATEGORIES:
        weak, strong = (power_by_categories(r) for r in (0.3, 0.5))
        nearest, most = max(known for known in weak if known <= n), max(weak)
        warned.append(
            f"There are {n} categories, the papers have six. {nearest} categories of twenty pairs "
            f"show an r of 0.3 in the mean category in {weak[nearest]:.0%} of cases, and one of "
            f"0.5 in {strong[nearest]:.0%}; {most} show them in {weak[most]:.0%} and "
            f"{strong[most]:.0%}."
        )
    return warned


def _category_cautions(pairs: StatementPairs, *, has_preferences: bool) -> list[str]:
    """Warn of few pairs in a category, of repeated ones, and of few different ones."""
    warned = []
    labels = category_labels(pairs.categories).values()
    counts = np.bincount(pairs.category_of_pair).tolist()
    in_category = list(zip(labels, counts, pairs.different(), strict=True))
    small = [f"{name} ({count})" for name, count, _ in in_category if count < FEWEST_PAIRS]
    if small and has_preferences:
        warned.append(
            f"A correlation within a category takes {FEWEST_PAIRS} pairs. Left out of those that "
            f"decide: {', '.join(small)}."
        )
    repeated = [f"{name} ({new} of {count})" for name, count, new in in_category if new < count]
    if repeated:
        warned.append(
            f"Some pairs are repeated or have equal sides; different pairs: {', '.join(repeated)}. "
            "Repeated pairs weigh more in every mean, and intervals are too narrow by them."
        )
    exact = "UA and preference" if has_preferences else "UA"
    few = [f"{name} ({new})" for name, _, new in in_category if new < PAPERS_FEWEST]
    if few and len(in_category) > 1:
        warned.append(
            f"Fewer than {PAPERS_FEWEST} different pairs, as the papers' smallest category has: "
            f"{', '.join(few)}. The intervals over categories take {exact} of a category "
            "as exact, which they are not with so few pairs."
        )
    return warned


def _bin_cautions(values: Values) -> list[str]:
    """Warn of bins that hold too few pairs for an asymmetry."""
    if not values.has_r_over_categories:
        return []
    used = int(np.sum(np.isfinite(values.known_output.stable_preference)))
    if used == values.k_stable:
        return []
    return [
        f"{used} of {values.k_stable} random bins hold two pairs or more; the others are left out "
        f"of the intervals over bins. {values.n_pairs} pairs are few for {values.k_stable} bins."
    ]


def _prompt_cautions(n_tokens: int, hidden_size: int) -> list[str]:
    """Warn of fewer tokens than dimensions; of nothing where no prompts were given."""
    if not 0 < n_tokens <= hidden_size:
        return []
    return [
        f"The prompts have {n_tokens} tokens together, a state has {hidden_size} dimensions: no "
        f"effective rank can exceed {n_tokens - 1}. Add prompts."
    ]


def document_cautions(documents: Results, *, unused_template: bool) -> list[str]:
    """Return the warnings that the numbers themselves call for.

    Arguments:
        documents: the result documents, by analysis.
        unused_template: the tokenizer brings a chat template, which no statement was put into.
    """
    warned, validation = [], documents["validation"]
    has_r = "ua_output_correlation" in validation["_global_stats"]
    if has_r and (deciding := decisive_category(validation)) is not None:
        r = validation["_global_stats"]["ua_output_correlation"]
        without = r_without_each_category(validation)[deciding].r
        label = category_labels(r_without_each_category(validation))[deciding]
        warned.append(
            f"One category determines r over the categories at the last layer: {r:+.3f} with all "
            f"of them, {without:+.3f} without {label}. It shows how far that "
            "category lies from the others, and says nothing about them."
        )
    anisotropy = documents.get("anisotropy")
    if anisotropy and (filled := filled_by_one_direction(anisotropy)):
        warned.append(
            f"At {len(filled)} layers ({filled[0]} to {filled[-1]}) one direction holds more than "
            f"{FILLED:.0%} of the variance of the token states, as where single tokens have "
            "massive activations: share, effective rank and slopes describe only that direction."
        )
    if unused_template:
        warned.append(
            "The tokenizer brings a chat template; the statements were given without it "
            "(--chat-template gives them in it). In Paper 2 an instruct model's r over the pairs "
            "is negative at every layer with its template, and without it is not."
        )
    return warned
