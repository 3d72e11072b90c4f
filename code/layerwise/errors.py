"""The one error a user of this package should ever see, and what others raise as one.

The hub's answers alone have a translation of their own (`models.hub_answers`).
"""

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import TracebackType

INTERRUPTED = "interrupted; run it again to go on"
LONGEST = 4000  # characters of a message
ROOM = "use a smaller model, fewer texts, or a larger machine (`ulimit -v` may limit this shell)"
# User and password in an address, with or without its scheme, and values of a query.
_PASSWORD = re.compile(r"(?<=//)[^\s@]*@|(?<![\w/])[^\s:/@'\"(]+:(?!//)[^\s@]+@(?=[\w\[])")
_QUERY = re.compile(r"(//[^\s?'\"]*\?)[^\s'\")]+")
_FIXES = {
    "make room, or name a place on another disk, then run it again": (
        {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    ),
    "make it readable, and its folder writable, for this user, or name another place": (
        {errno.EACCES, errno.EPERM, errno.EROFS}
    ),
    "name a shorter path": {errno.ENAMETOOLONG},
    "a link leads in a circle, or stands where a file is written: name the place itself": (
        {errno.ELOOP}
    ),
    "something else has that name: move it away, or name another place": (
        {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY}
    ),
    "check the path": {errno.ENOENT},
}


# What `pip install .` leaves out: the packages by the extra that brings them.
EXTRAS = {
    "models": ("torch", "transformers", "accelerate", "tokenizers"),
    "pipeline": ("dvc", "pathspec"),
}
SETUP = {"models": "make setup-models", "pipeline": "make setup"}


class LayerwiseError(Exception):
    """A rule was broken: the message states the rule, what came, and the likely fix.

    The command line prints the message without a traceback and exits with code 2.
    """

    def __init__(self, message: object) -> None:
        said = without_password(str(message))
        if len(said) > LONGEST:  # it quotes a key of megabytes; the fix stands last
            said = f"{said[: LONGEST // 2]} ... {said[-LONGEST // 4 :]}"
        super().__init__(said)


class TryAgainError(LayerwiseError):
    """An obstacle that may be gone another time: no network, a full disk."""


class UnreachedError(TryAgainError):
    """There is no way to the hub: to ask it of another model is no use."""


class TextError(LayerwiseError):
    """A text cannot be used: statement or prompt `number`, counted from 0 in the order given."""

    def __init__(self, message: str, kind: str, number: int) -> None:
        super().__init__(message)
        self.kind, self.number = kind, number


class Faults:
    """The faults of what is asked for at once, so that all of them are told at once."""

    def __init__(self) -> None:
        self.errors: list[LayerwiseError] = []

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Inside the block, an error ends the block alone."""
        try:
            yield
        except LayerwiseError as error:
            self.errors.append(error)

    def raise_all(self) -> None:
        """Raise what was noted.

        Raises:
            LayerwiseError: the one error as it was, or several in one, a line each.
        """
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise LayerwiseError("\n".join(map(str, self.errors)))


def require_extra(extra: str) -> None:
    """Refuse what needs the packages of an extra where one of them is not installed.

    Raises:
        LayerwiseError: naming the package, and how to install it.
    """
    for package in EXTRAS[extra]:
        if find_spec(package) is None:
            raise LayerwiseError(not_installed(package))


def not_installed(package: str) -> str:
    """Return what to do about a package that is not there."""
    package = package.partition(".")[0]
    extra = next((name for name, packages in EXTRAS.items() if package in packages), None)
    if extra is None:
        return f"the package {package} is not installed; install layerwise again: pip install ."
    return (
        f"this needs the package {package}, which is not installed; run `{SETUP[extra]}` in a "
        f"clone of the repository, or `pip install '.[{extra}]'` there for an environment of your "
        "own"
    )


def say_uncaught(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Say in a sentence that a module hides one that is needed; else show the traceback.

    A `sys.excepthook`: what a foreign module of a package's name breaks may be anything.
    """
    if (hidden := hidden_module()) is None:
        sys.__excepthook__(kind, error, traceback)
        return
    name, file = hidden
    print(
        f"layerwise: the module {name} must be the installed one, found {file} in its place "
        f"({kind.__name__}: {error}); rename that file, leave its folder, or unset PYTHONPATH",
        file=sys.stderr,
    )


def hidden_module() -> tuple[str, str] | None:
    """Return name and file of a module of the working folder or PYTHONPATH that hides another."""
    folders = [os.getcwd(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    theirs = set(map(os.path.realpath, folders))
    others = [entry for entry in sys.path if os.path.realpath(entry) not in theirs]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or "." in name or name in ("__main__", __package__):
            continue
        is_package = os.path.basename(file).startswith("__init__.")
        folder = os.path.dirname(os.path.dirname(file) if is_package else file)
        if os.path.realpath(folder) in theirs and PathFinder.find_spec(name, others):
            return name, file
    return None


def require_docstrings() -> None:
    """Refuse a Python that leaves out docstrings, of which words and captions are made."""
    if sys.flags.optimize > 1:
        raise LayerwiseError(
            "words and captions are docstrings, which this Python was told to leave out; unset "
            "PYTHONOPTIMIZE, or start it without -OO"
        )


def without_password(text: str) -> str:
    """Return the text without user and password of any address, and without what a query says."""
    return _QUERY.sub(r"\1...", _PASSWORD.sub("...@", text))


def address_shown(address: str) -> str:
    """Return what may be shown of an address: nothing before its last @, and no query.

    A password may hold any sign, a space and a slash too.
    """
    scheme, there, rest = address.partition("//") if "//" in address else ("", "", address)
    _, user, host = rest.rpartition("@")
    return scheme + there + (user and "...@") + host.partition("?")[0]


@contextlib.contextmanager
def reword_errors(place: object, problem: str, fix: str) -> Iterator[None]:
    """Inside the block, whatever libraries raise of what is read becomes a sentence."""
    try:
        yield
    except (LayerwiseError, MemoryError):  # memory is no fault of what is read
        raise
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise LayerwiseError(f"{place}: {problem} ({said:.300}); {fix}") from None


@contextlib.contextmanager
def prefix_errors(place: str) -> Iterator[None]:
    """Inside the block, an error names the place that it is about."""
    try:
        yield
    except LayerwiseError as error:
        raise LayerwiseError(f"{place}: {error}") from None


@contextlib.contextmanager
def system_in_words() -> Iterator[None]:
    """Inside the block, what the operating system refuses is a `LayerwiseError`."""
    try:
        yield
    except OSError as error:
        raise LayerwiseError(refused(error)) from error


def refused(error: OSError) -> str:
    """Return what the operating system refused as a sentence: the place, its words, the fix."""
    fixes = [fix for fix, numbers in _FIXES.items() if error.errno in numbers]
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}; {(*fixes, 'mend that, then run it again')[0]}"
