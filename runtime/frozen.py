"""Frozen dataclasses that share their methods, so that none is generated when they are imported.

`dataclass` compiles six methods for each class, which takes half a millisecond: loading a small
package would mostly be that. Classes that other distributions subclass stay dataclasses.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen:
    """Base of classes like those that `dataclass(frozen=True)` makes, but for `__post_init__`.

    `fields`, `is_dataclass` and `replace` take them; subclasses have the fields of their bases.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    _names: ClassVar[frozenset[str]]
    _positional: ClassVar[tuple[str, ...]]
    _defaults: ClassVar[dict[str, Any]]
    _factories: ClassVar[dict[str, Callable[[], Any]]]
    _compared: ClassVar[Callable[[Any], Any]]

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        listed = fields(cls)
        cls._names = frozenset(f.name for f in listed)
        cls._positional = tuple(f.name for f in listed if not f.kw_only)
        cls._defaults = {f.name: f.default for f in listed if f.default is not MISSING}
        cls._factories = {
            f.name: f.default_factory for f in listed if f.default_factory is not MISSING
        }
        cls._compared = attrgetter(*(f.name for f in listed if f.compare))

    def __init__(self, *arguments: Any, **named: Any) -> None:
        values = self.__dict__
        values.update(self._defaults)
        for name, make in self._factories.items():
            values[name] = make()
        if arguments:
            self._check_positions(arguments, named)
            values.update(zip(self._positional, arguments, strict=False))
        values.update(named)
        if values.keys() != self._names:
            missing, unknown = self._names - values.keys(), values.keys() - self._names
            raise self._refusal(f"lacks {sorted(missing)}, does not know {sorted(unknown)}")

    def changed(self, **values: Any) -> Self:
        """Return a copy with other values of some fields, like `replace`, in less time."""
        names, known = self._names, self.__dict__
        if not values.keys() <= names:
            raise self._refusal(f"does not know {sorted(values.keys() - names)}")
        if len(known) > len(names):  # what is cached, too
            known = {name: known[name] for name in names}
        made = object.__new__(type(self))
        made.__dict__.update(known, **values)
        return made

    def _check_positions(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        if len(arguments) > len(self._positional):
            raise self._refusal(f"takes {len(self._positional)} values, got {len(arguments)}")
        if named and (twice := named.keys() & self._positional[: len(arguments)]):
            raise self._refusal(f"got {sorted(twice)} twice")

    def _refusal(self, fault: str) -> TypeError:
        return TypeError(f"{type(self).__qualname__} {fault}")

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to {name!r} of {type(self).__qualname__}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete {name!r} of {type(self).__qualname__}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = type(self)._compared
        return bool(compared(self) == compared(other))

    def __hash__(self) -> int:
        return hash(type(self)._compared(self))

    def __repr__(self) -> str:
        values = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__qualname__}({values})"
