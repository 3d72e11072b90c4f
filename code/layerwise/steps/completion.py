"""Completion of the command line in a shell, made by shtab from the parser itself."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path

import shtab

from layerwise.analyses import ANALYSES, TABLES
from layerwise.figures import papers
from layerwise.ledger.verdicts import VERDICTS
from layerwise.steps import draw, infer

# What is looked up when the key is pressed, in the folder that the verbs run in: ids of the judged
# claims, slugs of the registry. (tcsh has no functions: it completes neither.)
_IDS = r"""sed -n 's/^ *"id": "\(.*\)",$/\1/p' results/*/claims.json 2>/dev/null | sort -u"""
_SLUGS = r"""sed -n 's/^  \([a-z0-9-]*\):$/\1/p' models.yaml 2>/dev/null | sort -u"""
_LOOKED_UP = {
    "bash": """\
_layerwise_claims() {{ compgen -W "$({ids})" -- "$1"; }}
_layerwise_slugs() {{ compgen -W "$({slugs})" -- "$1"; }}
""",
    "zsh": """\
_layerwise_claims() {{ compadd -- ${{(f)"$({ids})"}}; }}
_layerwise_slugs() {{ compadd -- ${{(f)"$({slugs})"}}; }}
""",
    "tcsh": "",
}


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """What a shell reads to complete verbs, options, choices, files, slugs and claim ids.

    Args:
        parser: the command line's; its options are given their completions.
        shell: `bash`, `zsh` or `tcsh`.
    """
    (verbs,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    known = _known()
    for verb, sub in verbs.choices.items():
        for action in sub._actions:
            _complete(action, known.get((verb, action.dest)))
    lookups = _LOOKED_UP[shell].format(ids=_IDS, slugs=_SLUGS)
    return shtab.complete(parser, shell, preamble=lookups)


def _known() -> dict[tuple[str, str], Collection[str]]:
    """Values by verb and option; the parser does not list them: they come with heavy imports."""
    return {
        # a verdict of two words would need quotes, which completion does not write
        ("claims", "verdict"): [verdict for verdict in VERDICTS if " " not in verdict],
        ("claims", "paper"): ("1", "2", "3"),
        ("infer", "analysis"): infer.ANALYSES,
        ("replay", "analysis"): (*TABLES, *ANALYSES),
        ("draw", "figure"): draw.FIGURES,
        ("redraw", "figure"): papers.FIGURES,
    }


def _complete(action: argparse.Action, known: Collection[str] | None) -> None:
    if known is not None:
        action.choices = list(known)
    elif action.type is Path or action.dest in ("model", "mirror"):
        action.complete = shtab.FILE  # type: ignore[attr-defined]
    elif action.dest in ("key", "slug", "claim"):
        name = "_layerwise_claims" if action.dest == "claim" else "_layerwise_slugs"
        action.complete = {"bash": name, "zsh": name}  # type: ignore[attr-defined]
