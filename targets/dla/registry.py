"""Find accelerators by name: each folder beside this file that has packets."""

from importlib import import_module
from pathlib import Path

from ...dialects.core.errors import CompileError
from .core.packet import InstructionSet


def machine_names() -> list[str]:
    """List the names of all accelerators that are installed."""
    return sorted(file.parent.name for file in Path(__file__).parent.glob("*/packets.py"))


def find_instructions(name: str) -> InstructionSet:
    """Return an accelerator's packets; raise CompileError when there is none of that name."""
    if name not in machine_names():
        known = ", ".join(machine_names())
        raise CompileError(f"no accelerator is called '{name}', there are: {known}")
    return import_module(f".{name}.packets", __package__).instruction_set()
