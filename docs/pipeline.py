#!/usr/bin/env python3
"""Write docs/pipeline.md: the table of stages, from dvc.yaml.

python docs/pipeline.py (or `make docs`)
"""

from pathlib import Path

from architecture import direct
from dvc.repo import Repo

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("published", "measured")
HEAD = """# The pipeline

<!-- Written by `make docs` from dvc.yaml; do not edit. -->

The stages in the order in which numbers flow. A stage reads what others wrote; one whose output
also comes by way of another is left out. The source `published` begins at `analyse`; of the stages
before it, `preflight` and `measure` need a GPU, or `device: cpu` in `params.yaml`. Stages with
several items stand here once; `dvc stage list` names all {count}. Weights are
pinned by commit in `models.yaml`, pairs and prompts by sha256 in `published/registry.csv`.

| stage | reads | items | sources | what it does |
|---|---|---|---|---|
{rows}

## With DVC

`make reproduce` and `make reproduce-full` run these stages one by one; a killed run is
taken up by the next. DVC's own commands work as usual, `.venv/bin/dvc` without activation too.
Without a GPU plain `dvc repro` brings `published` up to date and stops at `fetch`, before the
network is asked.

```text
dvc repro judge@published            one stage, and what it needs
dvc dag judge@published              the stages before it, drawn; all {count} are too wide to read
dvc metrics show                     the tally: claims that agree and differ, central claims
dvc metrics diff HEAD~1 --targets results/published/verdicts.json    every count that moved
dvc plots show                       the strip as a page
dvc pull page@published              outputs by the name of their stage, from a remote of yours
```

What if there were fewer resamples? An experiment changes a parameter, runs what depends on it,
and leaves the workspace with its results:

```text
dvc exp run -S analyse.n_resamples=2000 judge@published
dvc metrics diff --targets results/published/verdicts.json
dvc exp show --only-changed          without the columns that nothing changed
git checkout . && dvc checkout --with-deps page@published    back to the recorded state
```
"""


def read(root: Path) -> tuple[dict[str, dict], dict[str, set[str]]]:
    """Groups in the order of dvc.yaml with their items, and {group: the groups that it reads}."""
    groups: dict[str, dict] = {}
    with Repo(str(root)) as repo:
        index = repo.index
        for stage in index.stages:
            if stage.cmd:
                name, _, item = stage.name.partition("@")
                entry = groups.setdefault(name, {"items": 0, "sources": set(), "what": stage.desc})
                entry["items"] += 1
                entry["sources"].add(item if item in SOURCES else "measured")
        needs: dict[str, set[str]] = {name: set() for name in groups}
        for reader, wrote in index.graph.edges:
            if reader.cmd and wrote.cmd:
                needs[reader.name.partition("@")[0]].add(wrote.name.partition("@")[0])
    return groups, needs


def page(root: Path = ROOT) -> str:
    """The text of docs/pipeline.md."""
    groups, needs = read(root)

    def depth(name: str) -> int:
        return max((1 + depth(other) for other in needs[name]), default=0)

    reads, order = direct(needs), sorted(groups, key=depth)
    rows = []
    for name in order:
        of, before = groups[name], [f"`{one}`" for one in order if one in reads[name]]
        sources = ", ".join(source for source in SOURCES if source in of["sources"])
        cells = (f"`{name}`", ", ".join(before) or "none", of["items"], sources, of["what"])
        rows.append(f"| {' | '.join(map(str, cells))} |")
    count = sum(entry["items"] for entry in groups.values())
    return HEAD.format(count=count, rows="\n".join(rows))


if __name__ == "__main__":
    (ROOT / "docs" / "pipeline.md").write_text(page(), encoding="utf-8")
