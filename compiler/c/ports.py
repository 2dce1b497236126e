"""The inputs and outputs of a model as headers describe them, for code in C and for libraries."""

import math
from collections.abc import Iterator, Sequence

from ...runtime.contents import Port
from ...runtime.dtypes import itemsize


def size_macros(name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> Iterator[str]:
    """Yield the macros of the numbers of ports and of their bytes, which begin with a name.

    Ports whose sizes change from run to run are described alone.
    """
    for kind, ports in (("INPUT", inputs), ("OUTPUT", outputs)):
        prefix = f"{name.upper()}_{kind}"
        yield f"#define {prefix}S {len(ports)}"
        for number, port in enumerate(ports):
            shape = ", ".join(map(str, port.shape))
            text = comment(f"{port.name}: {port.dtype}[{shape}]")
            if all(type(size) is int for size in port.shape):
                yield f"#define {prefix}_{number}_BYTES {port_bytes(port)} /* {text} */"
            else:
                yield f"/* {kind.lower()} {number}, {text} */"


def port_bytes(port: Port) -> int:
    """Return the bytes of an input or output, whose sizes do not change from run to run."""
    return math.prod(port.shape) * (itemsize(port.dtype) or 1)


def comment(text: str) -> str:
    """Return a text that does not end a comment, nor begin one."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")
