"""Find targets by name: each folder of `targets/` with a `TARGET`, loaded when asked for."""

import pkgutil
from importlib import import_module

from ..dialects.core.errors import CompileError
from .core import Target


def target_names() -> list[str]:
    """List the names of all targets that are installed."""
    package = import_module(__package__ or "")
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.ispkg)


def split_target(choice: str) -> tuple[str, tuple[str, ...]]:
    """Split `gpu:sm_80,sm_90` into the name of a target and the architectures that code is for."""
    name, colon, listed = choice.partition(":")
    return name, tuple(part.strip() for part in listed.split(",")) if colon else ()


def find_target(name: str) -> Target:
    """Load a target; raise CompileError when there is none of that name."""
    if name not in target_names():
        raise CompileError(f"no target is called '{name}', there are: {', '.join(target_names())}")
    return import_module(f".{name}", __package__).TARGET
