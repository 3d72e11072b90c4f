"""the measured pipeline, in a scratch copy <- random-weight twins of all models; CPU, offline."""

from pathlib import Path
from typing import Annotated

import typer

from layerwise.engine.records import read_judged
from layerwise.errors import LayerwiseError
from layerwise.files import locked
from layerwise.home import judged_claims
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.present.pdfs import typeset
from layerwise.present.run_summary import absences
from layerwise.progress import track
from layerwise.run.rehearsal import default_folder, scratch
from layerwise.run.rehearsal.outcome import claims_without_reason, outcome
from layerwise.run.rehearsal.running import run_stages
from layerwise.run.steps import program


def run(folder: Annotated[Path | None, typer.Option(help="of the copy")] = None) -> str:
    """Run every stage that measures on twins, in FOLDER; say which claims got a number.

    A run that was cut off goes on where it was.

    Raises:
        LayerwiseError: for a stage that fails, a claim without number or reason, a folder that is
            not a rehearsal's, or one in use.
    """
    folder = (folder or default_folder(Path())).absolute()
    with locked(folder):
        models = scratch.prepare(Path(), folder)
        texts = [*read_pairs(scratch.OUR_PAIRS).statements, *read_prompts(scratch.OUR_PROMPTS)]
        measured = [model for model in models.values() if not model.skipped]
        for model in track(measured, "twins", "models", len(measured)):
            scratch.place(model, texts, folder / scratch.CACHE)
        sizes = {
            slug: -model.shape.n_layers * model.shape.hidden_size for slug, model in models.items()
        }
        run_stages(folder, sorted(sizes, key=sizes.__getitem__))
        typeset("measured", folder)
        judged = read_judged(judged_claims("measured", folder / "results"), "measured")
    claims = judged.claims
    text = f"{outcome(claims)}\n\nrandom weights: these numbers mean nothing. All is in {folder}"
    if judged.failed:
        raise LayerwiseError("\n".join([text, *absences(judged)]))
    if without := claims_without_reason(claims):
        raise LayerwiseError(
            f"{text}\n{len(without)} claims got no number and no reason, e.g. {without[0]}; "
            "mend the experiment or the rule, or say in the ledger why it is `unmeasured`"
        )
    return text


if __name__ == "__main__":
    program(run)
