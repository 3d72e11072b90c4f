"""What a run of the pipeline ends with, on the terminal."""

from pathlib import Path

from layerwise.engine.judged import VERDICTS
from layerwise.engine.measured import group_by_reason
from layerwise.engine.records import JudgedSource
from layerwise.engine.words import names_here, studies
from layerwise.present import terminal
from layerwise.present.records import answers_told, surprises_told, tally

NEXT = """\
  once a reason is gone: make reproduce-full, which takes up what failed and nothing else
  to leave a model out, or to try another dtype: say so in its entry of models.yaml (`skip: why`,
  or the dtype under `experiments` or `extractions`), then make reproduce-full; others stay"""


def summary(judged: JudgedSource, root: Path = Path()) -> str:
    """Say what was not measured, how verdicts are spread, where page and paper are, the answer."""
    source = judged.source
    places = (Path("report") / source / "index.html", Path("paper") / f"{source}.pdf")
    written = [f"  {place}" for place in places if (root / place).is_file()]
    lines = [*absences(judged), f"\n{verdict_table(judged)}", *written]
    names = names_here()
    told = [f"{question} {answer}" for question, answer in answers_told(judged, names)]
    surprises = [f"- {line}" for line in surprises_told(judged, names)]
    return "\n".join([*lines, "", *told, tally(judged.central), *surprises])


def verdict_table(judged: JudgedSource) -> str:
    """Return how often each verdict was given, a column per paper."""
    counts = judged.counts
    used = [verdict for verdict in VERDICTS if any(verdict in count for count in counts.values())]
    rows = [[verdict, *(count.get(verdict, 0) for count in counts.values())] for verdict in used]
    table = terminal.counts(["", *counts], rows)
    title = f"{len(judged.claims)} claims, source {judged.source}"
    return "\n".join([title, *(f"  {line}" for line in table.splitlines())])


def absences(judged: JudgedSource) -> list[str]:
    """Say what failed or was left out, by model and reason, how many claims wait, what to do."""
    lines = []
    kinds = {"could not be measured": judged.failed, "left out": judged.left_out}
    for title, absent in kinds.items():
        lines += [f"\n{title}, of {len(absent)} models:"] if absent else []
        for slug, model in absent.items():
            lines.append(f"  {slug} ({model.claims} claims wait for it)")
            for reason, names in group_by_reason(model.reasons).items():
                lines.append(f"    {studies(names)}: {reason}")
    return [*lines, NEXT] if judged.failed else lines
