"""Steps on small inputs: what they write, what they say, what they refuse."""

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import claim_records
from judged import DRAWS, at, inputs_of
from layerwise.analyses import TABLES
from layerwise.analyses.derivation import evidence_of
from layerwise.cli import main
from layerwise.errors import LayerwiseError
from layerwise.files import sha256_of
from layerwise.inputs.shapes import read_choices
from layerwise.pages.claim_list import as_table, claims, found, list_claims
from layerwise.pages.trace import recompute
from layerwise.places.result_files import BOOTSTRAP, SWEEP, UA_FILES
from layerwise.reader.compare import compare
from layerwise.steps import analyse
from layerwise.steps.trace import as_text, trace

CLAIM = "p2.nb003.6.9b.global.ci_lower"


FIRST = ["published", "--statistics", "x", "--out", "x"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["measured", "--out", "x"], "Missing option '--statistics'"),
        (["nothing", "--statistics", "x", "--out", "x"], "'nothing' is not one of 'published'"),
        ([*FIRST, "--published", "\x1b[2J"], "\\u001b[2J/dataset.csv: the table is missing; resto"),
    ],
)
def test_a_stage_refuses_in_a_sentence_iv(arguments, said):
    command = [sys.executable, "-m", "layerwise.steps.judge", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file; run from the repository"),
        ("judge: {a: 1}", "no section 'analyse'; restore it"),
        ("analyse: {seed: 1, n_resamples: 0, level: 0.9}", "n_resamples: must be greater than or"),
    ],
)
def test_choices_iv(tmp_path, text, message):
    if text is not None:
        (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        read_choices(tmp_path / "params.yaml", "analyse")


@pytest.mark.parametrize(
    ("text", "folders", "message"),
    [
        ("{}", 1, "at least two models, found 1; name the --out"),
        (None, 2, r"layers\.json: no such file"),
        ('{"model": ', 2, r"layers\.json: not valid JSON"),
        ('{"model": "x"}', 2, r"layers\.json: model_display: missing; run `layerwise analyze`"),
    ],
)
def test_scaling_iv(tmp_path, text, folders, message):
    if text is not None:
        (tmp_path / "layers.json").write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        compare([tmp_path] * folders, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- what a stage writes, or leaves -------------------------------------------------------------


def test_analyse_leaves_the_old_folder_when_it_fails_iv(results, root, tmp_path):
    statistics = tmp_path / "statistics"
    shutil.copytree(results / "published" / "statistics", statistics)
    before = {path.name: path.read_bytes() for path in statistics.iterdir()}
    tables = Path(shutil.copytree(root / "published", tmp_path / "published"))
    table, file = tables / "paper3-gains.csv", "paper3/Results/pythia_family_NO_FINAL_LN"
    rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join(row for row in rows if not row.startswith(file)))
    with pytest.raises(LayerwiseError, match=f"no numbers of '{file}"):
        analyse.run("published", statistics, published=tables, params=root / "params.yaml")
    assert {path.name: path.read_bytes() for path in statistics.iterdir()} == before


def test_judge_counts_and_hashes(results, root):
    document = json.loads((results / "published" / "claims.json").read_text())
    counted = {}
    for record in document["claims"]:
        paper = counted.setdefault(f"paper{record['paper']}", {})
        paper[record["verdict"]] = paper.get(record["verdict"], 0) + 1
    assert document["counts"] == counted
    statistics = results / "published" / "statistics"
    assert document["statistics"] == {p.name: sha256_of(p) for p in statistics.glob("*.json")}
    file = BOOTSTRAP
    registry = (root / "published" / "registry.csv").read_text()
    assert f"{file},{document['inputs'][file]}," in registry
    assert document["inputs"]["notebook 000"] == sha256_of(root / "published" / "typed.csv")
    readings = [reading for record in document["claims"] for reading in record["readings"]]
    assert {cell.partition("#")[0] for one in readings for cell in one["inputs"]} <= set(
        document["inputs"]
    )


# --- trace, claims ------------------------------------------------------------------------------


def test_trace_names_statistic_inputs_stage_and_command(capsys, results):
    traced = trace(CLAIM, "published", results)
    assert main(["trace", CLAIM, "--json", "--results", str(results)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(traced))
    origin = traced["provenance"]
    file = UA_FILES["pythia-6p9b"]
    assert origin["statistic"] == "validation:pythia-6p9b:/_global_stats/bootstrap_95ci/0"
    path = results / "published" / "statistics" / "validation.json"
    assert (origin["statistics_file"], origin["statistics_sha256"]) == (str(path), sha256_of(path))
    assert origin["command"] == "dvc repro analyse@published"
    assert len(origin["inputs"]) == 12
    assert f"{file}#/business/uniformity_a" in origin["inputs"]
    assert list(origin["input_files"]) == [file]
    text = as_text(traced)
    wanted = [
        "mean UA, 95 % interval, low end",
        f"recomputed  {traced['recomputed']}",
        "now         -0.1066333452860514",
        "compared: 1e-12 relative",
        "interval: Of the mean UA: categories drawn with replacement",
        "analyses/validation.py:",
        "uniformity_a = 0.7683013677597046",
        f"verdict     {traced['verdict']}",
        *(origin[key] for key in ("statistic", "statistics_sha256", "command")),
        *origin["inputs"],
        *origin["input_files"].values(),
    ]
    assert [part for part in wanted if part not in text] == []
    claims = list_claims("published", results, "not checkable")
    without = [record["id"] for record in claims if record["provenance"]["statistic"] is None]
    text = as_text(trace(without[0], "published", results))
    assert "cause" in text
    assert "command" not in text


@pytest.mark.parametrize(
    ("claim", "method"),
    [
        # of a line of a table the line; of a function what it says of itself
        ("p3.heritage.fisher_p", [
            ("rule", '"fisher/hunt": lambda f: p_text(fisher_p(signs(f))),'),
        ]),
        ("p3.hunt.h25_verdict", [("verdict", "From an accuracy of 0.5, from 0.75 (the hunt).")]),
        ("p3.aniso.phase1_r", [("bell_number", "One number of that shape.")]),
        # what is bound, and what made it
        ("p2.abstract.late_ci", [
            ("statement_on_curve", "A statement on one curve."),
            ("interval_of_late_mean", "Whether Fisher's interval of the late mean, as one r over "
             "all pairs, includes zero."),
        ]),
    ],
)  # fmt: skip
def test_trace_says_what_the_method_is(results, claim, method):
    found = trace(claim, "published", results)["now"]["method"]
    assert [(one["name"], one["says"]) for one in found] == method
    for one in found:
        path, _, line = one["at"].partition(":")
        source = Path(path).read_text().splitlines()[int(line) - 1]
        assert source.startswith(f"def {one['name']}(") or source.strip() == one["says"]


def test_trace_names_what_other_readings_read(capsys, results):
    """As recorded; the text lists what the claim itself does not read."""
    record = trace("p3.heritage.fisher_p", "published", results)
    of_text = {reading["text"]: reading["inputs"] for reading in record["readings"]}
    assert of_text["the p itself"] == record["provenance"]["inputs"]
    swept = [cell for cell in of_text["hunt and sweep together"] if cell.startswith(SWEEP)]
    assert len(swept) > 5
    lines = [" ".join(line.split()) for line in as_text(record).splitlines()]
    assert "also read the p itself: nothing else" in lines
    start = lines.index("hunt and sweep together:")
    assert lines[start + 1 : start + 6] == swept[:5]
    assert lines[start + 6] == f"... and {len(swept) - 5} more; --json lists all"
    assert SWEEP in record["provenance"]["input_files"]


def test_every_derived_number_of_a_claim_has_a_method(root, records, works, published):
    """A docstring or a line, and the value that stands in the statistics."""
    evidence = evidence_of(published, DRAWS, TABLES)
    selections = {record["provenance"]["statistic"] for record in records.values()} - {None}
    n_derived = 0
    for selection in sorted(selections):
        analysis, _, statistic = selection.partition(":")
        if inputs_of(works[analysis], statistic) is None:
            continue
        n_derived += 1
        found = recompute(selection, evidence)
        assert found["method"], selection
        assert all(one["says"] for one in found["method"]), selection
        assert found["value"] == at(works[analysis], statistic), selection
    assert n_derived > 1000


def test_trace_of_a_number_that_needs_a_measurement(results):
    """It has a rule, beside a table of rules for the numbers of its kind, and no value."""
    now = trace("p3.fig3.gpt2.class", "published", results)["now"]
    assert (now["method"][0]["says"], now["value"], now["read"]) == (
        '"figure3/gpt2": lambda f: word(gpt2_gain(f)),', None, {},
    )  # fmt: skip


def test_trace_stale_statistics_iv(results, tmp_path):
    copy = Path(shutil.copytree(results, tmp_path / "results"))
    path = copy / "published" / "statistics" / "validation.json"
    path.write_text(path.read_text() + " ")
    with pytest.raises(LayerwiseError, match="not the ones that were judged; run `dvc repro judge"):
        trace(CLAIM, "published", copy)
    assert trace("p2.bootci.L8.p_value", "published", copy)["verdict"] == "agrees"


def test_claims_by_verdict_paper_and_analysis(results):
    everything = list_claims("published", results)
    differs = list_claims("published", results, "differs")
    assert differs == [record for record in everything if record["verdict"] == "differs"]
    validation = list_claims("published", results, "agrees", 2, "validation")
    found = {
        (r["paper"], r["verdict"], r["provenance"]["statistic"].split(":")[0]) for r in validation
    }
    assert found == {(2, "agrees", "validation")}
    assert list_claims("published", results, None, 1, "validation") == []


def test_claims_fit_the_terminal(results, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    differs = list_claims("published", results, "differs")
    lines = as_table(differs).splitlines()
    assert lines[0].split() == ["quantity", "where", "printed", "recomputed", "verdict"]
    assert max(map(len, lines)) <= 80
    table = list(csv.DictReader(io.StringIO(claims("published", results, verdict="differs").csv)))
    assert [row["id"] for row in table] == [record["id"] for record in differs]
    assert table[0]["published"] == str(differs[0]["published"])
    assert as_table([]) == "no claim fits"


@pytest.mark.parametrize(
    ("query", "claim"),
    [
        ("r = -0.874", "p2.nb003.6.9b.global.ua_output_correlation"),
        ("\N{MINUS SIGN}0.17", "p2.abstract.late_range_weak"),
        ("-0.17***", "p2.table_phase.pythia.late"),
        ("p<0.001", "p2.abstract.late_p"),
        ("Table 3", "p2.table_trans.transition_pythia"),
        ("fig 1 box", "p3.kleiber.fig1.r"),
        ("p3.kleiber.gtotal", "p3.kleiber.gtotal"),
        ("Fisher's exact", "p3.heritage.fisher_p"),
    ],
)
def test_a_search_finds_what_is_printed(results, query, claim):
    hits = [record["id"] for record in list_claims("published", results, search=query)]
    assert claim in hits[:12]


def test_a_search_keeps_numbers_apart():
    made = claim_records.record
    records = [made("p1.a", published=0.25, decimals=2), made("p1.b", published=25)]
    records += [made("p1.c", where="table 30"), made("p1.d", where="table 3")]
    asked = {query: [hit["id"] for hit in found(records, query)] for query in ("0.25", "table 3")}
    assert asked == {"0.25": ["p1.a"], "table 3": ["p1.d"]}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (["trace", "p2.nb003.6.9b.x"], "no claim 'p2.nb003.6.9b.x' in the ledger; did you mean p"),
        (["trace", "p9.nothing"], "`layerwise claims` lists all ids"),
        (["trace", CLAIM, "--source", "measured"], "not judged for source 'measured'"),
        (["claims", "--verdict", "wrong"], "verdict: must be 'agrees', "),
        (["claims", "--analysis", "valid"], "analysis must be one of anis"),
        (["claims", "--paper", "5"], "paper: must be 1, 2 or 3, found 5"),
        (["claims", "--json", "--csv"], "as JSON or as CSV, found --json and --csv"),
    ],
)
def test_reading_verbs_iv(capsys, results, ask, message):
    assert main([*ask, "--results", str(results)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
