"""The rehearsal: its copy of the repository, its twins, its stages, and what it says at the end."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import nullcontext
from pathlib import Path

import pytest

from claim_records import record as claim_record
from layerwise.engine.judged import AS_RANDOM, JudgedClaim
from layerwise.engine.records import read_judged
from layerwise.errors import LayerwiseError
from layerwise.files import write_text
from layerwise.models.families import twin_of
from layerwise.models.load import load_registered
from layerwise.models.registry import read_models
from layerwise.papers.fetching import upstream
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.run import so_far
from layerwise.run.rehearsal import default_folder, running, scratch
from layerwise.run.rehearsal.outcome import (
    EXPLAINED,
    NO_STATISTIC,
    NOT_MEASURED,
    claims_without_reason,
    outcome,
)
from layerwise.run.rehearsal.running import run_stages
from layerwise.run.steps import analyse, judge, measure, places
from processes import commands_in, left_in, program

TEXTS = [*read_pairs(scratch.OUR_PAIRS).statements, *read_prompts(scratch.OUR_PROMPTS)]

# --- the copy -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def copy(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rehearsal") / "copy"
    scratch.prepare(root, folder)
    return folder


def test_a_copy_is_brought_up_to_date(tmp_path):
    """What git holds is copied, what is gone is removed, and what a rehearsal made stays."""
    root, folder = tmp_path / "root", tmp_path / "copy"
    for name in ("kept.py", "gone.py", ".venv/python", ".git/HEAD", "results/a", "dvc.lock"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1")
    (root / ".gitignore").write_text("/.venv/\n")
    folder.mkdir()
    scratch.copy_repository(root, folder)
    (root / "gone.py").unlink()
    (root / "kept.py").write_text("two")
    (folder / "results").mkdir()
    (folder / "results" / "claims.json").write_text("{}")
    scratch.copy_repository(root, folder)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == [
        ".gitignore",
        "claims.json",
        "kept.py",
    ]
    assert (folder / "kept.py").read_text() == "two"


def test_no_folder_is_written_over_that_no_rehearsal_made(root, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(LayerwiseError, match=r"no rehearsal made it \(there is no REHEARSAL.md\)"):
        scratch.prepare(root, tmp_path)
    with pytest.raises(LayerwiseError, match="writes nothing into the repository"):
        scratch.prepare(root, root / "scratch")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert not (root / "scratch").exists()
    assert default_folder(tmp_path / "a" / "x") != default_folder(tmp_path / "b" / "x")


def test_stand_in_texts_are_fetched_as_upstreams_are(copy, tmp_path):
    """The pairs by their sha256, the prompts out of notebooks."""
    upstream.fetch(tmp_path, copy / scratch.MIRROR, published=copy / "published")
    upstream.verify_data(tmp_path, published=copy / "published")
    ours = json.loads(scratch.OUR_PROMPTS.read_text(encoding="utf-8"))
    fetched = json.loads((tmp_path / "prompts.json").read_text(encoding="utf-8"))
    assert {study: entry["prompts"] for study, entry in fetched.items()} == {
        study: entry["prompts"] for study, entry in ours.items()
    }
    assert (tmp_path / "dataset.json").read_bytes() == scratch.OUR_PAIRS.read_bytes()
    with pytest.raises(LayerwiseError, match="cut off, 5873 of 33180 bytes"):
        upstream.fetch(tmp_path / "real", copy / scratch.MIRROR)


def test_all_models_are_measured_and_one_of_a_family_with_noise_and_control(root, copy):
    real, twins = read_models(root / "models.yaml"), read_models(copy / "models.yaml")
    assert real.keys() == twins.keys()
    for slug, model in real.items():
        assert twins[slug].skipped == model.skipped
        assert twins[slug].revision == model.revision
        assert twins[slug].shape == twin_of(model).shape
    families = {model.family for model in real.values() if not model.skipped}
    assert sorted(model.family for model in twins.values() if not model.alone) == sorted(families)


def test_twins_are_loaded_from_the_cache_like_the_papers_models(copy, tmp_path, monkeypatch):
    """And are made anew where they would be others, or are not whole."""
    hub = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    models = read_models(copy / "models.yaml")
    for slug in ("gemma-2b", "bloom-560m"):  # gated; not
        snapshot = scratch.place(models[slug], TEXTS, hub)
        loaded = load_registered(models[slug], "float16", device="cpu")
        assert (loaded.revision, loaded.files.folder) == (models[slug].revision, snapshot)
    (snapshot / "mark").touch()
    scratch.place(models[slug], TEXTS, hub)
    assert (snapshot / "mark").exists()
    scratch.place(models[slug], ["other", *TEXTS], hub)
    assert not (snapshot / "mark").exists()


# --- what its twins give ------------------------------------------------------------------------

FEW = ("pythia-70m", "gemma-2b")  # of two families; one with statement pairs
FEWER = {
    "n_resamples: 10000": "n_resamples: 300",
    "n_permutations: 200": "n_permutations: 10",
    "replicates: 1": "replicates: 2",
}
# What of these twins is reproduced by chance, at most: flags are one of two, bands are wide.
BY_CHANCE = {"flags and words": 60, "ranks, layers, shares and numbers": 20}


def claims_of(copy: Path, numbers: Path, out: Path) -> list[JudgedClaim]:
    """The judged claims of measured numbers."""
    tables = copy / "published"
    analyse.run("measured", out / "statistics", numbers, tables, copy / "params.yaml")
    judge.run(
        "measured",
        out / "statistics",
        out / "claims.json",
        numbers,
        claims=copy / "claims",
        published=tables,
        models=copy / "models.yaml",
    )
    return [*read_judged(out / "claims.json", "measured").claims]


@pytest.fixture(scope="module")
def few(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the twins of a few models are measured, as the pipeline does it."""
    work = tmp_path_factory.mktemp("few")
    params = work / "params.yaml"
    text = (copy / "params.yaml").read_text(encoding="utf-8")
    for number, other in FEWER.items():
        assert number in text
        text = text.replace(number, other)
    params.write_text(text)
    models = read_models(copy / "models.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(work / "hub"))
        patch.setattr(upstream, "verify_data", lambda folder: None)  # of the copy
        upstream.fetch(work / "data", copy / scratch.MIRROR, published=copy / "published")
        places.run(work / "places.json", copy / "published")
        for slug in FEW:
            scratch.place(models[slug], TEXTS, work / "hub")
            measure.run(
                slug,
                work / "measured" / slug,
                work / "scratch",
                work / "data",
                work / "places.json",
                copy / "models.yaml",
                params,
            )
    return work


@pytest.fixture(scope="module")
def claims(copy: Path, few: Path) -> list[JudgedClaim]:
    return claims_of(copy, few / "measured", few)


def test_what_is_measured_so_far_is_judged_and_shown(
    copy: Path,
    few: Path,
    claims: list[JudgedClaim],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a folder of its own, with the verdicts that these models would have alone."""
    for path in copy.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for name, path in (("params.yaml", few / "params.yaml"), ("results", tmp_path / "own")):
        (tmp_path / name).unlink(missing_ok=True)
        path.is_file() or path.mkdir()
        (tmp_path / name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    page = so_far.show(few / "measured")
    judged = json.loads((page.parents[1] / "judged" / "claims.json").read_text(encoding="utf-8"))
    verdicts = {record["id"]: record["verdict"] for record in judged["claims"]}
    assert verdicts == {record.id: record.verdict for record in claims}
    assert sum(1 for record in judged["claims"] if record["recomputed"] is not None) > 20
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["so-far"]
    assert page.is_file()


SAID = ("declared", "not checkable", "contradicted")  # whatever is measured


def test_where_nothing_is_measured_no_claim_has_a_number(copy, tmp_path):
    """None is answered by a constant, or by what was published."""
    (tmp_path / "measured" / "none").mkdir(parents=True)
    document = {"model": None, "runs": {}, "absent": {}}
    (tmp_path / "measured" / "none" / "measured.json").write_text(json.dumps(document))
    records = claims_of(copy, tmp_path / "measured", tmp_path)
    judged = [r for r in records if r.verdict not in SAID]
    assert {r.verdict for r in judged} == {"not measured"}
    assert [r.id for r in judged if r.recomputed is not None] == []
    assert claims_without_reason(records) == []


def test_random_weights_reproduce_nothing_but_by_chance(claims):
    """What no weight enters (prompts, say) is compared; some of the rest a draw gives too."""
    by_verdict = defaultdict(list)
    for record in claims:
        by_verdict[record.verdict].append(record)
    assert by_verdict[AS_RANDOM]
    assert all(record.provenance.runs for record in by_verdict[AS_RANDOM])
    assert not any(record.provenance.runs for record in by_verdict["agrees"])
    assert all(record.provenance.runs for record in by_verdict["reproduced"])
    flags, numbers = BY_CHANCE
    kinds = Counter(
        flags if isinstance(record.published, bool | str) else numbers
        for record in by_verdict["reproduced"]
    )
    assert {kind: n for kind, n in kinds.items() if n > BY_CHANCE[kind]} == {}
    numbered = [record for record in claims if record.recomputed is not None]
    runs = {run.partition("/")[0] for record in numbered for run in record.provenance.runs}
    assert runs == set(FEW)
    assert claims_without_reason(claims) == []
    assert len(numbered) > 20


def test_the_outcome_counts_every_claim(claims):
    first, *rest = outcome(claims).splitlines()
    numbered = sum(record.recomputed is not None for record in claims)
    assert first.startswith(f"{numbered} of {len(claims)} claims got a number")
    lines = [line for line in rest if line != "of the others"]
    counts = {reason: int(n) for n, reason in (line.split(maxsplit=1) for line in lines)}
    assert sum(counts.values()) == len(claims)
    verdicts = Counter(record.verdict for record in claims if record.recomputed is not None)
    assert verdicts.items() <= counts.items()
    assert {NOT_MEASURED, EXPLAINED, NO_STATISTIC} <= set(counts)
    none = claim_record("p7", recomputed=None, verdict="not measured", cause=None)
    assert claims_without_reason([*claims, none]) == ["p7"]


# --- its stages ---------------------------------------------------------------------------------

STAGES = """\
stages:
  page:  # what is wanted may come before what it is made from
    foreach: [measured]
    do: {cmd: cat claims > page, deps: [claims], outs: [page]}
  fetch: {cmd: echo data > data, outs: [data]}
  analyse:
    foreach: [published]
    do: {cmd: exit 1}
  measure:
    foreach: [small, large]
    do:
      cmd: while test -e hold-${item}; do sleep 1; done; test ! -e broken-${item} && date > ${item}
      deps: [data]
      outs: ['${item}']
  judge:
    foreach: [measured]
    do: {cmd: cat small large > claims, deps: [small, large], outs: [claims]}
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A pipeline of the same build: stages before, one per model, stages after."""
    write_text(tmp_path / ".dvc" / "config", scratch.DVC_CONFIG)
    (tmp_path / "dvc.yaml").write_text(STAGES)
    return tmp_path


def log(folder: Path) -> str:
    (folder / scratch.LOG).touch()
    return (folder / scratch.LOG).read_text()


AGAIN = r"up to date, judge@measured would run again"
BROKEN = r"(?s)'measure@large' failed; all is in .*log\n.*    ERROR: "


@pytest.mark.parametrize(("broken", "message"), [((), AGAIN), (("broken-large",), BROKEN)])
def test_a_run_that_fails_or_would_be_repeated_is_an_error(pipeline, broken, message, monkeypatch):
    """A stage that writes what another has read is never up to date; a model stops no other."""
    counted: list[str] = []
    bar = nullcontext(lambda n, stage: counted.append(stage))
    monkeypatch.setattr(running, "meter", lambda *_: bar)
    for name in ("notes", *broken):
        (pipeline / name).write_text("1")
    read = STAGES.replace("claims, deps: [small", "claims, deps: [notes, small")
    (pipeline / "dvc.yaml").write_text(read.replace("> page", "> page; date >> notes"))
    with pytest.raises(LayerwiseError, match=message):
        run_stages(pipeline, ["large", "small"])
    assert (pipeline / "small").exists()
    assert (pipeline / "claims").exists() is not bool(broken)
    assert len(counted) == len(set(counted))  # DVC names a stage again where another needs it


def test_ctrl_c_leaves_no_process(pipeline):
    """The slowest model is first, and none of the other source, which is not rehearsed."""
    script = (
        "import sys; from pathlib import Path; from layerwise.run.rehearsal import running\n"
        "running.workers = lambda: 1\n"
        "running.run_stages(Path(sys.argv[1]), ['large', 'small'])"
    )
    (pipeline / "hold-small").touch()
    command = [sys.executable, "-c", script, str(pipeline)]
    with program(command, pipeline, stderr=subprocess.PIPE) as run:
        while not any("hold-small" in command for command in commands_in(pipeline)):
            assert run.poll() is None
            time.sleep(0.1)
        assert "Running stage 'measure@large'" in log(pipeline)
        run.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in run.communicate(timeout=60)[1]
        assert left_in(pipeline) == []
    assert (pipeline / "large").exists()
