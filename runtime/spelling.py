"""Spell what a package computes in one line, for repr."""

from collections.abc import Sequence

from .contents import Port
from .manifest import Manifest

_MOST_PORTS = 3


def spell_interface(manifest: Manifest) -> str:
    """Return the name of a model, and its inputs and outputs: ` 'm.onnx': x f32[2] -> y i8[2]`."""
    source = f" {manifest.source!r}" if manifest.source else ""
    return f"{source}: {_spell_ports(manifest.inputs)} -> {_spell_ports(manifest.outputs)}"


def spell_dtype(name: str) -> str:
    """Return the short name of an element type: f32, i64, u8, bf16, bool."""
    for long, short in (("float", "f"), ("complex", "c"), ("uint", "u"), ("int", "i")):
        name = name.replace(long, short)
    return name


def _spell_ports(ports: Sequence[Port]) -> str:
    spelled = [_spell_port(port) for port in ports[:_MOST_PORTS]]
    more = len(ports) - _MOST_PORTS
    return ", ".join([*spelled, f"{more} more"] if more > 0 else spelled) or "nothing"


def _spell_port(port: Port) -> str:
    name = port.name if port.name.isprintable() else repr(port.name)
    return f"{name} {spell_dtype(port.dtype)}{list(port.shape)}"
