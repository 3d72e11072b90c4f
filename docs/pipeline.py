#!/usr/bin/env python3
"""Write docs/pipeline.md: the diagram and the table of stages, both from dvc.yaml.

python docs/pipeline.py (or `make docs`)
"""

from pathlib import Path

from dvc.repo import Repo

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("published", "measured")
HEAD = """# The pipeline

<!-- Written by `make docs` from dvc.yaml; do not edit. -->

An arrow says: reads what the other wrote. Stages of several items are drawn once; `dvc dag` draws
all {count}, `dvc stage list` names them. Dashed: needs a GPU. The weights are not in the picture:
their revisions are pinned in `models.yaml`; the sha256 of the statement pairs and prompts in
`published/registry.csv`.

```mermaid
{diagram}
```

| stage | items | sources | what it does |
|---|---|---|---|
{rows}
"""


def read(root: Path) -> tuple[dict[str, dict], set[tuple[str, str]]]:
    """Groups in the order of dvc.yaml with their items, and the arrows between groups."""
    groups: dict[str, dict] = {}
    with Repo(str(root)) as repo:
        index = repo.index
        for stage in index.stages:
            if stage.cmd:
                name, _, item = stage.name.partition("@")
                entry = groups.setdefault(name, {"items": 0, "sources": set(), "what": stage.desc})
                entry["items"] += 1
                entry["sources"].add(item if item in SOURCES else "measured")
        arrows = {
            (read.name.partition("@")[0], reader.name.partition("@")[0])
            for reader, read in index.graph.edges
            if reader.cmd and read.cmd
        }
    return groups, arrows


def diagram(groups: dict[str, dict], arrows: set[tuple[str, str]]) -> str:
    """Mermaid text; dashed boxes need a GPU."""
    lines = ["flowchart LR"]
    for name, entry in groups.items():
        items = f" ×{entry['items']}" if entry["items"] > 1 else ""
        needs_gpu = ":::gpu" if "published" not in entry["sources"] else ""
        lines.append(f'    {name}["{name}{items}"]{needs_gpu}')
    order = list(groups)
    for start, end in sorted(arrows, key=lambda arrow: [order.index(name) for name in arrow]):
        lines.append(f"    {start} --> {end}")
    lines.append("    classDef gpu stroke-dasharray: 4 4")
    return "\n".join(lines)


def page(root: Path = ROOT) -> str:
    """The text of docs/pipeline.md."""
    groups, arrows = read(root)
    rows = [
        f"| `{name}` | {entry['items']} | "
        f"{', '.join(s for s in SOURCES if s in entry['sources'])} | {entry['what']} |"
        for name, entry in groups.items()
    ]
    return HEAD.format(
        count=sum(entry["items"] for entry in groups.values()),
        diagram=diagram(groups, arrows),
        rows="\n".join(rows),
    )


if __name__ == "__main__":
    (ROOT / "docs" / "pipeline.md").write_text(page(), encoding="utf-8")
