"""Which values of a model are to be quantised, and by which names a table knows them."""

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.location import value_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, declared, ops
from ...dialects.core.op import Op, view
from ..rewriting import Rewriter, users

PRODUCTS = (tri.Conv, tri.ConvTranspose, tri.MatMul, tri.Gemm)
MOVES = (tri.MaxPool, tri.Reshape, tri.Transpose, tri.Slice, tri.Resize)
"""Ops whose results keep the scale of what they move."""
BOUNDS = (tri.Relu, tri.Clip)
"""Ops that become the bounds of the integers that the op before them makes."""
OTHERS = (tri.Add, tri.Mul, tri.AveragePool, tri.ReduceMean, tri.Concat)
SUPPORTED = (*PRODUCTS, *MOVES, *BOUNDS, *OTHERS)


def is_supported(op: Op) -> bool:
    """Return whether an op computes on quantised numbers: of f32, and resizing to the nearest.

    Sums for softmax do not: masks among them have numbers so large that nothing is left of others.
    """
    if not isinstance(op, SUPPORTED) or (isinstance(op, tri.Resize) and op.mode != "nearest"):
        return False
    if isinstance(op, tri.Add) and _only_for_softmax(op.y):
        return False
    return all(tensor_of(value.type).dtype == "f32" for value in op.operation.operands)


def _only_for_softmax(value: ir.Value) -> bool:
    found = [view(user) for user in users(value)]
    return bool(found) and all(isinstance(user, tri.Softmax) for user in found)


def data_operands(op: Op) -> list[ir.Value]:
    """Return the operands of an op, but for biases."""
    operands = list(op.operation.operands)
    return operands[:2] if isinstance(op, PRODUCTS) else operands


def quantizable(module: Module) -> list[ir.Value]:
    """List the values to be quantised, in order: operands and results of supported ops.

    Constants are left out, and so are sums that only a bound follows.
    """
    constants = Rewriter(module).constants
    chosen: dict[ir.Value, None] = {}
    for op in ops(module.operation):
        if is_supported(op):
            chosen |= dict.fromkeys([*data_operands(op), *op.results])
    return [
        value
        for value in chosen
        if not is_bounded(value) and not _is_dequantized(value) and constants(value) is None
    ]


def _is_dequantized(value: ir.Value) -> bool:
    return isinstance(value, ir.OpResult) and isinstance(view(value.owner), tri.Dequantize)


def is_moved(value: ir.Value) -> bool:
    """Return whether a value has the scale of what it is moved from."""
    return isinstance(value, ir.OpResult) and isinstance(view(value.owner), MOVES)


def deciding(value: ir.Value) -> ir.Value:
    """Return the value whose scale says whether and how this one is rounded.

    That is the result of the bounds behind a sum, and what is moved for what only moves it.
    """
    while is_bounded(value):
        value = users(value)[0].results[0]
    while is_moved(value):
        value = value.owner.operation.operands[0]
    return value


def is_bounded(value: ir.Value) -> bool:
    """Return whether a bound is all that uses the result of a supported op."""
    maker = view(value.owner) if isinstance(value, ir.OpResult) else None
    found = [view(user) for user in users(value)]
    if maker is None or not is_supported(maker) or isinstance(maker, MOVES):
        return False
    return len(found) == 1 and isinstance(found[0], BOUNDS)


def names_of(module: Module) -> dict[ir.Value, str]:
    """Return the names of all values that have one: inputs, and values of the source."""
    arguments: list[ir.Value] = list(module.main_block.arguments)
    inputs = declared(module.main, "inputs", len(arguments))
    named: dict[ir.Value, str] = dict(zip(arguments, inputs, strict=True))
    for op in ops(module.operation):
        named |= dict(zip(op.results, value_names(op.location), strict=False))
    return named
