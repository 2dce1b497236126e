"""Turn dataclasses into JSON and back; the fields and their types are the whole schema."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Any, NoReturn, TypeAlias, TypeVar, cast, get_args, get_origin

from .errors import PackageError
from .kinds import LEFT_OUT, Kind

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
        return kind | {name: encode(item) for name, item in _stored(value)}
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value)
        return {key: encode(items[key]) for key in sorted(items)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(float(value))}
    return value


def _stored(record: Any) -> Iterator[tuple[str, object]]:
    for field in fields(record):
        value = getattr(record, field.name)
        if not _is_left_out(field) or value not in (field.default, _empty(field)):
            yield field.name, value


def _is_left_out(field: "Field[Any]") -> bool:
    return LEFT_OUT.keys() <= field.metadata.keys()


def _empty(field: "Field[Any]") -> object:
    return MISSING if field.default_factory is MISSING else field.default_factory()


def decode(kind: type[T], value: object, path: str = "", texts: bool = False) -> T:
    """Return `value` as an instance of `kind`; `path` is its place in the document.

    A size may be a text only where `texts` is True.
    """
    # An exact comparison, because True is an instance of int.
    if type(value) is kind:
        return value
    return cast("T", _decoder(kind)(value, path, texts))


@cache
def _decoder(kind: Any) -> Callable[[object, str, bool], object]:
    if get_origin(kind) is tuple:
        return partial(_sequence, get_args(kind)[0])
    if get_origin(kind) is Mapping:
        return partial(_mapping, get_args(kind)[1])
    if isinstance(kind, UnionType):
        return partial(_one_of, get_args(kind))
    if issubclass(kind, Kind):
        return partial(_registered, kind)
    return partial(_record if is_dataclass(kind) else _refused, kind)


def decode_list(value: object, path: str) -> list[object]:
    """Return a list of a document as it is."""
    if not isinstance(value, list):
        raise _mismatch(value, path, "a list")
    return cast("list[object]", value)


def decode_fields(value: object, path: str, names: Sequence[str]) -> dict[str, object]:
    """Return an object of a document that has these fields, and no others, as it is."""
    table = _object(value, path)
    _check_fields(table, path, dict.fromkeys(names, False))
    return table


@cache
def _types(kind: type[Any]) -> dict[str, type[Any]]:
    """Return the type of each field."""
    return {f.name: cast("type[Any]", f.type) for f in fields(kind)}


@cache
def _may_be_missing(kind: type[Any]) -> dict[str, bool]:
    return {f.name: _is_left_out(f) for f in fields(kind)}


def _registered(base: type[Kind], value: object, path: str, texts: bool) -> object:
    """Decode an object by the class of its kind."""
    table = dict(_object(value, path))
    if "kind" not in table:
        raise PackageError(f"'{_join(path, 'kind')}' is missing")
    kind = decode(str, table.pop("kind"), _join(path, "kind"))
    try:
        found = base.of_kind(kind)
    except PackageError as error:
        raise PackageError(f"'{_join(path, 'kind')}': {error}") from None
    return _record(found, table, path, texts)


def _record(kind: type[Any], value: object, path: str, texts: bool) -> object:
    table = _object(value, path)
    _check_fields(table, path, _may_be_missing(kind))
    types = _types(kind)
    return kind(**{n: decode(types[n], v, _join(path, n), texts) for n, v in table.items()})


def _check_fields(table: Mapping[str, object], path: str, left_out: Mapping[str, bool]) -> None:
    """Check that fields are known, and that those are there which may not be left out."""
    if table.keys() == left_out.keys():
        return
    for name, may_be_missing in left_out.items():
        if name not in table and not may_be_missing:
            raise PackageError(f"'{_join(path, name)}' is missing")
    for key in table:
        if key not in left_out:
            raise PackageError(f"'{_join(path, key)}' is unknown; known are {', '.join(left_out)}")


def _one_of(kinds: Sequence[type[Any]], value: object, path: str, texts: bool) -> object:
    """Decode a size, a number that may be missing, or one or several of these."""
    kinds = [kind for kind in kinds if texts or kind is not str]
    if type(value) in kinds:
        return value
    several = [kind for kind in kinds if get_origin(kind) is tuple]
    if several and isinstance(value, list):
        return decode(several[0], cast("list[object]", value), path, texts)
    names = [_NAMES.get(kind, "a list") for kind in kinds]
    raise _mismatch(value, path, " or ".join(names))


def _mapping(kind: "type[Any] | str", value: object, path: str, texts: bool) -> dict[str, object]:
    table = _object(value, path)
    if isinstance(kind, str):  # the type of attributes refers to itself
        return {key: _attribute(item, f"{path}.{key}") for key, item in table.items()}
    return {key: decode(kind, item, f"{path}.{key}", texts) for key, item in table.items()}


def _sequence(kind: type[T], value: object, path: str, texts: bool) -> tuple[T, ...]:
    items = decode_list(value, path)
    if _plain(kind, texts).issuperset(map(type, items)):
        return cast("tuple[T, ...]", tuple(items))
    return tuple(decode(kind, item, f"{path}[{i}]", texts) for i, item in enumerate(items))


@cache
def _plain(kind: Any, texts: bool) -> frozenset[type[Any]]:
    """Return the types of values that need no decoding; those of sizes are by the thousand."""
    kinds = set(get_args(kind) if isinstance(kind, UnionType) else (kind,))
    return frozenset(kinds & ({int, str} if texts or not isinstance(kind, UnionType) else {int}))


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


def _refused(kind: type[Any], value: object, path: str, texts: bool) -> NoReturn:
    raise _mismatch(value, path, _NAMES[kind])


def _mismatch(value: object, path: str, wanted: str) -> PackageError:
    where = f"'{path}'" if path else "the document"
    return PackageError(f"{where} is {_NAMES[type(value)]}, must be {wanted}")
