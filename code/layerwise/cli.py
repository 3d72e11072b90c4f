"""The command line: `layerwise VERB`. Exit code 0: done; 2: a rule was broken; 130: Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from layerwise.errors import LayerwiseError

SOURCES = ("published", "mini", "full")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        message = options.run(options)
    except LayerwiseError as error:
        print(f"layerwise {options.verb}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nlayerwise {options.verb}: interrupted; run it again to go on", file=sys.stderr)
        return 130
    try:
        print(message, flush=True)
    except BrokenPipeError:  # the reader of a list, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _params(options: argparse.Namespace) -> dict[str, Any]:
    path: Path = options.params
    if not path.is_file():
        raise LayerwiseError(f"{path}: no such file; run from the repository or give --params")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="layerwise",
        description="Recompute the numbers of the transformer-dynamics papers, or measure them "
        "on your own model.",
        epilog="Run `layerwise VERB --help` for a verb. The pipeline itself is `make reproduce`.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, run: Callable[[argparse.Namespace], str], text: str) -> Any:
        sub = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        sub.set_defaults(run=run)
        return sub

    _add_own_model(verb)
    _add_reading(verb)
    _add_data(verb)
    _add_stages(verb)
    return parser


def _add_own_model(verb: Callable[..., Any]) -> None:
    sub = verb("analyze", _analyze, "the papers' analyses on your own model and statement pairs")
    sub.add_argument("--model", required=True, help="a checkpoint folder, or a hub id")
    sub.add_argument("--revision", help="commit of the hub id (40 hexadecimal digits)")
    sub.add_argument("--pairs", required=True, type=Path, help='{"category": {"pairs": [[A, B]]}}')
    sub.add_argument(
        "--prompts", required=True, type=Path, help="a JSON list of texts, or prompts.json"
    )
    sub.add_argument("--out", required=True, type=Path, help="folder of the result files")
    sub.add_argument("--dtype", default="float32", choices=("float32", "float16", "bfloat16"))
    sub.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, or auto (several GPUs)")
    sub.add_argument("--layers", type=_layers, help="e.g. 0,6,12; default: every 4th and the last")
    sub.add_argument("--seed", type=_seed, default=42, help="of every resample (default 42)")
    sub = verb("scaling", _scaling, "compare the layer curves of several `analyze` folders")
    sub.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    sub.add_argument("--out", type=Path, default=Path(), help="folder of scaling.json")


def _add_reading(verb: Callable[..., Any]) -> None:
    sub = verb("trace", _trace, "where one number comes from: printed, recomputed, verdict, inputs")
    sub.add_argument("claim", metavar="CLAIM_ID")
    _add_source(sub)
    sub.add_argument("--json", action="store_true", help="print JSON")
    sub = verb("claims", _claims, "list the claims")
    sub.add_argument("--verdict", help="e.g. differs")
    sub.add_argument("--paper", type=int, help="1, 2 or 3")
    _add_source(sub)
    sub.add_argument("--json", action="store_true", help="print JSON")
    sub = verb("models", _models, "the papers' models: memory, gate, revision, cached or not")
    _paths(sub, models="models.yaml")
    sub.add_argument("--tflops", type=float, help="matrix rate for the estimate of time")
    sub.add_argument("--json", action="store_true", help="print JSON")
    sub = verb("summary", _summary, "the table of verdicts per paper")
    sub.add_argument("sources", nargs="+", choices=SOURCES)
    sub.add_argument("--results", type=Path, default=Path("results"))


def _add_source(sub: Any) -> None:
    sub.add_argument("--source", default="published", choices=SOURCES)
    sub.add_argument("--results", type=Path, default=Path("results"))


def _add_data(verb: Callable[..., Any]) -> None:
    mirror = "folder or address that stands in for upstream (also: LAYERWISE_MIRROR)"
    sub = verb("fetch", _fetch, "download the statement pairs and prompts, checked by sha256")
    sub.add_argument("--mirror", help=mirror)
    sub.add_argument("--out", type=Path, default=Path("data"))
    sub = verb("transcribe", _transcribe, "published/ from upstream's result files")
    sub.add_argument("--mirror", help=mirror)
    sub.add_argument("--check", action="store_true", help="compare only, write nothing")
    sub.add_argument("--out", type=Path, default=Path("published"))


def _add_stages(verb: Callable[..., Any]) -> None:
    sub = verb("preflight", _preflight, "can the full reproduction run here?")
    _paths(sub, models="models.yaml", data="data", out=None, params="params.yaml")
    sub = verb("build", _build, "build the tiny random-weight checkpoints of source mini")
    _paths(sub, models="models.yaml", pairs=None, prompts=None, out=None)
    sub = verb("extract", _extract, "hidden states of a registered model")
    sub.add_argument("model", metavar="SLUG", help="a slug, or an extraction with its own settings")
    sub.add_argument("--checkpoints", type=Path, help="folder of built checkpoints (source mini)")
    sub.add_argument("--device", help="default: cuda, for built checkpoints cpu")
    _paths(sub, models="models.yaml", pairs=None, prompts=None, out=None, params="params.yaml")
    sub = verb("survey", _survey, "every study of one model: gains, spectral norms, sheaf traces")
    sub.add_argument("model", metavar="SLUG")
    sub.add_argument("--device", help="default: cuda")
    _paths(sub, models="models.yaml", prompts="data/prompts.json", published="published", out=None)
    _paths(sub, params="params.yaml")
    sub = verb("rehearse", _rehearse, "every study on tiny random-weight twins of all models")
    _paths(sub, models="models.yaml", pairs=None, prompts=None, published="published", out=None)
    _paths(sub, params="params.yaml")
    sub = verb("measure", _measure, "values from hidden states")
    sub.add_argument("--layer-step", type=int, help="instead of params.yaml's (Gemma-2B: 2)")
    _paths(sub, states=None, pairs=None, out=None, params="params.yaml")
    sub = verb("assemble", _assemble, "what all models gave, in the published places")
    _paths(sub, surveys=None, values=None, pairs=None, published="published", out=None)
    _paths(sub, params="params.yaml")
    sub = verb("derive", _derive, "statistics that follow from the assembled measurements")
    _paths(sub, measured=None, published="published", out=None, params="params.yaml")
    sub = verb("sensitivity", _sensitivity, "which claims survive another choice")
    _paths(sub, values=None, measured=None, out=None, params="params.yaml")
    sub = verb("infer", _infer, "statistics from values")
    sub.add_argument("analysis")
    sub.add_argument("values", nargs="+", type=Path, metavar="VALUES")
    _paths(sub, out=None, params="params.yaml")
    sub = verb("replay", _replay, "statistics that follow from the published numbers")
    sub.add_argument("analysis")
    _paths(sub, published="published", out=None, params="params.yaml")
    sub = verb("judge", _judge, "verdicts: the ledger against the statistics")
    sub.add_argument("source", choices=SOURCES)
    _paths(sub, claims="claims", published="published", models="models.yaml")
    _paths(sub, statistics=None, out=None)
    sub = verb("draw", _draw, "one figure, as PDF and PNG")
    sub.add_argument("figure")
    sub.add_argument("source", choices=SOURCES)
    _paths(sub, statistics=None, models="models.yaml", out=None)
    sub = verb("redraw", _redraw, "one of the papers' own figures, from the published numbers")
    sub.add_argument("figure")
    _paths(sub, published="published", out=None)
    sub = verb("render", _render, "the report as LaTeX, every number from the ledger")
    sub.add_argument("source", choices=SOURCES)
    _paths(sub, claims=None, sensitivity=None, figures=None, templates="paper", out=None)
    _paths(sub, params="params.yaml")
    sub = verb("report", _report, "the report as one HTML page: claims, figures, findings")
    sub.add_argument("source", choices=SOURCES)
    _paths(sub, claims=None, statistics=None, figures=None, published="published")
    _paths(sub, templates="report/templates", out=None)
    sub = verb("typeset", _typeset, "the report as PDF (needs latexmk)")
    _paths(sub, tex=None, out=None)


def _paths(sub: Any, **defaults: str | None) -> None:
    for name, default in defaults.items():
        if default is None:
            sub.add_argument(f"--{name}", type=Path, required=True)
        else:
            sub.add_argument(f"--{name}", type=Path, default=Path(default))


def _layers(text: str) -> list[int]:
    try:
        return [int(layer) for layer in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"layers are whole numbers separated by commas, found {text!r}"
        ) from None


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(
            f"a seed is a whole number from 0 to 2**32 - 1, found {text!r}"
        )
    return int(text)


# Stages are imported when they run: reading a claim needs neither numpy nor torch.


def _analyze(options: argparse.Namespace) -> str:
    from layerwise.stages import analyze

    return analyze.run(
        options.model,
        options.pairs,
        options.prompts,
        options.out,
        revision=options.revision,
        dtype=options.dtype,
        device=options.device,
        layers=options.layers,
        seed=options.seed,
    )


def _scaling(options: argparse.Namespace) -> str:
    from layerwise.stages import scaling

    return scaling.run(options.folders, options.out)


def _trace(options: argparse.Namespace) -> str:
    from layerwise.stages.trace import as_text, trace

    record = trace(options.claim, options.source, options.results)
    return json.dumps(record, indent=1, ensure_ascii=False) if options.json else as_text(record)


def _claims(options: argparse.Namespace) -> str:
    from layerwise.stages.trace import as_lines, list_claims

    records = list_claims(options.source, options.results, options.verdict, options.paper)
    return json.dumps(records, indent=1, ensure_ascii=False) if options.json else as_lines(records)


def _models(options: argparse.Namespace) -> str:
    from layerwise.stages import list_models

    return list_models.run(options.models, options.json, options.tflops)


def _summary(options: argparse.Namespace) -> str:
    from layerwise.stages import summary

    return summary.run(options.sources, options.results, Path("figures"), Path("paper"))


def _fetch(options: argparse.Namespace) -> str:
    from layerwise import upstream

    upstream.fetch(options.out, options.mirror)
    return f"statement pairs and prompts in {options.out}, as pinned"


def _transcribe(options: argparse.Namespace) -> str:
    from layerwise.stages import transcribe

    return transcribe.run(options.out, options.mirror, options.check)


def _preflight(options: argparse.Namespace) -> str:
    from layerwise.stages import preflight

    return preflight.run(options.models, options.data, options.out, _params(options)["full"])


def _build(options: argparse.Namespace) -> str:
    from layerwise.stages import build

    return build.run(options.models, options.pairs, options.prompts, options.out)


def _extract(options: argparse.Namespace) -> str:
    from layerwise.stages import extract

    return extract.run(
        options.model,
        options.models,
        options.checkpoints,
        options.pairs,
        options.prompts,
        options.out,
        _params(options),
        options.device,
    )


def _survey(options: argparse.Namespace) -> str:
    from layerwise.stages import survey

    return survey.run(
        options.model,
        options.models,
        options.prompts,
        options.published,
        options.out,
        _params(options)["full"],
        options.device,
    )


def _rehearse(options: argparse.Namespace) -> str:
    from layerwise.stages import rehearse

    return rehearse.run(
        options.models,
        options.pairs,
        options.prompts,
        options.published,
        options.out,
        _params(options),
    )


def _measure(options: argparse.Namespace) -> str:
    from layerwise.stages import measure

    params = _params(options)["measure"]
    if options.layer_step is not None:
        params["layer_step"] = options.layer_step
    return measure.run(options.states, options.pairs, options.out, params)


def _assemble(options: argparse.Namespace) -> str:
    from layerwise.stages import assemble

    return assemble.run(
        options.surveys,
        options.values,
        options.pairs,
        options.published,
        options.out,
        _params(options)["infer"],
    )


def _derive(options: argparse.Namespace) -> str:
    from layerwise.stages import derive

    return derive.run(options.measured, options.published, options.out, _params(options)["infer"])


def _sensitivity(options: argparse.Namespace) -> str:
    from layerwise.stages import sensitivity

    params = _params(options)["infer"]
    return sensitivity.run(options.values, options.measured, options.out, params)


def _infer(options: argparse.Namespace) -> str:
    from layerwise.stages import infer

    return infer.run(options.analysis, options.values, options.out, _params(options)["infer"])


def _replay(options: argparse.Namespace) -> str:
    from layerwise.stages import replay

    return replay.run(options.analysis, options.published, options.out, _params(options)["infer"])


def _judge(options: argparse.Namespace) -> str:
    from layerwise.stages import judge

    return judge.run(
        options.source,
        options.claims,
        options.published,
        options.models,
        options.statistics,
        options.out,
    )


def _draw(options: argparse.Namespace) -> str:
    from layerwise.stages import draw

    return draw.run(options.figure, options.source, options.statistics, options.models, options.out)


def _redraw(options: argparse.Namespace) -> str:
    from layerwise.stages import redraw

    return redraw.run(options.figure, options.published, options.out)


def _render(options: argparse.Namespace) -> str:
    from layerwise.stages import render

    return render.run(
        options.source,
        options.claims,
        options.sensitivity,
        options.figures,
        options.templates,
        options.out,
        _params(options),
    )


def _report(options: argparse.Namespace) -> str:
    from layerwise.stages import report

    return report.run(
        options.source,
        options.claims,
        options.statistics,
        options.figures,
        options.published,
        options.templates,
        options.out,
    )


def _typeset(options: argparse.Namespace) -> str:
    from layerwise.stages import typeset

    return typeset.run(options.tex, options.out)


if __name__ == "__main__":
    sys.exit(main())
