"""Descriptions of vanilla's kind of accelerator, drawn by a seed: each is valid, none is vanilla's.

What is drawn: capacities, alignments, the atom, engines and their costs, the widths and places of
all fields, opcodes, limits, roundings and bits of requantisation, and which packets there are.
"""

import tomllib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from trivium.targets.dla.vanilla.packets import FILE

VANILLA: dict[str, Any] = tomllib.loads(FILE.read_text())

SPARE = ("conv", "pool", "eltwise", "lookup", "resize")
"""Packets without which there is an accelerator yet."""


def drawn_text(seed: int) -> str:
    """Return the text of a description, drawn by a seed."""
    return text_of(_Draw(np.random.default_rng(seed)).description())


def text_of(table: dict[str, Any]) -> str:
    """Return a description as TOML."""
    heads = {name: entry for name, entry in table.items() if not isinstance(entry, dict)}
    lines = [f"{name} = {_value(entry)}" for name, entry in heads.items()]
    for head in ("header", "memories"):
        lines += [f"[{head}]", *_entries(table[head])]
    for name, engine in table["engines"].items():
        lines += [f"[engines.{name}]", *_entries(engine)]
    for name, packet in table["packets"].items():
        lines += [f"[packets.{name}]", *_entries(packet)]
    return "\n".join(lines) + "\n"


def _entries(table: dict[str, Any]) -> list[str]:
    return [f"{name} = {_value(entry)}" for name, entry in table.items()]


def _value(entry: Any) -> str:
    if isinstance(entry, bool):
        return str(entry).lower()
    if isinstance(entry, str):
        return f'"{entry}"'
    if isinstance(entry, list):
        return f"[{', '.join(map(_value, entry))}]"
    if isinstance(entry, dict):
        return f"{{ {', '.join(_entries(entry))} }}"
    return str(entry)


@dataclass
class _Draw:
    random: np.random.Generator
    names: dict[str, str] = field(default_factory=dict[str, str])

    def integer(self, least: int, most: int) -> int:
        return int(self.random.integers(least, most + 1))

    def power(self, least: int, most: int) -> int:
        return 1 << self.integer(least, most)

    def chance(self, count: int = 2) -> bool:
        return self.integer(1, count) == 1

    def description(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            **VANILLA,
            "summary": "drawn",
            "abi": self.integer(1, 9),
            "atom": self.power(0, 6),
            "rounding": ("half_away", "half_even", "half_up")[self.integer(0, 2)],
            "multiplier_bits": self.integer(12, 31) if self.chance() else 31,
            "unit_bytes": self.power(4, 6),
            "regions": self.random.permutation(VANILLA["regions"]).tolist(),
        }
        made["memories"] = self.memories()
        made["engines"] = self.engines()
        made["packets"] = self.packets(made)
        made["header"] = self.header(made)
        return made

    def memories(self) -> dict[str, Any]:
        sizes = {
            "dram": self.power(26, 36),
            "sram": self.integer(1, 64) * self.power(6, 13),
            "weights": self.integer(1, 64) * self.power(6, 11),
            "accumulator": self.integer(1, 64) * self.power(6, 13),
        }
        made: dict[str, Any] = {}
        for name, size in sizes.items():
            least = (size - 1).bit_length()
            made[name] = {
                "bytes": size,
                "alignment": self.power(0, 6),
                "address_bits": self.integer(least, least + 4),
            }
        return made

    def engines(self) -> dict[str, Any]:
        made = {name: dict(engine) for name, engine in VANILLA["engines"].items()}
        for engine in made.values():
            for name in engine.keys() - {"kind", "memories"}:
                engine[name] = self.power(0, 8)
        if self.chance():
            # Weights, and what works value by value, may have engines of their own.
            made["bring"] = {**made["load"], "latency": self.integer(0, 99)}
            made["move"] = {**made["vec"], "lanes": self.integer(1, 99)}
        made = {self.renamed(name): engine for name, engine in made.items()}
        names = list(made)
        self.random.shuffle(names)
        return {name: made[name] for name in names}

    def renamed(self, name: str) -> str:
        other = f"{name}_{self.integer(0, 9)}" if self.chance() else name
        return self.names.setdefault(name, other)

    def packets(self, made: dict[str, Any]) -> dict[str, Any]:
        names = [name for name in VANILLA["packets"] if name not in SPARE or not self.chance(9)]
        opcodes = self.random.permutation(200).tolist()
        packets: dict[str, Any] = {}
        for name, opcode in zip(names, opcodes, strict=False):
            packet = VANILLA["packets"][name]
            others = {"load_weights": "bring", "copy": "move", "lookup": "move"}
            runs = others.get(name, "")
            engine = self.names[runs if runs in self.names else packet["engine"]]
            fields = self.fields(packet, made)
            packets[name] = {**packet, "engine": engine, "opcode": opcode, "fields": fields}
            if "limits" in packet:
                packets[name]["limits"] = self.limits(packet["limits"])
        return packets

    def fields(self, packet: dict[str, Any], made: dict[str, Any]) -> list[dict[str, Any]]:
        """Place fields of other widths, in another order, with gaps, some across units."""
        fields = list(packet["fields"])
        self.random.shuffle(fields)
        room, bit, placed = made["unit_bytes"] * 8, 0, []
        for each in fields:
            field = {**each, "kind": self.kind(each["kind"])}
            bits = self.bits(field, made)
            bit += self.integer(0, 5) * self.chance(4)
            wide = self.chance()
            if bit % room + bits > room and not wide:
                bit += -bit % room
            unit, first = 1 + bit // room, bit % room
            crosses = {"wide": True} if first + bits > room else {}
            placed.append({**field, "unit": unit, "bit": first, "bits": bits, **crosses})
            bit += bits
        return placed

    def kind(self, kind: str) -> str:
        """Shuffle the cases of enumerations, and drop one now and then."""
        family, _, cases = kind.partition(":")
        if family != "enum":
            return kind
        names = cases.split(",")
        self.random.shuffle(names)
        return f"enum:{','.join(names[: -1 if self.chance(9) else None])}"

    def bits(self, field: dict[str, Any], made: dict[str, Any]) -> int:
        kind, _, memory = field["kind"].partition(":")
        if kind == "address":
            return made["memories"][memory]["address_bits"] + self.integer(0, 3)
        if kind == "uint" and field["bits"] > 3 and self.chance(16):
            return self.integer(field["bits"] // 2 + 1, field["bits"])
        return min(field["bits"] + self.integer(0, 3) * self.chance(), 64)

    def limits(self, limits: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, limit in limits.items():
            most = self.integer(1, limit["most"]) if self.chance(3) else limit["most"]
            made[name] = {**limit, "most": most}
        return made

    def header(self, made: dict[str, Any]) -> dict[str, int]:
        widths = {**VANILLA["header"], "length": 6, "flags": self.integer(1, 8)}
        left = made["unit_bytes"] * 8 - sum(widths.values()) + widths["wait"] - 8
        return {**widths, "wait": min(left // len(made["engines"]), 24)}
