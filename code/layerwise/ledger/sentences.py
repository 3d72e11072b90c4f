"""Sentences about judged claims: templates in claims/ that are filled from records, never typed.

In a template `{late}` is a claim's recomputed value and `{late:+.2f}` the same at two decimals;
`{late.printed}` is what is printed, `{late[thirds of the depth]}` another reading of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layerwise.errors import LayerwiseError

NOTHING = "no value"
Record = Mapping[str, Any]


class Value:
    """A value inside a template: a number by the template's format, or four digits; else itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __format__(self, form: str) -> str:
        value = self.value
        if value is None:
            return NOTHING
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ", ".join(f"{Value(one):{form}}" for one in value)
        if isinstance(value, float):
            return format(value, form or ".4g")
        return str(value) if isinstance(value, str) else format(value, form)


class Said(Value):
    """A record inside a template."""

    def __init__(self, record: Record) -> None:
        super().__init__(record["recomputed"])
        decimals = record["decimals"]
        number = isinstance(record["published"], float) and isinstance(decimals, int)
        self.printed = f"{Value(record['published']):{f'.{decimals}f' if number else ''}}"
        self._readings = {reading["text"]: reading["value"] for reading in record["readings"]}

    def __getitem__(self, text: str) -> Value:
        return Value(self._readings[text])


def fill(template: str, values: Mapping[str, Value]) -> str:
    """The sentence of a template.

    Raises:
        LayerwiseError: if it names a value or a reading that is not there.
    """
    try:
        return template.format_map(values)
    except (KeyError, AttributeError, ValueError) as error:
        raise LayerwiseError(
            f"the template {template!r} does not fit its values ({', '.join(values)}): {error}"
        ) from None
