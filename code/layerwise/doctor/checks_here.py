"""Checks of what everything needs: Python, locked packages, the repository, LaTeX, a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from layerwise.doctor import FULL, TARGETS, Check

PYTHONS = ((3, 11), (3, 12))  # that the tests have run on
LATEX = "texlive-latex-recommended texlive-latex-extra texlive-science latexmk"
ANEW = "remove .venv and run `make setup`"
# A process of the rehearsal, which has one per core: 507 MiB were measured, on GPT-2 XL's twin.
WORKER_BYTES = 700 * 2**20
GIB = 2**30


def python(version: tuple[int, int, int]) -> Check:
    """The interpreter, by `sys.version_info[:3]`."""
    found = ".".join(map(str, version))
    if version < PYTHONS[0]:
        fix = "install Python 3.11 or 3.12, then `make setup PYTHON=python3.12`"
        return Check("Python", f"{found}, 3.11 or newer is needed", fix, TARGETS)
    if version[:2] not in PYTHONS:
        fix = "if something fails, take 3.11 or 3.12: `make setup PYTHON=python3.12`"
        return Check("Python", f"{found}, the tests have run on 3.11 and 3.12 only", fix)
    return Check("Python", found)


def packages(locks: Mapping[str, Mapping[str, str]], installed: Mapping[str, str]) -> Check:
    """The installed versions against the lock that holds the installed torch.

    Args:
        locks: by name of the lock, package: version, as far as they apply to this interpreter.
        installed: package: version.
    """
    name = "locked packages"
    torch = installed.get("torch")
    in_use = next((lock for lock, pins in locks.items() if pins.get("torch") == torch), None)
    if torch is None:
        return Check(name, "torch is not installed", ANEW, TARGETS)
    if in_use is None:
        known = ", ".join(f"{lock}: {pins.get('torch')}" for lock, pins in locks.items())
        return Check(name, f"torch {torch} is in no lock ({known})", ANEW)
    pins = locks[in_use]
    missing = sorted(package for package in pins if package not in installed)
    if missing:
        return Check(name, f"{in_use}: {_some(missing)} not installed", ANEW, TARGETS)
    other = [
        f"{package} is {installed[package]}, locked {version}"
        for package, version in sorted(pins.items())
        if installed[package] != version
    ]
    if other:
        return Check(name, f"{in_use}: {_some(other)}; numbers may differ", ANEW)
    shown = ", ".join(
        f"{package} {pins[package]}" for package in ("torch", "transformers", "numpy")
    )
    return Check(name, f"all {len(pins)} as in {in_use}: {shown}")


def imports(broken: Mapping[str, str]) -> Check:
    """The packages that cannot be imported, and why."""
    if broken:
        packages: dict[str, list[str]] = {}
        for package, why in broken.items():
            packages.setdefault(why, []).append(package)
        found = "; ".join(f"no {', '.join(names)} ({why})" for why, names in packages.items())
        return Check("imports", found, ANEW, TARGETS)
    return Check("imports", "torch, transformers, numpy, scipy, matplotlib and dvc can be imported")


def memory(available: int, cores: int) -> Check:
    """Free memory against the rehearsal, a process per core; both in bytes."""
    found = f"{available / GIB:.1f} GiB free, {cores} cores"
    needed = f"a process of the rehearsal takes up to {WORKER_BYTES / GIB:.1f} GiB"
    if available < 2 * WORKER_BYTES:  # one beside what started it
        fix = "close other programs, or take a machine with more memory"
        return Check("memory", f"{found}; {needed}", fix, TARGETS)
    if available < (cores + 1) * WORKER_BYTES:
        fix = "close other programs: it starts one per core"
        return Check("memory", f"{found}; {needed}", fix)
    return Check("memory", found)


def disk(
    name: str, place: str, free: int, needed: int | float, blocks: tuple[str, ...], fix: str
) -> Check:
    """Free bytes of a disk against what the targets write to it."""
    found = f"{free / 1e9:.1f} GB free in {place}, {needed / 1e9:.1f} GB needed"
    return Check(name, found, fix, blocks) if free < needed else Check(name, found)


def repository(missing: Sequence[str], has_git: bool, no_scm: bool) -> Check:
    """Whether the folder is the repository, as a clone or as an unpacked archive.

    Args:
        missing: files of the repository that are not in this folder.
        no_scm: DVC is told that there is no git repository around it.
    """
    if missing:
        fix = "run it in the repository's root; restore what is missing"
        return Check("repository", f"no {_some(missing)} in this folder", fix, TARGETS)
    if has_git:
        return Check("repository", "a git clone")
    if not no_scm:
        fix = "run `make setup`, or `dvc config --local core.no_scm true`"
        return Check(
            "repository", "an archive without .git, of which DVC is not told", fix, TARGETS
        )
    return Check("repository", "an unpacked archive; DVC works without git")


def writable(refused: Sequence[str]) -> Check:
    """The folders of results that cannot be written."""
    if refused:
        fix = "make them writable for this user, or copy the repository"
        return Check("write permission", f"none for {_some(refused)}", fix, TARGETS)
    return Check("write permission", "results, figures, paper, report and .dvc can be written")


def dvc_cache(recorded: int, present: int, cached_bytes: int) -> Check:
    """How many of the recorded outputs of the offline sources are in the workspace."""
    found = f"{present} of {recorded} recorded offline outputs are here"
    return Check("DVC", f"{found}; the cache holds {cached_bytes / 1e6:.0f} MB")


def latex(latexmk: bool, missing: Sequence[str]) -> Check:
    """latexmk, and the files of LaTeX that the report uses and that are not there."""
    fix = f"apt install {LATEX}"
    if not latexmk:
        return Check("LaTeX", "no latexmk: the papers stay LaTeX source", fix, (FULL,))
    if missing:
        return Check("LaTeX", f"latexmk, but no {_some(missing)}", fix, TARGETS)
    return Check("LaTeX", "latexmk and every package of the report")


def browser(missing: Sequence[str]) -> Check:
    """The programs that only tests use."""
    if missing:
        fix = "apt install chromium chromium-driver poppler-utils; without, their tests are skipped"
        return Check("tools of tests", f"no {_some(missing)}", fix)
    return Check("tools of tests", "chromium, chromedriver and pdftoppm")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
