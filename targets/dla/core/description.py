"""The description of an accelerator, as frozen data: all numbers that anything here reasons about.

It is read from a TOML file by `toml_file.py`; legality, encoding, simulation and costs derive from
it, so that a changed number in the file changes all of them.
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
"""Which numbers the costs of each kind of engine are made of."""

HEADER = ("opcode", "length", "engine", "flags", "wait")

RESERVED = 8
"""How many bits of the header lie unused between the flags and the waits."""


@dataclass(frozen=True)
class Memory:
    """Describe a memory: its size, and what all addresses in it are multiples of."""

    name: str
    bytes: int
    alignment: int
    address_bits: int


@dataclass(frozen=True)
class Engine:
    """Describe an engine, which runs its packets in order: what it may touch, what it costs."""

    name: str
    kind: str
    memories: tuple[str, ...]
    costs: Mapping[str, int]


@dataclass(frozen=True)
class Limit:
    """Bound a field's value; `because` is the sentence that a refusal says."""

    field: str
    least: int
    most: int
    because: str


@dataclass(frozen=True)
class PacketFormat:
    """Describe one kind of packet: its number, its engine, and its fields after the header.

    `units` is how many it takes, with its header.
    """

    name: str
    opcode: int
    engine: str
    units: int
    fields: tuple[Field, ...]
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True)
class Description:
    """Describe an accelerator: memories, engines, packets, arithmetic, and costs in cycles.

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
        """Return the fields of the first unit of each packet: there is a wait for each engine."""
        names = {name: name for name in HEADER[:-1]}
        names |= {"reserved": "reserved"} | {f"wait.{engine}": "wait" for engine in self.engines}
        widths = {**self.header, "reserved": RESERVED}
        made: list[Field] = []
        for name, width in names.items():
            bit = made[-1].bit + made[-1].bits if made else 0
            made.append(Field(name, 0, bit, widths[width], "uint"))
        return tuple(made)

    def padded(self, channels: int) -> int:
        """Return how many bytes the channels of a pixel take: whole atoms."""
        return -(-channels // self.atom) * self.atom

    def costs(self, packet: str) -> Mapping[str, int]:
        """Return what packets of a name cost: the numbers of the engine that runs them."""
        return self.engines[self.packets[packet].engine].costs

    def memory(self, space: str) -> Memory:
        """Return the memory that holds a space; the spaces of dram are its regions."""
        return self.memories["dram" if space.startswith("dram.") else space]

    def check(self, name: str, values: Mapping[str, int | str]) -> None:
        """Refuse a packet whose fields are beyond the limits; raise Invalid with the sentence.

        Fields of which there is no value yet are left out.
        """
        for limit in self.packets[name].limits:
            value = values.get(limit.field)
            if isinstance(value, int) and not limit.least <= value <= limit.most:
                raise Invalid(f"field '{limit.field}' is {value}: {name} {limit.because}")

    @cached_property
    def digest(self) -> bytes:
        """Return 16 bytes that differ when anything but the summary does."""
        # Packets number engines in their order, which sorted keys do not say.
        facts = {**asdict(self), "summary": "", "order": list(self.engines)}
        del facts["source"]
        text = json.dumps(facts, sort_keys=True, default=dict)
        return hashlib.sha256(text.encode()).digest()[:16]
