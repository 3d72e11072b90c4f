#!/usr/bin/env python3
"""Write docs/claims.schema.json and docs/badge.svg, which other programs and pages read.

python docs/machine.py [results/published/claims.json]      (or `make docs`)
"""

import json
import sys
from pathlib import Path

from layerwise.engine.records import JudgedSource, judged_schema, read_judged
from layerwise.present.badge import badge_svg

ROOT = Path(__file__).resolve().parent.parent


def files(judged: JudgedSource) -> dict[str, str]:
    """The texts of both, by their files in docs/."""
    schema = json.dumps(judged_schema(), indent=1, ensure_ascii=False)
    badge = badge_svg(judged.central)
    return {"claims.schema.json": f"{schema}\n", "badge.svg": badge}


def main(path: Path) -> None:
    """Read judged claims, write both files."""
    for name, text in files(read_judged(path, "published")).items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "results/published/claims.json")
