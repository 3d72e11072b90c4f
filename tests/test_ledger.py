"""The ledger: families of claims, printed values, errors that name the claim and the file."""

import pytest

from layerwise.errors import LayerwiseError
from layerwise.inputs.published import Published, read_published
from layerwise.ledger.claims import read_ledger, statistic_parts

VALUES = {"/4/r": 0.25, "/8/r": -0.5, "/list/0": 1, "/list/1": 2}
PUBLISHED = Published({("f.json", key): value for key, value in VALUES.items()})


def ledger(tmp_path, text):
    (tmp_path / "paper2.yaml").write_text(text)
    return read_ledger(tmp_path, PUBLISHED)


def test_family_runs_over_its_variables(tmp_path):
    claims = ledger(
        tmp_path,
        """
paper: 2
sets: {model: {big: {layers: [4, 8]}, small: {layers: [4]}}}
claims:
- id: p2.{model}.L{layer}.r
  for: {model: model, layer: model.layers}
  where: table
  quantity: r, layer {layer}
  printed: {file: f.json, key: "/{layer}/r"}
  decimals: full
  statistic: layers:{model}:/{layer}
""",
    )
    assert [claim.id for claim in claims] == ["p2.big.L4.r", "p2.big.L8.r", "p2.small.L4.r"]
    assert [claim.printed for claim in claims] == [0.25, -0.5, 0.25]
    assert claims[1].quantity == "r, layer 8"
    assert (claims[1].source_file, claims[1].source_key) == ("f.json", "/8/r")
    assert statistic_parts(claims[1].statistic) == ("layers", "big", "/8")


def test_printed_forms(tmp_path):
    claims = ledger(
        tmp_path,
        """
paper: 2
claims:
- {id: text, printed: DISCREPANCY}
- {id: number, printed: "+0.060"}
- {id: count, printed: "21"}
- {id: none}
- {id: length, printed: {file: f.json, key: /list, length: true}}
- {id: list, printed: {file: f.json, key: /list}}
- {id: two, printed: {file: f.json, keys: [/8/r, /4/r]}}
- {id: "table.{x}", for: {x: [a, b]}, printed: {by: [x], cells: {a: "0.1", b: "0-3"}}}
""",
    )
    printed = ["DISCREPANCY", 0.06, 21, None, 2, [1, 2], [-0.5, 0.25], 0.1, "0-3"]
    assert [claim.printed for claim in claims] == printed


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{id: a, colour: red}", "claim a: colour: no such key; remove it"),
        ("{quantity: r}", r"claim \(no id\): id: missing; add it"),
        ("{id: a, kind: guessed}", "kind: must be 'computed', .* or 'cited', found 'guess"),
        ("{id: 'a.{x}', for: {x: nowhere}}", "no set 'nowhere'"),
        (
            "{id: 'a.{x}', for: {x: {b: {text: r, end}}}}",
            "without a value, 'end'; quote texts",
        ),
        ("{id: 'a.{y}', for: {x: [1]}}", r"a template names 'y', which its variables \(x\)"),
        ("{id: a, statistic: layers/x}", "claim a: a statistic is analysis:document:/json"),
        ("{id: a, printed: {file: f.json, key: /nowhere}}", "claim a: published/: no number"),
        ("{id: a, printed: {file: f.json, key: /4/r, length: true}}", "must be a list to be"),
        ("{id: a}\n- {id: a}", "claim a is listed twice"),
        ("[", "not valid YAML"),
    ],
)
def test_malformed_claim_iv(tmp_path, entry, message):
    with pytest.raises(LayerwiseError, match=message) as error:
        ledger(tmp_path, f"paper: 2\nclaims:\n- {entry}\n")
    assert "paper2.yaml" in str(error.value)


def test_no_ledger_iv(tmp_path):
    with pytest.raises(LayerwiseError, match="no ledger"):
        read_ledger(tmp_path, PUBLISHED)


def test_committed_ledger(root):
    """The claims of three papers: every id once, every one with a rule or a reason."""
    claims = read_ledger(root / "claims", read_published(root / "published"))
    assert len(claims) == 2559
    for claim in claims:
        assert claim.quantity, claim.id
        assert claim.where, claim.id
        if claim.statistic is None:
            assert claim.why or claim.against, f"{claim.id}: it says why there is no statistic"
        else:
            statistic_parts(claim.statistic)
        if claim.printed is None:
            assert claim.why, f"{claim.id}: a claim without a printed value says why"
