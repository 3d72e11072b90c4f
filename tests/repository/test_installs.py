"""Nothing is installed that a lock does not pin and hash."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
