"""Tables of scales: how each value of a model is to be quantised. Read, edited and written as JSON:

    {
      "format": "trivium scales",
      "version": 1,
      "method": "minmax",
      "values": {
        "x": {"type": "i8", "scale": 0.0157, "zero_point": 3, "min": -2.1, "max": 1.9}
      }
    }

`min` and `max` are what was seen, for the reader. A value that is not in the table stays a float.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, cast

from ...dialects.core.errors import CompileError, Diagnostic, Invalid
from ...dialects.core.files import write_file
from ...dialects.core.quantized import QuantizedType

FORMAT, VERSION = "trivium scales", 1
_HEAD = ("format", "version", "method", "values")
_NEEDED = ("type", "scale", "zero_point")
_SEEN = ("min", "max")


@dataclass(frozen=True)
class Scale:
    """Hold the quantised type of a value, and the least and the greatest number seen of it."""

    kind: QuantizedType
    least: float = 0.0
    most: float = 0.0


@dataclass(frozen=True)
class ScaleTable:
    """Hold the scales of values by their names, and the method by which they were found."""

    values: Mapping[str, Scale] = field(default_factory=dict[str, Scale])
    method: str = ""

    def text(self) -> str:
        """Return the JSON text, a line for each value."""
        lines = [f"    {json.dumps(n)}: {json.dumps(_entry(s))}" for n, s in self.values.items()]
        head = {"format": FORMAT, "version": VERSION, "method": self.method}
        first = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
        body = ",\n".join(lines)
        return "\n".join(["{", *first, '  "values": {', *([body] if body else []), "  }", "}\n"])

    def save(self, path: str) -> None:
        """Write the table; raises CompileError when that is not possible."""
        write_file(path, self.text())

    @staticmethod
    def load(path: str) -> "ScaleTable":
        """Read a table; raises CompileError with the one thing that is wrong, and its place."""
        return _table(read_json(path), path)


def read_json(path: str) -> Any:
    """Read a file of JSON; CompileError where it cannot be read, and for a name given twice."""
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no text"
        raise CompileError(f"cannot read '{path}': {reason}") from None
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        place = f"{path}:{error.lineno}:{error.colno}"
        raise CompileError([Diagnostic(place, f"is not JSON: {error.msg}")]) from None
    except Invalid as error:
        raise CompileError([Diagnostic(path, str(error))]) from None


def _entry(scale: Scale) -> dict[str, Any]:
    kind = scale.kind
    needed = dict(zip(_NEEDED, (kind.storage, kind.scales[0], kind.zero_points[0]), strict=True))
    return {**needed, "min": scale.least, "max": scale.most}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(f"'{twice}' is given twice")
    return found


def _table(found: Any, path: str) -> ScaleTable:
    if not isinstance(found, dict) or cast("dict[str, Any]", found).get("format") != FORMAT:
        _fault(path, f"is no table of scales: 'format' must be '{FORMAT}'")
    head = cast("dict[str, Any]", found)
    if head.get("version") != VERSION:
        _fault(path, f"is of version {head.get('version')}, must be {VERSION}")
    if unknown := [key for key in head if key not in _HEAD]:
        _fault(path, f"has '{unknown[0]}', must have {', '.join(_HEAD)} alone")
    values, method = head.get("values"), head.get("method", "")
    if not isinstance(values, dict) or not isinstance(method, str):
        _fault(path, "needs 'values', by name, and a text as 'method'")
    named = cast("dict[str, Any]", values)
    return ScaleTable({name: _scale(entry, name, path) for name, entry in named.items()}, method)


def _scale(entry: Any, name: str, path: str) -> Scale:
    where = f"{path}: values.{name}"
    if not isinstance(entry, dict):
        _fault(where, f"is {json.dumps(entry)}, must have {', '.join(_NEEDED)}")
    given = cast("dict[str, Any]", entry)
    if missing := [key for key in _NEEDED if key not in given]:
        _fault(where, f"lacks '{missing[0]}'")
    if unknown := [key for key in given if key not in (*_NEEDED, *_SEEN)]:
        _fault(where, f"has '{unknown[0]}', must have {', '.join((*_NEEDED, *_SEEN))} alone")
    if given["type"] not in ("i8", "ui8", "i16", "ui16"):
        _fault(where, f"has type {json.dumps(given['type'])}, must be i8, ui8, i16 or ui16")
    if type(given["zero_point"]) is not int:
        _fault(where, f"has zero_point {json.dumps(given['zero_point'])}, must be an integer")
    for key in ("scale", *(key for key in _SEEN if key in given)):
        if type(given[key]) not in (int, float) or not math.isfinite(given[key]):
            _fault(where, f"has {key} {json.dumps(given[key])}, must be a finite number")
    try:
        kind = QuantizedType.of(given["type"], [given["scale"]], [given["zero_point"]])
    except Invalid as error:
        _fault(where, str(error))
    return Scale(kind, float(given.get("min", 0.0)), float(given.get("max", 0.0)))


def _fault(where: str, message: str) -> NoReturn:
    raise CompileError([Diagnostic(where, message)])
