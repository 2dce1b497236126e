"""Turn dataclasses into JSON and back; the fields and their types are the whole schema."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_origin

from .errors import PackageError
from .kinds import Kind

T = TypeVar("T")
Attribute: TypeAlias = "bool | int | float | str | tuple[Attribute, ...] | None"

# JSON has no spelling for these.
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def encode(value: object) -> object:
    """Return the JSON form of a dataclass or of anything in one of its fields."""
    if is_dataclass(value):
        kind = {"kind": value.kind} if isinstance(value, Kind) else {}
        return kind | {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value)
        return {key: encode(items[key]) for key in sorted(items)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(float(value))}
    return value


def decode(kind: type[T], value: object, path: str = "") -> T:
    """Return `value` as an instance of `kind`; `path` is its place in the document."""
    # An exact comparison, because True is an instance of int.
    if type(value) is kind:
        return value
    if get_origin(kind) is tuple:
        return cast("T", _sequence(get_args(kind)[0], value, path))
    if get_origin(kind) is Mapping:
        table = _object(value, path)
        return cast("T", {key: _attribute(item, f"{path}.{key}") for key, item in table.items()})
    if issubclass(kind, Kind):
        return cast("T", _registered(kind, value, path))
    if is_dataclass(kind):
        return cast("T", _record(kind, value, path))
    raise _mismatch(value, path, _NAMES[kind])


@cache
def _fields(kind: type[Any]) -> dict[str, type[Any]]:
    return {field.name: cast("type[Any]", field.type) for field in fields(kind)}


def _registered(base: type[Kind], value: object, path: str) -> object:
    """Decode an object by the class of its kind."""
    table = dict(_object(value, path))
    if "kind" not in table:
        raise PackageError(f"'{_join(path, 'kind')}' is missing")
    kind = decode(str, table.pop("kind"), _join(path, "kind"))
    try:
        found = base.of_kind(kind)
    except PackageError as error:
        raise PackageError(f"'{_join(path, 'kind')}': {error}") from None
    return _record(found, table, path)


def _record(kind: type[Any], value: object, path: str) -> object:
    table = _object(value, path)
    kinds = _fields(kind)
    for name in kinds:
        if name not in table:
            raise PackageError(f"'{_join(path, name)}' is missing")
    for key in table:
        if key not in kinds:
            raise PackageError(f"'{_join(path, key)}' is unknown; known are {', '.join(kinds)}")
    return kind(**{n: decode(k, table[n], _join(path, n)) for n, k in kinds.items()})


def _sequence(kind: type[T], value: object, path: str) -> tuple[T, ...]:
    if not isinstance(value, list):
        raise _mismatch(value, path, "a list")
    items = cast("list[object]", value)
    return tuple(decode(kind, item, f"{path}[{i}]") for i, item in enumerate(items))


def _object(value: object, path: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _mismatch(value, path, "an object")
    return cast("dict[str, object]", value)


def _attribute(value: object, path: str) -> Attribute:
    if isinstance(value, list):
        items = cast("list[object]", value)
        return tuple(_attribute(item, f"{path}[{i}]") for i, item in enumerate(items))
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        name = table.get("float")
        if len(table) != 1 or not isinstance(name, str) or name not in _NON_FINITE:
            raise _mismatch(table, path, "a scalar, a list or one of the floats nan, inf, -inf")
        return _NON_FINITE[name]
    return cast("Attribute", value)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _mismatch(value: object, path: str, wanted: str) -> PackageError:
    where = f"'{path}'" if path else "the document"
    return PackageError(f"{where} is {_NAMES[type(value)]}, must be {wanted}")
