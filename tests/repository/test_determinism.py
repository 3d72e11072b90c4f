"""What docs/determinism.md says of another seed is what another seed gives."""

import re
from pathlib import Path

import pytest
import yaml

from layerwise.run.doctor.recorded import read_verdicts
from layerwise.run.steps import analyse, judge

SEED = 7
MOVED = r"seed {seed} in place of {usual}, (\d+) of the (\d+) marks and (\d+) of the (\d+) verdicts"


def test_another_seed_moves_what_the_page_says(
    root: Path, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    usual = choices["analyse"]["seed"]
    choices["analyse"]["seed"] = SEED
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(choices), encoding="utf-8")
    monkeypatch.chdir(root)
    analyse.run("published", tmp_path / "statistics", params=tmp_path / "params.yaml")
    judge.run("published", tmp_path / "statistics", tmp_path / "claims.json")
    there, here = (
        read_verdicts((folder / "verdicts.csv").read_text(encoding="utf-8"))
        for folder in (results / "published", tmp_path)
    )
    assert there.keys() == here.keys()
    counts = []
    for kind in ("central", "claim"):
        rows = [row for row in there if row[0] == kind]
        counts += [sum(there[row] != here[row] for row in rows), len(rows)]
    page = " ".join((root / "docs" / "determinism.md").read_text(encoding="utf-8").split())
    said = re.search(MOVED.format(seed=SEED, usual=usual), page)
    assert said is not None
    assert [int(count) for count in said.groups()] == counts
    moved = [row[1] for row in there if there[row] != here[row]]
    assert [name for name in moved if f"`{name}`" not in page] == []
