"""Fields of packets: the bits of a named value, and its range."""

from dataclasses import dataclass
from functools import cached_property

from ....dialects.core.errors import Invalid

Value = int | str
"""The value of a field: a number, or the name of a case of an enumeration."""

NUMBERS = ("uint", "int", "region")
"""The kinds without an argument; `address:<memory>` and `enum:<case>,<case>` have one."""


@dataclass(frozen=True)
class Field:
    """The position of a value in a packet: `bits` bits from `bit` of a unit, lowest bit first."""

    name: str
    unit: int
    bit: int
    bits: int
    kind: str
    wide: bool = False

    @cached_property
    def family(self) -> str:
        """Return the kind without its argument."""
        return self.kind.partition(":")[0]

    @cached_property
    def memory(self) -> str | None:
        """Return the memory that an address points into; None for any other field."""
        return self.kind.partition(":")[2] if self.family == "address" else None

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """Return the names of an enumeration's values, from 0 on."""
        return tuple(self.kind.partition(":")[2].split(",")) if self.family == "enum" else ()

    @cached_property
    def range(self) -> range:
        """Return the range of numbers that fit."""
        if self.family == "enum":
            return range(len(self.cases))
        if self.family == "int":
            return range(-(1 << self.bits - 1), 1 << self.bits - 1)
        return range(1 << self.bits)

    def first(self, unit_bytes: int) -> int:
        """Return the number of the field's lowest bit, counted from the packet's start."""
        return self.unit * unit_bytes * 8 + self.bit

    def pack(self, value: Value) -> int:
        """Return the bits of a value; raise Invalid, with the field's name, if it does not fit."""
        number = self._number(value)
        if number not in self.range:
            least, most = self.range[0], self.range[-1]
            raise Invalid(f"field '{self.name}' is {number}, must be from {least} to {most}")
        return number & (1 << self.bits) - 1

    def unpack(self, bits: int) -> Value:
        """Return the value of bits; raise Invalid for an unknown case."""
        if self.family == "int" and bits >> self.bits - 1:
            return bits - (1 << self.bits)
        if self.family != "enum":
            return bits
        if bits >= len(self.cases):
            cases = ", ".join(self.cases)
            raise Invalid(f"field '{self.name}' has case {bits}, must be one of: {cases}")
        return self.cases[bits]

    def _number(self, value: Value) -> int:
        if self.family != "enum":
            if isinstance(value, str):
                raise Invalid(f"field '{self.name}' is '{value}', must be a number")
            return value
        if value not in self.cases:
            cases = ", ".join(self.cases)
            raise Invalid(f"field '{self.name}' is '{value}', must be one of: {cases}")
        return self.cases.index(str(value))
