"""Steps on small inputs: what they write, what they say, what they refuse."""

import io
import json
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import pytest
from rich.console import Console

import claim_records
import layerwise
from judged import DRAWS
from layerwise.engine.derivation import documents_of, evidence_of, words_of
from layerwise.engine.judged import FALLS
from layerwise.engine.judging import read_statistics
from layerwise.engine.published import DECIDES, PUBLISHED
from layerwise.engine.records import judged, sealed
from layerwise.engine.verdicts import statistic_value
from layerwise.engine.words import names_here
from layerwise.errors import LayerwiseError
from layerwise.files import read_json, sha256_of, write_json
from layerwise.papers.across.analyses import TABLES
from layerwise.papers.shared.result_files import BOOTSTRAP, SWEEP
from layerwise.present.claim_list import Listing, list_claims
from layerwise.present.records import answers_told, surprises_told, tally
from layerwise.present.search import search_claims
from layerwise.present.trace import methods_of, recompute
from layerwise.reader.compare import compare
from layerwise.run.cli import main
from layerwise.run.steps import analyse
from layerwise.run.steps.trace import as_text, trace
from layerwise.shapes import read_choices

CLAIM = "p1.table_stats.mistral.ci_lower"


def test_a_stage_refuses_in_a_sentence(tmp_path):
    arguments = ["published", "--statistics", "x", "--out", "x", "--published", tmp_path]
    command = [sys.executable, "-m", "layerwise.run.steps.judge", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "dataset.csv: the table is missing; resto" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file; run it in the repository"),
        ("judge: {a: 1}", "no section 'analyse'; restore it"),
        ("analyse: {seed: 1, n_resamples: 0, level: 0.9}", "n_resamples: must be greater than or"),
    ],
)
def test_choices_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        read_choices(tmp_path / "params.yaml", "analyse")


@pytest.mark.parametrize(
    ("text", "folders", "message"),
    [
        ("{}", 1, "at least two models, found 1; name the --out"),
        (None, 2, r"there is no layers\.json; name the --out folder"),
        ('{"model": ', 2, r"layers\.json: not valid JSON"),
        ('{"model": "x"}', 2, r"layers\.json: .* record of its run .*; run `layerwise analyze`"),
    ],
)
def test_scaling_refused(tmp_path, text, folders, message):
    if text is not None:
        (tmp_path / "layers.json").write_text(text)
    with pytest.raises(LayerwiseError, match=message):
        compare([tmp_path] * folders, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- what a stage writes, or leaves -------------------------------------------------------------


def test_analyse_leaves_the_old_folder_when_it_fails(results, root, tmp_path):
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
    assert {cell.partition("#")[0] for reading in readings for cell in reading["inputs"]} <= set(
        document["inputs"]
    )


def test_the_tally_counts_the_papers_claims_alone(results):
    document = json.loads((results / "published" / "claims.json").read_text())
    tally = json.loads((results / "published" / "tally.json").read_text())
    printed = [record for record in document["claims"] if record["document"] == "paper"]
    central = [claim for claim in document["central"] if claim["source"] == "paper"]
    assert tally["claims of the papers"] == len(printed)
    assert sum(n for name, n in tally.items() if name.startswith("central: ")) == len(central)
    assert len(central) < len(document["central"])


# --- trace, claims ------------------------------------------------------------------------------


def test_trace_names_statistic_inputs_and_stage(capsys, results):
    traced = trace(CLAIM, "published", results)
    assert main(["trace", CLAIM, "--json", "--results", str(results)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(traced.as_json()))
    origin = traced.as_json()["provenance"]
    (file,) = origin["input_files"]
    interval = "calibration:mistral:/_global_stats/neutral_only/bootstrap_95ci/0"
    assert origin["statistic"] == interval
    path = results / "published" / "statistics" / "calibration.json"
    assert (origin["statistics_file"], origin["statistics_sha256"]) == (str(path), sha256_of(path))
    assert origin["command"] == "dvc repro analyse@published"
    assert len(origin["inputs"]) == 10  # two sides of five categories
    assert f"{file}#/business/uniformity_a" in origin["inputs"]
    text = as_text(traced)
    wanted = [
        "mean UA over the neutral categories, 95 % interval, low end",
        "recomputed  -0.0154553\n",
        "now         -0.0154553, the same\n",
        "compared: half a unit of the last printed digit, 0.0005",
        "papers/paper1/rules/calibration.py",
        "uniformity_a = 0.7069363594055176",
        f"verdict     {traced.claim.verdict}",
        *(origin[key] for key in ("statistic", "statistics_sha256")),
        *(f"  {cell.partition('#')[2]} = " for cell in origin["inputs"]),
        *origin["input_files"].values(),
    ]
    assert [line.strip() for line in text.splitlines() if file in line] == [
        f"inputs      {file}",  # once, above its cells
        f"files       {origin['input_files'][file]}  {file}",
    ]
    assert [part for part in wanted if part not in text] == []
    claims = list_claims("published", results, "not checkable")
    without = [claim.id for claim in claims if claim.provenance.statistic is None]
    text = as_text(trace(without[0], "published", results))
    assert "cause" in text
    assert "dvc repro" not in text  # of what is up to date it computes nothing


def test_a_central_claim_is_traced_to_every_estimate_that_decides_it(results: Path) -> None:
    """Each is computed now from the cells that it names, and is the one that the row shows."""
    for claim in judged("published", results).central:
        traced = trace(claim.id, "published", results)
        for by_reading, shown in zip(traced.now, claim.points, strict=True):
            # the interval that decides, and that of 95% beside it
            decided = {name: getattr(shown, name) for name in ("value", "low", "high")}
            places = {DECIDES: (decided, "deciding"), PUBLISHED: (shown.published, "ends")}
            assert by_reading
            for reading, now in by_reading.items():
                place, interval = places[reading]
                recorded = [place[name] for name in ("value", "low", "high")]
                given = now.value  # none where what decides needs the weights
                if given is None:
                    assert recorded == [None] * 3
                else:
                    assert [given["value"], *(given[interval] or [None] * 2)] == recorded
                    assert now.read, claim.id
        text = as_text(traced)
        assert text.count(", the same") == sum(map(len, traced.now)), claim.id
        assert all(part["claim"] in text for part in claim.printed)
        points = traced.as_json()["points"]
        assert [{*point["now"]} for point in points] == [{*now} for now in traced.now]


def test_a_central_claim_that_moved_is_seen(results: Path, tmp_path: Path) -> None:
    changed = read_json(results / "published" / "claims.json")
    (claim,) = (one for one in changed["central"] if one["id"] == "p3.depth_gain")
    claim["points"][0]["value"] += 0.1
    write_json(tmp_path / "published" / "claims.json", sealed(changed))
    text = as_text(trace("p3.depth_gain", "published", tmp_path))
    assert f"not {claim['points'][0]['value']} as recorded" in text


def words_of_statistic(statistic, published):
    """The words of the rule that gives a whole statistic."""
    analysis, name, key = statistic.split(":")
    evidence = evidence_of(published, DRAWS, TABLES)
    rules = dict(documents_of(TABLES[analysis], evidence)[name].thunks(evidence))
    return words_of(rules[key])


@pytest.mark.parametrize(
    ("claim", "statistic"),
    [
        ("p3.heritage.fisher_p", "lab_heritage:hunt:/fisher/hunt"),
        ("p3.hunt.h25_verdict", "crowding:hunt:/h25_verdict"),
        ("p2.abstract.late_ci", "phases:paper:/late_interval_of_weak_end"),
    ],
)
def test_trace_gives_the_key_the_words_and_the_module_of_the_rule(
    results, published, claim, statistic
):
    (method,) = trace(claim, "published", results).now.method
    says = words_of_statistic(statistic, published)
    assert (method["name"], method["says"]) == (statistic.rpartition("/")[2], says)
    assert Path(method["at"]).is_file()


def test_trace_names_what_other_readings_read(capsys, results):
    """As recorded; the text lists what the claim itself does not read."""
    traced = trace("p3.heritage.fisher_p", "published", results)
    of_text = {reading.text: reading.inputs for reading in traced.claim.readings}
    assert of_text["the p itself"] == traced.claim.provenance.inputs
    swept = [cell for cell in of_text["survey and sweep together"] if cell.startswith(SWEEP)]
    assert len(swept) > 5
    lines = [" ".join(line.split()) for line in as_text(traced).splitlines()]
    assert "also read the p itself: nothing else" in lines
    start = lines.index("survey and sweep together:")
    assert lines[start + 1] == SWEEP.rstrip("#/")
    assert lines[start + 2 : start + 7] == [cell.partition("#")[2] for cell in swept[:5]]
    assert lines[start + 7] == f"... and {len(swept) - 5} more; --json lists all"
    assert SWEEP in traced.behind.input_files


def test_every_derived_number_of_a_claim_has_a_method(results, published):
    """Its words, and the value that stands in the statistics."""
    evidence = evidence_of(published, DRAWS, TABLES)
    statistics = read_statistics("published", results / "published" / "statistics", published)
    claims = list_claims("published", results)
    selections = {claim.provenance.statistic for claim in claims} - {None}
    derived = [name for name in sorted(selections) if statistics.derived_from(name) is not None]
    on_the_page = methods_of(selections, evidence, TABLES)
    for selection in derived:
        again = recompute(selection, evidence, TABLES)
        assert again.method == on_the_page[selection], selection
        assert all(step["says"] for step in again.method), selection
        assert again.value == statistic_value(statistics.documents, selection), selection
    assert len(derived) > 300


def test_trace_of_a_number_that_needs_a_measurement(results, published):
    """It has a rule, beside a table of rules for the numbers of its kind, and no value."""
    now = trace("p3.fig3.gpt2.class", "published", results).now
    says = words_of_statistic("lab_heritage:hunt:/figure3/gpt2", published)
    assert (now.method[0]["says"], now.value, now.read) == (says, None, {})


def test_trace_stale_statistics_refused(results, tmp_path):
    copy = Path(shutil.copytree(results, tmp_path / "results"))
    path = copy / "published" / "statistics" / "calibration.json"
    path.write_text(path.read_text() + " ")
    with pytest.raises(LayerwiseError, match=r"judged from other files .*; run `dvc repro judge"):
        trace(CLAIM, "published", copy)
    assert trace("p2.abstract.late_p", "published", copy).claim.verdict == "differs"


def test_claims_by_verdict_paper_and_analysis(results):
    everything = list_claims("published", results)
    differs = list_claims("published", results, "differs")
    assert differs == [claim for claim in everything if claim.verdict == "differs"]
    validation = list_claims("published", results, "agrees", 2, "validation")
    kinds = {(claim.paper, claim.verdict, claim.provenance.analysis) for claim in validation}
    assert kinds == {(2, "agrees", "validation")}
    assert list_claims("published", results, None, 1, "validation") == []


def test_claims_that_differ_come_first_and_central_ones_before_others(results):
    """As on the page; what is alike keeps the order of the ledger."""
    document = read_json(results / "published" / "claims.json")
    central = {part["claim"] for claim in document["central"] for part in claim["printed"]}
    ledger = [claim["id"] for claim in document["claims"]]
    listed = list_claims("published", results)
    groups = [(claim.verdict in FALLS, claim.id in central) for claim in listed]
    assert groups == sorted(groups, reverse=True)
    assert len(set(groups)) == 4
    for group in set(groups):
        ids = [claim.id for claim, of in zip(listed, groups, strict=True) if of == group]
        assert ids == sorted(ids, key=ledger.index)


def test_headlines_are_those_of_the_command(results):
    in_source = judged("published", results)
    table = layerwise.headlines(results=results)
    assert [row["id"] for row in table.records] == [claim.id for claim in in_source.central]
    assert {row["paper"] for row in layerwise.headlines(results=results, paper=2).records} == {2}
    for row, claim in zip(table.records, in_source.central, strict=True):
        assert row["mark"].startswith(claim.mark)
        assert row["claim"] == claim.claim
    (question, _), *_ = answers_told(in_source, names_here())
    assert repr(table).split("\n")[1].startswith(question)
    with pytest.raises(LayerwiseError, match="source"):
        layerwise.headlines("printed", results)


def drawn(shown, width):
    """What a terminal of that width shows, without its colours."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(shown)
    return console.file.getvalue().splitlines()


def test_claims_fit_the_terminal_and_no_id_is_cut(results):
    """A table where it is wide enough, else a paragraph each; the last line counts them."""
    differs = list_claims("published", results, "differs")
    for width in (40, 80, 150):
        lines = drawn(Listing(differs, len(differs)), width)
        assert max(map(len, lines)) <= max(width, max(len(claim.id) for claim in differs))
        whole = [word for line in lines for word in line.split() if re.match(r"p\d\.", word)]
        assert [claim.id for claim in differs if claim.id not in whole] == []
        assert lines[-1].strip() == f"{len(differs)} claims"
    heads = drawn(Listing(differs, len(differs)), 150)[0]
    assert heads.split() == ["id", "quantity", "where", "printed", "recomputed", "verdict"]
    assert drawn(Listing(differs[:1], 9), 80)[-1] == "1 of 9; a larger --limit shows more"
    assert drawn(Listing([], 0), 80) == ["no claim matches"]


def test_headlines_begin_with_how_they_fare(capsys, results):
    in_source = judged("published", results)
    for paper in (None, 2):
        kept = [claim for claim in in_source.central if paper in (None, claim.paper)]
        ask = ["headlines", "--results", str(results), *(["--paper", str(paper)] if paper else [])]
        assert main(ask) == 0
        rows = re.findall(r"^(?:holds|in part|fails|open) ", capsys.readouterr().out, re.M)
        assert len(rows) == len(kept)
        assert main([*ask, "-v"]) == 0
        lines = capsys.readouterr().out.splitlines()
        text = " ".join(" ".join(lines).split())
        answers = answers_told(in_source, names_here()) if paper is None else []
        surprises = surprises_told(in_source, names_here()) if paper is None else []
        told = [
            *chain.from_iterable(answers),
            tally(kept),
            *(f"- {line}" for line in surprises),
        ]
        assert text.startswith(f"{' '.join(told)} Paper ")
        assert [claim.says for claim in kept if claim.says not in text] == []
        papers = re.findall(r"^Paper (\d)$", "\n".join(lines), re.M)
        assert papers == sorted({str(claim.paper) for claim in kept})
        assert main([*ask, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [*map(asdict, kept)]


@pytest.mark.parametrize(
    ("query", "claim"),
    [
        ("r = -0.874", "p2.nb003.6.9b.global.ua_output_correlation"),
        ("\N{MINUS SIGN}0.17", "p2.abstract.late_range_weak"),
        ("-0.17***", "p2.table_phase.pythia.late"),
        ("Table 3", "p2.abstract.transition_pythia"),
        ("Fisher's exact", "p3.heritage.fisher_p"),
    ],
)
def test_a_search_finds_what_is_printed(results, query, claim):
    hits = [claim.id for claim in list_claims("published", results, search=query)]
    assert claim in hits[:12]


def test_a_search_keeps_numbers_apart():
    made = claim_records.record
    records = [made("p1.a", published=0.25, decimals=2), made("p1.b", published=25)]
    records += [made("p1.c", where="table 30"), made("p1.d", where="table 3")]
    hits = {q: [hit.id for hit in search_claims(records, q)] for q in ("0.25", "table 3")}
    assert hits == {"0.25": ["p1.a"], "table 3": ["p1.d"]}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (["trace", "p2.nb003.12b.x"], "no claim 'p2.nb003.12b.x' in the ledger; did you mean p"),
        (["trace", "p2.abstrct.late_p"], "did you mean p2.abstract.late_p, "),
        (["trace", "p2.lat"], "did you mean p2.late"),
        (["trace", "Fisher's exact"], "did you mean p3.heritage.fisher_p"),
        (["headlines", "--paper", "5"], "layerwise headlines: paper: must be 1, 2 or 3, found 5"),
        (["claims", "--limit", "0"], "'--limit'"),
        (["trace", CLAIM, "--source", "measured"], "not judged for source 'measured'"),
        (["claims", "--verdict", "wrong"], "verdict: must be 'agrees', "),
        (["claims", "--analysis", "valid"], "analysis must be one of anis"),
        (["claims", "--paper", "5"], "layerwise claims: paper: must be 1, 2 or 3, found 5"),
        (["claims", "--json", "--csv"], "as JSON or as CSV, found --json and --csv"),
    ],
)
def test_reading_verbs_refused(capsys, results, ask, message):
    assert main([*ask, "--results", str(results)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
