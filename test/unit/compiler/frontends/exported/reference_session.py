"""Exported programs run by the reference of each op, without a target."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from trivium.compiler.frontends.exported.export import read_exported
from trivium.compiler.frontends.exported.importer import import_exported
from trivium.dialects.core import interpret
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import declared
from trivium.dialects.core.states.carried import state_of
from trivium.dialects.core.tensor import Array


class ReferenceSession:
    """Run one program; complex numbers are parts in the IR, and are not in the results."""

    def __init__(self, program: Any, constants: Mapping[str, Array]) -> None:
        self.context = new_context()
        with self.context:
            self.module = import_exported(read_exported(program), constants=constants)
            self.complex = declared(self.module.main, "complex", 0)

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        with self.context:
            inputs = [in_parts(array) for array in feeds.values()]
            # What a session carries, as the number of the run, begins as zero.
            carried = state_of(self.module.main).values()
            made = interpret.run(self.module, [*inputs, *(np.array(0) for _ in carried)])
            names = declared(self.module.main, "outputs", len(made))
            kept = {*names} - state_of(self.module.main).keys()
        pairs = zip(names, made, strict=True)
        return {name: whole(y) if name in self.complex else y for name, y in pairs if name in kept}


def compile(program: Any, *, constants: Mapping[str, Array]) -> ReferenceSession:
    """Import a program as `trivium.compile` does, in the place of a target."""
    return ReferenceSession(program, constants)


def in_parts(array: Array) -> Array:
    if array.dtype.kind != "c":
        return array
    return np.ascontiguousarray(array)[..., None].view(array.real.dtype)


def whole(parts: Array) -> Array:
    return np.ascontiguousarray(parts).view(np.result_type(parts.dtype, np.complex64))[..., 0]
