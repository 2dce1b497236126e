"""Import all modules of a package, which register what they define as they are imported."""

from importlib import import_module
from pkgutil import iter_modules


def import_all(package: str) -> None:
    """Import every module of a package, which may be in the middle of its own import."""
    for found in iter_modules(import_module(package).__path__):
        import_module(f"{package}.{found.name}")
