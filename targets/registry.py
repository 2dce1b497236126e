"""Find targets by name: each folder of `targets/` with a `target.py`, loaded when asked for."""

from importlib import import_module
from pathlib import Path

from ..dialects.core.errors import CompileError
from .core import Target


def target_names() -> list[str]:
    """List the names of all targets that are installed."""
    package = import_module(__package__ or "")
    found = (file for path in package.__path__ for file in Path(path).glob("*/target.py"))
    return sorted({file.parent.name for file in found})


def split_target(choice: str) -> tuple[str, tuple[str, ...]]:
    """Split `gpu:sm_80,sm_90` into the name of a target and the architectures that code is for."""
    name, colon, listed = choice.partition(":")
    return name, tuple(part.strip() for part in listed.split(",")) if colon else ()


def find_target(name: str) -> Target:
    """Load a target; raise CompileError when there is none of that name."""
    if name not in target_names():
        raise CompileError(f"no target is called '{name}', there are: {', '.join(target_names())}")
    return import_module(f".{name}", __package__).TARGET
