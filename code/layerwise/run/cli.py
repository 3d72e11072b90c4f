"""The command line: `layerwise VERB`; what each exit code says stands in its help."""

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option
from typer.core import TyperArgument, TyperCommand, TyperGroup

import layerwise
from layerwise.errors import LayerwiseError
from layerwise.files import JsonObject, parse_json
from layerwise.home import Source, here
from layerwise.run.steps import Run, answering, sentences

GROUPS = OWN, NUMBERS, HERE = "Your own model", "The papers' numbers", "This machine"
FOLDER, TEXT, WORD, N = "FOLDER", "TEXT", "WORD", "N"  # what stands for a value in the help


class WordsForValues:
    """A command whose help has a word for every value, and no type of Python.

    A flag takes no value, and an argument is called by its word already.
    """

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, for the help."""
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if isinstance(parameter, TyperArgument) or parameter.is_flag:
                parameter.display_type_rich = lambda ctx: ""
        return parameters


class Verb(WordsForValues, TyperCommand):
    pass


class Verbs(WordsForValues, TyperGroup):
    pass


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Recompute the numbers of the transformer-dynamics papers, or measure them on your own "
    "model.",
    epilog="`layerwise VERB --help` explains one verb; `layerwise doctor` says what can run here. "
    "The pipeline itself is `make reproduce`. Exit code 0: done; 1: part of a model "
    "could not be measured; 2: a rule was broken, and a sentence says which; 130: Ctrl-C.",
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
            try:
                app(arguments, prog_name="layerwise")
            except SystemExit as end:
                if end.code == 130 and isinstance(end.__context__, typer.Exit):
                    raise KeyboardInterrupt from None  # before the verb began: typer has no word
                raise
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def verb(group: str, alias: str = "") -> Callable[[Run], Run]:
    """Make a function a verb of its name; what it returns, a text or for rich, is printed.

    Arguments:
        alias: a second name, which the help does not list.
    """

    def made(run: Run) -> Run:
        answered = answering(run.__name__, run)
        app.command(cls=Verb, rich_help_panel=group)(answered)
        if alias:
            app.command(alias, cls=Verb, hidden=True)(answered)
        return run

    return made


def module(name: str) -> Any:
    """Import a module of the package when its verb runs: reading a claim needs no torch."""
    return import_module(f"layerwise.{name}")


def _layers(text: str) -> list[int]:
    try:
        return [int(layer) for layer in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"layers are whole numbers separated by commas, found {text!r}"
        ) from None


def _options_of_template(text: str) -> JsonObject:
    quoted = "write '{\"name\": value}', quotes included"
    options = parse_json("--template-options", text, quoted)
    if not isinstance(options, dict):
        raise typer.BadParameter(f"options are a JSON object, found {text!r:.80}; {quoted}")
    return options


def _completed(incomplete: str) -> list[str]:
    """Return ids of claims, for the shell."""
    with contextlib.suppress(LayerwiseError):  # the ledger was not judged yet
        judged = module("engine.records").judged("published", _results(None))
        ids = [claim.id for claim in (*judged.central, *judged.claims)]
        return [claim_id for claim_id in ids if claim_id.startswith(incomplete)]
    return []


Json = Annotated[bool, Option("--json", help="Print JSON.")]
Of = Annotated[
    Source,
    Option(metavar=WORD, help="published or measured: which numbers the claims are compared with."),
]
Results = Annotated[
    str | None,
    Option(
        metavar=FOLDER,
        help="The folder of the results; default: those of this checkout, else of this version.",
    ),
]
Paper = Annotated[int | None, Option(metavar="1|2|3", help="Only this paper.")]


@verb(OWN)
def analyze(
    model: Annotated[str, Option(metavar="MODEL", help="A checkpoint folder, or a hub id.")],
    pairs: Annotated[
        str,
        Option(
            metavar="FILE",
            help='{"category": {"pairs": [[A, B], ...]}, ...} or [[A, B], ...] as JSON; '
            "category,a,b or a,b as .csv or .jsonl; or the word papers: the papers' own, fetched "
            "and checked.",
        ),
    ],
    out: Annotated[str, Option(metavar=FOLDER, help="The folder of the result files.")],
    prompts: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Needed for gains and anisotropy: a JSON list of texts, a .csv or .jsonl file "
            "with a column prompt, or the word papers.",
        ),
    ] = None,
    revision: Annotated[
        str | None,
        Option(metavar="COMMIT", help="Commit, tag or branch of the hub id; default: main."),
    ] = None,
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"],
        Option(metavar=WORD, help="float32, float16 or bfloat16."),
    ] = "float32",
    device: Annotated[
        str, Option(metavar=WORD, help="cpu, cuda, cuda:1, or auto (several GPUs).")
    ] = "cpu",
    layers: Annotated[
        Any,
        Option(
            parser=_layers, metavar="N,N,...", help="E.g. 0,6,12; default: every 4th and the last."
        ),
    ] = None,
    seed: Annotated[int, Option(metavar=N, min=0, max=2**32 - 1, help="For the resampling.")] = 42,
    without: Annotated[
        str,
        Option(
            metavar="WORDS",
            help="Leave out gains, spectral or both, e.g. spectral,gains: the spectral norms of "
            "billions of parameters take many minutes.",
        ),
    ] = "",
    limit: Annotated[
        int | None,
        Option(
            metavar=N,
            min=2,
            help="Only the first N pairs of each category: for a first look, not for an answer.",
        ),
    ] = None,
    chat_template: Annotated[
        bool,
        Option(
            "--chat-template",
            help="Put every statement into the model's own chat template, as the one message of a "
            "user. Prompts stay as they are; a date in it is 26 Jul 2024 on every day.",
        ),
    ] = False,
    template_options: Annotated[
        Any,
        Option(
            parser=_options_of_template,
            metavar="JSON",
            help="Values for variables of the chat template, e.g. '{\"enable_thinking\": false}'.",
        ),
    ] = None,
    replicates: Annotated[
        int,
        Option(
            metavar=N,
            min=0,
            max=100,
            help="How often a model in 16 bits is measured again, with noise of "
            "the size of rounding: how far every answer may move.",
        ),
    ] = 5,
    control: Annotated[
        int,
        Option(
            metavar=N,
            min=0,
            max=100,
            help="How many draws of random weights are measured in the same way, to tell how rare "
            "the model's numbers are among them: 19 can give a p of 0.05. Each takes as long as "
            "the model.",
        ),
    ] = 0,
    keep_states: Annotated[
        bool,
        Option("--keep-states", help="Leave the pooled hidden states in --out after the run."),
    ] = False,
    private_texts: Annotated[
        bool,
        Option(
            "--private-texts",
            help="Leave the statements out of the page and the tables, which else show them pair "
            "by pair.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        Option(
            "--dry-run", help="Check files, texts and choices, say what it takes, compute nothing."
        ),
    ] = False,
) -> Any:
    """Run the papers' analyses on your own model and statement pairs."""
    arguments = {**locals(), "without": without.split(",") if without else []}
    choices = module("shapes").choices_of(module("reader.request").Choices, arguments)
    if dry_run:
        model = module("shapes").read_model(model)
        return module("reader.plan").plan(model, pairs, prompts, choices)
    return layerwise.analyze(model, pairs, prompts, **choices).said


@verb(OWN, alias="scaling")
def compare(
    folders: Annotated[
        list[str], Argument(metavar="FOLDER", help="An --out folder of `analyze`; two or more.")
    ],
    out: Annotated[str, Option(metavar=FOLDER, help="The folder of scaling.json.")] = ".",
    other_pairs: Annotated[
        bool, Option("--other-pairs", help="Also runs on other pairs, or with exchanged sides.")
    ] = False,
    as_json: Json = False,
) -> Any:
    """Compare the layer curves of several `analyze` folders."""
    result = layerwise.compare(folders, out, other_pairs=other_pairs)
    return _json(result.documents["scaling"]) if as_json else result.said


@verb(NUMBERS)
def claims(
    verdict: Annotated[str | None, Option(metavar=WORD, help="E.g. differs.")] = None,
    paper: Paper = None,
    analysis: Annotated[
        str | None, Option(metavar=WORD, help="E.g. validation; see docs/claims.md.")
    ] = None,
    search: Annotated[
        str | None, Option(metavar=TEXT, help='E.g. "r = -0.874", "p<0.001", "Table 3".')
    ] = None,
    limit: Annotated[int | None, Option(metavar=N, min=1, help="Only the first N.")] = None,
    source: Of = "published",
    results: Results = None,
    as_json: Json = False,
    as_csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
) -> Any:
    """List the claims: id, quantity, place, printed, recomputed, verdict."""
    if as_csv and as_json:
        raise typer.BadParameter("a list is printed as JSON or as CSV, found --json and --csv")
    filters: Any = {"verdict": verdict, "paper": paper, "analysis": analysis, "search": search}
    if as_csv:
        return layerwise.claims(source, results, **filters, limit=limit).csv.rstrip("\n")
    listed = module("present.claim_list")
    records = listed.list_claims(source, _results(results), **filters)
    if as_json:
        as_dict = module("engine.records").as_json
        return _json([as_dict(claim, source) for claim in records[:limit]])
    return module("present.terminal").Paged(listed.Listing(records[:limit], len(records)))


@verb(NUMBERS)
def headlines(
    paper: Paper = None,
    source: Of = "published",
    results: Results = None,
    reasons: Annotated[
        bool,
        Option("--verbose", "-v", help="Print numbers and reasons below each claim."),
    ] = False,
    as_json: Json = False,
) -> Any:
    """Answer the papers' questions, and list their central claims, each with its mark."""
    listed = module("present.claim_list")
    judged = module("engine.records").judged(source, _results(results))
    if as_json:
        return _json([asdict(claim) for claim in listed.central_of_paper(judged.central, paper)])
    return listed.strip_as_text(judged, paper, reasons=reasons)


@verb(NUMBERS)
def trace(
    claim: Annotated[
        str,
        Argument(
            metavar="ID",
            help="Its id; `layerwise claims` lists them, `layerwise headlines` the central ones.",
            autocompletion=_completed,
        ),
    ],
    source: Of = "published",
    results: Results = None,
    as_json: Json = False,
) -> Any:
    """Say where a number comes from: method, inputs, verdict; and recompute it."""
    step = module("run.steps.trace")
    traced = step.trace(claim, source, _results(results))
    return _json(traced.as_json()) if as_json else step.as_text(traced)


@verb(NUMBERS)
def measure_model(
    slug: Annotated[str, Argument(metavar="SLUG", help="Of `layerwise models`.")],
    out: Annotated[
        str | None,
        Option(metavar=FOLDER, help="Default: results/measured/models/SLUG of this checkout."),
    ] = None,
) -> tuple[str, int]:
    """Measure all of one of the papers' models: a stage of the pipeline, alone, for a cluster.

    Exit code 1: part of it could not be measured, and the file says why; it goes on from there.
    """
    folder = Path("results/measured/models") / slug if out is None else _place("out", out)
    said: tuple[str, int] = module("run.steps.measure").run(slug, folder)
    return said


@verb(HERE)
def models(
    architectures: Annotated[
        bool, Option("--architectures", help="List what transformers can load here instead.")
    ] = False,
    as_json: Json = False,
) -> Any:
    """List the papers' models: memory, licence, commit, cached or not."""
    step = module("run.steps.list_models")
    if architectures:
        shown = step.run_architectures(as_json)
    else:
        shown = step.run(here() / "models.yaml", as_json)
    return shown if as_json else module("present.terminal").Paged(shown)


@verb(HERE)
def doctor() -> tuple[Any, int]:
    """Say what can run in this clone, and what is missing for the rest.

    Exit code 0: `make reproduce` can run here; 2: not.
    """
    return module("run.steps.doctor").run()


@verb(HERE)
def fetch(
    slugs: Annotated[
        list[str] | None,
        Argument(metavar="SLUG", help="With --weights: only these of `layerwise models`."),
    ] = None,
    weights: Annotated[
        bool,
        Option(
            "--weights",
            help="Fill the hub's cache with the papers' models instead; no GPU is needed.",
        ),
    ] = False,
    mirror: Annotated[
        str | None,
        Option(
            metavar="PLACE",
            help="Folder or address to use in place of upstream (also: LAYERWISE_MIRROR).",
        ),
    ] = None,
    out: Annotated[
        str | None,
        Option(
            metavar=FOLDER,
            help="The folder of the pairs and prompts; default: where analyze looks.",
        ),
    ] = None,
) -> Any:
    """Download the statement pairs and prompts, or the papers' models; compare their bytes."""
    step = module("run.steps.fetch")
    if weights:
        if out is not None or mirror is not None:
            raise typer.BadParameter("weights go into the cache of the hub (HF_HOME), alone")
        return step.fetch_weights(slugs or [])
    if slugs:
        raise typer.BadParameter(f"models are fetched with --weights, found {slugs[0]!r:.80}")
    return step.run(None if out is None else _place("out", out), mirror)


def _results(given: str | None) -> Path:
    return here() / "results" if given is None else _place("results", given)


def _place(name: str, given: str) -> Path:
    """Return a path that was given."""
    place: Path = module("shapes").read_place(name, given)  # pydantic is not for the help
    return place


def _json(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
