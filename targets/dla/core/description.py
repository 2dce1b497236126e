"""The description of an accelerator, as frozen data: all of its numbers.

`toml_file.py` reads it from a TOML file; legality, encoding, simulation and costs derive from it,
so that a changed number in the file changes all of them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property

from ....dialects.core.errors import Invalid
from .fields import Field

ENGINE_KINDS: Mapping[str, tuple[str, ...]] = {
    "dma": ("latency", "bytes_per_cycle"),
    "mac": ("rows", "columns", "overhead"),
    "vec": ("lanes", "overhead"),
}
"""The cost parameters of each kind of engine."""

HEADER = ("opcode", "length", "engine", "flags", "wait")

RESERVED = 8
"""The unused bits of the header between the flags and the waits."""


@dataclass(frozen=True)
class Memory:
    """A memory: its size, and the alignment of all addresses in it."""

    name: str
    bytes: int
    alignment: int
    address_bits: int


@dataclass(frozen=True)
class Engine:
    """An engine, which runs its packets in order: the memories that it accesses, and its costs."""

    name: str
    kind: str
    memories: tuple[str, ...]
    costs: Mapping[str, int]


@dataclass(frozen=True)
class Limit:
    """Bounds of a field's value; `because` completes the sentence of a refusal."""

    field: str
    least: int
    most: int
    because: str


@dataclass(frozen=True)
class PacketFormat:
    """The format of a packet: opcode, engine, and fields after the header.

    `units` is the size with the header.
    """

    name: str
    opcode: int
    engine: str
    units: int
    fields: tuple[Field, ...]
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True)
class Description:
    """An accelerator: memories, engines, packets, arithmetic, and costs in cycles.

    `source` is the text that it was read from.
    """

    name: str
    summary: str
    abi: int
    unit_bytes: int
    atom: int
    rounding: str
    multiplier_bits: int
    regions: tuple[str, ...]
    header: Mapping[str, int]
    memories: Mapping[str, Memory]
    engines: Mapping[str, Engine]
    packets: Mapping[str, PacketFormat]
    source: str = field(default="", compare=False, repr=False)

    @cached_property
    def header_fields(self) -> tuple[Field, ...]:
        """Return the fields of the first unit of each packet, with a wait per engine."""
        names = {name: name for name in HEADER[:-1]}
        names |= {"reserved": "reserved"} | {f"wait.{engine}": "wait" for engine in self.engines}
        widths = {**self.header, "reserved": RESERVED}
        made: list[Field] = []
        for name, width in names.items():
            bit = made[-1].bit + made[-1].bits if made else 0
            made.append(Field(name, 0, bit, widths[width], "uint"))
        return tuple(made)

    def padded(self, channels: int) -> int:
        """Return the bytes of the channels of a pixel, in whole atoms."""
        return -(-channels // self.atom) * self.atom

    def costs(self, packet: str) -> Mapping[str, int]:
        """Return the costs of the engine that runs packets of a name."""
        return self.engines[self.packets[packet].engine].costs

    def memory(self, space: str) -> Memory:
        """Return the memory of a space; the regions of DRAM are spaces of their own."""
        return self.memories["dram" if space.startswith("dram.") else space]

    def check(self, name: str, values: Mapping[str, int | str]) -> None:
        """Raise Invalid, with the sentence of the limit, for a value beyond its limits.

        Fields without a value are skipped.
        """
        for limit in self.packets[name].limits:
            value = values.get(limit.field)
            if isinstance(value, int) and not limit.least <= value <= limit.most:
                raise Invalid(f"field '{limit.field}' is {value}: {name} {limit.because}")

    @cached_property
    def digest(self) -> bytes:
        """Return 16 bytes that identify everything but the summary."""
        # Packets number engines in their order, which sorted keys lose.
        facts = {**asdict(self), "summary": "", "order": list(self.engines)}
        del facts["source"]
        text = json.dumps(facts, sort_keys=True, default=dict)
        return hashlib.sha256(text.encode()).digest()[:16]
