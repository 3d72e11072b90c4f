"""Known vulnerabilities of locked packages: which records hold for a version, what is accepted."""

import runpy
from types import SimpleNamespace

import pytest
import yaml


@pytest.fixture(scope="module")
def advisories(root):
    return SimpleNamespace(**runpy.run_path(str(root / "requirements" / "advisories.py")))


def of_range(*events, kind="ECOSYSTEM"):
    return {"ranges": [{"type": kind, "events": [dict([event]) for event in events]}]}


SINCE, FIXED, LAST = ("introduced", "1.2"), ("fixed", "2.0"), ("last_affected", "2.0")


@pytest.mark.parametrize(
    ("affected", "version", "expected"),
    [
        ({"versions": ["1.0", "1.1"]}, "1.1", True),
        ({"versions": ["1.0", "1.1"]}, "1.1.0+cpu", True),
        ({"versions": ["1.0", "not a version"]}, "1.1", False),
        (of_range(SINCE, FIXED), "1.1", False),
        (of_range(SINCE, FIXED), "1.10", True),
        (of_range(SINCE, FIXED), "2.0", False),
        (of_range(SINCE, LAST), "2.0", True),
        (of_range(SINCE, LAST), "2.0.1", False),
        (of_range(("introduced", "0")), "9", True),
        (of_range(("introduced", "0"), ("fixed", "1"), ("introduced", "3")), "2", False),
        (of_range(("introduced", "0"), ("fixed", "1"), ("introduced", "3")), "3.1", True),
        (of_range(("introduced", "0"), kind="GIT"), "1", False),
    ],
)
def test_which_versions_a_record_is_about(advisories, affected, version, expected):
    assert advisories.holds(affected, version) is expected


def record(folder, name, **more):
    of = {"package": {"name": name, "ecosystem": "PyPI"}, **of_range(("introduced", "0"))}
    text = yaml.safe_dump({"id": "PYSEC-1", "affected": [of], **more}) + 'modified: "2026-01-02T"\n'
    (folder / "vulns" / name).mkdir(parents=True)
    (folder / "vulns" / name / "PYSEC-1.yaml").write_text(text)


@pytest.mark.parametrize(
    ("name", "more", "code", "said"),
    [
        ("diskcache", {"aliases": ["CVE-2025-69872"]}, 0, "CVE-2025-69872; diskcache 5.6.3, brou"),
        ("diskcache", {"aliases": ["CVE-0000-1"]}, 1, "PYSEC-1, CVE-0000-1; NOT ACCEPTED"),
        ("diskcache", {"withdrawn": "2026-01-01"}, 0, "1 records until 2026-01-02, 0 that are not"),
        ("no-package-of-ours", {}, 0, ", 0 that are not accepted"),
    ],
)
def test_what_is_accepted_passes(advisories, tmp_path, capsys, name, more, code, said):
    record(tmp_path, name, **more)
    assert advisories.main(tmp_path) == code
    assert said in capsys.readouterr().out


def test_without_a_database_nothing_passes(advisories, tmp_path, capsys):
    assert advisories.main(tmp_path) == 2
    assert "has no vulns/PACKAGE/ID.yaml; clone it" in capsys.readouterr().err
