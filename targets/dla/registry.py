"""Find the packets of accelerators by name; `../installed.py` lists where they are.

An accelerator is a module `packets` with `CLASSES`, all classes of packets, and a function
`instruction_set(file)`, which reads a description from a file, by default the accelerator's own
one. A user's description must have the same name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ...dialects.core.errors import CompileError
from ..installed import accelerators, devices, names, pick
from .core.container import NO_SIZES
from .core.contents import Sizes
from .core.description import Description
from .core.device import Device
from .core.packet import InstructionSet, Packet
from .core.ports import PortValues


@dataclass(frozen=True)
class Configuration:
    """An accelerator with its own description, or with a user's file: `vanilla:half.toml`.

    Passes share one object, so that the file is read once.
    """

    name: str
    file: str = ""

    @staticmethod
    def parse(text: str) -> "Configuration":
        """Return the configuration that `vanilla` or `vanilla:half.toml` denotes."""
        name, _, file = text.partition(":")
        return Configuration(name, file)

    def __str__(self) -> str:
        return f"{self.name}:{self.file}" if self.file else self.name

    @cached_property
    def instructions(self) -> InstructionSet:
        """Return the packets; raises as `find_instructions`."""
        return find_instructions(self.name, Path(self.file) if self.file else None)

    @property
    def description(self) -> Description:
        """Return the description; raises as `find_instructions`."""
        return self.instructions.description


VANILLA = Configuration("vanilla")
"""The accelerator that passes are for unless an option names another one."""


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


def find_classes(name: str) -> Sequence[type[Packet]]:
    """Return the classes of an accelerator's packets; raise CompileError if there is none."""
    return replace(pick("accelerator", name, accelerators()), attribute="CLASSES").load()


class CostReport(Protocol):
    """What a run of a simulated accelerator cost."""

    @property
    def runs(self) -> Sequence[object]: ...

    def text(self) -> str: ...

    def numbers(self) -> dict[str, Any]: ...


class SimulatedDevice(Protocol):
    """A simulated accelerator that has loaded a program."""

    @property
    def name(self) -> str: ...

    @property
    def input_shapes(self) -> list[tuple[int, ...]]: ...

    @property
    def output_shapes(self) -> list[tuple[int, ...]]: ...

    def takes(
        self, shapes: Sequence[tuple[int, ...]], ports: Sequence[tuple[int, ...]]
    ) -> bool: ...

    def run(self, inputs: Sequence[PortValues], /) -> Sequence[PortValues]: ...

    def report(self) -> CostReport: ...

    def faults(self) -> list[tuple[str, str]]: ...


def open_device(
    description: bytes | str,
    data: bytes,
    file: str = "container",
    seed: int | None = None,
    sizes: Sizes = NO_SIZES,
) -> Device:
    """Return a simulated accelerator that has loaded a program, as `Device.open` does."""
    return Device.open(description, data, find_classes, file, seed, sizes)


def open_simulated(
    accelerator: str,
    description: bytes | str,
    data: bytes,
    file: str = "container",
    seed: int | None = None,
    sizes: Sizes = NO_SIZES,
) -> SimulatedDevice:
    """Return a simulated accelerator, in its own way of simulation or as `open_device` does.

    Raises CompileError, besides, for a seed where operations run in one order alone.
    """
    own = [origin for origin in devices() if origin.name == accelerator]
    if not own:
        return open_device(description, data, file, seed, sizes)
    if seed is not None:
        raise CompileError(f"'{accelerator}' runs operations in one order: leave out the seed")
    return own[0].load()(description, data, file)
