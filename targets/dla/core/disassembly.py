"""Packets as text, one per line, and back: assembling the text gives the same bytes.

conv wait.load=2 source=0x0 source_row=480 … mode=dense begin=1 finish=1
"""

import json
from collections.abc import Mapping, Sequence

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from .fields import Field, Value
from .packet import InstructionSet, Packet


def packet_text(instructions: InstructionSet, packet: Packet) -> str:
    """Return the line of a packet: its name, its waits, its fields by name."""
    words = [packet.name]
    for engine in instructions.engines:
        if packet.waits.get(engine):
            words.append(f"wait.{engine}={packet.waits[engine]}")
    if packet.flags:
        words.append(f"flags={packet.flags}")
    for field in instructions.form(packet).fields:
        value: Value = getattr(packet, field.name)
        words.append(f"{field.name}={value:#x}" if field.memory else f"{field.name}={value}")
    return " ".join(words)


def disassemble(instructions: InstructionSet, code: bytes, nodes: Sequence[str] = ()) -> str:
    """Return the text of a stream; the nodes of packets follow them as comments."""
    lines: list[str] = []
    for number, placed in enumerate(instructions.decode_stream(code)):
        line = packet_text(instructions, placed.packet)
        node = nodes[number] if number < len(nodes) else ""
        node = node if node.isprintable() else json.dumps(node)
        lines.append(f"{line} ; {node}" if node else line)
    return "\n".join(lines) + "\n"


def assemble(instructions: InstructionSet, text: str) -> bytes:
    """Return the bytes of a text; raise CompileError with the line of each fault."""
    code: list[bytes] = []
    faults: list[Diagnostic] = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            packet = read_packet(instructions, line)
            code += [instructions.encode(packet)] if packet else []
        except Invalid as error:
            faults.append(Diagnostic(f"line {number}", str(error)))
    if faults:
        raise CompileError(faults)
    return b"".join(code)


def read_packet(instructions: InstructionSet, line: str) -> Packet | None:
    """Return the packet of a line, None for a comment; raise Invalid."""
    words = line.partition(";")[0].split()
    if not words:
        return None
    name = words[0]
    if name not in instructions.classes:
        raise Invalid(f"no packet is called '{name}', there are: {', '.join(instructions.classes)}")
    entries: dict[str, str] = {}
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or key in entries:
            raise Invalid(f"'{word}' is {'there twice' if equals else 'no field=value'}")
        entries[key] = value
    waits = {
        key.removeprefix("wait."): _number(key, entries.pop(key))
        for key in list(entries)
        if key.startswith("wait.")
    }
    flags = _number("flags", entries.pop("flags", "0"))
    values = _values(name, instructions.description.packets[name].fields, entries)
    return instructions.classes[name](waits=waits, flags=flags, **values)  # pyright: ignore[reportArgumentType]


def _values(name: str, fields: Sequence[Field], entries: Mapping[str, str]) -> dict[str, Value]:
    names = {field.name for field in fields}
    for key in entries:
        if key not in names:
            raise Invalid(f"packet {name} has no field '{key}'")
    values: dict[str, Value] = {}
    for field in fields:
        if field.name not in entries:
            raise Invalid(f"packet {name} lacks its field '{field.name}'")
        text = entries[field.name]
        values[field.name] = text if field.cases else _number(field.name, text)
    return values


def _number(name: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise Invalid(f"field '{name}' is '{text}', must be a number") from None
