"""Functions of one quantised byte: a table of all that they can be, by the ops' own references."""

from dataclasses import dataclass, field

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.interpret import compute, lookup
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ...dialects.core.quantized import QuantizedType
from ...dialects.core.tensor import Array
from ..constants import hint
from ..rewriting import NoMatch, Rewriter, users
from .byte_functions import BYTES, ByteFunction


@dataclass
class _Function:
    """Gather the ops between one dequantised value and a quantisation, and what they make.

    `results` are those of all 256 bytes in their order as unsigned numbers, so that an index of i8
    that is negative finds its own by counting from the end.
    """

    rewriter: Rewriter
    source: ir.Value | None = None
    ops: list[Op] = field(default_factory=list[Op])
    results: dict[ir.Value, Array] = field(default_factory=dict[ir.Value, Array])

    def follow(self, value: ir.Value) -> None:
        """Compute a value for all bytes; NoMatch where it is no function of one alone."""
        if value in self.results:
            return
        constant = self.rewriter.constants(value)
        if constant is not None:
            self.results[value] = _one_number(constant)
            return
        op = self.rewriter.find_producer(value)
        if isinstance(op, tri.Dequantize):
            self._begin(op)
        elif op is None or not op.elementwise or len(op.results) != 1:
            raise NoMatch(f"{op.op_name if op else 'an input'} is no function of one byte")
        else:
            for operand in op.operation.operands:
                self.follow(operand)
            self.ops.append(op)
            self._compute(op)

    def _begin(self, op: tri.Dequantize) -> None:
        kind = QuantizedType.parse(op.of)
        if kind.storage not in BYTES or kind.axis is not None:
            raise NoMatch(f"{kind} are not bytes of one scale")
        if self.source is not None and self.source != op.x:
            raise NoMatch("is a function of two operands")
        self.source = op.x
        self.results[op.x] = ByteFunction.domain(kind.storage)
        self._compute(op)

    def _compute(self, op: Op) -> None:
        groups = [lookup(group, self.results) for group in op.operand_groups()]
        (self.results[op.results[0]],) = compute(op, groups, {})


def look_up(op: tri.Quantize, rewriter: Rewriter) -> None:
    """Replace elementwise ops between a dequantised byte and a quantisation by a table."""
    function = _Function(rewriter)
    function.follow(op.x)
    if function.source is None:
        raise NoMatch("is constant")
    if tensor_of(function.source.type).shape != tensor_of(op.y.type).shape:
        raise NoMatch("operand is broadcast to a larger shape")
    for inner in function.ops:
        if not {*users(inner.results[0])} <= {op.operation, *(o.operation for o in function.ops)}:
            raise NoMatch(f"value of {inner.op_name} has other uses")
    (entries,) = compute(op, [function.results[op.x]], {})
    with rewriter.before(op, *function.ops):
        storage = QuantizedType.parse(tensor_of(function.source.type).dtype).storage
        table = tri.build_constant(rewriter.module, entries, f"{hint(op)}.table").results[0]
        index = tri.StorageCast.build(function.source, to=storage).y
        found = tri.Gather.build(table, index).y
        cast = tri.StorageCast.build(found, to=op.to)
    rewriter.replace(op, cast, *function.ops)


def _one_number(constant: Array) -> Array:
    """Return what a constant consists of, without axes; NoMatch for several numbers."""
    numbers = constant.reshape(-1)
    if not numbers.size or not (numbers == numbers[0]).all():
        raise NoMatch("a constant operand has several numbers")
    return numbers[0].reshape(())
