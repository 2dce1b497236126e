"""Find the sizes in the fields of a manifest, by the types of the fields, and replace them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin

from ..frozen import Frozen
from ..kinds import Kind

R = TypeVar("R")

_INT = frozenset({int})


def texts_in(record: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the sizes that are texts, each with its place, in all fields that may have some."""
    for name in _symbolic_fields(type(record)):
        yield from _texts(getattr(record, name), f"{path}.{name}" if path else name)


def with_sizes(record: R, number: Callable[[str], int]) -> R:
    """Return a record with a number in place of each size that is a text."""
    changed: dict[str, Any] = {}
    for name in _symbolic_fields(type(record)):
        value = getattr(record, name)
        if (found := _replaced(value, number)) is not value:
            changed[name] = found
    if not changed:
        return record
    if isinstance(record, Frozen):
        return record.changed(**changed)
    return cast("R", replace(cast("Any", record), **changed))


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield value, path
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield from _texts(item, f"{path}.{key}")
    elif isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        if _are_numbers(items):
            return
        for i, item in enumerate(items):
            if type(item) is not int:
                yield from _texts(item, f"{path}[{i}]")
    elif is_dataclass(value):
        yield from texts_in(value, path)


def _replaced(value: object, number: Callable[[str], int]) -> object:
    """Return the same object where nothing in it is a text."""
    if type(value) is int:
        return value
    if isinstance(value, str):
        return number(value)
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        if _are_numbers(items):
            return items
        changed = tuple([_replaced(item, number) for item in items])
        return items if all(map(is_, items, changed)) else changed
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return {key: _replaced(item, number) for key, item in table.items()}
    return with_sizes(value, number) if is_dataclass(value) else value


def _are_numbers(items: tuple[object, ...]) -> bool:
    """Return whether no item is more than an int: tables of native code have thousands."""
    return _INT.issuperset(map(type, items))


@cache
def _symbolic_fields(kind: type[Any]) -> tuple[str, ...]:
    if not is_dataclass(kind):
        return ()
    return tuple(field.name for field in fields(kind) if _may_have_sizes(field.type))


def _may_have_sizes(kind: Any) -> bool:
    """Return whether values of a type may have sizes in them; names and messages are none."""
    if isinstance(kind, UnionType):
        members = get_args(kind)
        return {int, str} <= set(members) or any(map(_may_have_sizes, members))
    if get_origin(kind) is not None:
        return any(map(_may_have_sizes, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, Kind):
        return True  # its subclasses have fields of their own
    return isinstance(kind, type) and bool(_symbolic_fields(kind))
