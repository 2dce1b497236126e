"""Find the packets of accelerators by name; `../installed.py` lists where they are.

An accelerator is a module `packets` with `CLASSES`, all classes of packets, and a function
`instruction_set(file)`, which reads a description from a file, by default the accelerator's own
one. A user's description must have the same name.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...dialects.core.errors import CompileError
from ..installed import accelerators, names, pick
from .core.device import Device
from .core.packet import InstructionSet, Packet


def machine_names() -> list[str]:
    """List the names of all installed accelerators."""
    return names(accelerators())


def find_instructions(name: str, description: Path | None = None) -> InstructionSet:
    """Return an accelerator's packets, for its own description or for a user's file.

    Raises CompileError if there is no accelerator of that name, and with all faults of the file.
    """
    make = pick("accelerator", name, accelerators()).load()
    instructions: InstructionSet = make(description) if description else make()
    found = instructions.description.name
    if found != name:
        place = description or f"the accelerator '{name}'"
        raise CompileError(f"{place} describes '{found}', must describe '{name}'")
    return instructions


def choose_instructions(choice: str) -> InstructionSet:
    """Return the packets of a choice such as `vanilla` or `vanilla:half.toml`."""
    name, _, file = choice.partition(":")
    return find_instructions(name, Path(file) if file else None)


def find_classes(name: str) -> Sequence[type[Packet]]:
    """Return the classes of an accelerator's packets; raise CompileError if there is none."""
    return replace(pick("accelerator", name, accelerators()), attribute="CLASSES").load()


def open_device(
    description: bytes | str, data: bytes, file: str = "container", seed: int | None = None
) -> Device:
    """Return a simulated accelerator that has loaded a container, as `Device.open` does."""
    return Device.open(description, data, find_classes, file, seed)
