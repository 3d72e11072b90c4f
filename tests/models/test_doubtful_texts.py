"""Texts that nobody meant are told from those that somebody wrote."""

from pathlib import Path

import pytest

from layerwise.models.doubtful_texts import LOST, is_invisible, is_leftover
from layerwise.papers.fetching.texts import read_pairs, read_prompts
from tiny_checkpoints import REPOSITORY

LEFTOVERS = (
    *("NA", " NA ", "NaN", "nan", "null", "NULL", "None", "<NA>", "N/A", "#N/A", "n/a"),
    *("#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!", "#SPILL!"),
    *("#BEZUG!", "#¡REF!", "#NOMBRE?", "#ИМЯ?", "#Н/Д", "#N/D", "#NV", "Err:502", "########"),
    *("=1+2", "=A1&B1", "=A1 & B1", "=SUM(A1:A3)", '="The sky is blue"', "=-3", "{=SUM(A1:A2)}"),
    *('=IF(A1 = B1, "yes it is", C1)', "=VLOOKUP(A1; B:C; 2)", "='Sheet 1'!A1"),
)
INVISIBLE = (
    *("\u200b", "\u200b\u200d", "\ufeff", "\u00ad", "\u2060 \u200b", "\u3164", "\u2800", "\u034f"),
    *("\u202e\u202c", "\ufe0f", "\U000e0041", "\u00a0", "\u180e"),
)
WRITTEN = (
    *("Na", "No", "Nan went home", "Nana", "None of them came", "None.", "null and void", "-", "0"),
    *("A null hypothesis", "NA is the symbol of sodium", "1932", "-5", "+1", "-x", "@home"),
    *("a = b", "E=mc^2", "if x = 1, then y = 2", "= means equality", "=> hence x", "== compares"),
    *("=) good day", "=x means that the cell is a formula", "x =1+2", "(=1+2)"),
    *("#MeToo", "#me", "# Title", "## Title", "#1", "C#", "#BLM", "#太棒了!", "Wow!", "WHAT?"),
    *("Er sagt: Nein.", "Où est-il ?", "Снег идёт.", "水在一百度沸腾。", "مرحبا بالعالم", "नमस्ते"),
    *(
        "한국어 문장입니다.",
        "สวัสดีชาวโลก",
        "שלום",
        "👩‍👩‍👧‍👦",
        "❤️",
        "é",
        "e\u0301",
        "\u0301",
        "…",
        "∅",
        "α",
    ),
    *("می\u200cخواهم", "a\u200bb", "\u202bשלום\u202c", "½", "Ⅷ", "\U0001f1e9\U0001f1ea"),
)


@pytest.mark.parametrize("text", LEFTOVERS)
def test_what_a_program_wrote_is_found(text: str) -> None:
    assert is_leftover(text)
    assert not is_invisible(text)


@pytest.mark.parametrize("text", INVISIBLE, ids=ascii)
def test_what_nobody_sees_is_found(text: str) -> None:
    assert is_invisible(text)
    assert not is_leftover(text)


@pytest.mark.parametrize("text", WRITTEN, ids=ascii)
def test_what_somebody_wrote_passes(text: str) -> None:
    assert not is_leftover(text)
    assert not is_invisible(text)
    assert LOST not in text


def test_ours_and_the_papers_pass(mirror: Path) -> None:
    texts = [*read_pairs(mirror / "dataset.json").statements]
    texts += read_prompts(mirror / "prompts.json")
    for folder in ("code/layerwise/models/rehearsal", "examples"):
        texts += read_pairs(REPOSITORY / folder / "pairs.json").statements
        texts += read_prompts(REPOSITORY / folder / "prompts.json")
    assert len(texts) > 500
    assert [text for text in texts if is_leftover(text) or is_invisible(text) or LOST in text] == []
