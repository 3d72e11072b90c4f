"""Verbs on small inputs: what they write, what they say, what they refuse."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from layerwise.analyses import ANALYSES
from layerwise.errors import LayerwiseError
from layerwise.pages.records import INFERRED
from layerwise.steps import draw, infer, judge, measure, render, replay, scaling, summary, typeset
from layerwise.steps.trace import as_lines, as_text, list_claims, trace
from random_states import some_pairs, write_states

PARAMS = {"n_resamples": 200, "level": 0.95, "seed": 42}
CLAIM = "p2.nb003.6.9b.global.ci_lower"


@pytest.fixture(scope="module")
def results(root, tmp_path_factory):
    """A results folder with the published source, judged (few resamples)."""
    folder = tmp_path_factory.mktemp("results")
    statistics = folder / "published" / "statistics"
    for analysis in ANALYSES:
        replay.run(analysis, root / "published", statistics / f"{analysis}.json", PARAMS)
    run_judge(root, folder)
    return folder


@pytest.fixture
def copy(results, tmp_path):
    return Path(shutil.copytree(results, tmp_path / "results"))


def run_judge(root, results, source="published", claims=None):
    return judge.run(
        source,
        claims or root / "claims",
        root / "published",
        root / "models.yaml",
        results / source / "statistics",
        results / source / "claims.json",
    )


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# --- replay, measure, infer ---------------------------------------------------------------------


def test_replay_writes_documents_and_their_inputs(results):
    found = json.loads((results / "published" / "statistics" / "layers.json").read_text())
    assert list(found) == ["analysis", "documents", "derived", "given"]
    assert found["analysis"] == "layers"
    file = "Results/pythia/layer_analysis_20260102_122534.json"
    assert found["given"] == {"pythia-6p9b:": f"{file}#"}
    key = "pythia-6p9b:/strategies/layer_8/p_value"
    assert found["derived"][key] == [f"{file}#/strategies/layer_8/correlation"]


def test_replay_unknown_analysis_iv(root, tmp_path):
    with pytest.raises(LayerwiseError, match=r"analysis must be one of .* found 'sensibility'"):
        replay.run("sensibility", root / "published", tmp_path / "x.json", PARAMS)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    """Values of two models, from random states."""
    folder = tmp_path_factory.mktemp("values")
    pairs = some_pairs()
    document = {name: {"pairs": []} for name in pairs.categories}
    for number, sides in zip(
        pairs.category_of_pair, zip(pairs.side_a, pairs.side_b, strict=True), strict=True
    ):
        document[pairs.categories[number]]["pairs"].append(sides)
    (folder / "pairs.json").write_text(json.dumps(document))
    params = {
        "layer_step": 5,
        "seed": 1,
        "bins": {"k_values": [5], "n_permutations": 3, "k_stable": 6},
    }
    for seed, name in enumerate(("one", "two")):
        write_states(folder / f"states-{name}", seed=seed)
        said = measure.run(
            folder / f"states-{name}", folder / "pairs.json", folder / f"{name}.npz", params
        )
        assert said == f"values of Some Model in {folder / name}.npz"
    return folder


def test_infer_names_documents_after_the_files(values, tmp_path):
    infer.run("layers", [values / "one.npz", values / "two.npz"], tmp_path / "l.json", PARAMS)
    found = json.loads((tmp_path / "l.json").read_text())
    assert list(found["documents"]) == ["one", "two"]
    assert (found["derived"], found["given"]) == ({}, {})
    assert list(tmp_path.iterdir()) == [tmp_path / "l.json"]


def test_infer_takes_its_parameters(values, tmp_path):
    ends = []
    for seed in (1, 2):
        out = tmp_path / f"{seed}.json"
        infer.run("category_bootstrap", [values / "one.npz"], out, {**PARAMS, "seed": seed})
        ends.append(json.loads(out.read_text())["documents"]["one"]["layer_results"]["10"])
    assert ends[0]["r"] == ends[1]["r"]
    assert ends[0]["ci_lower"] != ends[1]["ci_lower"]


def test_infer_unknown_analysis_iv(values, tmp_path):
    with pytest.raises(LayerwiseError, match=r"analysis must be one of .*scaling, found 'all'"):
        infer.run("all", [values / "one.npz"], tmp_path / "x.json", PARAMS)
    assert not list(tmp_path.iterdir())


# --- judge, summary -----------------------------------------------------------------------------


def test_judge_counts_and_hashes(results, root):
    document = json.loads((results / "published" / "claims.json").read_text())
    counted = {}
    for record in document["claims"]:
        paper = counted.setdefault(f"paper{record['paper']}", {})
        paper[record["verdict"]] = paper.get(record["verdict"], 0) + 1
    assert document["counts"] == counted
    statistics = results / "published" / "statistics"
    assert document["statistics"] == {p.name: sha256(p) for p in sorted(statistics.glob("*.json"))}
    file = "Results/pythia/bootstrap_ci_20260102_132830.json"
    registry = (root / "published" / "registry.csv").read_text()
    assert f"{file},{document['inputs'][file]}," in registry
    assert document["inputs"]["notebook 000"] == sha256(root / "published" / "typed.csv")


def test_judge_leaves_the_old_file_when_it_fails_iv(copy, root, tmp_path):
    old = (copy / "published" / "claims.json").read_bytes()
    claims = Path(shutil.copytree(root / "claims", tmp_path / "claims"))
    ledger = claims / "paper2.yaml"
    ledger.write_text(ledger.read_text().replace("tolerance: half", "tolerance: loose", 1))
    with pytest.raises(LayerwiseError, match="tolerance must be one of exact"):
        run_judge(root, copy, claims=claims)
    assert (copy / "published" / "claims.json").read_bytes() == old
    assert not list(copy.rglob("*.part"))


def test_judge_uses_the_stand_ins_of_mini(copy, root):
    """A claim on Pythia-6.9B is answered by the model that stands in for it."""
    folder = copy / "mini" / "statistics"
    folder.mkdir(parents=True)
    document = {"strategies": {"layer_8": {"correlation": 0.125}}}
    result = {"documents": {"mini-gpt-neox": document}, "derived": {}, "given": {}}
    (folder / "layers.json").write_text(json.dumps(result))
    run_judge(root, copy, "mini")
    found = [r for r in list_claims("mini", copy, "not measured", 2) if r["recomputed"] is not None]
    assert {record["recomputed"] for record in found} == {0.125}
    assert list_claims("mini", copy, "differs", None) == []


def test_summary_shows_every_verdict(results, tmp_path):
    document = json.loads((results / "published" / "claims.json").read_text())
    text = summary.run(["published"], results, tmp_path / "figures", tmp_path / "paper")
    assert f"source published: {len(document['claims'])} claims" in text
    counts = document["counts"]
    columns = len(counts)
    rows = {
        line.rsplit(maxsplit=columns)[0].strip(): [int(n) for n in line.split()[-columns:]]
        for line in text.splitlines()
        if line.split()[-1:] and line.split()[-1].isdigit()
    }
    for verdict in {verdict for paper in counts.values() for verdict in paper}:
        assert rows[verdict] == [paper.get(verdict, 0) for paper in counts.values()]
    assert "not built: latexmk is missing" in text
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "published.pdf").write_bytes(b"%PDF")
    text = summary.run(["published"], results, tmp_path / "figures", tmp_path / "paper")
    assert str(tmp_path / "paper" / "published.pdf") in text


def test_not_judged_yet_iv(results):
    for ask in (
        lambda: summary.run(["full"], results, Path("figures"), Path("paper")),
        lambda: trace(CLAIM, "full", results),
        lambda: list_claims("full", results, None, None),
    ):
        with pytest.raises(LayerwiseError, match="not judged for source 'full' yet; run `make rep"):
            ask()


# --- trace, claims ------------------------------------------------------------------------------


def test_trace_names_statistic_inputs_stage_and_command(results):
    record = trace(CLAIM, "published", results)
    origin = record["provenance"]
    file = "Results/pythia/pythia_6.9b_ua_results_20260102_002828.json"
    assert record["published"] == -0.10663334528605144
    assert origin["statistic"] == "validation:pythia-6p9b:/_global_stats/bootstrap_95ci/0"
    path = results / "published" / "statistics" / "validation.json"
    assert origin["statistics_file"] == str(path)
    assert origin["statistics_sha256"] == sha256(path)
    assert (origin["stage"], origin["command"]) == (
        "replay@validation",
        "dvc repro replay@validation",
    )
    assert len(origin["inputs"]) == 12
    assert f"{file}#/business/uniformity_a" in origin["inputs"]
    assert list(origin["input_files"]) == [file]


def test_trace_inputs_are_the_bytes_of_upstream(results, mirror):
    for claim in (CLAIM, "p2.bootci.L8.p_value", "p3.aniso.phase1_slope"):
        files = trace(claim, "published", results)["provenance"]["input_files"]
        assert files
        for file, digest in files.items():
            assert digest == sha256(mirror / file)


def test_trace_as_text_says_all_of_it(results):
    record = trace(CLAIM, "published", results)
    text = as_text(record)
    origin = record["provenance"]
    wanted = [
        CLAIM,
        "mean UA, 95 % interval, low end",
        "printed     -0.10663334528605144",
        f"verdict     {record['verdict']}",
        origin["statistic"],
        origin["statistics_sha256"],
        origin["command"],
        *origin["inputs"],
        *origin["input_files"].values(),
    ]
    for part in wanted:
        assert part in text, part


def test_trace_of_a_measured_source_names_the_values(copy, root):
    """The stages of the other sources have their own names."""
    folder = copy / "mini" / "statistics"
    folder.mkdir(parents=True)
    (folder / "layers.json").write_text('{"documents": {}, "derived": {}, "given": {}}')
    values = copy / "mini" / "values" / "tiny.npz"
    values.parent.mkdir()
    values.write_bytes(b"values")
    run_judge(root, copy, "mini")
    claim = next(
        record["id"]
        for record in list_claims("mini", copy, None, None)
        if (record["provenance"]["statistic"] or "").startswith("layers:")
    )
    origin = trace(claim, "mini", copy)["provenance"]
    assert origin["stage"] == "infer@mini-layers"
    assert origin["command"] == "dvc repro infer@mini-layers"
    assert origin["input_files"] == {str(values): sha256(values)}


def test_trace_of_a_claim_without_statistic(results):
    claims = list_claims("published", results, "not checkable", None)
    without = [record for record in claims if record["provenance"]["statistic"] is None]
    text = as_text(trace(without[0]["id"], "published", results))
    assert "cause" in text
    assert "stage" not in text


def test_trace_stages_are_stages_of_the_pipeline(root):
    """The recorded pipeline knows every stage that a trace names."""
    lock = (root / "dvc.lock").read_text()
    for analysis in ANALYSES:
        assert f"\n  replay@{analysis}:\n" in lock
    for analysis in INFERRED:
        assert f"\n  infer@mini-{analysis}:\n" in lock
    assert "\n  derive@mini:\n" in lock


def test_trace_unknown_id_iv(results):
    with pytest.raises(LayerwiseError, match=r"no claim '.*\.x' in the ledger; near it: p2\.nb003"):
        trace("p2.nb003.6.9b.global.x", "published", results)
    with pytest.raises(LayerwiseError, match="`layerwise claims` lists all ids"):
        trace("p9.nothing", "published", results)


def test_trace_stale_statistics_iv(copy):
    path = copy / "published" / "statistics" / "validation.json"
    path.write_text(path.read_text() + " ")
    with pytest.raises(LayerwiseError, match="not the ones that were judged; run `dvc repro judge"):
        trace(CLAIM, "published", copy)
    assert trace("p2.bootci.L8.p_value", "published", copy)["verdict"] == "agrees"


def test_claims_by_verdict_and_paper(results):
    everything = list_claims("published", results, None, None)
    differs = list_claims("published", results, "differs", None)
    assert differs
    assert differs == [record for record in everything if record["verdict"] == "differs"]
    third = list_claims("published", results, "agrees", 3)
    assert {(record["paper"], record["verdict"]) for record in third} == {(3, "agrees")}
    lines = as_lines(differs).splitlines()
    assert lines[0].split() == ["claim", "printed", "recomputed", "verdict"]
    assert [line.split()[0] for line in lines[1:]] == [record["id"] for record in differs]


def test_claims_by_analysis(results):
    everything = list_claims("published", results, None, None)
    found = list_claims("published", results, None, None, "validation")
    assert found == [
        record
        for record in everything
        if str(record["provenance"]["statistic"]).startswith("validation:")
    ]
    assert 0 < len(found) < len(everything)
    assert list_claims("published", results, None, 3, "validation") == []


def test_unknown_analysis_iv(results):
    with pytest.raises(LayerwiseError, match=r"analysis must be one of anis.*, found 'valid'"):
        list_claims("published", results, None, None, "valid")


def test_unknown_verdict_iv(results):
    with pytest.raises(LayerwiseError, match=r"verdict must be one of agrees, .* found 'wrong'"):
        list_claims("published", results, "wrong", None)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["trace", CLAIM], 0, CLAIM),
        (["trace", "p9.x"], 2, "no claim 'p9.x'"),
        (["claims", "--verdict", "wrong"], 2, "verdict must be one of"),
        (["trace", CLAIM, "--source", "full"], 2, "not judged for source 'full'"),
    ],
)
def test_reading_verbs(capsys, results, arguments, code, word):
    from layerwise.cli import main

    assert main([*arguments, "--results", str(results)]) == code
    shown = capsys.readouterr()
    assert word in (shown.out if code == 0 else shown.err)
    assert (shown.err if code == 0 else shown.out) == ""


def test_json_for_other_programs(capsys, results):
    from layerwise.cli import main

    assert main(["trace", CLAIM, "--json", "--results", str(results)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(json.dumps(trace(CLAIM, "published", results)))
    assert main(["claims", "--paper", "3", "--json", "--results", str(results)]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {record["paper"] for record in records} == {3}


# --- draw, render, typeset ----------------------------------------------------------------------


def test_draw_writes_both_forms(results, root, tmp_path):
    out = tmp_path / "figures"
    statistics = results / "published" / "statistics"
    said = draw.run("layers", "published", statistics, root / "models.yaml", out)
    assert said == f"layers in {out}"
    assert sorted(path.name for path in out.iterdir()) == ["layers.pdf", "layers.png"]
    assert (out / "layers.pdf").read_bytes().startswith(b"%PDF")


def test_draw_leaves_reference_values_to_their_figure(results, root):
    """Only models of the registry are drawn as models."""
    statistics = results / "published" / "statistics"
    documents = draw.documents_of("validation", statistics, root / "models.yaml")
    assert list(documents) == ["Pythia-6.9B", "Pythia-12B"]


def test_draw_unknown_figure_iv(results, root, tmp_path):
    statistics = results / "published" / "statistics"
    with pytest.raises(LayerwiseError, match=r"figure must be one of .*found 'sensibility'"):
        draw.run("sensibility", "published", statistics, root / "models.yaml", tmp_path / "f")
    assert not (tmp_path / "f").exists()


def test_draw_missing_statistics_iv(root, tmp_path):
    with pytest.raises(LayerwiseError, match=r"layers\.json: no such file"):
        draw.run("layers", "mini", tmp_path, root / "models.yaml", tmp_path / "f")


@pytest.fixture
def report(results, tmp_path):
    """A template of one line, a figure, and where the report goes."""
    templates, figures = tmp_path / "templates", tmp_path / "figures"
    templates.mkdir()
    figures.mkdir()
    (templates / "main.tex.j2").write_text(
        r"\VAR{source} \VAR{claims | length} \VAR{figures.layers} \VAR{params.seed}"
        r" \VAR{sensitivity.rows | length}" + "\n"
    )
    (figures / "layers.pdf").write_bytes(b"%PDF layers")
    (figures / "layers.png").write_bytes(b"png")
    claims = results / "published" / "claims.json"
    sensitivity = tmp_path / "sensitivity.json"
    sensitivity.write_text('{"documents": {"summary": {"rows": [1, 2, 3]}}}')

    def run():
        out = tmp_path / "tex"
        given = (claims, sensitivity, figures, templates, out, {"seed": 42})
        return render.run("published", *given)

    return run, templates, tmp_path / "tex"


def test_render_writes_a_folder_that_builds_anywhere(report, results):
    run, _, tex = report
    run()
    n = len(json.loads((results / "published" / "claims.json").read_text())["claims"])
    assert (tex / "report.tex").read_text() == f"published {n} figures/layers.pdf 42 3\n"
    assert (tex / "figures" / "layers.pdf").read_bytes() == b"%PDF layers"
    assert sorted(path.name for path in (tex / "figures").iterdir()) == ["layers.pdf"]


def test_render_keeps_the_old_report_when_it_fails_iv(report):
    run, templates, tex = report
    run()
    old = (tex / "report.tex").read_text()
    (templates / "main.tex.j2").write_text(r"\VAR{nothing}")
    with pytest.raises(LayerwiseError, match="may only use what the context holds"):
        run()
    assert (tex / "report.tex").read_text() == old


def test_render_replaces_the_whole_folder(report):
    run, _, tex = report
    run()
    (tex / "figures" / "old.pdf").write_bytes(b"old")
    run()
    assert not (tex / "figures" / "old.pdf").exists()


def test_typeset_moves_the_pdf_out(tmp_path, monkeypatch):
    tex = tmp_path / "tex"
    tex.mkdir()
    (tex / "report.tex").write_text("x")

    def build(folder, name):
        (folder / f"{name}.pdf").write_bytes(b"%PDF")
        return folder / f"{name}.pdf"

    monkeypatch.setattr(typeset, "build_pdf", build)
    typeset.run(tex, tmp_path / "paper" / "x.pdf")
    assert (tmp_path / "paper" / "x.pdf").read_bytes() == b"%PDF"
    assert [path.name for path in tex.iterdir()] == ["report.tex"]


def test_typeset_without_a_report_iv(tmp_path):
    with pytest.raises(
        LayerwiseError, match=r"no report\.tex here; render the report first|latexmk"
    ):
        typeset.run(tmp_path, tmp_path / "x.pdf")
    assert not (tmp_path / "x.pdf").exists()


# --- scaling ------------------------------------------------------------------------------------


def layers_document(display, n_layers=8, r=(0.5, -0.25, -0.75)):
    curve = {
        f"layer_{layer}": {"correlation": value, "p_value": 0.5}
        for layer, value in zip((0, 4, 8), r, strict=True)
    }
    return {
        "model": f"some/{display}",
        "model_display": display,
        "n_layers": n_layers,
        "strategies": {"mean_pooled": {"correlation": 0.1, "p_value": 0.9}, **curve},
    }


@pytest.fixture
def folders(tmp_path):
    made = []
    for name, r in (("small", (0.5, -0.25, -0.75)), ("large", (-0.5, 0.25, 0.125))):
        (tmp_path / name).mkdir()
        document = layers_document(name.title(), r=r)
        (tmp_path / name / "layers.json").write_text(json.dumps(document))
        made.append(tmp_path / name)
    return made


def test_scaling_compares_in_the_order_given(folders, tmp_path):
    said = scaling.run(folders, tmp_path / "out")
    assert said.startswith("scaling.json of Small, Large in")
    found = json.loads((tmp_path / "out" / "scaling.json").read_text())
    assert list(found["models"]) == ["Small", "Large"]
    assert [row["max_pos_pct"] for row in found["summary"]] == [0.0, 50.0]
    assert found["summary"][0]["sign_changes"][0]["midpoint_pct"] == 25.0
    assert found["peak_analysis"]["mean_peak_pct"] == 25.0
    scaling.run(folders[::-1], tmp_path / "out")
    found = json.loads((tmp_path / "out" / "scaling.json").read_text())
    assert list(found["models"]) == ["Large", "Small"]


def test_scaling_has_the_keys_of_the_published_file(folders, tmp_path, mirror):
    scaling.run(folders, tmp_path / "out")
    found = json.loads((tmp_path / "out" / "scaling.json").read_text())
    file = mirror / "Results" / "pythia" / "pythia_scaling_20260102_131212.json"
    published = json.loads(file.read_text())
    assert set(published) - {"timestamp"} <= set(found)
    assert set(published["summary"][0]) <= set(found["summary"][0])
    assert set(published["peak_analysis"]) <= set(found["peak_analysis"])
    one, two = (next(iter(document["models"].values())) for document in (published, found))
    assert set(one) <= set(two)
    assert set(one["layer_results"]["0"]) <= set(two["layer_results"]["0"])


def test_scaling_iv(folders, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(LayerwiseError, match="at least two models, found 1; name the --out"):
        scaling.run(folders[:1], out)
    with pytest.raises(LayerwiseError, match="two of the folders hold a model named 'Small'"):
        scaling.run([folders[0], folders[0]], out)
    with pytest.raises(LayerwiseError, match=r"nowhere/layers\.json: no such file"):
        scaling.run([folders[0], tmp_path / "nowhere"], out)
    path = folders[1] / "layers.json"
    for text, message in [
        ('{"model": "x"}', r"layers\.json: lacks model_display, n_layers, strategies; run"),
        ("[1]", r"layers\.json: .*run `layerwise analyze`"),
        ("5", r"layers\.json: .*run `layerwise analyze`"),
        (json.dumps({**layers_document("X"), "strategies": {}}), "X: the layer document names no"),
        ('{"model": ', r"layers\.json: not valid JSON"),
    ]:
        path.write_text(text)
        with pytest.raises(LayerwiseError, match=message):
            scaling.run(folders, out)
    assert not out.exists()
