"""A table of verdicts per paper, and where to look."""

from collections.abc import Sequence
from pathlib import Path

from layerwise.ledger.verdicts import VERDICTS
from layerwise.steps.trace import read_records


def run(sources: Sequence[str], results: Path, figures: Path, paper: Path) -> str:
    """The text that `make reproduce` ends with."""
    lines = []
    for source in sources:
        document = read_records(source, results)
        counts = document["counts"]
        used = [
            verdict for verdict in VERDICTS if any(verdict in count for count in counts.values())
        ]
        width = max(len(verdict) for verdict in used)
        note = "  (random weights: the numbers mean nothing)" if source == "mini" else ""
        lines.append(f"\nsource {source}: {len(document['claims'])} claims{note}")
        lines.append("  " + " " * width + "".join(f"{name:>10}" for name in counts))
        for verdict in used:
            row = "".join(f"{count.get(verdict, 0):>10}" for count in counts.values())
            lines.append(f"  {verdict:<{width}}{row}")
        lines.append(f"  report   {Path('report') / source / 'index.html'}")
        pdf = paper / f"{source}.pdf"
        lines.append(f"  claims   {results / source / 'claims.json'}")
        lines.append(f"  figures  {figures / source}")
        lines.append(f"  paper    {pdf if pdf.is_file() else 'not built: latexmk is missing'}")
    return "\n".join(lines)
