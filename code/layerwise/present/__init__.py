"""Verdicts, statistics and figures -> what people read; every text of others is escaped.

values, records, search, pictures           what every page shows: read and checked
elements, range_picture                     estimates on the range of a claim, drawn
strip, strip_picture                        the central claims at a glance: text, SVG, PDF
html, choices, page                         the HTML page: one file, offline
latex, typed_numbers, paper, typeset, pdfs  the LaTeX paper: templates, the gate, folder, PDFs
tables, claim_list, run_summary             tables in Python and CSV; claims on the terminal
claim_table                                 `layerwise.claims`: the papers' claims as a table
settling                                    what would settle the open claims, for the terminal
trace                                       one claim: its rule, its inputs, its number computed now
figures                                     what all figures share: style, SVG, files
publishing                                  page and LaTeX of a paper of one's own
terminal                                    tables and colours, plain where nobody looks
"""

from importlib import import_module

TYPE_CHECKING = False  # for type checkers it is true; `typing` itself takes long to import
if TYPE_CHECKING:
    from typing import Any

    from layerwise.present.publishing import write_latex, write_page

__all__ = ["write_latex", "write_page"]


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module 'layerwise.present' has no attribute {name!r}")
    return getattr(import_module("layerwise.present.publishing"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
