"""dvc.yaml tells the truth: deps cover imports, outs are disjoint, every parameter is used."""

import ast
import inspect
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from dvc.repo import Repo

from layerwise.analyses import ANALYSES, MEASURED_DIRECTLY, READER
from layerwise.inputs.models import extractions_of, read_models
from layerwise.pages.records import INFERRED

ROOT = Path(__file__).resolve().parent.parent
EXTRACTIONS = extractions_of(read_models(ROOT / "models.yaml"))
CODE = ROOT / "code"

# What a verb reaches through names in its arguments, which no import statement shows.
BY_NAME = {
    "infer": ["code/layerwise/analyses/of_values"],
    "draw": ["code/layerwise/figures"],
    "redraw": ["code/layerwise/figures", "code/layerwise/statistics"],
    "report": ["code/layerwise/figures"],  # captions are the modules' first lines
}
# Modules that a verb imports by name: what they import is reached as well.
IMPORTED_BY_NAME = {
    "survey": "code/layerwise/experiments",
    "rehearse": "code/layerwise/experiments",
}


@cache
def stages():
    """Every stage of the resolved pipeline."""
    return {stage.addressing: stage for stage in Repo(ROOT).index.stages if stage.cmd}


def verb_of(stage):
    return re.match(r"layerwise (\S+)", stage.cmd)[1]


@cache
def imports_of(path):
    """Files of the package that a module imports, directly."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            base = CODE / name.replace(".", "/")
            files = (base.with_suffix(".py"), base / "__init__.py")
            found |= {file for file in files if file.is_file()}
    return found


def reached(verb):
    """Every module that a verb's stage module reaches through imports."""
    todo, done = {CODE / "layerwise" / "stages" / f"{verb}.py"}, set()
    if verb in IMPORTED_BY_NAME:
        todo |= set((ROOT / IMPORTED_BY_NAME[verb]).glob("*.py"))
    while todo:
        path = todo.pop()
        done.add(path)
        todo |= imports_of(path) - done
    done.discard(CODE / "layerwise" / "__init__.py")  # a docstring and the version
    return {path.relative_to(ROOT).as_posix() for path in done}


def deps_of(stage):
    return {dep.def_path for dep in stage.deps if not dep.def_path.endswith((".yaml", ".lock"))}


def covered(path, deps):
    return any(path == dep or path.startswith(f"{dep}/") for dep in deps)


@pytest.mark.parametrize("name", sorted(stages()))
def test_deps_cover_what_the_stage_imports(name):
    stage = stages()[name]
    missing = [path for path in reached(verb_of(stage)) if not covered(path, deps_of(stage))]
    assert not missing, f"{name} imports {missing}, name them in its deps"


@pytest.mark.parametrize("name", sorted(stages()))
def test_no_dep_on_code_that_is_not_reached(name):
    stage = stages()[name]
    verb = verb_of(stage)
    modules = [*reached(verb), *BY_NAME.get(verb, [])]
    idle = [
        dep
        for dep in deps_of(stage)
        if dep.startswith("code/layerwise/")
        and not dep.startswith("code/layerwise/inputs/rehearsal")
        and not any(covered(path, [dep]) or covered(dep, [path]) for path in modules)
    ]
    assert not idle, f"{name} does not reach {idle}"


def test_outs_are_disjoint_and_outside_data():
    outs = sorted(out.def_path for stage in stages().values() for out in stage.outs)
    for first, second in pairwise(outs):
        assert not covered(second, [first]), f"{second} is written by two stages"
    assert not [out for out in outs if covered(out, ["data"])], "data/ belongs to data.dvc"


def test_every_stage_is_described():
    document = yaml.safe_load((ROOT / "dvc.yaml").read_text())
    for name, stage in document["stages"].items():
        assert stage.get("do", stage).get("desc") or stage.get("desc"), name


def test_every_parameter_is_used_by_the_stage_it_is_named_after():
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    wanted = {
        name
        for stage in stages().values()
        for dep in stage.deps
        if dep.def_path == "params.yaml"
        for name in dep.params
    }
    assert set(params) == wanted
    sources = "".join(path.read_text() for path in CODE.rglob("*.py"))
    for section, choices in params.items():
        for key in choices:
            used = re.search(rf"\b{key}\b", sources)
            assert used, f"no code reads {section}.{key}"


def test_defaults_in_code_are_the_params():
    """`layerwise analyze` runs outside the repository on the defaults of the functions."""
    from layerwise.experiments.reduction import measure
    from layerwise.extraction.hidden_states import extract
    from layerwise.steps.infer import PER_MODEL, import_module

    params = yaml.safe_load((ROOT / "params.yaml").read_text())

    def defaults(function):
        parameters = inspect.signature(function).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not p.empty}

    assert defaults(extract)["tokens_per_batch"] == params["extract"]["tokens_per_batch"]
    chosen = {**params["measure"], **params["measure"]["bins"]}
    chosen.pop("bins")
    for name, value in defaults(measure).items():
        if name != "layers":
            assert (list(value) if isinstance(value, tuple) else value) == chosen[name], name
    for name in set(PER_MODEL) - set(READER):
        module = import_module(f"layerwise.analyses.of_values.{name}")
        analyse = defaults(module.analyse)
        assert set(analyse) == set(module.PARAMETERS)
        for key in module.PARAMETERS:
            assert analyse[key] == params["infer"][key], (name, key)


def test_models_of_the_pipeline_are_registered():
    def named(verb):
        return {
            re.match(rf"layerwise {verb} (\S+)", stage.cmd)[1]
            for stage in stages().values()
            if verb_of(stage) == verb
        }

    models = read_models(ROOT / "models.yaml")
    assert named("survey") == set(models)
    assert set(EXTRACTIONS) <= named("extract")


def test_an_extraction_depends_on_the_entry_of_its_model():
    for stage in stages().values():
        if verb_of(stage) != "extract":
            continue
        key = re.match(r"layerwise extract (\S+)", stage.cmd)[1]
        slug = EXTRACTIONS[key].slug if key in EXTRACTIONS else key
        (entry,) = [dep.params for dep in stage.deps if dep.def_path == "models.yaml"]
        assert list(entry) == [f"models.{slug}"]


def test_every_extraction_is_measured_at_its_own_layers():
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    for key, extraction in EXTRACTIONS.items():
        cmd = stages()[f"measure@{key}"].cmd
        step = re.search(r"--layer-step (\d+)", cmd)
        assert int(step[1] if step else params["measure"]["layer_step"]) == extraction.layer_step


def test_measured_analyses_are_written_by_the_stages():
    """One list in the code, one in dvc.yaml."""
    inferred = {name for name in stages() if name.startswith("infer@mini-")}
    assert inferred == {f"infer@mini-{name}" for name in INFERRED}
    derived = [name for name in ANALYSES if name not in MEASURED_DIRECTLY]
    for source in ("mini", "full"):
        outs = {out.def_path for out in stages()[f"derive@{source}"].outs}
        assert outs == {f"results/{source}/statistics/{name}.json" for name in derived}
        read = deps_of(stages()[f"judge@{source}"])
        assert {f"results/{source}/statistics/{name}.json" for name in ANALYSES} <= read


def test_sources_run_without_a_gpu_reach_no_full_result():
    """What `make reproduce` asks for depends on nothing that needs weights or upstream."""
    graph = {name: deps_of(stage) for name, stage in stages().items()}
    made_by = {out.def_path: name for name, stage in stages().items() for out in stage.outs}
    todo, seen = (
        [
            "typeset@published",
            "typeset@mini",
            "report-published",
            "report@mini",
        ],
        set(),
    )
    while todo:
        name = todo.pop()
        seen.add(name)
        for dep in graph[name]:
            assert not covered(dep, ["data"]), f"{name} needs data/"
            todo += [made_by[dep]] if dep in made_by and made_by[dep] not in seen else []
    assert not [name for name in seen if "full" in name or "pythia" in name]


def test_only_extraction_imports_torch():
    """The CPU half works without torch installed."""
    allowed = {"hidden_states", "forward", "packed", "weights", "tiny"}
    allowed |= {"memory", "probes", "projections"}
    for path in CODE.rglob("*.py"):
        text = path.read_text()
        if re.search(r"^\s*(import|from) (torch|transformers|accelerate)\b", text, re.M):
            assert path.stem in allowed, path
