"""Shared fixtures: the repository, its published numbers, and checks of the shapes of arrays."""

import fnmatch
import gc
import itertools
import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import hypothesis
import pytest
from filelock import FileLock
from jaxtyping import install_import_hook

ROOT = Path(__file__).resolve().parent.parent
# what only some machines have, by the fixture that reads it
MIRROR = os.environ.get("LAYERWISE_MIRROR")
HAS_CODE = MIRROR is not None and (Path(MIRROR) / "paper3" / "notebooks").is_dir()
ELSEWHERE = {
    "mirror": MIRROR,
    "upstream_code": MIRROR if HAS_CODE else None,  # a checkout, not the result files alone
}
# What a file of tests costs, by the first pattern that fits; a file that none fits is plain.
COSTS = (
    ("models/test_kernels", "long"),
    ("models/*", "models"),
    ("measuring/*", "models"),
    ("engine/test_beside", "models"),
    ("measures/test_measures_traces", "models"),
    ("reader/*", "models"),
    ("papers/test_experiments_*", "models"),
    ("papers/test_figures*", "long"),
    ("papers/test_notebooks", "models"),
    ("repository/test_real", "models"),
    ("base/test_faults", "long"),
    ("base/test_home", "long"),
    ("present/*", "long"),
    ("repository/*", "long"),
    ("run/*", "long"),
)


def typechecked() -> list[str]:
    """The modules whose annotations the tests enforce: those whose signatures have shapes.

    Elsewhere mypy knows as much, and rules make hundreds of thousands of calls. With
    LAYERWISE_TYPECHECK=all every annotation of the package is enforced, in twice the time.
    """
    if os.environ.get("LAYERWISE_TYPECHECK") == "all":
        return ["layerwise"]
    paths = [path for path in (ROOT / "code").rglob("*.py") if "jaxtyping" in path.read_text()]
    return [".".join(path.relative_to(ROOT / "code").with_suffix("").parts) for path in paths]


install_import_hook(typechecked(), "beartype.beartype")
hypothesis.settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("untimed")

from layerwise.errors import EXTRAS  # noqa: E402, the hook comes first
from layerwise.files import atomic_path  # noqa: E402


def pytest_collection_finish(session):
    """Keep the garbage collector off what was imported: loading a model asks for a collection."""
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def collected():
    """And off what a module leaves to the session, once its garbage is gone."""
    yield
    gc.collect()
    gc.freeze()


def cost_of(path: Path) -> str | None:
    """The mark of a test file by the first line of COSTS that names it or its folder, if any."""
    place = path.relative_to(ROOT / "tests").with_suffix("").as_posix()
    for pattern, mark in COSTS:
        if fnmatch.fnmatch(place, pattern):
            return mark
    return None


def leaves_out(config, mark: str | None) -> bool:
    """True where the run leaves out the tests with a mark: `-m "not models and not long"`."""
    return mark is not None and f"not {mark}" in config.option.markexpr


class NoTorch:
    """A finder of modules that refuses torch, first of all finders."""

    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "transformers"):
            raise ImportError(f"{name} is imported by a test without the mark `models`: see COSTS")


def pytest_configure(config):
    """In a run without models, an import of torch fails."""
    if leaves_out(config, "models"):
        sys.meta_path.insert(0, NoTorch())


def not_installed(error: BaseException | None) -> str | None:
    """The package of an extra that an error misses, here or in what caused it, if any."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__
    package = (getattr(error, "name", None) or "").partition(".")[0]
    return package if package in itertools.chain(*EXTRAS.values()) else None


def skip_what_is_not_installed(report, call):
    """Make a failure for want of an extra's package a skip: `make test` installs no torch."""
    package = report.failed and call.excinfo and not_installed(call.excinfo.value)
    if package:
        place = str(getattr(report, "fspath", "") or report.nodeid)
        report.outcome, report.longrepr = (
            "skipped",
            (place, 0, f"Skipped: {package} is not installed"),
        )
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    return skip_what_is_not_installed(report, report.call)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    return skip_what_is_not_installed(report, call)


def pytest_ignore_collect(collection_path, config):
    """Import no file of tests that the run leaves out: the import of torch alone takes seconds."""
    if collection_path.name.startswith("test_"):
        return leaves_out(config, cost_of(collection_path)) or None
    return None


def pytest_collection_modifyitems(config, items):
    """Mark the tests by their cost, before `-m` chooses; leave out what reads a missing mirror.

    What reads upstream's own texts runs where a variable says where they are.
    """
    for item in items:
        if mark := cost_of(item.path):
            item.add_marker(mark)
    missing = {name for name, place in ELSEWHERE.items() if place is None}
    reading = [item for item in items if missing & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=reading)
    items[:] = [item for item in items if item not in reading]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def published():
    """The published numbers."""
    from layerwise.papers.shared.published import read_published

    return read_published(ROOT / "published")


@pytest.fixture(scope="session")
def once(tmp_path_factory, worker_id):
    """`once(name, make)`: what `make(folder)` gives, made by one worker, read by the others.

    The folder is theirs together, so nobody writes into it later.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent

    def made_once(name, make):
        file = shared / f"{name}.pickle"
        with FileLock(shared / f"{name}.lock"):
            if not file.exists():
                with atomic_path(file) as part:
                    part.write_bytes(pickle.dumps(make(shared / name)))
            return pickle.loads(file.read_bytes())

    return made_once


@pytest.fixture(scope="session")
def works(once, published):
    """Every analysis of the published numbers."""
    from judged import everything

    return once("works", lambda _: everything(published))


@pytest.fixture(scope="session")
def records(once, root, published, works):
    """The judged claims, by id."""
    from judged import judged

    return once("records", lambda _: judged(root, published, works))


@pytest.fixture(scope="session")
def results(once, root):
    """A folder of results with the source `published`, analysed and judged by the stages."""
    from layerwise.run.steps import analyse, judge

    def make(folder):
        source = folder / "published"
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(root)
            analyse.run("published", source / "statistics")
            judge.run("published", source / "statistics", source / "claims.json")
        return folder

    return once("results", make)


@pytest.fixture(scope="session")
def analyzed_once(tmp_path_factory):
    """What `analyze` found on a twin of five blocks, and wrote into its folder."""
    from layerwise import analyze
    from tiny_checkpoints import EXAMPLE, twin_folder

    out = tmp_path_factory.mktemp("analyzed") / "out"
    return analyze(twin_folder("gpt_neox", 5), **EXAMPLE, out=out, keep_states=True)


@pytest.fixture
def analyzed(analyzed_once):
    """The same for one test: a result keeps what it drew, under `quick` one figure alone."""
    return replace(analyzed_once)


@pytest.fixture
def quick(monkeypatch):
    """Few resamples and one figure of a model or of several, where neither is what is tested."""
    monkeypatch.setattr("layerwise.reader.of_checkpoint.N_RESAMPLES", 200)
    monkeypatch.setattr("layerwise.reader.arrays.N_RESAMPLES", 200)
    monkeypatch.setattr("layerwise.reader.page.figures.OF_ONE", ("layers",))
    monkeypatch.setattr("layerwise.reader.page.figures.ACROSS", ("by_depth",))


@pytest.fixture(scope="session")
def mirror() -> Path:
    """A folder that mirrors the upstream repository at its pinned commit."""
    return Path(ELSEWHERE["mirror"])


@pytest.fixture(scope="session")
def upstream_code() -> Path:
    """A mirror that holds upstream's notebooks and scripts too."""
    return Path(ELSEWHERE["upstream_code"])


@pytest.fixture(scope="session")
def window(tmp_path_factory):
    """A window of a browser, where there is one."""
    from browser import browser, missing

    if reason := missing():
        pytest.skip(reason)
    with browser(tmp_path_factory.mktemp("profile")) as window:
        yield window
