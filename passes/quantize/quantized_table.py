"""Functions of one quantised byte: a table of all that they can be, by the ops' own references."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.quantized import QuantizedType, is_quantized
from ..constants import hint
from ..rewriting import NoMatch, Rewriter, users
from .byte_functions import ByteFunction


def look_up(op: tri.Quantize, rewriter: Rewriter) -> None:
    """Replace elementwise ops between a dequantised byte and a quantisation by a table.

    The table is in the order of bytes as unsigned numbers, so that an index of i8 that is negative
    finds its own entry by counting from the end.
    """
    if QuantizedType.parse(op.to).axis is not None:
        raise NoMatch("has a scale for each channel")
    function = ByteFunction.of(op.y, rewriter, nearest=True)
    kind = tensor_of(function.source.type).dtype
    if not is_quantized(kind):
        raise NoMatch(f"is computed from {kind}, must be quantised numbers")
    replaced = {each.operation for each in function.ops}
    for inner in function.ops:
        if inner != op and not {*users(inner.results[0])} <= replaced:
            raise NoMatch(f"value of {inner.op_name} has other uses")
    with rewriter.before(op, *function.ops):
        named = f"{hint(op)}.table"
        table = tri.build_constant(rewriter.module, function.values, named).results[0]
        index = tri.StorageCast.build(function.source, to=QuantizedType.parse(kind).storage).y
        found = tri.Gather.build(table, index).y
        cast = tri.StorageCast.build(found, to=op.to)
    rewriter.replace(op, cast, *function.ops)
