"""Ports of a container: the addresses of its inputs and outputs in DRAM, and their padding."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ....dialects.core.errors import Invalid
from .description import Description
from .document import as_list, as_number, as_text
from .extent import Extent

Values = npt.NDArray[np.int8]

PortValues = Values | npt.NDArray[np.float16]
"""What users may pass to a port; an accelerator refuses the types it has no port for."""

_RANK = 4
_CONSTANTS = "constants"


@dataclass(frozen=True)
class Port:
    """An input or output, i8 of `shape` [N, H, W, C], at an offset in a region of DRAM.

    In DRAM it has `channels` instead of C; those from C on contain `fill`, the zero point.
    """

    name: str
    region: str
    offset: int
    shape: tuple[int, ...]
    channels: int
    fill: int = 0

    @property
    def padded(self) -> tuple[int, ...]:
        """Return the shape in DRAM."""
        return (*self.shape[:-1], self.channels)

    @property
    def extent(self) -> Extent:
        """Return the bytes of DRAM that the port occupies."""
        return Extent(f"dram.{self.region}", self.offset, prod(self.padded))

    @property
    def array_extent(self) -> Extent:
        """Return the bytes of the array itself, without padding channels."""
        strides = (prod(self.padded[1:]), prod(self.padded[2:]), self.channels)
        return Extent(f"dram.{self.region}", self.offset, self.shape[-1], self.shape[:-1], strides)

    def pack(self, array: PortValues) -> Values:
        """Return the bytes in DRAM for an array; raise Invalid for another shape or dtype."""
        if array.shape != self.shape or array.dtype != np.int8:
            found = f"{array.dtype}{list(array.shape)}"
            raise Invalid(f"'{self.name}' is {found}, must be int8{list(self.shape)}")
        packed = np.full(self.padded, self.fill, np.int8)
        packed[..., : self.shape[-1]] = array
        return packed.reshape(-1)

    def unpack(self, values: Values) -> Values:
        """Return the array for bytes in DRAM."""
        return values.reshape(self.padded)[..., : self.shape[-1]].copy()


def to_table(ports: Sequence[Port]) -> list[dict[str, Any]]:
    """Return ports as a table of the manifest."""
    return [asdict(port) for port in ports]


def from_table(table: object, kind: str) -> tuple[Port, ...]:
    """Return the ports of a table of the manifest; raise Invalid for a malformed one."""
    return tuple(
        _port(entry, f"{kind}[{number}]") for number, entry in enumerate(as_list(table, kind))
    )


def _port(entry: object, where: str) -> Port:
    names = [field.name for field in fields(Port)]
    if not isinstance(entry, dict) or sorted(cast("dict[str, Any]", entry)) != sorted(names):
        raise Invalid(f"'{where}' must have these entries: {', '.join(names)}")
    table = cast("dict[str, Any]", entry)
    shape = as_list(table["shape"], f"{where}.shape")
    return Port(
        as_text(table["name"], f"{where}.name"),
        as_text(table["region"], f"{where}.region"),
        as_number(table["offset"], f"{where}.offset"),
        tuple(as_number(size, f"{where}.shape") for size in shape),
        as_number(table["channels"], f"{where}.channels"),
        as_number(table["fill"], f"{where}.fill"),
    )


def ports_fault(
    description: Description,
    regions: Mapping[str, int],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
) -> str | None:
    """Return which port does not fit the accelerator, or which two overlap, or None."""
    for kind, ports in (("inputs", inputs), ("outputs", outputs)):
        for number, port in enumerate(ports):
            fault = _port_fault(description, regions, port)
            if fault is not None:
                return f"'{kind}[{number}]' {fault}"
        placed = sorted(ports, key=lambda port: (port.region, port.offset))
        for first, second in pairwise(placed):
            if first.region == second.region and first.extent.end > second.offset:
                return f"'{first.name}' and '{second.name}' of '{kind}' share bytes"
    return None


def _port_fault(description: Description, regions: Mapping[str, int], port: Port) -> str | None:
    atom, alignment = description.atom, description.memories["dram"].alignment
    if port.region not in regions or port.region == _CONSTANTS:
        return f"is in region '{port.region}', must be in one for inputs and outputs"
    if len(port.shape) != _RANK or min(port.shape) < 1:
        return f"is of shape {list(port.shape)}, must be [N, H, W, C] with sizes from 1 on"
    if port.channels < port.shape[-1] or port.channels % atom:
        message = f"has {port.shape[-1]} channels padded to {port.channels}"
        return f"{message}, must be padded to a multiple of {atom}"
    if not -128 <= port.fill <= 127:
        return f"is padded with {port.fill}, must be with a number from -128 to 127"
    if port.offset < 0 or port.offset % alignment:
        return f"starts at byte {port.offset}, must be a multiple of {alignment}"
    if port.extent.end > regions[port.region]:
        message = f"ends at byte {port.extent.end} of region '{port.region}'"
        return f"{message}, which has {regions[port.region]}"
    return None
