"""What claims say of upstream's code, held against its notebooks and scripts (parsed, never run).

The notebooks are in no folder of ours: a checkout of upstream at the pinned commit, named by
LAYERWISE_MIRROR, is needed for the tests that read them.
"""

import ast
import json
import re
import tarfile
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from judged import ledger
from layerwise.papers.shared.result_files import FIGURE_1

NOTEBOOKS = "paper3/notebooks/"
EXTENDED = "extended_results/"
GAIN = "layer_gains[-2]"
SPECTRA = "Restriction_Map_Spectral_Analysis_v2"


class Fact(NamedTuple):
    """An expression that stands in a file of upstream's, or does not."""

    claims: str  # a pattern of ids
    file: str
    expression: str
    stands: bool = True


FACTS = [
    # Paper 2
    *(
        Fact("p2.method.pooling", f"{EXTENDED}{name}.ipynb", "layer_hidden[0, 1:, :].mean(dim=0)")
        for name in (
            "Option_B_Pair_Level",
            "Llama3_Cross_Model_Validation",
            "Llama3_Instruct_Template_Comparison",
            "Layer_Analysis_Validation",
        )
    ),
    Fact(
        "p2.notebook.gemma.step",
        f"{EXTENDED}Gemma_Cross_Model_Validation.ipynb",
        "range(0, N_LAYERS + 1, max(1, N_LAYERS // 8))",
    ),
    # Paper 3: the block of a gain, matrices and spectra
    *(
        Fact(claim, f"{NOTEBOOKS}{name}.ipynb", expression, stands)
        for claim, name, expression, stands in (
            ("p3.notebook.clean.block", "Pythia_Family_Residual_Gain_Sweep", GAIN, True),
            ("p3.notebook.clean.block", "High_Rho_Model_Hunt_NO_FINAL_LN", GAIN, True),
            ("p3.notebook.clean.block", "Clean_Residual_Gain_NO_FINAL_LN", GAIN, True),
            ("p3.methods.per_head", SPECTRA, "torch.linalg.svdvals(W)", True),
            ("p3.methods.per_head", SPECTRA, "n_heads", False),
            ("p3.fig3.caption.clusters", SPECTRA, "qkv[2 * hidden_size:, :]", True),
            ("p3.map.figA1", "Clean_Residual_Gain_NO_FINAL_LN", "torch.linalg.svdvals(W)", False),
            ("p3.map.figA4", "Input_Dependency_Thermodynamics", "'meta-llama/Llama-3.1-8B'", True),
        )
    ),
    # which notebook writes what: a part of the name of its result file
    *(
        Fact(f"p3.map.{item}", f"{NOTEBOOKS}{name}.ipynb", repr(text), stands)
        for item, name, text, stands in (
            ("fig1", "Scaling_Law_Multi_Pythia", "scaling_law_multi_pythia_results.json", True),
            ("fig2", "Grand_Unified_Thermodynamic_Benchmark", "EleutherAI/gpt-neo-1.3B", False),
            ("heritage", "Grand_Unified_Thermodynamic_Benchmark", "EleutherAI/gpt-j-6B", False),
            ("fig2", "High_Rho_Model_Hunt_NO_FINAL_LN", "EleutherAI/gpt-neo-1.3B", True),
            ("heritage", "High_Rho_Model_Hunt_NO_FINAL_LN", "EleutherAI/gpt-j-6B", True),
            ("fig2", "Grand_Unified_Thermodynamic_Benchmark", "facebook/opt-1.3b", False),
            ("fig2", "4Model_Cross_Architecture_Validation", "facebook/opt-1.3b", False),
            ("fig2", "High_Rho_Model_Hunt_NO_FINAL_LN", "facebook/opt-1.3b", True),
            ("fig3", "Restriction_Maps_Extraction", "facebook/opt-125m", False),
            ("figA5", "Restriction_Maps_Extraction", "facebook/opt-125m", False),
            ("fig3", "Restriction_Map_Spectral_Analysis_v2", "facebook/opt-125m", True),
            ("figA5", "Restriction_Map_Spectral_Analysis_v2", "facebook/opt-125m", True),
            ("figA2", "L_Star_Cross_Heritage_SignChange", "l_star_sign_change_", True),
            ("figA2", "L_Star_Cross_Heritage_Validation", "l_star_cross_heritage_", True),
        )
    ),
]
# Claims that name a notebook or a script, and what denies them is no expression of its code.
OF_OTHER_KINDS = {
    "p1.appendix.annotations": "the statements' file; `description` holds the letters of script",
    "p2.notebook.nb003.models": "the names of its result files",
}
CITES_CODE = re.compile(r"notebook|\.py\b|\bcode\b|script")


def cells(content: bytes, kind: str) -> list[str]:
    notebook = json.loads(content)["cells"]
    return ["".join(cell["source"]) for cell in notebook if cell["cell_type"] == kind]


def code_of(path: Path) -> list[str]:
    """A script as it is; the code cells of a notebook without IPython's own lines."""
    if path.suffix == ".py":
        return [path.read_text(encoding="utf-8")]
    blank = re.compile(r"^(\s*)[!%].*$", re.MULTILINE)
    return [blank.sub(r"\1pass", cell) for cell in cells(path.read_bytes(), "code")]


def expressions(sources: list[str]) -> set[str]:
    """Every expression of some code, each in the one way in which `ast.unparse` writes it."""
    return {
        ast.unparse(node)
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.expr)
    }


def as_written(expression: str) -> str:
    return ast.unparse(ast.parse(expression, mode="eval").body)


def test_every_claim_that_cites_code_is_held_against_it(root):
    """Or says of what else it is; and nothing is listed that no claim has."""
    claims = ledger(root)
    patterns = [*(fact.claims for fact in FACTS), *OF_OTHER_KINDS]
    cited = [
        claim.id
        for claim in claims
        if any(isinstance(said, str) and CITES_CODE.search(said) for said in claim.against)
    ]
    assert cited
    assert [id for id in cited if not any(fnmatch(id, pattern) for pattern in patterns)] == []
    ids = [claim.id for claim in claims]
    assert [pattern for pattern in patterns if not any(fnmatch(id, pattern) for id in ids)] == []


@pytest.mark.parametrize("file", sorted({fact.file for fact in FACTS}))
def test_what_is_said_of_code_against_upstream(upstream_code, file):
    written = expressions(code_of(upstream_code / file))
    for fact in FACTS:
        if fact.file == file:
            assert (as_written(fact.expression) in written) == fact.stands, fact


def test_the_bars_of_figure_1_against_upstream(upstream_code, published):
    """p1.fig1.bars: rows where a column through a bar differs from one beside its group."""
    (archive,) = upstream_code.glob("uniformity_asymmetry_FINAL_DOI_*.tar.gz")
    with tarfile.open(archive) as files:
        (name,) = (
            member for member in files.getnames() if "figure1_uniformity_asymmetry" in member
        )
        picture = np.asarray(Image.open(files.extractfile(name)).convert("RGB"), dtype=int)
    figure = published.document(FIGURE_1)
    zero, top = figure["rows"]["zero"], figure["rows"]["tick"]
    ticks = picture[:, 216].max(axis=1) < 80  # marks left of the axis, three rows wide
    for row in (zero, top):
        assert ticks[row - 2 : row + 3].tolist() == [False, True, True, True, False]
    first, group, width, beside = 399, 603.5, 120.8, 32  # columns of pixels
    for number, (category, ends) in enumerate(figure["ends"].items()):
        left = first + number * group
        free = left - beside if number < 4 else left + 4 * width + beside
        for at, (model, end) in enumerate(ends.items()):
            column = picture[:, int(left + width * (at + 0.5))]
            differs = np.abs(column - picture[:, int(free)]).max(axis=1) > 12
            outward = 1 if end > zero else -1
            # but for the line at zero, three rows wide, and a frame that the legend draws over both
            inside = differs[range(zero + 2 * outward, end + outward, outward)]
            assert inside[-1], (category, model)
            assert np.count_nonzero(~inside) <= 12, (category, model)
            assert not differs[range(end + outward, end + 6 * outward, outward)].any()


def test_no_notebook_seeds_the_hash_against_upstream(upstream_code):
    """p3.readme.hashseed, at the pinned commit."""
    notebooks = list(upstream_code.rglob("*.ipynb"))
    assert len(notebooks) > 40
    for path in notebooks:
        assert "PYTHONHASHSEED" not in "\n".join(cells(path.read_bytes(), "code")), path
