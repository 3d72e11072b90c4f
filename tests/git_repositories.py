"""Git for tests that make repositories of their own; an unpacked archive runs without it."""

import subprocess
from pathlib import Path

import pytest


def git(*arguments: str, root: Path) -> str:
    """The output of a git command, run as somebody."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def _works() -> bool:
    try:
        return subprocess.run(["git", "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


needs_git = pytest.mark.skipif(not _works(), reason="git is missing")
