"""Lowering of functions of bytes: a table in registers, or in memory."""

import numpy as np

from ....dialects import cpu
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import numpy_dtype
from ....dialects.cpu.quantize import ENTRIES
from ...element_types import ElementTypes
from ..kernels.buffer import Buffer, Lanes, memref, storage_type, vector
from ..kernels.builder import current_kernel
from ..kernels.index import IndexExpr
from ..kernels.value import Value, arith, llvm
from ..registry import elementwise

REGISTER = 64
"""The bytes of a vector register, of which an instruction looks up in two."""

BYTES = ("ui8", "i8")


def has_tables(machine: Machine) -> bool:
    """Return whether a machine looks up bytes in registers."""
    return machine.vector_bytes == REGISTER and "avx512vbmi" in machine.features


@elementwise(cpu.LookUp, types=ElementTypes(BYTES, {"y": BYTES}))
def lower_look_up(op: cpu.LookUp, x: Value) -> Value:
    kernel = current_kernel()
    table = kernel.table(np.array(op.table, numpy_dtype(op.to)))
    if not isinstance(x.ssa.type, ir.VectorType):
        place = arith.index_castui(ir.IndexType.get(), x.ssa)
        return Value(memref.load(table.memory, [place]), op.to)
    (lanes,) = x.ssa.type.shape
    if has_tables(kernel.machine) and lanes <= REGISTER:
        return Value(_in_registers(table, x.ssa, lanes), op.to)
    places = Value(x.ssa, "ui8").cast("i32")
    return table.gather(IndexExpr(0), places.ssa, Lanes(lanes))


def _in_registers(table: Buffer, bytes_: ir.Value, lanes: int) -> ir.Value:
    """Look up the lowest seven bits in both halves of the table, and choose by the highest."""
    type_ = ir.VectorType.get([REGISTER], storage_type("ui8"))
    places = bytes_
    if lanes < REGISTER:
        places = vector.shuffle(bytes_, bytes_, [lane % lanes for lane in range(REGISTER)])
    parts = [
        vector.load(type_, table.memory, [IndexExpr(first).ssa])
        for first in range(0, ENTRIES, REGISTER)
    ]
    name = "llvm.x86.avx512.vpermi2var.qi.512"
    low, high = (
        Value(llvm.call_intrinsic(type_, name, [parts[n], places, parts[n + 1]], [], []), "i8")
        for n in (0, 2)
    )
    found = Value(places, "i8").less(0).select(high, low).ssa
    return vector.shuffle(found, found, list(range(lanes))) if lanes < REGISTER else found
