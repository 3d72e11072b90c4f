"""Run the pipeline's stages one by one, and end with what they found: what `make reproduce` calls.

DVC's Python interface runs each stage, so that nothing here reads DVC's words; a stage's own words
go to the terminal as they come.
"""

import json
import logging
import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import psutil
import typer
from dvc.exceptions import DvcException
from dvc.lock import make_lock
from dvc.repo import Repo
from dvc.repo.reproduce import plan_repro
from dvc.rwlock import RWLOCK_FILE, RWLOCK_LOCK
from dvc.stage import Stage
from dvc.stage.exceptions import StageCmdFailedError

from layerwise.engine.records import judged
from layerwise.errors import Faults, LayerwiseError
from layerwise.files import Busy, locked
from layerwise.home import Source
from layerwise.models.registry import find_model, read_models
from layerwise.present.pdfs import typeset
from layerwise.present.run_summary import summary
from layerwise.run.doctor.recorded import compare_with_record
from layerwise.run.look_ahead import AHEAD, LookAhead
from layerwise.run.so_far import SoFar
from layerwise.run.steps import program

DVC_TMP = Path(".dvc/tmp")
LOCK = DVC_TMP / "layerwise"  # held while a run is under way
SITE = ".dvc-site"  # where DVC keeps pickles that it reads again, as .dvc/config says
MODEL = "measure@"  # begins the name of a model's stage
MEASURED = "results/measured/models/{}/measured.json"  # what a model's stage leaves
PATIENCE = 20  # seconds in which a stage that is told to end does so
MEND = (
    "run it in the repository's root; of a dvc.lock that a kill cut off take the committed one, "
    "`git checkout dvc.lock`, or in an unpacked archive `.dvc/record/dvc.lock`: DVC finds again in "
    "its cache what was made since"
)


def run(
    what: Literal["published", "all"],
    force: Annotated[bool, typer.Option(help="run also what did not change")] = False,
    strict: Annotated[bool, typer.Option(help="fail where the record is not met")] = False,
) -> str | tuple[str, int]:
    """Bring the source `published` up to date, or all sources.

    A stage whose inputs are as they were is left alone. One that fails ends the run; a model's
    does so once the other models are measured. A model that could not be measured, or not all of
    it, does not stop the report, and is taken up by the next run. Exit code 1 where there is such a
    model, and with STRICT where the published half is not byte by byte what is recorded.

    What is measured comes first: on a rented GPU nothing else should be waited for.

    Raises:
        LayerwiseError: naming the stages that failed; while another run is under way.
    """
    sources: list[Source] = ["published"] if what == "published" else ["published", "measured"]
    order, faults = sources[::-1], Faults()
    with alone(), Repo() as repo:
        stages = ordered_stages(repo, order)
        for source in order:
            with faults.noted():  # the other source needs nothing of it
                Reproduction(repo, stages, force).bring_up_to_date(source)
                typeset(source)
    faults.raise_all()
    all_judged = [judged(source, Path("results")) for source in sources]
    comparison = compare_with_record()
    answer = "\n".join([*map(summary, all_judged), comparison.said])
    has_failed = any(source_judged.failed for source_judged in all_judged)
    return (answer, 1) if has_failed or (strict and not comparison.is_identical) else answer


@contextmanager
def alone() -> Iterator[None]:
    """Hold the checkout for this run; DVC is quiet inside the block, and its errors are ours."""
    logging.getLogger("dvc").setLevel(logging.CRITICAL)
    site = Path(os.environ.get("DVC_SITE_CACHE_DIR") or SITE)
    close_to_others(site)
    try:
        with locked(LOCK):
            remove_cut_rwlock(DVC_TMP)
            yield
    except Busy:
        raise LayerwiseError(
            "another run is under way in this folder; wait until it has ended"
        ) from None
    except DvcException as error:
        raise LayerwiseError(f"DVC: {error}; {MEND}") from None
    except sqlite3.DatabaseError as error:
        raise LayerwiseError(
            f"{site}: DVC keeps there what it knows of files, and cannot read it ({error}); remove "
            "that folder, nothing is lost, then run it again"
        ) from None


def remove_cut_rwlock(folder: Path) -> None:
    """Remove DVC's list of the stages under way where a kill left it empty or cut off.

    DVC would refuse to go on. It writes the list while it holds the same guard.
    """
    rwlock = folder / RWLOCK_FILE
    if not rwlock.exists():
        return
    with make_lock(str(folder / RWLOCK_LOCK), tmp_dir=str(folder)):
        try:
            json.loads(rwlock.read_bytes())
        except ValueError:
            rwlock.unlink()


def close_to_others(folder: Path) -> None:
    """Have a folder that only its owner may enter: DVC would let everybody write there."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid == os.getuid():
        folder.chmod(0o700)


def ordered_stages(repo: Repo, sources: list[Source]) -> dict[str, Stage]:
    """Return the stages of the sources by name, source by source, each after what it needs."""
    stages = [stage for stage in plan_repro(repo.index.graph) if stage.cmd]
    by_source: dict[str, list[Stage]] = {"published": [], "measured": []}
    for stage in stages:
        is_published = stage.addressing.endswith("@published")
        by_source["published" if is_published else "measured"].append(stage)
    return {stage.addressing: stage for source in sources for stage in by_source[source]}


class Reproduction:
    """The stages of a run, counted as they begin."""

    def __init__(self, repo: Repo, stages: dict[str, Stage], force: bool) -> None:
        self.repo = repo
        self.stages = stages
        self.force = force
        self.known: dict[str, bool] = {}
        self.names = [*stages]

    def bring_up_to_date(self, source: Source) -> None:
        """Run the stages of a source that changed; the first that fails is the last.

        A model that fails leaves the other models alone; all of them come before what needs any.

        Raises:
            LayerwiseError: at the end, naming those that failed.
        """
        with SoFar() as so_far, LookAhead() as look_ahead:
            self.run_stages(source, so_far, look_ahead)

    def run_stages(self, source: Source, so_far: SoFar, look_ahead: LookAhead) -> None:
        """Run the stages of `bring_up_to_date`.

        What is measured so far is shown meanwhile, and the weights that come next are fetched.
        """
        failures: dict[str, str] = {}
        for name, stage in self.stages.items():
            if name.endswith("@published") != (source == "published"):
                continue
            if failures and not is_model(name):
                break
            if not self.will_run(name):
                continue
            self.announce(name, stage)
            if is_model(name):
                so_far.update()
                look_ahead.wait_for(name.removeprefix(MODEL))
                look_ahead.fetch(filter(lacks_weights, self.next_models(name)))
            try:
                run_stage(self.repo, name, self.force)
            except DvcException as error:
                if has_measured(name):
                    continue
                cause = error.__cause__ or error
                failures[name] = "" if isinstance(cause, StageCmdFailedError) else str(cause)
                if not is_model(name):
                    break
        if failures:
            reasons = "; ".join(dict.fromkeys(filter(None, failures.values())))
            why = f"DVC says: {reasons}; mend that" if reasons else "mend that"
            names = " and ".join(failures)
            raise LayerwiseError(
                f"stage {names} failed, and what comes after was not run; {why}, then run it again "
                "to go on"
            )

    def next_models(self, name: str) -> list[str]:
        """Return the models whose weights may come while the stage of one runs."""
        models = [*filter(is_model, self.names)]
        to_run = filter(self.will_run, models[models.index(name) + 1 :])
        return [stage.removeprefix(MODEL) for stage in islice(to_run, AHEAD)]

    def will_run(self, name: str) -> bool:
        """Return whether a stage will run; all that it needs has run by then."""
        if name in self.known:
            return self.known[name]
        will_run = self.force or self.has_changed(self.stages[name])
        if is_model(name):  # no other model's stage changes that
            self.known[name] = will_run
        return will_run

    def has_changed(self, stage: Stage) -> bool:
        """Return whether a stage's inputs, command or outputs are not as recorded."""
        with self.repo.lock:
            return bool(stage.changed())

    def announce(self, name: str, stage: Stage) -> None:
        """Say which stage begins."""
        number = self.names.index(name) + 1
        print(f"layerwise: stage {number} of {len(self.names)}: {name}: {stage.desc}", flush=True)


def is_model(name: str) -> bool:
    """Return whether a stage measures a model."""
    return name.startswith(MODEL)


def lacks_weights(slug: str) -> bool:
    """Return whether the weights of a model that is measured are still to be fetched."""
    from layerwise.models.hub import cache_state

    with suppress(LayerwiseError):
        model = find_model(read_models(Path("models.yaml")), slug)
        return not model.skipped and cache_state(model.hub, model.revision) != "yes"
    return False


def run_stage(repo: Repo, name: str, force: bool) -> None:
    """Run a stage in a thread; Ctrl-C, which DVC would ignore, ends the stage and its children.

    Raises:
        DvcException: if the stage, or DVC, failed; the cause says which.
    """
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(repo.reproduce, name, single_item=True, force=force)
        try:
            result.result()
        except KeyboardInterrupt:
            stop(psutil.Process().children(recursive=True))
            raise


def stop(processes: list[psutil.Process]) -> None:
    """Tell processes to end, and end those that do not."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(processes, PATIENCE)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def has_measured(name: str) -> bool:
    """Return whether a stage that failed is a model's, which wrote what it has and what it lacks.

    DVC removes the outputs of a stage before it begins, so the file is of this run.
    """
    return is_model(name) and Path(MEASURED.format(name.removeprefix(MODEL))).is_file()


if __name__ == "__main__":
    program(run)
