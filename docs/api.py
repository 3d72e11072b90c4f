#!/usr/bin/env python3
"""Write docs/api.md: what `import layerwise` gives, from signatures and docstrings.

python docs/api.py      (or `make docs`)
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import layerwise

ROOT = Path(__file__).resolve().parent.parent
HEAD = """# In Python

<!-- Written by `make docs` from the docstrings of the package; do not edit. -->

`import layerwise` takes no time; what is used is imported then. An example:
`examples/own_model.ipynb`.
"""


def shown(name: str, of: Any) -> str:
    """A heading, the signature and the docstring of a function, a method or a property."""
    function = getattr(of, "func", getattr(of, "fget", of))
    signature = str(inspect.signature(function)) if callable(of) else ""
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
    signature = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", signature)  # Path, not pathlib.Path
    return f"```\n{name}{signature}\n\n{inspect.getdoc(function)}\n```\n"


def members(of: type) -> Iterator[tuple[str, Any]]:
    """What a class shows of its own, in the order of its source."""
    for name, member in vars(of).items():
        is_ours = inspect.isfunction(member) or hasattr(member, "fget") or hasattr(member, "func")
        if is_ours and not name.startswith("_"):
            yield name, member


def page() -> str:
    """The text of docs/api.md."""
    parts = [HEAD]
    for name in sorted(layerwise.__all__, key=str.swapcase):
        of = getattr(layerwise, name)
        parts.append(f"## {name}\n")
        if not inspect.isclass(of):
            parts.append(shown(name, of))
            continue
        parts.append(f"```\n{inspect.getdoc(of)}\n```\n")
        parts += [shown(f"{name}.{member}", one) for member, one in members(of)]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "api.md").write_text(page(), encoding="utf-8")
