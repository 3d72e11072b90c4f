"""The repository itself: no hidden sign, no unchecked download; ruff forbids data run as code."""

import re
from collections.abc import Iterator
from pathlib import Path

from hostile import BIDI, UNSEEN, is_unseen

ROOT = Path(__file__).resolve().parents[2]
MADE = {"data", "results", "node_modules", "site", "dvc_plots"}
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


def test_no_file_holds_a_sign_that_is_not_seen(tmp_path: Path) -> None:
    """Code that reads otherwise than it runs (CVE-2021-42574) needs one."""
    assert hidden(ROOT) == []
    found = {path.relative_to(ROOT).parts[0] for path, _ in texts(ROOT)}
    assert {"code", "tests", "claims", "published", "requirements", "README.md"} <= found
    (tmp_path / "folder").mkdir()
    for sign in (*BIDI, "\u200b", "\ufeff", "\x1b", "\0", "\r"):
        (tmp_path / "folder" / "a.py").write_bytes(f"a = 1  # {sign}\n\t".encode())
        assert hidden(tmp_path) == [f"folder/a.py: U+{ord(sign):04X}"]
    assert all(any(map(is_unseen, text)) for text in UNSEEN.values())


def installs(text: str) -> list[str]:
    """What a script or a page installs with pip, from wherever; lines with those that continue."""
    asked = re.compile(r"(\bpip3?\b|\$\{pip\[@\]\}).*\binstall\b")
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    return [line for line in lines if asked.search(line) and not line.startswith("#")]


def is_checked(install: str) -> bool:
    """From a lock with hashes, or this repository itself without asking for anything.

    A reader who wants the package alone may leave the versions to pip.
    """
    return ("--require-hashes" in install and "--no-deps" in install) or (
        re.search(
            r"install( \"\$\{build\[@\]\}\"| --no-deps)? -e \.|^pip install '?\.(\[models\])?'?$",
            install,
        )
        is not None
    )


def test_nothing_is_installed_unchecked() -> None:
    """With `--require-hashes` pip itself refuses what a lock does not pin and hash."""
    script = (ROOT / "requirements" / "setup.sh").read_text(encoding="utf-8")
    (build,) = re.findall(r"^build=\((.*)\)$", script, re.MULTILINE)
    assert {"--no-deps", "--no-build-isolation"} <= set(build.split())
    found = [
        line.replace('"${build[@]}" --require', f"{build} --require") for line in installs(script)
    ]
    assert len(found) == 4
    assert not re.search(r"trusted-host|index-url|curl|wget|easy_install", script)
    for name in ("Dockerfile", "Makefile", "maintain.mk", "README.md", "benchmarks/README.md"):
        found += installs((ROOT / name).read_text(encoding="utf-8"))
    assert [line for line in found if not is_checked(line)] == []
    for line in ("pip install numpy", "pip install -r a.lock", "pip install -U ."):
        assert not any(map(is_checked, installs(f"set -e\n{line}\n")))
