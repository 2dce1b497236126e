"""Constants that are loaded into registers once, before loops that may not run at all.

LLVM hoists the load of a constant out of a loop only where the loop surely runs, which one of a
size that changes does not. `held_constants` hides from it that values are constants: they stay
where they are made, before the loops.
"""

from collections.abc import Generator
from contextlib import contextmanager

from ....dialects.core.mlir import ir
from .value import HELD, Value, constant_of, llvm


@contextmanager
def held_constants() -> Generator[None]:
    """Make the vectors of equal numbers of f32 that the block needs here, before its loops."""
    token = HELD.set(_Held(ir.InsertionPoint.current.block).make)
    try:
        yield
    finally:
        HELD.reset(token)


class _Held:
    """Make constants behind the operations that a block has so far, each once."""

    def __init__(self, block: ir.Block) -> None:
        self._block = block
        operations = list(block.operations)
        self._last = operations[-1].operation if operations else None
        self._made: dict[tuple[str, ir.Type], Value] = {}

    def make(self, constant: float, like: Value) -> Value | None:
        type_ = like.ssa.type
        if like.dtype != "f32" or not isinstance(type_, ir.VectorType):
            return None
        key = str(float(constant)), type_
        if key not in self._made:
            with self._place():
                number = constant_of(constant, like.dtype, type_)
                name = f"llvm.arithmetic.fence.v{type_.shape[0]}f32"
                held = llvm.call_intrinsic(type_, name, [number], [], [])
            self._last = held.owner.operation
            self._made[key] = like.with_ssa(held)
        return self._made[key]

    def _place(self) -> ir.InsertionPoint:
        if self._last is None:
            return ir.InsertionPoint.at_block_begin(self._block)
        return ir.InsertionPoint.after(self._last)
