"""Import all modules of a package, for what they register and define."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any


def import_modules(package: ModuleType) -> list[ModuleType]:
    """Import every module of a package and of the packages inside; return them by name."""
    return _modules(package.__name__, package.__path__)


def public_names(package: str, path: Sequence[str]) -> dict[str, Any]:
    """Return the public classes and functions that the modules of a package define.

    A dialect's `__init__` makes them its own, so that `tri.Conv` needs no list of ops. Type
    checkers read them from `__init__.pyi`, which `make docs` writes.
    """
    return {
        name: value
        for module in _modules(package, path)
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }


def _modules(package: str, path: Sequence[str]) -> list[ModuleType]:
    return [import_module(found.name) for found in walk_packages(path, f"{package}.")]
