"""The pipeline's stages and the reader's verbs: each reads files, calls one noun, writes files.

A stage is `python -m layerwise.steps.NAME`, with the arguments of its `run`; those that are
annotated `Place` are given by name. The stage `run` starts all others. No room imports this one.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from layerwise.errors import LayerwiseError
from layerwise.files import revealed

Source = Literal["published", "measured"]
Place = Annotated[Path, typer.Option()]  # a file or a folder: `--out DIR`
LAYOUT = "\n\t"  # of a text: these control characters may be printed
Run = Callable[..., "str | tuple[str, int]"]  # gives what to print, and perhaps an exit code


def program(run: Run) -> None:
    """Run a stage with the arguments of the command line."""
    module = sys.modules["__main__"].__spec__
    name = "" if module is None else module.name.rpartition(".")[2]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(answering(name, run))
    app(prog_name=f"python -m layerwise.steps.{name}")


def answering(name: str, run: Run) -> Callable[..., None]:
    """`run` as a program: what it gives is printed; exit code 2: a rule was broken, 130: Ctrl-C.

    What is printed may quote a text of somebody else's: none may command the terminal.
    """

    @functools.wraps(run)
    def answer(*arguments: Any, **options: Any) -> None:
        try:
            said = run(*arguments, **options)
        except LayerwiseError as error:
            print(f"layerwise {name}: {revealed(str(error), LAYOUT)}", file=sys.stderr)
            raise SystemExit(2) from None
        except KeyboardInterrupt:
            print(f"\nlayerwise {name}: interrupted; run it again to go on", file=sys.stderr)
            raise SystemExit(130) from None
        text, code = said if isinstance(said, tuple) else (said, 0)
        try:
            print(revealed(text, LAYOUT), flush=True)
        except BrokenPipeError:  # the reader of a list, say `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(code)

    return answer


def choices(path: Path, section: str) -> dict[str, Any]:
    """A section of params.yaml: what the stage of that name was left to choose.

    Raises:
        LayerwiseError: if there is no such file or section.
    """
    import yaml

    if not path.is_file():
        raise LayerwiseError(f"{path}: no such file; run from the repository or give --params")
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    if section not in document:
        raise LayerwiseError(f"{path}: there is no section {section!r}; restore it")
    return document[section]


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
