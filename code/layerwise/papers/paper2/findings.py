"""Statements of Paper 2 and its notebooks that fail and touch no central claim.

Each function tells of one fact; what a sentence states is the condition of its branch.
"""

from collections.abc import Iterator

from layerwise.engine.seen import Seen, Sentences

findings = Sentences()


@findings("p2.appendix")
def appendix(seen: Seen) -> Iterator[str]:
    """The appendix that is promised."""
    if seen.claim("p2.method_note.appendix").falls:
        yield (
            "The category-level results are said to be in an appendix, but the paper has none; "
            "they exist only in the notebooks."
        )


@findings("p2.headers")
def headers(seen: Seen) -> Iterator[str]:
    """Headers, comments and the names of categories."""
    step = seen.claim("p2.notebook.gemma.step")
    if step.falls:
        yield (
            f"A header says that every {step.printed} layers are sampled; the file has every "
            f"{step}."
        )
    models, original = (
        seen.claim(f"p2.notebook.{name}") for name in ("nb003.models", "gemma.original")
    )
    if models.falls and original.falls:
        yield "Headers and comments disagree with the code and the files on sizes and models."
    if seen.claim("p2.method.category_names").falls:
        yield "The method section names proverbs, which the dataset does not have."
