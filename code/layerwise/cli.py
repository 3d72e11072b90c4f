"""The command line: `layerwise VERB`. Exit code 0: done; 2: a rule was broken; 130: Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from layerwise.errors import LayerwiseError
from layerwise.files import revealed
from layerwise.pages.own_model import OF_WEIGHTS
from layerwise.steps.verbs import SOURCES, Run, Verb, add_path, add_paths, add_stages, stage

SHELLS = ("bash", "zsh", "tcsh")
DTYPES = ("float32", "float16", "bfloat16")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        said = options.run(options)
    except LayerwiseError as error:
        print(f"layerwise {options.verb}: {_safe(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nlayerwise {options.verb}: interrupted; run it again to go on", file=sys.stderr)
        return 130
    message, code = said if isinstance(said, tuple) else (said, 0)
    try:
        print(_safe(message), flush=True)
    except BrokenPipeError:  # the reader of a list, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _safe(text: str) -> str:
    """What is printed may quote a text of somebody else's: none may command the terminal."""
    return revealed(text, keep="\n\t")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="layerwise",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Recompute the numbers of the transformer-dynamics papers, or measure them "
        "on your own model.",
        epilog="Run `layerwise VERB --help` for a verb, `layerwise doctor` for what can run here.\n"
        "The pipeline itself is `make reproduce`.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, run: Run, text: str, example: str = "") -> Any:
        sub = verbs.add_parser(
            name,
            help=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            description=textwrap.fill(f"{text[0].upper()}{text[1:]}.", 80),
            epilog=f"example:\n{textwrap.indent(example, '  ')}" if example else None,
        )
        sub.set_defaults(run=run)
        return sub

    _add_own_model(verb)
    _add_reading(verb)
    _add_data(verb)
    add_stages(verb)
    return parser


def _add_own_model(verb: Verb) -> None:
    sub = verb(
        "analyze",
        stage("analyze"),
        "the papers' analyses on your own model and statement pairs",
        "layerwise analyze --model gpt2 --pairs pairs.json --prompts prompts.json --out out/gpt2",
    )
    sub.add_argument("--model", required=True, help="a checkpoint folder, or a hub id")
    sub.add_argument("--revision", help="commit of the hub id (40 hexadecimal digits)")
    sub.add_argument("--pairs", required=True, type=Path, help='{"category": {"pairs": [[A, B]]}}')
    sub.add_argument(
        "--prompts", required=True, type=Path, help="a JSON list of texts, or prompts.json"
    )
    sub.add_argument("--out", required=True, type=Path, help="folder of the result files")
    sub.add_argument("--dtype", default="float32", choices=DTYPES, help="default: float32")
    sub.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, or auto (several GPUs)")
    sub.add_argument("--layers", type=_layers, help="e.g. 0,6,12; default: every 4th and the last")
    sub.add_argument("--seed", type=_seed, default=42, help="of every resample (default 42)")
    sub.add_argument(
        "--without",
        type=_left_out,
        default=(),
        metavar="NAMES",
        help="leave out gains, spectral or both, e.g. spectral,gains: the spectral norms of "
        "billions of parameters take many minutes",
    )
    sub = verb(
        "scaling",
        stage("scaling"),
        "compare the layer curves of several `analyze` folders",
        "layerwise scaling out/small out/large --out out",
    )
    sub.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="an `analyze --out`")
    add_path(sub, "out", ".", "folder of scaling.json")


def _add_reading(verb: Verb) -> None:
    sub = verb(
        "trace",
        _trace,
        "where one number comes from: printed, recomputed, verdict, inputs",
        "layerwise trace p2.nb003.6.9b.global.ci_lower",
    )
    sub.add_argument("claim", metavar="CLAIM_ID", help="`layerwise claims` lists all of them")
    _add_records(sub)
    sub = verb("claims", _claims, "list the claims", "layerwise claims --paper 2 --verdict differs")
    sub.add_argument("--verdict", help="e.g. differs")
    sub.add_argument("--paper", type=int, help="1, 2 or 3")
    sub.add_argument("--analysis", help="e.g. validation; docs/claims.md lists them")
    _add_records(sub)
    text = "the papers' models: memory, gate, revision, cached or not"
    sub = verb("models", stage("list_models"), text)
    add_paths(sub, "models")
    sub.add_argument("--tflops", type=float, help="matrix rate for the estimate of time")
    _add_json(sub)
    sub = verb("summary", stage("summary"), "the table of verdicts per paper")
    sub.add_argument("sources", nargs="+", choices=SOURCES, help="judged sources")
    add_paths(sub, "results")
    sub.set_defaults(figures=Path("figures"), paper=Path("paper"))
    sub = verb(
        "doctor",
        stage("doctor"),
        "what can run here, and what is missing for the rest",
        "layerwise doctor\n\nExit code 0: `make reproduce` can run here; 2: it cannot.",
    )
    _add_json(sub)
    sub = verb(
        "completion",
        _completion,
        "a script with which a shell completes verbs, options, slugs and claims",
        "layerwise completion bash >~/.layerwise.sh\n"
        "echo 'source ~/.layerwise.sh' >>~/.bashrc\n\n"
        "zsh the same with ~/.zshrc, after compinit; tcsh with ~/.tcshrc. Slugs and claim ids are\n"
        "completed in the repository, the latter once the ledger is judged (`make reproduce`).",
    )
    sub.add_argument("shell", choices=SHELLS, help="the shell to write it for")


def _add_records(sub: Any) -> None:
    sub.add_argument(
        "--source", default="published", choices=SOURCES, help="of the claims; default: published"
    )
    add_paths(sub, "results")
    _add_json(sub)


def _add_json(sub: Any) -> None:
    sub.add_argument("--json", dest="as_json", action="store_true", help="print JSON")


def _add_data(verb: Verb) -> None:
    mirror = "folder or address that stands in for upstream (also: LAYERWISE_MIRROR)"
    sub = verb("fetch", _fetch, "download the statement pairs and prompts, checked by sha256")
    sub.add_argument("--mirror", help=mirror)
    add_path(sub, "out", "data", "folder of the pairs and prompts")
    sub = verb("transcribe", stage("transcribe"), "published/ from upstream's result files")
    sub.add_argument("--mirror", help=mirror)
    sub.add_argument("--check", action="store_true", help="compare only, write nothing")
    meaning = "folder of the published numbers"
    add_path(sub, "out", "published", meaning, dest="folder", metavar="OUT")


def _layers(text: str) -> list[int]:
    try:
        return [int(layer) for layer in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"layers are whole numbers separated by commas, found {text!r}"
        ) from None


def _left_out(text: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(OF_WEIGHTS)):
        raise argparse.ArgumentTypeError(
            f"what can be left out is {' and '.join(OF_WEIGHTS)}, found {unknown[0]!r}"
        )
    return names


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(
            f"a seed is a whole number from 0 to 2**32 - 1, found {text!r}"
        )
    return int(text)


def _trace(options: argparse.Namespace) -> str:
    from layerwise.steps.trace import as_text, trace

    record = trace(options.claim, options.source, options.results)
    return _json(record) if options.as_json else as_text(record)


def _claims(options: argparse.Namespace) -> str:
    from layerwise.steps.trace import as_lines, list_claims

    records = list_claims(
        options.source, options.results, options.verdict, options.paper, options.analysis
    )
    return _json(records) if options.as_json else as_lines(records)


def _completion(options: argparse.Namespace) -> str:
    from layerwise.steps.completion import script

    return script(_parser(), options.shell)


def _fetch(options: argparse.Namespace) -> str:
    from layerwise.inputs import upstream

    upstream.fetch(options.out, options.mirror)
    return f"statement pairs and prompts in {options.out}, as pinned"


def _json(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
