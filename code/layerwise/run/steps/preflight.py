"""Can anything be measured here? Asked before the first model, and what the texts fill."""

from pathlib import Path

from layerwise.engine.measured import NAME, write_fragments
from layerwise.errors import LayerwiseError
from layerwise.files import write_json
from layerwise.models.provenance import describe_environment
from layerwise.papers.experiments.pairs import text_fragments
from layerwise.papers.fetching import upstream
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.present.terminal import as_text as plain
from layerwise.progress import say
from layerwise.run.doctor import FULL, as_text, examine, measuring, obstacles
from layerwise.run.steps import Place, elsewhere, program

LINE = 130  # columns of a log


def run(environment: Place, texts: Place, root: Place = Path()) -> str:
    """Write hardware and versions to ENVIRONMENT, what the texts fill to TEXTS.

    Raises:
        LayerwiseError: in one sentence: what is missing, and the targets that need none of it.
    """
    findings = examine(measuring.CHECKS, root)
    say(plain(as_text(findings), LINE))  # at once, whoever runs the stage
    with elsewhere():
        if missing := obstacles(findings)[FULL]:
            first = findings[missing[0]]
            raise LayerwiseError(f"{first.found} ({first.fix})")
        upstream.verify_data(root / "data")
    write_json(environment, describe_environment())
    data = root / "data"
    prompts = read_prompts(data / upstream.PROMPTS)
    fragments = text_fragments(read_pairs(data / upstream.DATASET), prompts)
    runs = {"pairs": {"file": upstream.DATASET, "fragments": fragments}}
    write_fragments(texts / NAME, {"model": None, "runs": runs, "absent": {}})
    return "all that can be measured here is above"


if __name__ == "__main__":
    program(run)
