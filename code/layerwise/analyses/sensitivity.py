"""Which headline claims survive choices that the papers did not make, by model and over all models.

Kept apart from the published analyses. Published numbers allow two choices, measured ones all.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from layerwise.analyses import survival
from layerwise.analyses.categories import OVER_PAIRS, n_categories, p_over_categories
from layerwise.analyses.derivation import Document, Rules
from layerwise.analyses.evidence import Entry, Evidence, by_layer
from layerwise.analyses.pair_curves import CURVES
from layerwise.analyses.survival import (
    APPEARS,
    CHOICES,
    CLAIMS,
    LOST,
    STATISTICS,
    SURVIVES,
    WORDS,
    Findings,
    Row,
)
from layerwise.analyses.weight_survival import of_weights
from layerwise.inputs.published import pointer
from layerwise.places import models
from layerwise.places.result_files import CHOICES_FILE
from layerwise.statistics import curves


def tested(m: Entry, tests: Entry, more: Callable[[int], Mapping[str, float]]) -> dict[str, Any]:
    """r over the categories by layer, its p, and what there is beside them."""
    return {
        str(layer): {"r": test.r, "p_value": p_over_categories(m, test.r)} | dict(more(layer))
        for layer, test in by_layer(tests).items()
    }


def holm(m: Entry) -> dict[str, Any]:
    """p over the categories by layer, adjusted for the number of layers."""
    r = {layer: test.r for layer, test in by_layer(m.by_layer).items()}
    adjusted = survival.adjusted_p(r, n_categories(m))
    return tested(m, m.by_layer, lambda layer: {"p_holm": adjusted[layer]})


def bell_before_norm(m: Entry) -> dict[str, Any] | None:
    """The bell test with the last layer taken before the final norm; None without prompts."""
    if "profile" not in m:
        return None
    last = m.profile.last_before_norm
    bell = curves.bell_test([*m.profile.shares[:-1], last])._asdict()
    shown = ("is_bell_curve", "phase2_slope", "phase2_r")
    return {
        "L_star_anisotropy": bell["l_star"],
        **{name: bell[name] for name in shown},
        "last_share": last,
    }


OF_MODEL: Rules = {
    # r over the categories at the last layer, before the final norm and behind it
    "before_norm": lambda m: {
        "r": m.before_norm.r,
        "p_value": p_over_categories(m, m.before_norm.r),
        "r_after_norm": m.categories.published.r,
    },
    # of all tokens, and without the first
    "all_tokens": lambda m: tested(
        m, m.all_tokens, lambda layer: {"r_without_first": m.by_layer[layer].r}
    ),
    "holm": holm,
    "anisotropy_before_norm": bell_before_norm,
    "rows": lambda m: survival.rows(survival.of_states(m)),
}


def of_model(name: str, further: Rules, *shown: str) -> Document:
    """The document of a model that was measured under the choices.

    Arguments:
        name: of its entry in the file of the choices.
        further: rules that take the place of the usual ones.
        shown: names of the entry that are shown as they stand.
    """
    return Document(
        f"{CHOICES_FILE}#{pointer(name)}",
        {"": {**OF_MODEL, **further}, "pairs_by_category/*/*": OVER_PAIRS},
        places={
            pointer(part): (CHOICES_FILE, pointer(name, part))
            for part in ("pairs_by_category", *shown)
        },
    )


def of_both(slug: str, m: Entry) -> list[Row]:
    """What the weights say too; a claim and choice that the states answer stays theirs."""
    states = survival.of_states(m)
    return survival.rows({**states, **of_weights(m.evidence).get(slug, {}), **states})


def by_model(evidence: Evidence) -> dict[str, Document]:
    """A document for every model that the source has something of."""

    def rows_alone(of: Callable[[Evidence], Findings]) -> Document:
        return Document(None, {"": {"rows": lambda e: survival.rows(of(e))}})

    if not evidence.measured:
        return {
            slug: rows_alone(partial(survival.in_print, slug, curve))
            for slug, curve in CURVES.items()
        }
    measured = list(evidence[CHOICES_FILE]) if evidence.cells.keys(CHOICES_FILE) else []
    found = {name: of_model(name, {"rows": partial(of_both, name)}) for name in measured}
    for slug in of_weights(evidence):
        found.setdefault(slug, rows_alone(partial(lambda slug, e: of_weights(e)[slug], slug)))
    return found


def over_models(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The models' rows, one per claim and choice: where the claim held, and where it still does."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for model, of_model in rows.items():
        for row in of_model:
            named = found.setdefault((row["claim"], row["choice"]), {word: [] for word in WORDS})
            named[row["outcome"]].append(model)
    return [
        {
            "claim": claim,
            "choice": choice,
            "n_models": sum(map(len, named.values())),
            **named,
            "conclusion": advice(named),
        }
        for (claim, choice), named in found.items()
    ]


def advice(named: Mapping[str, Sequence[str]]) -> str:
    """What a reader should conclude over all models."""
    kept, lost, new = named[SURVIVES], named[LOST], named[APPEARS]
    held = len(kept) + len(lost)
    more = f" It appears in {_names(new)}, where it did not hold as published." if new else ""
    if not held:
        return f"As published the claim holds in no model measured: nothing to survive.{more}"
    models = "one model that shows it" if held == 1 else f"{held} models that show it"
    if not lost:
        return f"It survives where it shows: in {_names(kept)}.{more}"
    if not kept:
        return f"Do not generalise: it is lost in the {models}, the choice makes it.{more}"
    return (
        f"Name the models: it survives in {_names(kept)} and is lost in {_names(lost)}, "
        f"of the {models}.{more}"
    )


def _names(models: Sequence[str]) -> str:
    *rest, last = models
    return f"{', '.join(rest)} and {last}" if rest else last


def summary(evidence: Evidence, part: str) -> list[Row]:
    """`rows`, one per claim and choice, or `models`, every model's own; with their words."""
    found = {
        name: document.rules[""]["rows"](document.source(evidence))
        for name, document in by_model(evidence).items()
    }
    if part == "models":
        chosen = [{"model": name, **row} for name, of_one in found.items() for row in of_one]
    else:
        order = [(claim, choice) for claim in CLAIMS for choice in CHOICES]
        chosen = over_models(found)
        chosen.sort(key=lambda row: order.index((row["claim"], row["choice"])))
    return [
        {
            **row,
            "claim_text": CLAIMS[row["claim"]],
            "statistic_text": STATISTICS[row["claim"]],
            "choice_text": CHOICES[row["choice"]],
        }
        for row in chosen
    ]


def documents(evidence: Evidence) -> dict[str, Document]:
    """Every model's document, and the summary over them."""
    parts: Rules = {part: partial(summary, part=part) for part in ("rows", "models")}
    return {**by_model(evidence), "summary": Document(None, {"": parts})}


DOCUMENTS = documents
READER = of_model(models.READER, {}, "model", "model_display")
