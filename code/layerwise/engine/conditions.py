"""Sentences that stand only while their condition holds: a list of `{when: ..., text: ...}`.

A condition compares what a sentence speaks of: `weak > 0`, `cross[by depth] < half`, `three falls`,
`grade is stands`. Several are joined by `and`. A sentence whose condition is not met, or names what
has no value, is left out, so no conclusion outlives the number that carries it.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Required

from layerwise.engine.sentences import Said, Value, fill
from layerwise.errors import LayerwiseError
from layerwise.shapes import Strict

COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "is": operator.eq,
    "is not": operator.ne,
}
_NAME = r"[a-z_]\w*(?:\.printed|\[[^\]]+\])?"
_COMPARISON = re.compile(rf"({_NAME}) (<=|>=|<|>|is not|is) (.+)")
_AND = re.compile(r" and (?![^\[]*\])")  # not the one inside the name of a reading
_STATE = re.compile(rf"({_NAME}) (stands|falls|known)")


class Sentence(Strict, total=False):
    """One sentence of a reason."""

    when: Required[str]
    text: Required[str]


def fill_sentences(sentences: Sequence[Mapping[str, str]], values: Mapping[str, Value]) -> str:
    """Fill in the sentences whose conditions hold, in order.

    Raises:
        LayerwiseError: for a condition or a template that does not fit the values.
    """
    kept = [sentence["text"] for sentence in sentences if holds(sentence["when"], values)]
    return " ".join(fill(text, values) for text in kept)


def holds(condition: str, values: Mapping[str, Value]) -> bool:
    """Return whether every part of a condition is met; what has no value meets none."""
    return all(_holds(part, values) for part in _AND.split(condition))


def _holds(part: str, values: Mapping[str, Value]) -> bool:
    if match := _STATE.fullmatch(part):
        name, state = match.groups()
        value = _value(name, values, part)
        if state == "known":
            return value.value is not None
        stands = value.stands if isinstance(value, Said) else None
        return stands is (state == "stands")
    match = _COMPARISON.fullmatch(part)
    if match is None:
        raise LayerwiseError(
            f"the condition {part!r} must be `name stands`, `name falls`, `name known` or "
            f"`name {'|'.join(COMPARED)} other`; correct it"
        )
    name, compared, other = match.groups()
    left, right = _value(name, values, part).value, _operand(other, values, part)
    if left is None or right is None:
        return False
    try:
        return COMPARED[compared](left, right)
    except TypeError as error:
        raise LayerwiseError(f"the condition {part!r} cannot be compared: {error}") from None


def _operand(text: str, values: Mapping[str, Value], part: str) -> Any:
    """Return a number, true or false, a quoted word, or the value of another name."""
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return float(text)
    if text in ("true", "false"):
        return text == "true"
    if quoted := re.fullmatch(r"'([^']*)'", text):
        return quoted[1]
    return _value(text, values, part).value


def _value(name: str, values: Mapping[str, Value], part: str) -> Value:
    first, _, reading = name.partition("[")
    alias, _, attribute = first.partition(".")
    if alias not in values:
        raise LayerwiseError(
            f"the condition {part!r} names {alias!r}, known are {', '.join(values)}; correct it"
        )
    value = values[alias]
    if not (reading or attribute):
        return value
    if not isinstance(value, Said):
        raise LayerwiseError(f"the condition {part!r}: {alias!r} is no claim; correct it")
    try:
        return value[reading.rstrip("]")] if reading else Value(value.published)
    except KeyError:
        raise LayerwiseError(
            f"the condition {part!r}: {alias!r} has no reading {reading.rstrip(']')!r}; correct it"
        ) from None
