"""What is measured on one model, what measured it, and what happens where that fails."""

import math
import re
import shutil
from concurrent.futures import Future
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch.multiprocessing.reductions import StorageWeakRef

from layerwise.engine.measured import (
    Runs,
    all_fragments,
    failures,
    is_random,
    read_measurements,
    write_fragments,
)
from layerwise.engine.origins import Origins
from layerwise.engine.published import Published
from layerwise.errors import LayerwiseError
from layerwise.files import read_json
from layerwise.measuring import registered_models
from layerwise.measuring.given_texts import Texts
from layerwise.measuring.registered_models import pass_through
from layerwise.models import load
from layerwise.models.checkpoint import open_folder
from layerwise.models.load import Checkpoint, load_model
from layerwise.models.projections import Weights
from layerwise.models.registry import Model, read_models
from layerwise.models.twins import build_twin
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from layerwise.papers.shared.result_files import CHOICES_FILE, PAPER1, SWEEP
from layerwise.run.steps import measure
from measured_twin import (
    CHOICES,
    DRAWS,
    ROOT,
    SLUG,
    STAND_INS,
    patches,
    run_stage,
    write_inputs,
)

MODELS = read_models(ROOT / "models.yaml")


@pytest.fixture(scope="module")
def texts() -> Texts:
    prompts = STAND_INS / "prompts.json"
    return Texts(read_pairs(STAND_INS / "pairs.json"), read_prompts(prompts), read_json(prompts))


@pytest.fixture(scope="module")
def twin(texts: Texts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twin") / SLUG
    return build_twin(MODELS[SLUG], [*texts.pairs.statements, *texts.prompts], folder)


@pytest.fixture
def step(twin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The step, with a twin where the hub would give the model."""
    loaded: list[str] = []
    for patch in patches(twin, loaded.append):
        monkeypatch.setattr(*patch)
    write_inputs(tmp_path)

    def run(slug: str = SLUG, code: int = 0) -> str:
        said, found = run_stage(tmp_path, tmp_path / "models" / slug, tmp_path / "scratch", slug)
        assert found == code
        return said

    return SimpleNamespace(run=run, loaded=loaded, folder=tmp_path)


@pytest.mark.parametrize("absent", [{}, {SLUG: "states are not finite; take another dtype"}])
@pytest.mark.parametrize("is_whole", [True, False])
def test_weights_go_whatever_failed_unless_they_did_not_arrive(
    step: Any, absent: dict[str, str], is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What did not arrive whole waits for the next run, which goes on with it."""
    dropped: list[Model] = []
    document = {"model": SLUG, "runs": {}, "absent": absent, "noise": [], "control": []}
    place = step.folder if is_whole else None
    monkeypatch.setattr(registered_models, "measure_registered", lambda *_, **__: document)
    monkeypatch.setattr("layerwise.models.hub.cached_folder", lambda *_: place)
    monkeypatch.setattr("layerwise.models.hub.drop_fetched", lambda model: dropped.append(model))
    step.run(code=1 if absent else 0)
    assert len(dropped) == is_whole


def test_a_killed_run_goes_on_from_its_hidden_states_and_says_what_measured_it(
    step: Any, published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It loads the model once per dtype, and fills places of published files alone."""

    def kill(name: str, subject: Any, **_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(registered_models, "measure_experiment", kill)
        with pytest.raises(KeyboardInterrupt):
            step.run()
    states = step.folder / "scratch" / SLUG / SLUG
    before = {path: path.stat().st_mtime_ns for path in states.rglob("*.safetensors")}
    assert before
    assert not (step.folder / "models").exists()
    step.loaded.clear()
    with monkeypatch.context() as patch:
        patch.setattr(measure.shutil, "rmtree", lambda folder, **_: removed.append(folder))
        removed: list[Path] = []
        said = step.run()
    assert step.folder / "scratch" / SLUG in removed
    assert {path: path.stat().st_mtime_ns for path in states.rglob("*.safetensors")} == before
    model = MODELS[SLUG]
    assert said.startswith(f"gemma-2b: {1 + len(model.experiments)} runs in ")
    assert step.loaded == list(model.dtypes)
    found = read_measurements(step.folder / "models")
    assert is_random(found)
    assert found[SLUG]["absent"] == {}
    runs = found[SLUG]["runs"]
    assert set(runs) == {SLUG, *model.experiments}
    for run in runs.values():
        assert {"model", "revision", "torch", "transformers", "attention"} <= set(run)
        assert run["device"].startswith("cpu")
        assert run["dtype"] in model.dtypes
    assert {"template", "tokens_per_batch"} <= set(runs[SLUG])
    files = {file for file in all_fragments(found) if not file.startswith("beyond/")}
    assert files <= {file for file, _ in published.cells}


def test_a_pass_does_not_wait_for_the_numbers_of_its_states(
    texts: Texts, published: Published, twin: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """Nor does its replicate, whose process fails: that is the reason.

    What is sent is nobody else's: a thread sends it while others fill the caches of what they read.
    """
    computed: list[Future[Any]] = []

    def submit(_: Any, arguments: Any, *, most: int) -> Future[Any]:
        (theirs,) = (given for given in arguments() if isinstance(given, Published))
        assert theirs is not published
        assert theirs == published
        computed.append(Future())
        return computed[-1]

    monkeypatch.setattr(registered_models.workers, "submit", submit)
    model = MODELS[SLUG].model_copy(update={"experiments": {}})
    given = (model, lambda dtype: load_model(twin, dtype, "cpu"), texts, published, tmp_path)
    passed = pass_through(*given, choices=CHOICES, draws=DRAWS, replicates=1)
    assert [*passed.undisturbed.begun] == [SLUG]
    of_pass, of_replicate = computed
    of_pass.set_result({"file": {"/r": 0.5}})
    of_replicate.set_exception(LayerwiseError("all preferences are equal"))
    document = passed.document()
    assert document["runs"][SLUG]["fragments"] == {"file": {"/r": 0.5}}
    (noise,) = document["noise"]
    assert (noise["runs"], noise["absent"]) == ({}, {SLUG: "all preferences are equal"})


def test_what_rests_on_a_text_that_overflows_is_missing_alone(
    texts: Texts, published: Published, twin: Path, tmp_path: Path
) -> None:
    """The other categories have the numbers of a model that overflows nowhere; so has the noise."""
    model = MODELS[SLUG].model_copy(deep=True, update={"experiments": {}})
    model.extractions[SLUG] = (
        MODELS[SLUG]
        .extractions[SLUG]
        .model_copy(update={"experiments": ("p1_ua", "p1_outcorr", "p2_layers")})
    )
    pairs = texts.pairs
    hit, spoilt = pairs.categories[1], int(np.flatnonzero(pairs.category_of_pair == 1)[2])

    def load(dtype: str, spoils: bool) -> Any:
        checkpoint = load_model(twin, dtype, "cpu")
        ids = checkpoint.tokenizer(pairs.side_b[spoilt]).input_ids

        def overflow(_: Any, inputs: Any, out: torch.Tensor) -> torch.Tensor:
            is_spoilt = [row == ids for row in inputs[0].tolist()]
            return torch.where(torch.tensor(is_spoilt)[:, None, None], math.inf, out)

        if spoils:
            checkpoint.model.get_input_embeddings().register_forward_hook(overflow)
        return checkpoint

    def measured(spoils: bool) -> Any:
        given = (model, partial(load, spoils=spoils), texts, published, tmp_path / str(spoils))
        return pass_through(*given, choices=CHOICES, draws=DRAWS, replicates=1).document()

    whole, lacking = measured(spoils=False), measured(spoils=True)
    assert lacking["absent"] == whole["absent"] == {}
    run = lacking["runs"][SLUG]
    assert run["lacking"]["categories"] == [hit]
    assert f"not finite for statement {len(pairs) + spoilt} " in run["lacking"]["why"]
    by_category = run["fragments"][PAPER1["gemma"]]
    expected = {
        place: value
        for place, value in whole["runs"][SLUG]["fragments"][PAPER1["gemma"]].items()
        if hit not in place
    }
    assert len(expected) == 3 * (len(pairs.categories) - 1)
    assert by_category == pytest.approx(expected, rel=0.02, abs=1e-3)  # other batches, in float16
    assert CHOICES_FILE not in run["fragments"]
    (noise,) = lacking["noise"]
    assert noise["absent"] == {}
    places = {file: set(parts) for file, parts in run["fragments"].items()}
    assert {file: set(parts) for file, parts in noise["runs"][SLUG]["fragments"].items()} == places
    cause, waits_for = Origins({SLUG: lacking}, MODELS, published).why_not(None, SLUG)
    assert waits_for == SLUG
    assert run["lacking"]["why"] in cause
    shutil.rmtree(tmp_path / "True" / "noise-0")  # killed, and taken up
    assert measured(spoils=True) == lacking


def test_a_model_that_is_left_out_says_why_and_nothing_is_loaded(step: Any) -> None:
    step.run("bloom-1b1")  # nobody recorded a commit
    found = read_measurements(step.folder / "models")["bloom-1b1"]
    assert set(found["absent"]) == set(MODELS["bloom-1b1"].experiments)
    assert {*found["absent"].values()} == {MODELS["bloom-1b1"].skipped}
    assert step.loaded == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LayerwiseError("it is gated: accept its licence"), "it is gated: accept its licence"),
        (
            torch.OutOfMemoryError("CUDA out of memory.\nTried"),
            "out of memory (CUDA out of memory.)",
        ),
        (KeyError("rope"), "it broke off (KeyError: 'rope'); the log has the place"),
    ],
)
def test_a_model_that_cannot_be_loaded_says_why_and_its_stage_ends_well(
    step: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    """And so stops no other, whatever it was; no control takes its place."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(registered_models, "load_registered", fail)
    choices = {"measure": CHOICES | {"replicates": 2, "control": 2}, "analyse": DRAWS}
    (step.folder / "params.yaml").write_text(yaml.safe_dump(choices))
    said = step.run(code=1)  # DVC does not call it done
    assert "0 runs" in said
    assert f", aniso: {reason}" in said
    assert said.count(reason) == 1
    found = read_measurements(step.folder / "models")[SLUG]
    assert set(found["absent"]) == {SLUG, *MODELS[SLUG].experiments}
    assert found["control"] == []
    of_16_bits = {n for n, dtype in MODELS[SLUG].experiments.items() if dtype != "float32"} | {SLUG}
    assert [set(one["absent"]) for one in found["noise"]] == [of_16_bits] * 2


def test_the_device_is_asked_for_first(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    (step.folder / "params.yaml").write_text(
        yaml.safe_dump({"measure": CHOICES | {"device": "cuda"}})
    )
    with pytest.raises(LayerwiseError, match="need a CUDA device and none was found"):
        step.run()


@pytest.fixture
def measured_with(
    monkeypatch: pytest.MonkeyPatch, published: Published, texts: Texts, twin: Path, tmp_path: Path
) -> Any:
    """Measures as if experiments ran in two dtypes; one overflows, one breaks, one is infinite."""
    half = dict.fromkeys(("sweep", "scaling", "bench", "clean"), "float16")
    experiments = {**half, "hunt": "float32"}
    model = MODELS[SLUG].model_copy(update={"extractions": {}, "experiments": experiments})

    def fragments(name: str, subject: Any, **_: Any) -> dict[str, Any]:
        if name == "scaling":
            raise LayerwiseError("states overflow; try bfloat16")
        if name == "bench":
            raise RuntimeError("CUDA error: device-side assert triggered")
        if name == "clean":
            return {"file": {"/clean": {"gains": [1.0, math.nan, math.inf]}}}
        return {"file": {f"/{name}": 1.5}}

    def run(
        refusal: dict[str, LayerwiseError],
        loading: Any = None,
        experiment: Any = fragments,
        fresh: bool = True,
        replicates: int = 0,
    ) -> Runs:
        def load(dtype: str) -> Any:
            if dtype in refusal:
                raise refusal[dtype]
            return load_model(twin, dtype, "cpu")

        monkeypatch.setattr(registered_models, "measure_experiment", experiment)
        scratch = tmp_path / str(len([*tmp_path.iterdir()])) if fresh else tmp_path / "0"
        given = (model, loading or load, texts, published, scratch)
        passed = pass_through(*given, choices=CHOICES, draws=DRAWS, replicates=replicates)
        return passed.document()

    return run


def test_a_run_that_fails_leaves_the_others_alone(measured_with: Any) -> None:
    """And so does a dtype that does not fit."""
    found = measured_with({})
    assert found["absent"] == {
        "scaling": "states overflow; try bfloat16",
        "bench": "it broke off (RuntimeError: CUDA error: device-side assert triggered); "
        "the log has the place",
        "clean": "clean of gemma-2b in float16: numbers must be finite, file#/clean/gains/2 is "
        "inf; give it another dtype under the model's name in models.yaml",
    }
    dtypes = {name: run["dtype"] for name, run in found["runs"].items()}
    assert dtypes == {"sweep": "float16", "hunt": "float32"}
    found = measured_with({"float32": LayerwiseError("it needs 80 GiB, 40 GiB are there")})
    assert list(found["runs"]) == ["sweep"]
    assert found["absent"]["hunt"] == "it needs 80 GiB, 40 GiB are there"


def test_a_run_that_is_done_is_not_computed_again_after_a_kill(
    measured_with: Any, twin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the kill came; what failed is, and the record is the one of a single run."""
    asked: list[str] = []
    killed_at = ""
    loading = cache(lambda dtype: load_model(twin, dtype, "cpu"))

    def experiment(name: str, subject: Any, **_: Any) -> dict[str, Any]:
        asked.append(name)
        if name == killed_at:
            raise KeyboardInterrupt
        if name == fails_at:
            raise LayerwiseError("states overflow")
        return {"file": {f"/{name}": [1.5, math.nan, {"a": 1e-300}]}}

    def measured(fresh: bool = False) -> Any:
        asked.clear()
        found = measured_with({}, loading, experiment, fresh)
        path = tmp_path / f"{fresh}.json"
        write_fragments(path, {**found})
        return path.read_text()

    fails_at = "scaling"
    names = ["sweep", "scaling", "bench", "clean", "hunt"]
    failed = measured()
    assert asked == names
    assert measured() == failed
    assert asked == ["scaling"]
    fails_at, killed_at = "", "scaling"
    with pytest.raises(KeyboardInterrupt):
        measured()
    killed_at = ""
    whole = measured()
    assert asked == ["scaling"]
    assert measured() == whole
    assert asked == []
    assert measured(fresh=True) == whole
    assert asked == names
    monkeypatch.setattr(registered_models, "driver", lambda: "another driver")
    assert measured() == whole
    assert asked == names
    (tmp_path / "0" / "kept" / "bench.json").write_text('{"fingerpr')
    assert measured() == whole
    assert asked == ["bench"]


def test_a_run_is_taken_up_with_what_it_was_measured_with_alone(
    texts: Texts, published: Published, twin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each change of what can change a number has it computed anew, and no second call."""
    asked: list[str] = []

    def experiment(name: str, subject: Any, **_: Any) -> dict[str, Any]:
        asked.append(name)
        return {"file": {f"/{name}": 1.5}}

    monkeypatch.setattr(registered_models, "measure_experiment", experiment)
    loading = cache(lambda dtype: load_model(twin, dtype, "cpu"))
    of_model = {"extractions": {}, "experiments": {"sweep": "float32"}}
    more_cells = {**published.cells, (SWEEP, "/another"): None}
    given: dict[str, Any] = {
        "model": MODELS[SLUG].model_copy(update=of_model),
        "texts": texts,
        "published": published,
        "choices": CHOICES,
        "draws": DRAWS,
    }
    in_other_categories = replace(
        texts.pairs, category_of_pair=np.roll(texts.pairs.category_of_pair, 1)
    )
    regrouped = replace(texts, pairs=in_other_categories)
    changes: list[tuple[str, Any]] = [
        ("model", given["model"]),
        ("model", given["model"].model_copy(update={"revision": "0" * 40})),
        ("texts", regrouped),
        ("texts", replace(regrouped, sets={**texts.sets, "another": ["A text"]})),
        ("published", replace(published, cells=more_cells)),
        ("choices", CHOICES | {"seed": CHOICES["seed"] + 1}),
        ("draws", DRAWS | {"n_resamples": DRAWS["n_resamples"] + 1}),
    ]
    for n, (name, change) in enumerate(changes, 1):
        given[name] = change
        for _ in range(2):
            pass_through(load=loading, scratch=tmp_path / "scratch", **given).document()
            assert len(asked) == n, name


@pytest.mark.parametrize(
    ("draw", "fails"), [(0, ""), (None, "in its runs"), (None, "once it is loaded")]
)
def test_there_are_never_two_models_at_once(
    draw: int | None, fails: str, measured_with: Any, twin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where free memory is asked for, before a dtype is loaded, the last one's model is gone."""
    there: list[StorageWeakRef] = []
    ask, weights_of = load.free_bytes, Weights.from_checkpoint

    def free_bytes(device: str) -> int:
        free = ask(device)
        assert [one for one in there if not one.expired()] == []
        return free

    def look_up(checkpoint: Any) -> Any:
        there.extend(StorageWeakRef(one.untyped_storage()) for one in checkpoint.model.parameters())
        if fails == "once it is loaded":
            raise LayerwiseError("its files changed")
        return weights_of(checkpoint)

    def fragments(name: str, subject: Any, **_: Any) -> dict[str, Any]:
        subject.trace("A text")
        if fails:
            raise LayerwiseError("states overflow")
        return {"file": {f"/{name}": 1.5}}

    monkeypatch.setattr(load, "free_bytes", free_bytes)
    monkeypatch.setattr(Weights, "from_checkpoint", look_up)
    loading = partial(load.load, open_folder(twin), device="cpu", draw=draw)
    found = measured_with({}, loading, fragments)
    assert len(there) > 20
    assert {*found["runs"], *found["absent"]} == {"sweep", "scaling", "bench", "clean", "hunt"}
    assert bool(found["runs"]) is not bool(fails)


def test_every_replicate_and_every_draw_of_weights_has_a_seed_of_its_own(
    texts: Texts, published: Published, twin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their numbers differ, from the model's own and from one another's."""

    def load_twin(
        model: Model, dtype: str, *, device: str, draw: int | None, files: Any
    ) -> Checkpoint:
        return load.load(files, dtype, device, draw=draw)

    def fragments(name: str, subject: Any, **_: Any) -> dict[str, Any]:
        return {"file": {"/norm": float(np.linalg.norm(subject.trace("A text").before_norm))}}

    monkeypatch.setattr(registered_models, "load_registered", load_twin)
    monkeypatch.setattr(registered_models, "look_up_registered", lambda model: open_folder(twin))
    monkeypatch.setattr(registered_models, "measure_experiment", fragments)
    half = {"extractions": {}, "experiments": {"sweep": "float16"}}
    document = registered_models.measure_registered(
        MODELS[SLUG].model_copy(update=half),
        texts,
        published,
        tmp_path,
        choices=CHOICES | {"replicates": 2, "control": 2},
        draws=DRAWS,
    )
    runs = [document, *document["noise"], *document["control"]]
    norms = {run["runs"]["sweep"]["fragments"]["file"]["/norm"] for run in runs}
    assert len(norms) == len(runs) == 5


# --- origins ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "model", "reason"),
    [
        (f"{SWEEP}#/models/7/rho", None, r"pythia-12b: Pythia sizes, MLP by size: too large\)$"),
        (
            None,
            "Pythia-12B",
            r"^no experiment measures it \(pythia-12b: Pythia sizes, MLP by size: too",
        ),
        (
            "Results/results_llama.json#/x",
            "llama",
            r"not measured \(llama-3p1-8b: asymmetry: a gate\)",
        ),
        (f"{SWEEP}#/models/0/rho", None, r"/models/0/rho was not measured$"),
    ],
)
def test_a_cell_is_traced_to_its_run_or_to_why_there_is_none(
    published: Published, cell: str | None, model: str | None, reason: str
) -> None:
    """Pythia-70M was measured, Pythia-12B does not fit."""
    run = {"dtype": "float16", "device": "cuda", "fragments": {SWEEP: {"/models/0/rho": 1.0}}}
    measurements = {
        "pythia-70m": {"runs": {"sweep": run}, "absent": {}},
        "pythia-12b": {"runs": {}, "absent": {"sweep": "too large", "scaling": "too large"}},
        "llama-3p1-8b": {"runs": {}, "absent": {"p1_ua": "a gate"}},
    }
    origins = Origins(measurements, MODELS, published)
    assert re.search(reason, origins.why_not(cell, model).why)
    cells = [f"{SWEEP}#/models/0/rho/mean", f"{SWEEP}#/models/7/rho"]
    assert origins.runs(cells) == ["pythia-70m/sweep"]
    assert origins.settings("pythia-70m/sweep") == {"dtype": "float16", "device": "cuda"}


def test_the_models_own_results_are_there_before_random_weights_are_drawn(
    texts: Texts, published: Published, twin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ends the process then, they are whole, and say what is missing beside them."""
    kept: list[Any] = []

    def load_twin(
        model: Model, dtype: str, *, device: str, draw: int | None, files: Any
    ) -> Checkpoint:
        if draw is not None:
            raise KeyboardInterrupt
        return load.load(files, dtype, device)

    monkeypatch.setattr(registered_models, "load_registered", load_twin)
    monkeypatch.setattr(registered_models, "look_up_registered", lambda model: open_folder(twin))
    monkeypatch.setattr(
        registered_models, "measure_experiment", lambda *_, **__: {"file": {"/a": 1.5}}
    )
    one = {"extractions": {}, "experiments": {"sweep": "float32"}}
    with pytest.raises(KeyboardInterrupt):
        registered_models.measure_registered(
            MODELS[SLUG].model_copy(update=one),
            texts,
            published,
            tmp_path,
            choices=CHOICES | {"control": 2},
            draws=DRAWS,
            keep=kept.append,
        )
    (document,) = kept
    assert document["runs"]["sweep"]["fragments"] == {"file": {"/a": 1.5}}
    assert [draw["runs"] for draw in document["control"]] == [{}, {}]
    assert [*failures(document)] == ["sweep (control)"]
