"""Import all modules of a package, which register what they define as they are imported."""

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any


def import_all(package: str) -> list[ModuleType]:
    """Import every module of a package, which may be in the middle of its own import.

    Return the modules, those of nested packages included, in the order of their names.
    """
    path = import_module(package).__path__
    return [import_module(found.name) for found in walk_packages(path, f"{package}.")]


def public_names(package: str) -> dict[str, Any]:
    """Return the public classes and functions that the modules of a package define.

    A dialect's `__init__` makes them its own, so that `tri.Conv` needs no list of ops. Type
    checkers read them from `__init__.pyi`, which `make docs` writes.
    """
    return {
        name: value
        for module in import_all(package)
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    }
