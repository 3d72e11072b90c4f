"""A paper that is not ours, taken by the engine alone to verdicts, a page and LaTeX."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from layerwise.errors import LayerwiseError
from layerwise.own_paper import judge_paper

RUN = """
import json, runpy, sys
sys.argv = ["paper.py", "out"]
names = runpy.run_path("paper.py", run_name="__main__")
judged = names["judged"]
papers = [name for name in sys.modules if name.startswith("layerwise.papers")]
print(json.dumps([papers, dict(judged.verdicts), dict(judged.marks)]))
"""


@pytest.fixture(scope="module")
def toy(root, tmp_path_factory):
    """The example in a folder outside the repository, after it ran: folder, and what it said.

    A process of its own, of 5 CPU-seconds: here every module of the papers is imported already.
    """
    folder = tmp_path_factory.mktemp("another") / "paper"
    shutil.copytree(root / "examples" / "another_paper", folder)
    ran = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, capture_output=True, text=True, check=True
    )
    return folder, json.loads(ran.stdout.splitlines()[-1])


def test_the_engine_and_the_page_import_no_paper(toy):
    assert toy[1][0] == []


def test_one_claim_agrees_one_differs_one_needs_weights(toy):
    _, (_, verdicts, marks) = toy
    assert verdicts == {"p1.mean": "agrees", "p1.r": "differs", "p1.twin": "needs weights"}
    assert marks == {"p1.depth": "holds"}


def test_page_and_latex_show_the_paper_and_no_other(toy):
    folder, _ = toy
    page = (folder / "out" / "index.html").read_text()
    report = (folder / "out" / "report.tex").read_text()
    assert "<h1>Depth and loss of eight toy models, recomputed</h1>" in page
    assert r"\title{Depth and loss of eight toy models, recomputed}" in report
    assert not re.search(r"zenodo|thermodynamics|requirements/", page)
    assert re.search(r"3\.38 & 3\.3762 & agrees", report)


def test_a_folder_without_numbers_is_refused(tmp_path):
    with pytest.raises(LayerwiseError, match=r"table of published numbers.*no \*\.csv"):
        judge_paper(None, tmp_path)
