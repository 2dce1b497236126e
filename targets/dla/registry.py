"""Find accelerators by name: each folder beside this file that has packets, and installed ones.

A package outside of Trivium has its target in a module, the entry point of the group
`trivium.targets`, and its packets in the module `packets` beside that one: `CLASSES`, all classes
of packets, and `instruction_set()`, those with the description that is in force unless the user
gives another one.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from ...dialects.core.errors import CompileError
from .core.device import Device
from .core.packet import InstructionSet, Packet

GROUP = "trivium.targets"


def machine_names() -> list[str]:
    """List the names of all accelerators that are installed."""
    return sorted(_modules())


def find_instructions(name: str) -> InstructionSet:
    """Return an accelerator's packets; raise CompileError when there is none of that name."""
    return _packets(name).instruction_set()


def find_classes(name: str) -> Sequence[type[Packet]]:
    """Return the classes of an accelerator's packets; raise CompileError when there is none."""
    return _packets(name).CLASSES


def open_device(
    description: bytes | str, data: bytes, file: str = "container", seed: int | None = None
) -> Device:
    """Return a simulated accelerator that is ready for a container, as `Device.open` does."""
    return Device.open(description, data, find_classes, file, seed)


def _packets(name: str) -> ModuleType:
    modules = _modules()
    if name not in modules:
        known = ", ".join(sorted(modules))
        raise CompileError(f"no accelerator is called '{name}', there are: {known}")
    return import_module(modules[name])


def _modules() -> Mapping[str, str]:
    """Return the modules of packets by the names of accelerators."""
    found: dict[str, str] = {}
    for entry in entry_points(group=GROUP):
        module = f"{entry.module.rpartition('.')[0]}.packets"
        if _exists(module):
            found[entry.name] = module
    for file in Path(__file__).parent.glob("*/packets.py"):
        found[file.parent.name] = f"{__package__}.{file.parent.name}.packets"
    return found


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # its folder is no package, or there is none
        return False
