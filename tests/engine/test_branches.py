"""Every sentence on a central claim, said and unsaid: also what today's numbers do not say.

Of the headlines, the story and the strip.

Each condition is met by moving the values that it names, one part after the other; then each part
is broken again. So no sentence fails when its turn comes, and none outlives a number it speaks of.
"""

import re

import pytest

from layerwise.engine import conditions
from layerwise.engine.headlines import GRADES, headlines, read_headlines
from layerwise.engine.sentences import Said, Value, values_of
from layerwise.engine.story import read_story
from layerwise.engine.strip import read_strip

WORDS = ("yes", "no", "undecided", "too few", "cannot be answered")


def entries(root):
    """(name, sentences, entry) of every headline, every paragraph and every row of the strip."""
    for entry in read_headlines(root / "claims"):
        yield entry["id"], entry["reason"], entry
    for entry in read_story(root / "claims"):
        yield f"story: {entry['id']}", entry["sentences"], entry
    for entry in read_strip(root / "claims"):
        yield f"strip: {entry['id']}", entry.get("sentences", []), entry


@pytest.fixture(scope="module")
def spoken(root, records, works):
    """{entry: (sentences, values)}, with the values of today."""
    documents = {analysis: work.documents for analysis, work in works.items()}
    graded = headlines([*records.values()], documents, read_headlines(root / "claims"))
    grades = {headline.id: headline.grade for headline in graded}
    found = {}
    for name, sentences, entry in entries(root):
        others = {ask["question"]: Value("yes") for ask in entry.get("asks", [])}
        if "asks" in entry:
            others |= {"grade": Value("stands"), "yes_alone_under": Value("")}
        named = entry.get("grades", {}).items()
        others |= {alias: Value(grades[headline]) for alias, headline in named}
        found[name] = sentences, values_of(entry, records, documents, others)
    return found


def with_record(said, **changes):
    """A claim with another verdict or value."""
    record = {
        "recomputed": said.value,
        "published": said.published,
        "verdict": {True: "agrees", False: "differs", None: "needs weights"}[said.stands],
        "decimals": 2,
        "readings": [
            {"text": text, "value": value} for text, value in said.__dict__["_readings"].items()
        ],
    }
    return Said(record | changes)


def changed(value, new):
    return with_record(value, recomputed=new) if isinstance(value, Said) else Value(new)


def moved(values, name, new):
    """The values with another one under a name, or under a reading of it."""
    alias, _, rest = name.partition("[")
    alias, _, attribute = alias.partition(".")
    if not rest:
        assert not attribute, "what is printed does not move: the other side does"
        return values | {alias: changed(values[alias], new)}
    said = values[alias]
    readings = [
        {"text": text, "value": new if text == rest.rstrip("]") else value}
        for text, value in said.__dict__["_readings"].items()
    ]
    return values | {alias: with_record(said, readings=readings)}


def targets(compared, other):
    """A value that meets a comparison with another, and one that does not."""
    if compared in ("is", "is not"):
        if isinstance(other, bool):
            same, differs = other, not other
        elif other in WORDS or other in GRADES:
            same = other
            differs = next(word for word in (*WORDS, *GRADES) if word != other)
        elif isinstance(other, int | float):
            same, differs = other, other + 1
        else:
            same, differs = other, "something else"
        return (same, differs) if compared == "is" else (differs, same)
    above, below = float(other) + 1, float(other) - 1
    if compared in ("<", "<="):
        return below, above
    return above, below


def set_part(part, values, *, met):
    """Values that meet one part of a condition, or break it."""
    if match := re.fullmatch(conditions._STATE, part):
        name, state = match.groups()
        if state == "known":
            value = values[name].value
            return (
                moved(values, name, value if value is not None else 0.5)
                if met
                else (moved(values, name, None))
            )
        stands = (state == "stands") == met
        return values | {name: with_record(values[name], verdict="agrees" if stands else "differs")}
    name, compared, text = re.fullmatch(conditions._COMPARISON, part).groups()
    other = conditions._operand(text, values, part)
    if other is None:  # a name without a value today
        values = moved(values, text, 0.5)
        other = 0.5
    good, bad = targets(compared, other)
    return moved(values, name, good if met else bad)


def meet(condition, values):
    """Values that meet a whole condition: several passes, as parts share names."""
    parts = conditions._AND.split(condition)
    for _ in range(3):
        for part in parts:
            if not conditions.holds(part, values):
                values = set_part(part, values, met=True)
    return parts, values


def between(parts, values):
    """A value between two bounds that one name must meet, which steps of one jump over."""
    bounds = {}
    for part in parts:
        match = re.fullmatch(conditions._COMPARISON, part)
        if match and match[2] in ("<", ">", "<=", ">="):
            other = conditions._operand(match[3], values, part)
            if isinstance(other, int | float):
                bounds.setdefault(match[1], []).append(other)
    for name, ends in bounds.items():
        if len(ends) > 1:
            values = moved(values, name, (min(ends) + max(ends)) / 2)
    return values


def test_every_sentence_is_said_and_unsaid_by_its_numbers(spoken):
    wrong = []
    for name, (sentences, values) in spoken.items():
        for sentence in sentences:
            parts, met = meet(sentence["when"], values)
            if not conditions.holds(sentence["when"], met):
                met = between(parts, met)
            said = conditions.fill_sentences([sentence], met)
            if not said or "no value" in said or "{" in said:
                wrong.append((name, sentence["when"], said))
                continue
            for part in parts:
                broken = set_part(part, met, met=False)
                if conditions.fill_sentences([sentence], broken):
                    wrong.append((name, sentence["when"], f"outlives {part}"))
    assert wrong == []
