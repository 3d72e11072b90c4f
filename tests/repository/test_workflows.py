"""What a forge runs: whose code, with which rights, on which image."""

import re

import pytest
import yaml

PINNED = re.compile(r"uses: \S+@[0-9a-f]{40} # v\d")


@pytest.fixture(scope="module")
def workflows(root):
    return {path.name: path.read_text() for path in (root / ".github/workflows").glob("*.yml")}


def steps(text):
    return [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]


def test_actions_are_pinned_to_a_commit(workflows):
    used = [line for text in workflows.values() for line in text.splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not PINNED.search(line)] == []


def test_a_checkout_keeps_no_credentials(workflows):
    checkouts = [
        step
        for text in workflows.values()
        for step in steps(text)
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert len(checkouts) >= len(workflows)
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_a_workflow_may_only_read_unless_a_job_says_more(workflows):
    permissions = {name: yaml.safe_load(text)["permissions"] for name, text in workflows.items()}
    assert permissions == {key: {"contents": "read"} for key in workflows}


def test_an_event_writes_into_no_script_and_two_runs_never_meet(workflows):
    """What GitHub puts into `run` is text of a shell; in `env` it is a value."""
    said = [step.get("run", "") for text in workflows.values() for step in steps(text)]
    assert [script for script in said if "${{" in script] == []
    groups = [yaml.safe_load(text)["concurrency"]["group"] for text in workflows.values()]
    assert {"github.workflow" in group and "github.ref" in group for group in groups} == {True}


def test_no_package_is_installed_without_its_hash(workflows, root):
    said = [step.get("run", "") for text in workflows.values() for step in steps(text)]
    for script in (line for text in said for line in text.splitlines() if "pip" in line):
        assert "install" not in script or "--require-hashes" in script, script
    assert "\n    --hash=sha256:" in (root / ".ci" / "audit.lock").read_text()


def test_an_image_is_tried_before_it_is_published(workflows):
    said = [step.get("run", "") for step in steps(workflows["image.yml"])]
    (pushed,) = (number for number, text in enumerate(said) if "--push" in text)
    before = " ".join(said[:pushed])
    assert all(target in before for target in ("docker-build", "docker-run", "docker-test"))
    assert "--provenance" in said[pushed]


def test_the_base_of_the_image_is_pinned_by_digest(root):
    (base,) = re.findall(r"^ARG BASE=(.*)$", (root / "Dockerfile").read_text(), re.M)
    assert re.search(r"@sha256:[0-9a-f]{64}$", base)
