"""Do crowded attention heads predict damping? (Paper 3, section 5.4 and appendix B)"""

from collections.abc import Callable
from typing import Any

import numpy as np

from layerwise.engine.derivation import Document, Rule, Rules, count
from layerwise.engine.evidence import Entry, Evidence
from layerwise.errors import LayerwiseError
from layerwise.papers.paper3.rules.gain_files import (
    dampens,
    damps,
    density,
    final_gain,
    gain,
    models,
    percent,
    share,
)
from layerwise.papers.shared.names.result_files import CLEAN, HUNT, SWEEP
from layerwise.statistics.correlation import Correlation, pearson
from layerwise.statistics.curves import word_below

PAIR = ("pythia-6.9b", "gpt-j-6B")
LIMIT = 0.2  # at and above this density a model is foretold to damp


def everyone(f: Entry) -> list[Entry]:
    return list(models(f).values())


def pooled(e: Evidence) -> list[Entry]:
    """Models of the survey and the sweep; of both, the sweep's numbers, from more prompts."""
    return list((models(e[HUNT]) | models(e[SWEEP])).values())


def correlation(f: Entry) -> Correlation:
    return pearson(*np.array([(density(m), gain(m)) for m in everyone(f)]).T)


def foretold(some: list[Entry], of: Callable[[Entry], float] = gain) -> list[bool]:
    """Whether each model damps exactly where its density is at or above the limit."""
    return [(density(m) >= LIMIT) == dampens(of(m)) for m in some]


def accuracy(f: Entry) -> float:
    """Share of a file's models of which the density predicts rightly whether they damp."""
    return share(foretold(everyone(f)))


def verdict(f: Entry) -> str:
    """From an accuracy of 0.5, from 0.75 (the survey)."""
    return word_below(accuracy(f), {0.5: "FALSIFIED", 0.75: "PARTIAL"}, "VALIDATED")


def separating_interval(f: Entry) -> list[float]:
    """[largest density that expands, smallest density that damps].

    Any limit above the first and up to the second separates the models without error.
    """
    expanding, damping = (
        [density(m) for m in everyone(f) if damps(m) == side] for side in (False, True)
    )
    if not (expanding and damping and max(expanding) < min(damping)):
        raise LayerwiseError(
            f"no limit separates damping densities {damping} from expanding ones {expanding}; "
            "report an accuracy instead"
        )
    return [max(expanding), min(damping)]


def constant(some: list[Entry]) -> float:
    """Accuracy of the better constant guess."""
    damping = share([damps(m) for m in some])
    return max(damping, 1 - damping)


def as_foretold(f: Entry, high: bool) -> float:
    """Share of the models on one side of the limit that are what it predicts."""
    return share([damps(m) == high for m in everyone(f) if (density(m) >= LIMIT) == high])


def density_ratio(f: Entry) -> float:
    """How much denser the heads of the one model of the pair are than those of the other."""
    one, other = (density(models(f)[name]) for name in PAIR)
    return one / other


def density_rule(select: Callable[[Any], list[Entry]]) -> Rules:
    """How right the density rule is on some models."""
    rules: Rules = {
        "accuracy_pct": Rule(
            lambda f: percent(foretold(select(f))),
            "percent of the models that the density rule foretells",
        ),
        "accuracy_pct_final_norm": Rule(
            lambda f: percent(foretold(select(f), final_gain)),
            "the same with gains behind the final norm",
        ),
        "constant_accuracy": Rule(
            lambda f: constant(select(f)), "the share that the better constant guess foretells"
        ),
        "explains": Rule(
            lambda f: share(foretold(select(f))) > constant(select(f)),
            "whether the density rule does better than that guess",
        ),
    }
    return {f"density_rule/{name}": rule for name, rule in rules.items()}


OF_MODEL: Rules = {"rho": density}
OF_FAMILY: Rules = {
    **density_rule(everyone),
    "analysis/rho_gain_correlation": Rule(
        lambda f: correlation(f).r, "r of density of heads and gain"
    ),
    "analysis/correlation_p_value": Rule(lambda f: correlation(f).p, "p of that r"),
    "analysis/high_rho_dampen_rate": Rule(
        lambda f: as_foretold(f, high=True), "share of the dense models that damp"
    ),
    "analysis/low_rho_expand_rate": Rule(
        lambda f: as_foretold(f, high=False), "share of the other models that expand"
    ),
    "separating_interval": separating_interval,
}
OF_HUNT: Rules = {
    **density_rule(everyone),
    "h25_accuracy": accuracy,
    "h25_verdict": verdict,
    "density_ratio": density_ratio,
}
OF_HUNTED: Rules = {
    **OF_MODEL,
    "class": Rule(
        lambda m: "DAMPEN" if damps(m) else "EXPAND", "whether the mean gain damps or expands"
    ),
    "h25_prediction_correct": Rule(
        lambda m: foretold([m])[0], "whether the density rule foretells the model"
    ),
}
OF_PAIR: Rules = {
    **density_rule(everyone),
    "h25_accuracy": Rule(
        lambda f: 100 * accuracy(f), "percent of the models that the density rule foretells"
    ),
    "h25_verdict": verdict,
}
OF_CLEAN: Rules = {
    **OF_MODEL,
    "gain_no_ln_mean": gain,
    "gain_with_ln_mean": final_gain,
    "is_dampening_no_ln": damps,
}
OF_BOTH: Rules = {
    **density_rule(pooled),
    "n_models": Rule(lambda e: count(pooled(e), gain), "the models with a gain"),
}
DOCUMENTS = {
    "family": Document(SWEEP, {"": OF_FAMILY, "models/*": OF_MODEL}),
    "hunt": Document(HUNT, {"": OF_HUNT, "tested_results/*": OF_HUNTED}),
    "clean": Document(CLEAN, {"": OF_PAIR, "results/*": OF_CLEAN}),
    "pooled": Document(None, {"": OF_BOTH}),
}
