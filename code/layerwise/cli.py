"""The command line: `layerwise VERB`; what each exit code says stands in its help."""

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperGroup

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.steps import Run, Source, answering, sentences

GROUPS = OWN, NUMBERS, HERE = "Your own model", "The papers' numbers", "This machine"


class ByGroup(TyperGroup):
    """The verbs in their groups, as they are declared."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """For the help."""
        for group in GROUPS:
            of = {n: one for n, one in self.commands.items() if one.rich_help_panel == group}  # type: ignore[attr-defined]
            with formatter.section(group):
                formatter.write_dl([(n, one.get_short_help_str(70)) for n, one in of.items()])


app = typer.Typer(
    cls=ByGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Recompute the numbers of the transformer-dynamics papers, or measure them on your own "
    "model.",
    epilog="`layerwise VERB --help` is about one verb, `layerwise doctor` about what can run here. "
    "The pipeline itself is `make reproduce`. Exit code 0: done; 2: a rule was broken, and a "
    "sentence says which; 130: Ctrl-C.",
)


def _version(wanted: bool) -> bool:
    if wanted:
        print(f"layerwise {layerwise.__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _options(
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb."""
    try:
        with sentences("layerwise"):
            app(arguments, prog_name="layerwise")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def verb(group: str) -> Callable[[Run], Run]:
    """Make a function a verb of its name; what it returns is printed."""

    def made(run: Run) -> Run:
        app.command(rich_help_panel=group)(answering(run.__name__, run))
        return run

    return made


def module(name: str) -> Any:
    """A module of the package, imported when its verb runs: reading a claim needs no torch."""
    return import_module(f"layerwise.{name}")


def _layers(text: str) -> list[int]:
    try:
        return [int(layer) for layer in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"layers are whole numbers separated by commas, found {text!r}"
        ) from None


def _completed(incomplete: str) -> list[str]:
    """Ids of claims, for the shell."""
    with contextlib.suppress(LayerwiseError):  # the ledger was not judged yet
        records = module("pages.claim_list").list_claims("published", Path("results"))
        return [one["id"] for one in records if one["id"].startswith(incomplete)]
    return []


Json = Annotated[bool, Option("--json", help="Print JSON.")]
Of = Annotated[Source, Option(help="Which numbers the claims were held against.")]
Results = Annotated[Path, Option(help="The folder of the results.")]


@verb(OWN)
def analyze(
    model: Annotated[str, Option(help="A checkpoint folder, or a hub id.")],
    pairs: Annotated[
        str,
        Option(
            help='{"category": {"pairs": [[A, B], ...]}, ...} as JSON; category,a,b as .csv or '
            ".jsonl; or papers: the papers' own, fetched and checked."
        ),
    ],
    out: Annotated[Path, Option(help="The folder of the result files.")],
    prompts: Annotated[
        str | None,
        Option(
            help="For gains and anisotropy: a JSON list of texts, or prompts.json; prompt as .csv "
            "or .jsonl; or papers."
        ),
    ] = None,
    revision: Annotated[str | None, Option(help="Commit of the hub id (40 digits).")] = None,
    dtype: Literal["float32", "float16", "bfloat16"] = "float32",
    device: Annotated[str, Option(help="cpu, cuda, cuda:1, or auto (several GPUs).")] = "cpu",
    layers: Annotated[
        Any, Option(parser=_layers, help="E.g. 0,6,12; default: every 4th and the last.")
    ] = None,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="Of every resample.")] = 42,
    without: Annotated[
        str,
        Option(
            metavar="NAMES",
            help="Leave out gains, spectral or both, e.g. spectral,gains: the spectral norms of "
            "billions of parameters take many minutes.",
        ),
    ] = "",
    replicates: Annotated[
        int,
        Option(
            min=0,
            max=100,
            help="How often a model in 16 bits is measured again, with noise of "
            "the size of rounding: how far every answer may move.",
        ),
    ] = 5,
    control: Annotated[
        int,
        Option(
            min=0,
            max=100,
            help="How many draws of random weights are asked the same: what they "
            "answer too is no evidence. Each takes as long as the model.",
        ),
    ] = 0,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check everything, say what it takes, compute nothing.")
    ] = False,
) -> str:
    """Run the papers' analyses on your own model and statement pairs."""
    left_out = without.split(",") if without else []
    asked: dict[str, Any] = {"out": out, "revision": revision, "dtype": dtype, "device": device,
                             "layers": layers, "seed": seed, "without": left_out,
                             "replicates": replicates, "control": control}  # fmt: skip
    if dry_run:
        return module("reader.plan").plan(model, pairs, prompts, asked)
    return layerwise.analyze(model, pairs, prompts, **asked).summary


@verb(OWN)
def scaling(
    folders: Annotated[list[Path], Argument(metavar="DIR...", help="Each an `analyze --out`.")],
    out: Annotated[Path, Option(help="The folder of scaling.json.")] = Path(),
    as_json: Json = False,
) -> str:
    """Compare the layer curves of several `analyze` folders."""
    result = layerwise.compare(folders, out)
    return _json(result.documents["scaling"]) if as_json else result.summary


@verb(NUMBERS)
def claims(
    verdict: Annotated[str | None, Option(help="E.g. differs.")] = None,
    paper: Annotated[int | None, Option(help="1, 2 or 3.")] = None,
    analysis: Annotated[str | None, Option(help="E.g. validation; see docs/claims.md.")] = None,
    search: Annotated[str | None, Option(help='E.g. "r = -0.874", "p<0.001", "Table 3".')] = None,
    source: Of = "published",
    results: Results = Path("results"),
    as_json: Json = False,
    as_csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
) -> str:
    """List the claims: quantity, place, printed, recomputed, verdict."""
    if as_csv and as_json:
        raise typer.BadParameter("a list is printed as JSON or as CSV, found --json and --csv")
    asked: Any = {"verdict": verdict, "paper": paper, "analysis": analysis, "search": search}
    if as_csv:
        return layerwise.claims(source, results, **asked).csv.rstrip("\n")
    listed = module("pages.claim_list")
    found = listed.list_claims(source, results, **asked)
    return _json(found) if as_json else listed.as_table(found)


@verb(NUMBERS)
def headlines(
    source: Of = "published", results: Results = Path("results"), as_json: Json = False
) -> str:
    """The papers' central claims: what holds, what does not, and why."""
    judged = module("ledger.records").read_judged(results / source / "claims.json", source)
    graded = judged["headlines"]
    return _json(graded) if as_json else module("pages.claim_list").headlines_as_text(graded)


@verb(NUMBERS)
def trace(
    claim: Annotated[
        str, Argument(help="Its id; `layerwise claims` lists them.", autocompletion=_completed)
    ],
    source: Of = "published",
    results: Results = Path("results"),
    as_json: Json = False,
) -> str:
    """Say where one number comes from: method, inputs, verdict; and compute it again."""
    step = module("steps.trace")
    record = step.trace(claim, source, results)
    return _json(record) if as_json else step.as_text(record)


@verb(HERE)
def models(
    tflops: Annotated[float | None, Option(help="Matrix rate for the estimate of time.")] = None,
    registry: Annotated[Path, Option("--models", help="The registry.")] = Path("models.yaml"),
    as_json: Json = False,
) -> str:
    """List the papers' models: memory, gate, revision, cached or not."""
    return module("steps.list_models").run(registry, as_json, tflops)


@verb(HERE)
def doctor(as_json: Json = False) -> tuple[str, int]:
    """Say what can run here, and what is missing for the rest.

    Exit code 0: `make reproduce` can run here; 2: it cannot.
    """
    return module("steps.doctor").run(as_json)


@verb(HERE)
def fetch(
    mirror: Annotated[
        str | None,
        Option(help="Folder or address that stands in for upstream (also: LAYERWISE_MIRROR)."),
    ] = None,
    out: Annotated[Path, Option(help="The folder of the pairs and prompts.")] = Path("data"),
) -> str:
    """Download the statement pairs and prompts, checked by sha256."""
    return module("steps.fetch").run(out, mirror)


def _json(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
