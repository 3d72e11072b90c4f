"""Statements of Paper 3, its notebooks and its pages that fail and touch no central claim.

Each function tells of one fact; what a sentence states is the condition of its branch.
"""

from collections.abc import Iterator

from layerwise.engine.seen import Seen, Sentences

findings = Sentences()


@findings("p3.figure_sources")
def figure_sources(seen: Seen) -> Iterator[str]:
    """The notebooks to which the front page attributes the figures."""
    sources = seen.claims_like("p3.map.*")
    n_wrong = sum(source.falls for source in sources)
    if n_wrong > 0:
        yield (
            f"Of {len(sources)} figures and tests the front page attributes {n_wrong} to notebooks "
            "that did not make them."
        )


@findings("p3.counterfactual")
def counterfactual(seen: Seen) -> Iterator[str]:
    """The statements that Paper 1 compared."""
    compared = seen.claim("p3.motivation.counterfactual")
    if compared.falls:
        yield (
            f"Paper 3 says that Paper 1 compared {compared.printed} statements; Paper 1 compared "
            "two framings of the same content."
        )


@findings("p3.bentov_law")
def bentov_law(seen: Seen) -> Iterator[str]:
    """A law of a page of the repository."""
    law, norm = (seen.claim(f"p3.bentov.{name}") for name in ("law", "layernorm"))
    if law.falls and norm.falls:
        yield (
            "A law is called proven although its correlations have both signs and GPT-2 models "
            "with LayerNorm do not damp."
        )
    for kind in ("Novel", "Syntactic"):
        above = seen.claim(f"p3.bentov.above.{kind}")
        if above.falls:
            yield (
                f"{kind} prompts are said to raise the gain in {above.printed}; they do in {above}."
            )


@findings("p3.labs")
def labs(seen: Seen) -> Iterator[str]:
    """The number of labs."""
    claimed = seen.claim("p3.scope.n_labs")
    if claimed.falls:
        yield (
            f"{claimed.printed} labs are claimed, but eight are named. The sweep and the survey "
            "cover five; other published files add OpenAI's GPT-2 and models of Google, Mistral "
            "and Switzerland."
        )


@findings("p3.slips")
def slips(seen: Seen) -> Iterator[str]:
    """The number of notebooks, and ranks of a page."""
    notebooks = seen.claim("p3.readme.n_notebooks_pinned")
    if notebooks.falls:
        yield f"The number of notebooks is {notebooks}, not {notebooks.printed}."
    ranks = seen.claims_like("p3.bentov.rank.*")
    n_wrong = sum(rank.falls for rank in ranks)
    if n_wrong > 0:
        yield f"Of the {len(ranks)} printed ranks of gains, {n_wrong} do not come out."
