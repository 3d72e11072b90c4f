"""Several of a reader's models on one page, with the papers' families beside them."""

from collections.abc import Mapping, Sequence

from layerwise.engine.question import Results
from layerwise.files import JsonObject
from layerwise.papers.across.analyses import analyse
from layerwise.papers.across.answers import answers, answers_over_models
from layerwise.present.tables import Table
from layerwise.reader.page.page import Own
from layerwise.reader.page.sections import Section
from layerwise.reader.papers import Papers

OF_PEAKS = {
    "n_layers": ("blocks", None),
    "max_pos_r": ("largest r", 3),
    "max_pos_pct": ("largest r at (% of depth)", 0),
    "max_neg_r": ("smallest r", 3),
    "max_neg_pct": ("smallest r at (% of depth)", 0),
    "n_sign_changes": ("sign changes", None),
    "final_r": ("last r", 3),
}


def page_of(
    models: Mapping[str, Results],
    comparison: JsonObject,
    of_papers: Papers,
    cautions: Sequence[str],
    *,
    random_weights: bool,
) -> Own:
    """Return the page across models.

    Arguments:
        models: result documents by display name.
        comparison: the document of `scaling.json`.
    """
    family = analyse("scaling", of_papers.evidence).documents["family"]
    lead = (
        "Several models, each analysed by itself, and the models of the papers (in grey, and "
        "below the others in tables) from the numbers published with them."
    )
    return Own(
        ", ".join(models),
        [(name, documents["layers"]["model"]) for name, documents in models.items()],
        cautions,
        {},
        {PEAKS: PEAKS.build(models, comparison, family)},
        answers=answers_over_models(models, of_papers.printed),
        answers_by_model={
            name: answers(documents, of_papers.printed) for name, documents in models.items()
        },
        random_weights=random_weights,
        lead=lead,
    )


def peaks(
    models: Mapping[str, Results], comparison: JsonObject, printed: JsonObject
) -> list[Table]:
    """Tabulate the largest, smallest and last r of the own models, and of the papers'."""
    rows = []
    for document in (comparison, printed):
        for row in document["summary"]:
            documents = models.get(row["model"], {}) if document is comparison else {}
            tests = documents.get("category_bootstrap", {}).get("layer_results", {})
            last = tests[max(tests, key=int)] if tests else {}
            ends = (last.get(key) for key in ("ci_lower", "ci_upper", "p_value"))
            n = documents.get("category_bootstrap", {}).get("n_categories")
            whose = "own" if document is comparison else "papers'"
            rows.append([row["model"], whose, *(row[key] for key in OF_PEAKS), *ends, n])
    columns = {"low": 3, "high": 3, "p": 4, "n": None}
    caption = (
        "r of UA and preference over the categories: its largest and smallest value over the "
        "sampled layers, and that of the last with its 95% interval."
    )
    names = {"model": None, "whose": None, **dict(OF_PEAKS.values()), **columns}
    return [Table("peaks", caption, names, rows, ["No intervals were published by family."])]


PEAKS = Section(
    "scaling",
    "The correlation across models",
    "At which layer does the correlation of asymmetry and preference peak, where does it end, and "
    "does that move with size? Below the own models the papers'.",
    peaks,
)
