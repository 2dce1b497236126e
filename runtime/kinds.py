"""Find the classes by which targets extend the runtime: by kind, here or in other distributions."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from .errors import PackageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LEFT_OUT = {"left out": True}
"""The metadata of a field that is not in the JSON of a manifest where it has its default."""

HERE = os.path.dirname(__file__)
_LONGEST = 64

K = TypeVar("K", bound="Kind")


class Kind:
    """Base of classes that are found by their kind when a package is loaded.

    Those of Trivium are in the folder of the runtime that has the name of the kind, in `module`.
    Another distribution offers one as an entry point of `group`, with the kind as its name.
    """

    kind: ClassVar[str] = ""
    group: ClassVar[str] = ""
    module: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if not cls.__dict__.get("kind"):
            return
        known = _CLASSES.setdefault((cls.group, cls.kind), cls)
        if known.__qualname__ != cls.__qualname__ or known.__module__ != cls.__module__:
            raise TypeError(f"{cls.group} '{cls.kind}' is {known.__module__} and {cls.__module__}")
        _CLASSES[cls.group, cls.kind] = cls

    @classmethod
    def built_in(cls) -> list[str]:
        """Return the kinds for which the runtime has a class itself."""
        return sorted(kind for kind in os.listdir(HERE) if _is_here(kind, cls.module))

    @classmethod
    def of_kind(cls: type[K], kind: str) -> type[K]:
        """Return the class of a kind; raises PackageError where it is not installed."""
        if (cls.group, kind) not in _CLASSES:
            _import(cls.group, cls.module, kind)
        found = _CLASSES.get((cls.group, kind))
        if found is None:
            raise PackageError(
                f"{kind!r} is not installed (no entry point of {cls.group} has this name): "
                "install what compiled the package"
            )
        return cast("type[K]", found)


_CLASSES: dict[tuple[str, str], type[Kind]] = {}


def is_kind(text: str) -> bool:
    """Return whether a text looks like `gpu`: lower case, digits and `_` after a letter."""
    shaped = text.isidentifier() and text.isascii() and text == text.lower()
    return shaped and text[0] != "_" and len(text) <= _LONGEST


def _is_here(kind: str, module: str) -> bool:
    return os.path.isfile(os.path.join(HERE, kind, f"{module}.py"))


def _import(group: str, module: str, kind: str) -> None:
    if not is_kind(kind):
        return
    if _is_here(kind, module):
        import_module(f".{kind}.{module}", __package__)
        return
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    points = list(entry_points(group=group, name=kind))
    if len(points) > 1:
        owners = " and ".join(map(_owner, points))
        raise PackageError(f"'{kind}' is offered by {owners} ({group}): uninstall all but one")
    for point in points:
        _load(point)


def _load(point: "EntryPoint") -> None:
    try:
        point.load()
    except (ImportError, AttributeError) as error:
        raise PackageError(
            f"'{point.name}' of {_owner(point)} cannot be loaded: {error}: install it again"
        ) from None


def _owner(point: "EntryPoint") -> str:
    return point.dist.name if point.dist else "an unknown distribution"
