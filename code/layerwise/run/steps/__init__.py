"""The pipeline's stages, and verbs that print: each reads files, calls one noun, writes files.

A stage is `python -m layerwise.run.steps.NAME`, with the arguments of its `run`; those that are
annotated `Place` are given by name. The stage `run` starts all others. Nothing but the command
line imports this folder, and no step imports a step: what two of them need, and what one computes,
stands elsewhere.
"""

import contextlib
import functools
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from layerwise.errors import (
    INTERRUPTED,
    ROOM,
    LayerwiseError,
    hidden_module,
    not_installed,
    refused,
    require_docstrings,
)
from layerwise.files import from_environment, is_first_process, revealed

Place = Annotated[Path, typer.Option()]  # a file or a folder: `--out DIR`
LAYOUT = "\n\t"  # of a text: these control characters may be printed
# Gives what to print, a text or what rich prints, and perhaps an exit code.
Run = Callable[..., Any]


def program(run: Run) -> None:
    """Run a stage with the arguments of the command line."""
    module = sys.modules["__main__"].__spec__
    name = "" if module is None else module.name.rpartition(".")[2]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    says = (inspect.getdoc(run) or "").partition("\n\nRaises:")[0]  # for Python's readers
    app.command(help=says)(answering(name, run))
    with sentences(f"layerwise {name}"):
        app(prog_name=f"python -m layerwise.run.steps.{name}")


def answering(name: str, run: Run) -> Callable[..., None]:
    """`run` as a program: what it gives is printed.

    What is printed may quote a text of somebody else's: none may command the terminal.
    """

    @functools.wraps(run)
    def answer(*arguments: Any, **options: Any) -> None:
        code = 0
        with sentences(f"layerwise {name}"):
            said = run(*arguments, **options)
            shown, code = said if isinstance(said, tuple) else (said, 0)
            if is_first_process():
                if isinstance(shown, str):
                    print(revealed(shown, LAYOUT), flush=True)
                else:
                    import_module("layerwise.present.terminal").show(shown)
        raise SystemExit(code)

    return answer


@contextlib.contextmanager
def sentences(name: str) -> Iterator[None]:
    """What goes wrong in the block ends the program in a sentence, never in a traceback.

    Exit code 2: a rule was broken, or the operating system refused; 130: Ctrl-C, or SIGTERM, by
    which a cluster ends a job.
    """
    ended = _on_sigterm()
    with contextlib.suppress(AttributeError):  # not where a test keeps what is printed
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        require_docstrings()
        from_environment("SOURCE_DATE_EPOCH", 0, sys.maxsize)  # libraries read it
        yield
        return
    except BrokenPipeError:  # the reader of a list, say `head`, has seen enough
        said, code = "", 0
    except LayerwiseError as error:
        said, code = str(error), 2
    except ModuleNotFoundError as error:  # of an extra: nothing else is imported late
        if error.name is None or error.name.startswith("layerwise") or hidden_module():
            raise
        said, code = not_installed(error.name), 2
    except OSError as error:
        said, code = refused(error), 2
    except MemoryError:
        said, code = f"memory ran out; {ROOM}", 2
    except KeyboardInterrupt:
        said, code = INTERRUPTED, 130
    finally:
        ended()
    _tell(name, said, interrupted=code == 130)
    if code:
        raise SystemExit(code)


def _tell(name: str, said: str, *, interrupted: bool) -> None:
    """Print a sentence on stderr, and leave nothing in a stream that cannot be written."""
    said = said.removeprefix(f"{name.rpartition(' ')[2]}: ")  # of Python's function of that name
    with contextlib.suppress(OSError):
        if interrupted:
            print(file=sys.stderr)  # the terminal shows ^C
        if said:
            print(f"{name}: {revealed(said, LAYOUT)}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # closed or full: what is left of it would be tried again at the very end
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _on_sigterm() -> Callable[[], object]:
    """From now on SIGTERM is like Ctrl-C, until what is given is called; not in a thread."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL or (
        threading.current_thread() is not threading.main_thread()
    ):
        return lambda: None
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Inside the block, an error says that measuring is not possible here, and what is."""
    try:
        yield
    except LayerwiseError as error:
        raise LayerwiseError(
            f"nothing can be measured here: {error}; `make reproduce` (the published numbers) and "
            "`make rehearse` (random weights) run here"
        ) from None
