"""The repository itself: no call that runs data as code, no hidden sign, no unchecked download."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile import BIDI, UNSEEN, is_unseen

ROOT = Path(__file__).resolve().parent.parent
LOCKS = sorted([*(ROOT / "requirements").glob("*.lock"), ROOT / "benchmarks" / "peers.lock"])

# --- calls that run data as code ----------------------------------------------------------------

BUILT_IN = {"eval", "exec", "compile", "__import__"}
IMPORTED = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "xmlrpc"}
CALLED = {
    *("yaml.load", "yaml.unsafe_load", "yaml.full_load", "yaml.load_all"),
    *("os.system", "os.popen", "tempfile.mktemp", "shutil.unpack_archive", "torch.hub.load"),
    *("runpy.run_path", "runpy.run_module"),
}
# Keywords that may be given with one value only.
FIXED = {
    "shell": False,
    "allow_pickle": False,
    "trust_remote_code": False,
    "use_safetensors": True,
    "verify": True,
    "weights_only": True,
}
# What a loader must be told, as its own default could be another in the next version.
TOLD = {
    "AutoConfig": {"trust_remote_code", "local_files_only"},
    "AutoTokenizer": {"trust_remote_code", "local_files_only"},
    "AutoModelForCausalLM": {"trust_remote_code", "local_files_only", "use_safetensors"},
}


def dangers(source: str) -> list[str]:
    """What a module calls that could run data as code, one entry each."""
    return [found for node in ast.walk(ast.parse(source)) for found in _dangers(node)]


def _dangers(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] in IMPORTED)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        if module.split(".")[0] in IMPORTED:
            yield module
        yield from (
            f"{module}.{a.name}"
            for a in node.names
            if f"{module}.{a.name}" in {*CALLED, "torch.load"}
        )
    elif isinstance(node, ast.Name) and node.id in BUILT_IN:
        yield node.id
    elif isinstance(node, ast.Attribute) and ast.unparse(node) in CALLED:
        yield ast.unparse(node)
    elif isinstance(node, ast.Attribute) and node.attr in ("extractall", "extract_all"):
        yield node.attr
    elif isinstance(node, ast.Call):
        yield from _arguments(node)


def _arguments(call: ast.Call) -> Iterator[str]:
    given = {keyword.arg for keyword in call.keywords}
    for keyword in call.keywords:
        if keyword.arg in FIXED:
            value = keyword.value
            if not (isinstance(value, ast.Constant) and value.value is FIXED[keyword.arg]):
                yield f"{keyword.arg}={ast.unparse(value)}"
    called = ast.unparse(call.func)
    if called == "torch.load" and "weights_only" not in given:
        yield called
    if called.endswith(".from_pretrained"):
        loader = called.split(".")[-2]
        missing = sorted(TOLD[loader] - given) if loader in TOLD else [f"no rule for {loader}"]
        yield from (f"{called}: {what}" for what in missing)


def test_no_module_runs_data_as_code() -> None:
    modules = sorted((ROOT / "code").rglob("*.py"))
    found = {path.name: dangers(path.read_text(encoding="utf-8")) for path in modules}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "exec(text)",
        "list(map(eval, texts))",
        "compile(text, 'x', 'exec')",
        "__import__(name)",
        "import pickle",
        "from pickle import loads",
        "torch.load(path)",
        "torch.load(path, weights_only=strict)",
        "from torch import load",
        "yaml.load(text, yaml.Loader)",
        "yaml.load(text, Loader=yaml.SafeLoader)",
        "subprocess.run(text, shell=True)",
        "subprocess.run(text, shell=wanted)",
        "os.system(text)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=1)",
        "tarfile.open(path).extractall(folder)",
        "requests.get(url, verify=False)",
        "model.f(trust_remote_code=True)",
        "transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)",
        "t.AutoModelForCausalLM.from_pretrained(p, trust_remote_code=False, local_files_only=True)",
        "t.AutoModelForCausalLM.from_pretrained(p, use_safetensors=None)",
        "transformers.AutoModel.from_pretrained(path)",
    ],
)
def test_the_check_would_find(source: str) -> None:
    assert dangers(source)


HARMLESS = """
model.eval()
re.compile(pattern)
ast.literal_eval(node)
yaml.safe_load(text)
np.load(path, allow_pickle=False)
torch.load(path, weights_only=True)
subprocess.run([program, text])
t.AutoTokenizer.from_pretrained(p, trust_remote_code=False, local_files_only=True)
"""


def test_the_check_would_let_pass() -> None:
    assert dangers(HARMLESS) == []


# --- signs that are not seen --------------------------------------------------------------------

MADE = {"data", "results", "node_modules"}
KEPT_DOT_FILES = {".ci", ".dockerignore", ".dvcignore", ".gitignore", ".pre-commit-config.yaml"}


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every text file of the repository, without what tools and stages make."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") and path.name not in KEPT_DOT_FILES:
            continue
        if path.is_dir() and path.name not in MADE:
            yield from texts(path)
        elif path.is_file():
            try:
                yield path, path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                continue  # a figure, a PDF


def hidden(folder: Path) -> list[str]:
    """Signs that are not seen, other than line breaks and tabs, by file and code point."""
    return [
        f"{path.relative_to(folder)}: U+{ord(sign):04X}"
        for path, text in texts(folder)
        for sign in sorted(set(text))
        if is_unseen(sign) and sign not in "\n\t"
    ]


def test_no_file_holds_a_sign_that_is_not_seen() -> None:
    """Code that reads otherwise than it runs (CVE-2021-42574) needs one."""
    assert hidden(ROOT) == []
    found = {path.relative_to(ROOT).parts[0] for path, _ in texts(ROOT)}
    assert {"code", "tests", "claims", "published", "requirements", "README.md"} <= found


def test_a_sign_that_is_not_seen_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for sign in (*BIDI, "\u200b", "\ufeff", "\x1b", "\0", "\r"):
        (tmp_path / "folder" / "a.py").write_bytes(f"a = 1  # {sign}\n\t".encode())
        assert hidden(tmp_path) == [f"folder/a.py: U+{ord(sign):04X}"]
    (tmp_path / "folder" / "a.py").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert hidden(tmp_path) == []
    assert all(any(map(is_unseen, text)) for text in UNSEEN.values())


# --- what is downloaded -------------------------------------------------------------------------


def requirements(lock: str) -> dict[str, list[str]]:
    """The hashes of each requirement, by its first line without the continuation sign.

    Raises:
        AssertionError: for a line that is neither a requirement, nor a hash, nor a comment.
    """
    found: dict[str, list[str]] = {}
    for line in lock.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if hashed := re.fullmatch(r"    --hash=sha256:([0-9a-f]{64})(?: \\)?", line):
            found[list(found)[-1]].append(hashed[1])
        else:
            pinned = r"[a-z0-9][a-z0-9._-]*==[0-9][A-Za-z0-9.+!-]*(?: ; [^\\]+)?(?: \\)?"
            assert re.fullmatch(pinned, line), line
            found[line.removesuffix(" \\")] = []
    return found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_hashed(lock: Path) -> None:
    found = requirements(lock.read_text(encoding="utf-8"))
    assert len(found) > 100
    assert [name for name, hashes in found.items() if not hashes] == []
    assert all(len(set(hashes)) == len(hashes) for hashes in found.values())


@pytest.mark.parametrize(
    "line",
    [
        "numpy>=2",
        "numpy==2.*",
        "numpy",
        "numpy @ https://example.org/numpy.whl",
        "-e .",
        "--index-url https://example.org/simple",
        "--trusted-host example.org",
        "    --hash=md5:0123456789abcdef0123456789abcdef",
        "    --hash=sha256:0123",
    ],
)
def test_another_kind_of_line_would_be_found(line: str) -> None:
    hashed = f"    --hash=sha256:{'0' * 64}\n"
    assert requirements(f"numpy==2.4.6 \\\n{hashed}") == {"numpy==2.4.6": ["0" * 64]}
    with pytest.raises(AssertionError):
        requirements(f"numpy==2.4.6 \\\n{hashed}{line}\n")


def installs(text: str) -> list[str]:
    """What a script or a page installs with pip, from wherever; lines with those that continue."""
    asked = re.compile(r"(\bpip3?\b|\$\{pip\[@\]\}).*\binstall\b")
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    return [line for line in lines if asked.search(line) and not line.startswith("#")]


def is_checked(install: str) -> bool:
    """From a lock with hashes, or this repository itself without asking for anything."""
    return ("--require-hashes" in install and "--no-deps" in install) or (
        re.search(r"install( \"\$\{build\[@\]\}\"| --no-deps)? -e \.", install) is not None
    )


def test_nothing_is_installed_unchecked() -> None:
    script = (ROOT / "requirements" / "setup.sh").read_text(encoding="utf-8")
    (build,) = re.findall(r"^build=\((.*)\)$", script, re.MULTILINE)
    assert {"--no-deps", "--no-build-isolation"} <= set(build.split())
    found = [
        line.replace('"${build[@]}" --require', f"{build} --require") for line in installs(script)
    ]
    assert len(found) == 4
    assert not re.search(r"trusted-host|index-url|curl|wget|easy_install", script)
    for name in ("Dockerfile", "Makefile", "README.md", "benchmarks/README.md"):
        found += installs((ROOT / name).read_text(encoding="utf-8"))
    assert [line for line in found if not is_checked(line)] == []


@pytest.mark.parametrize("line", ["pip install numpy", "pip install -r a.lock", "pip install -U ."])
def test_an_unchecked_install_would_be_found(line: str) -> None:
    assert [line] == [found for found in installs(f"set -e\n{line}\n") if not is_checked(found)]
