"""Find the packets of accelerators by name; `../installed.py` says where they are.

An accelerator is a module `packets` with a function `instruction_set(file)`: it reads a description
from a file, or its own one when it is called without. A user's description must keep the name.
"""

from pathlib import Path

from ...dialects.core.errors import CompileError
from ..installed import accelerators, names, pick
from .core.packet import InstructionSet


def machine_names() -> list[str]:
    """List the names of all accelerators that are installed."""
    return names(accelerators())


def find_instructions(name: str, description: Path | None = None) -> InstructionSet:
    """Return an accelerator's packets, as its own description or a user's file has them.

    Raises CompileError when there is no accelerator of that name, and with all faults of the file.
    """
    make = pick("accelerator", name, accelerators()).load()
    instructions: InstructionSet = make(description) if description else make()
    found = instructions.description.name
    if found != name:
        place = description or f"the accelerator '{name}'"
        raise CompileError(f"{place} describes '{found}', must describe '{name}'")
    return instructions


def choose_instructions(choice: str) -> InstructionSet:
    """Return the packets that a user means by `vanilla`, or `vanilla:half.toml`."""
    name, _, file = choice.partition(":")
    return find_instructions(name, Path(file) if file else None)
