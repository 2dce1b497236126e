"""Spell names, sizes, counts and ports for people."""

from collections.abc import Sequence

from .contents import Contents, Port
from .cores import spell_cores
from .sizes.symbols import spelled_ports

_MOST_PORTS = 3
_MOST_NAMES = 4


def spell_interface(contents: Contents) -> str:
    """Return the name of a model, and its inputs and outputs: ` 'm.onnx': x f32[2] -> y i8[2]`."""
    source = f" {contents.source!r}" if contents.source else ""
    inputs, outputs = (
        _spell_ports(spelled_ports(ports, contents.symbols))
        for ports in (contents.inputs, contents.outputs)
    )
    return f"{source}: {inputs} -> {outputs}"


def spell_dtype(name: str) -> str:
    """Return the short name of an element type: f32, i64, u8, bf16, bool."""
    for long, short in (("float", "f"), ("complex", "c"), ("uint", "u"), ("int", "i")):
        name = name.replace(long, short)
    return name


def spell_shape(shape: Sequence[int]) -> str:
    """Spell a shape: 1x3x224x224."""
    return "x".join(map(str, shape)) or "scalar"


def spell_size(size: int) -> str:
    """Spell a number of bytes."""
    for unit, bytes_ in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.1f} {unit}"
    return f"{size} bytes"


def count(number: int, one: str, many: str = "") -> str:
    """Spell a number of things."""
    return f"{number} {one}" if number == 1 else f"{number} {many or one + 's'}"


def spell_threads(threads: int, cores: Sequence[int]) -> str:
    """Spell on how many threads a session runs, and on which cores."""
    return count(threads, "thread") + (f" on cores {spell_cores(cores)}" if cores else "")


def spell_names(names: Sequence[str]) -> str:
    """Spell the first names of a list, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return ", ".join([*names[:_MOST_NAMES], *([f"{more} more"] if more > 0 else [])])


def _spell_ports(ports: Sequence[Port]) -> str:
    spelled = [_spell_port(port) for port in ports[:_MOST_PORTS]]
    more = len(ports) - _MOST_PORTS
    return ", ".join([*spelled, f"{more} more"] if more > 0 else spelled) or "nothing"


def _spell_port(port: Port) -> str:
    name = port.name if port.name.isprintable() else repr(port.name)
    return f"{name} {spell_dtype(port.dtype)}[{', '.join(map(str, port.shape))}]"
