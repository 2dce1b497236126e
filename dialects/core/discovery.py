"""Import modules for what they register: ops, passes, frontend rules, formats.

Another distribution offers a plugin by an entry point of the group `trivium.plugins` that names the
module to import:

    [project.entry-points."trivium.plugins"]
    my_rules = "my_package.rules"
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import walk_packages
from sys import modules
from types import ModuleType
from typing import Any

from .errors import CompileError

GROUP = "trivium.plugins"


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


def load_plugins(named: Sequence[str] = ()) -> bool:
    """Import the plugins of all distributions and the named ones; return whether there are any.

    A plugin is named by its module, or by the path of a file that ends in `.py`. Raises
    CompileError for a plugin that cannot be imported.
    """
    plugins = (*_installed(), *named)
    for plugin in plugins:
        try:
            _import_file(Path(plugin).absolute()) if plugin.endswith(".py") else import_module(
                plugin
            )
        except ImportError as error:
            raise CompileError(f"plugin '{plugin}' cannot be imported: {error}") from None
    return bool(plugins)


@cache
def _installed() -> tuple[str, ...]:
    """List the modules that distributions offer as plugins."""
    from importlib.metadata import entry_points  # slow to import

    return tuple(sorted(point.module for point in entry_points(group=GROUP)))


def _import_file(file: Path) -> None:
    """Import a file once, as a module of its name."""
    spec = spec_from_file_location(file.stem, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise ImportError("there is no such file")
    if str(file) in (getattr(each, "__file__", "") for each in list(modules.values())):
        return
    module = modules[file.stem] = module_from_spec(spec)
    spec.loader.exec_module(module)
