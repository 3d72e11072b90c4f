"""What the page of one model says: how it was measured, warnings, answers, sections."""

import json
from collections.abc import Sequence

import numpy as np

import layerwise
from layerwise.engine.question import ModelAnswers, Results
from layerwise.engine.words import category_labels
from layerwise.models.chat_templates import DATE
from layerwise.models.passes import PassesRecord
from layerwise.models.texts import StatementPairs
from layerwise.papers.experiments.reader import Measured
from layerwise.present.figures.numbers import RANDOM
from layerwise.reader.page.cautions import Predicted, cautions, document_cautions
from layerwise.reader.page.page import Own
from layerwise.reader.page.pattern import describe_pattern
from layerwise.reader.page.sections import sections_of
from layerwise.reader.page.statements import pair_numbers, tabulate_pairs, view_pairs
from layerwise.statistics.bootstrap import Draws

OF_MODEL, WITH = ("model", "revision", "dtype", "quantised", "device"), ("torch", "transformers")
CHAT = {
    "own": [
        (
            "chat template",
            f"the model's own: each statement is one message of a user, on {DATE} of its clock",
        )
    ]
}
FIRST = ("first statement", "its token ids")  # as the model is given it


def page_of(
    measured: Measured,
    documents: Results,
    answered: Sequence[ModelAnswers],
    beside: Results,
    pairs: StatementPairs,
    draws: Draws,
    first: tuple[str, str] | None = None,
    predicted: Predicted | None = None,
    *,
    random_weights: bool = False,
    foreseen: Sequence[str] = (),
    unused_template: bool = False,
    private: bool = False,
) -> Own:
    """Return the page of one model.

    Arguments:
        documents: the result documents, by analysis.
        answered: the papers' questions on this model.
        beside: the documents of replicates and of random weights.
        first: the first statement as the tokenizer was given it, and its token ids.
        predicted: how well the model predicts.
        foreseen: the warnings that were known before the first pass.
        unused_template: the tokenizer brings a chat template, which no statement was put into.
        private: no statement is shown.
    """
    shown = None if private else pairs
    warned = [f"{RANDOM.capitalize()}."] if random_weights else []
    n_prompt_tokens = sum(measured.index["prompt_lengths"])
    warned += [*foreseen, *cautions(measured.values, pairs, n_prompt_tokens)]
    warned += document_cautions(documents, unused_template=unused_template)
    return Own(
        measured.values.display,
        settings(measured, pairs, draws, None if private else first, predicted),
        warned,
        measured.absent,
        sections_of(documents),
        answers=answered,
        beside=beside,
        further=[tabulate_pairs(measured.values, shown)],
        head=describe_pattern(answered, documents),
        by_pair=view_pairs(measured.values, shown),
        pair_numbers=pair_numbers(measured.values) if measured.values.output else None,
        random_weights=random_weights,
    )


def settings(
    measured: Measured,
    pairs: StatementPairs,
    draws: Draws,
    first: tuple[str, str] | None,
    predicted: Predicted | None,
) -> list[tuple[str, str]]:
    """Return what was measured, and how."""
    labels = category_labels(pairs.categories).values()
    by_category = zip(labels, np.bincount(pairs.category_of_pair), strict=True)
    values, index = measured.values, measured.index
    options = index.get("template_options")
    texts = {name: value for name, value in index.items() if isinstance(value, str)}
    return [
        *((name, texts[name]) for name in OF_MODEL if name in texts),
        ("pairs", "; ".join(f"{name}: {count}" for name, count in by_category)),
        ("prompts", str(index["n_prompts"])),
        *CHAT.get(index["template"], ()),
        *_said_of_blocks(index.get("passes")),
        *([("its options", json.dumps(options, ensure_ascii=False))] if options else []),
        *(zip(FIRST, first, strict=True) if first else []),
        *([("nats per predicted token", str(predicted))] if predicted else []),
        ("layers", ", ".join(map(str, values.layers))),
        ("seed", str(values.seed)),
        ("resamples", f"{draws.n_resamples} for an interval of {draws.level:.0%}"),
        ("layerwise", layerwise.__version__),
        *((name, texts[name]) for name in WITH if name in texts),
    ]


def _said_of_blocks(passes: PassesRecord | None) -> list[tuple[str, str]]:
    """Return how the layers of a model were found; nothing where states were given."""
    if passes is None or not passes["probed"]:
        return []
    return [("blocks", f"as the class declares, checked on {passes['probed']} tokens")]
