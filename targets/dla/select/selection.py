"""What selection rules share: limits of the accelerator, operands, and building of ops."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.interpret import ConstantEvaluator
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array
from ....dialects.dla.dialect import TensorOp
from ....passes.constants import hint
from ....passes.rewriting import NoMatch, Rewriter, uses
from ..core.description import Description
from ..layout.memory_layout import MemoryLayout
from .fitting import tiling_refusal
from .limits import tensor_refusal

AnyOp = TypeVar("AnyOp", bound=Op)
AnyTensorOp = TypeVar("AnyTensorOp", bound=TensorOp)

BYTE = "i8"
LOW, HIGH = -128, 127
LARGEST_CONSTANT = 1 << 28
"""The most elements of a constant that is evaluated during selection."""

Rule = Callable[[Any, Any], None]
"""A selection rule for an op; raises NoMatch or Invalid with the reason of a refusal."""

Rules = Mapping[type[Op], Sequence[Rule]]
"""Selection rules by class of op, in the order in which they are tried."""


@runtime_checkable
class HasRules(Protocol):
    """A target with selection rules of its own."""

    rules: Rules


@dataclass(frozen=True)
class QuantizedOperand:
    """A tensor of bytes and its zero point; `ops` are those that subtract it."""

    value: ir.Value
    zero: int
    ops: tuple[Op, ...] = ()


class Arithmetic(Protocol):
    """How an accelerator computes: its name, and how it rescales sums."""

    @property
    def name(self) -> str: ...

    @property
    def rounding(self) -> str: ...

    @property
    def multiplier_bits(self) -> int: ...


@dataclass(frozen=True)
class OpSelection:
    """The selection of one op, with ops before it, for an accelerator of any kind.

    Methods raise NoMatch with the reason if the accelerator cannot run the op.
    """

    description: Arithmetic
    rewriter: Rewriter
    op: Op

    # -- limits -------------------------------------------------------------------------------

    def scaling(self, op: tri.Requantize) -> dict[str, Any]:
        """Return the attributes that end a result in `dla`, except multiplier and shift."""
        name, rounding = self.description.name, self.description.rounding
        if any(op.shift) and op.rounding != rounding:
            raise NoMatch(f"{name} rounds {rounding}, not {op.rounding}")
        return self.ending(op)

    def ending(self, op: tri.Requantize | tri.RequantizeMean) -> dict[str, Any]:
        """Return the zero point and the bounds of a result."""
        name = self.description.name
        if op.to != BYTE:
            raise NoMatch(f"{name} makes values of {BYTE}, not of {op.to}")
        if not LOW <= op.zero_point <= HIGH:
            raise NoMatch(f"{name} has zero points of {BYTE}, not {op.zero_point}")
        given = {"rounding": self.description.rounding, "destination_zero": op.zero_point}
        return {**given, "low": op.low, "high": op.high}

    def factor(self, op: tri.Requantize, packet: str) -> dict[str, int]:
        """Return the multiplier and the shift of a packet that has one for all channels."""
        if len(op.multiplier) != 1:
            raise NoMatch(f"{self.description.name} has one multiplier for all of a {packet}")
        return {"multiplier": op.multiplier[0], "shift": op.shift[0]}

    # -- operands -----------------------------------------------------------------------------

    def quantized_operand(self, value: ir.Value) -> QuantizedOperand:
        """Find the bytes and the zero point that an operand of i32 is made of."""
        wide, zero = value, 0
        ops: list[Op] = []
        shift = self.rewriter.find_producer(value)
        if isinstance(shift, tri.Sub):
            number = self.rewriter.find_scalar(shift.b)
            if number is None or tensor_of(shift.a.type) != tensor_of(value.type):
                raise NoMatch(f"{self.description.name} has one zero point for all of an operand")
            wide, zero = shift.a, int(number)
            ops.append(shift)
        cast = self.rewriter.find_producer(wide)
        if not isinstance(cast, tri.Cast):
            return self._constant_bytes(value)
        if (dtype := tensor_of(cast.x.type).dtype) != BYTE:
            raise NoMatch(f"{self.description.name} takes values of {BYTE}, not of {dtype}")
        if not LOW <= zero <= HIGH:
            raise NoMatch(f"{self.description.name} has zero points of {BYTE}, not {zero}")
        return QuantizedOperand(cast.x, zero, (cast, *ops))

    def _constant_bytes(self, value: ir.Value) -> QuantizedOperand:
        """Return a constant operand as bytes, with a zero point if it needs one."""
        array = self.find_constant(value)
        if array is None or not array.size:
            made = self.rewriter.find_producer(value)
            raise NoMatch(f"operand is made by {made.op_name if made else 'an input'}")
        low, high = int(array.min()), int(array.max())
        zero = 0 if low >= LOW and high <= HIGH else LOW - low
        if high + zero > HIGH or not LOW <= zero <= HIGH:
            raise NoMatch(f"constants are from {low} to {high}, which are not bytes")
        with self.rewriter.before(self.op):
            return QuantizedOperand(
                self.build_constant((array + zero).astype(np.int8), "bytes"), zero
            )

    def find_constant(self, value: ir.Value) -> Array | None:
        """Return a value that does not depend on inputs, or None."""
        return ConstantEvaluator(self.rewriter.module.weights, LARGEST_CONSTANT)(value)

    def constant(self, value: ir.Value, what: str) -> Array:
        """Return a constant value; raise NoMatch for any other one."""
        array = self.find_constant(value)
        if array is None:
            raise NoMatch(f"{what} of the op are not constant")
        return array

    def sole(self, value: ir.Value, cls: type[AnyOp]) -> AnyOp:
        """Return the producer of a value with a single use."""
        op = self.rewriter.producer(value, cls)
        if (count := uses(value)) != 1:
            raise NoMatch(f"sums of {op.op_name} have {count} uses, they remain in the accumulator")
        return op

    # -- changing -----------------------------------------------------------------------------

    def build(self, cls: type[AnyTensorOp], *operands: Any, **attributes: Any) -> AnyTensorOp:
        """Build an op of the accelerator.

        Raises NoMatch, and leaves no op behind, if its packet cannot encode the attributes, or its
        tiles do not fit the memories.
        """
        made = cls.build(*operands, **attributes)
        refusal = self.refusal(made)
        if refusal is None:
            return made
        made.operation.erase()
        raise NoMatch(refusal)

    def refusal(self, op: TensorOp) -> str | None:
        """Return why the accelerator cannot run an op that was built, or None."""
        raise NotImplementedError

    def build_constant(self, array: Array, what: str) -> ir.Value:
        """Build a constant, named after the selected op."""
        name = f"{hint(self.op)}.{what}"
        dense = np.ascontiguousarray(array)
        return tri.build_constant(self.rewriter.module, dense, name).results[0]

    def place(self, *ops: Op) -> AbstractContextManager[None]:
        """Return the insertion point before the op and before ops that it replaces, too."""
        return self.rewriter.before(self.op, *ops)

    def replace(self, new: Op, ops: Sequence[Op]) -> None:
        """Replace the selected op and others by a new op."""
        self.rewriter.replace(self.op, new, *ops)


@dataclass(frozen=True)
class Selection(OpSelection):
    """The selection of one op for an accelerator that a description of packets programs."""

    description: Description

    def refusal(self, op: TensorOp) -> str | None:
        return tensor_refusal(op, self.description) or self._tiling_refusal(op)

    def _tiling_refusal(self, op: TensorOp) -> str | None:
        layout = MemoryLayout(self.description)
        return tiling_refusal(op, self.rewriter.module, layout, self.find_constant)
