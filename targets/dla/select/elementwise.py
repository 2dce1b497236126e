"""Select elementwise ops: sums, products, extremes, rescaling, and tables."""

import numpy as np

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape
from ....passes.building import reshape
from ....passes.rewriting import NoMatch
from .images import elements_from, elements_of, image_of, rows_shape
from .requantized import Term
from .selection import BYTE, Selection

OPERATORS: dict[type[Op], str] = {
    tri.Add: "add",
    tri.Mul: "mul",
    tri.Maximum: "max",
    tri.Minimum: "min",
}
"""Binary ops on i32, and the operator of the packet for each."""


def select_elements(op: tri.Requantize, selection: Selection) -> None:
    """Select a sum, product or extreme of two tensors, one of which may be broadcast."""
    made = selection.sole(op.x, Op)
    operator, shape = OPERATORS[type(made)], tensor_of(op.y.type).shape
    term = Term.of if operator == "mul" else Term.scaled
    a, b = (term(value, selection) for value in made.operation.operands)
    if a.shape != shape or (b.shape == shape and _is_constant(a, selection)):
        a, b = b, a
    if a.shape != shape:
        raise NoMatch(f"{selection.description.name} repeats one of two operands, not both")
    finish, factor = selection.scaling(op), selection.factor(op, "eltwise")
    first, second = factor["multiplier"], 1
    if operator != "mul":
        first, second = first * a.multiplier, first * b.multiplier
    covered = (*a.ops, *b.ops, made)
    with selection.place(*covered):
        x = elements_of(a.bytes.value, selection.rewriter)
        new = selection.build(
            dla.Eltwise,
            x,
            _other(b, shape, tensor_of(x.type).shape, selection),
            operator=operator,
            source_zero=a.bytes.zero,
            other_zero=b.bytes.zero,
            multiplier=first,
            other_multiplier=second,
            shift=factor["shift"],
            **finish,
        )
        back = elements_from(new.y, shape)
    selection.replace(back, covered)


def select_copy(op: tri.Requantize, selection: Selection) -> None:
    """Select a rescaling."""
    source = selection.quantized_operand(op.x)
    finish, factor = selection.scaling(op), selection.factor(op, "copy")
    with selection.place(*source.ops):
        x = elements_of(source.value, selection.rewriter)
        new = selection.build(dla.Copy, x, source_zero=source.zero, **factor, **finish)
        back = elements_from(new.y, tensor_of(op.y.type).shape)
    selection.replace(back, source.ops)


def is_lookup(op: tri.Gather) -> bool:
    """Report whether a gather is a lookup of bytes in a table of 256 entries."""
    table, index = tensor_of(op.x.type), tensor_of(op.indices.type)
    return table.shape == (256,) and index.dtype in ("i8", "ui8")


def select_lookup(op: tri.Gather, selection: Selection) -> None:
    """Select a lookup in a table of 256 bytes."""
    for value in (op.x, op.indices):
        if (dtype := tensor_of(value.type).dtype) != BYTE:
            raise NoMatch(f"{selection.description.name} looks up {BYTE} for {BYTE}, not {dtype}")
    entries = selection.constant(op.x, "entries of the table")
    with selection.place():
        # A negative index counts from the end of the op's table; the packet's table starts at -128.
        table = selection.build_constant(np.roll(entries, 128), "table")
        new = selection.build(dla.Lookup, elements_of(op.indices, selection.rewriter), table)
        back = elements_from(new.y, tensor_of(op.y.type).shape)
    selection.replace(back, ())


def _is_constant(term: Term, selection: Selection) -> bool:
    return selection.find_constant(term.bytes.value) is not None


def _other(term: Term, shape: Shape, image: Shape, selection: Selection) -> ir.Value:
    """Build the image of the second operand, with rows or columns that packets may broadcast."""
    value = term.bytes.value
    sizes = (1,) * (len(shape) - len(term.shape)) + term.shape
    channels = 1 if len(shape) == 4 else len(shape) - 1
    if shape and sizes[channels] != shape[channels]:
        sizes = (*sizes[:channels], shape[channels], *sizes[channels + 1 :])
        value = _repeated(value, sizes, selection)
    if len(shape) == 4:
        return image_of(reshape(value, *sizes))
    if sizes == shape:
        return reshape(value, *image)
    repeated = sizes[:-1] == (1,) * (len(shape) - 1)
    if not repeated and (len(shape) != 3 or image != rows_shape(shape)):
        raise NoMatch(f"{selection.description.name} repeats no part of the rows")
    return reshape(value, *rows_shape(sizes))


def _repeated(value: ir.Value, shape: Shape, selection: Selection) -> ir.Value:
    """Broadcast a constant along channels, which packets do not."""
    constant = selection.find_constant(value)
    if constant is None:
        raise NoMatch(f"{selection.description.name} does not repeat channels")
    aligned = constant.reshape((1,) * (len(shape) - constant.ndim) + constant.shape)
    return selection.build_constant(np.broadcast_to(aligned, shape), "repeated")
