"""Write reports as JSON: the data that the texts are made from. docs/reports.md has the fields."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

VERSION = 1
"""It grows when a field is removed or changes its meaning; new fields may come without."""


def json_text(command: str, report: Any) -> str:
    """Return the JSON of the report of a command, a dataclass or a table of its fields.

    Numbers that JSON does not have, infinite or not a number, are null.
    """
    document = {"schema": f"trivium {command}", "version": VERSION, **_plain(report)}
    return json.dumps(document, indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return {name: _plain(each) for name, each in table.items()}
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return [_plain(each) for each in cast("Sequence[Any]", value)]
