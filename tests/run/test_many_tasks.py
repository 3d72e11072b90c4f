"""Models measured one after the other, in four processes, and by tasks that DVC did not see.

Every way is a checkout of its own with stand-ins for four models, whose real stages run. It costs
some minutes of CPU: equal bytes of tasks side by side, and their join, are shown by nothing else.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from dvc.repo import Repo

from layerwise.run.rehearsal import running, scratch

pytestmark = pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")
# The first with a replicate and a control, in 16 bits and in float32; the second gated, with pairs.
SLUGS = ("pythia-70m", "gemma-2b", "gpt2", "bloom-560m")
TEXTS = [f"statement {n}" for n in range(20)]
FIRST = ("fetch", "places", "preflight")
JOIN = "analyse@measured"


@pytest.fixture(scope="module")
def checkout(root, tmp_path_factory):
    """A rehearsal's copy of the repository with four models, up to what their stages read."""
    folder = tmp_path_factory.mktemp("tasks") / "checkout"
    models = scratch.prepare(root, folder)
    registry = yaml.safe_load((folder / "models.yaml").read_text(encoding="utf-8"))
    for part in ("models", "licences"):
        registry[part] = {slug: registry[part][slug] for slug in SLUGS}
    for slug in SLUGS[1:]:
        registry["models"][slug]["alone"] = True
    (folder / "models.yaml").write_text(yaml.safe_dump(registry, sort_keys=False))
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    params["measure"]["bins"]["n_permutations"] = 10
    params["analyse"]["n_resamples"] = 300
    (folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    for slug in SLUGS:
        scratch.place(models[slug], TEXTS, folder / scratch.CACHE)
    run_dvc(folder, "repro", "--single-item", *FIRST)
    return folder


@pytest.fixture(scope="module")
def serial(checkout):
    """The same, with every model measured by DVC, one after the other."""
    folder = copy_of(checkout, "serial")
    run_dvc(folder, "repro", "--single-item", *map("measure@{}".format, SLUGS))
    return folder


def copy_of(checkout, name):
    return Path(shutil.copytree(checkout, checkout.parent / name, symlinks=True))


def environment(folder):
    return running.environment(folder) | {"HF_HUB_CACHE": str(folder / scratch.CACHE)}


def run_dvc(folder, *arguments):
    run_command(folder, sys.executable, "-m", "dvc", *arguments)


def run_command(folder, *command):
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def measured(folder):
    there = folder / "results" / "measured" / "models"
    return {slug: (there / slug / "measured.json").read_bytes() for slug in SLUGS}


def statistics(folder):
    there = folder / "results" / "measured" / "statistics"
    files = {path.relative_to(there): path.read_bytes() for path in there.rglob("*.json")}
    assert files
    return files


def recorded(folder):
    lock = yaml.safe_load((folder / "dvc.lock").read_text(encoding="utf-8"))
    return {name: lock["stages"][name] for name in map("measure@{}".format, SLUGS)}


def test_four_processes_give_the_bytes_of_one(root, checkout, serial):
    """By the line that docs/clusters.md has for several GPUs in one machine."""
    folder = copy_of(checkout, "four")
    (folder / "slugs.txt").write_text("".join(f"{slug}\n" for slug in SLUGS))
    (line,) = re.findall("^xargs .*$", (root / "docs" / "clusters.md").read_text(), re.M)
    run_command(folder, "bash", "-c", line)
    assert measured(folder) == measured(serial)


def test_tasks_that_dvc_did_not_see_are_joined(checkout, serial, tmp_path, monkeypatch):
    """Each measures in a checkout of its own and sends an archive, as without a shared disk."""
    joined = copy_of(checkout, "joined")
    place = "results/measured/models/{}"
    for slug in SLUGS:
        task = copy_of(checkout, f"task-{slug}")
        run_command(task, sys.executable, "-m", "layerwise.run.cli", "measure-model", slug)
        archive = tmp_path / f"{slug}.tar.gz"
        run_command(task, "tar", "-czf", str(archive), place.format(slug))
        run_command(joined, "tar", "-xzf", str(archive))
        shutil.rmtree(task)
    run_dvc(joined, "commit", "-f", *map("measure@{}".format, SLUGS))
    assert measured(joined) == measured(serial)
    assert recorded(joined) == recorded(serial)
    monkeypatch.chdir(joined)  # DVC reads the files of a stage from where it is
    with Repo(str(joined)) as repo, repo.lock:
        for slug in SLUGS:
            (stage,) = repo.stage.collect(f"measure@{slug}")
            assert not stage.changed()
    for folder in (joined, serial):
        run_dvc(folder, "repro", "--single-item", JOIN)
    assert statistics(joined) == statistics(serial)
