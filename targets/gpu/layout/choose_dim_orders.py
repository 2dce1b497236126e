"""Choose the order of the dims of values in the memory of the GPU."""

from collections.abc import Iterator

from ....dialects import tri
from ....dialects.core.attributes import order_of, tensor_of, type_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, direct_ops, functions, ops
from ....dialects.core.op import Op, view
from ....dialects.core.tensor import Tensor
from ....dialects.tri.image.pool import Pool
from ....passes.core import Pass
from ....runtime.gpu.array import SPACE
from ...memory.orders import (
    Order,
    channels_last,
    plain_order,
    row_major,
    transposed_order,
)
from ...memory.values import VIEWS, memory_of, viewed_order

IMAGES = (tri.Conv, tri.ConvTranspose, tri.DeformConv, tri.Resize, tri.GridSample, Pool)
"""Ops that compute all channels of a place from the channels of places around it."""

RANKS = (3, 4, 5)
"""The ranks of images [N, C, …] with one to three spatial axes."""

BYTES = ("i8", "ui8")

DimOrders = dict[ir.Value, Order]
"""The orders of values that are not row-major."""


class ChooseDimOrders(Pass):
    """Store channels last in the images that kernels on the GPU pass to one another.

    Convolutions, pools and resizes read all channels of a pixel at once, and elementwise ops
    between them use the same order. Weights are stored with output channels last, weights of bytes
    with input channels last. All other tensors are row-major, including tensors that leave the GPU
    and tensors whose reshape fits no order of the result. A transposition between kernels becomes a
    view of its operand. A tensor whose only readers transpose it, but for the last axis, is stored
    in the order that the readers need.

        tri.group (tri.conv %x, %w) : tensor<1x8x4x4xf32>
            =>   tri.group (tri.conv %x, %w) : tensor<1x8x4x4xf32, [0, 2, 3, 1]>
        tri.group (tri.transpose %y) : tensor<1x4x4x8xf32>
            =>   tri.transpose %y : tensor<1x4x4x8xf32>
    """

    def run(self, module: Module) -> None:
        with module.operation.context, ir.Location.unknown():
            for function in functions(module.operation):
                block = function.regions[0].blocks[0]
                orders = _transposed(block) | _chosen(block) | _weights(block)
                for operation in list(block.operations):
                    _give(operation.operation, orders)


def _chosen(block: ir.Block) -> DimOrders:
    """Return the values that are images with channels last."""
    image: DimOrders = {}
    for group in _device_groups(block):
        for value in group.results:
            tensor = tensor_of(value.type)
            order = channels_last(tensor.rank)
            if tensor.rank in RANKS and _fits(value, order):
                image[value] = order
    alike = _EquivalenceClasses()
    wanted: set[ir.Value] = set()
    for group in _device_groups(block):
        wanted |= {value for value in _images(group) if value in image}
        for result in group.results:
            for value in _followed(group, result):
                if value in image and result in image:
                    alike.join(value, result)
    classes = {alike.first(value) for value in wanted}
    return {value: order for value, order in image.items() if alike.first(value) in classes}


def _transposed(block: ir.Block) -> DimOrders:
    """Return the orders of values whose readers transpose them to row-major."""
    orders: DimOrders = {}
    for group in _device_groups(block):
        if _only_transposition(group) is None:
            for value in group.results:
                if order := _wanted_order(value):
                    orders[value] = order
    return orders


def _wanted_order(value: ir.Value) -> Order:
    """Return the order that all readers of a value transpose it to; none if they do not agree.

    The last axis stays the last one: kernels write its elements side by side.
    """
    readers = [view(use.owner) for use in value.uses]
    found = {_order_behind(op) for op in readers}
    if len(found) != 1:
        return ()
    (order,) = found
    return order if order and order[-1] == len(order) - 1 else ()


def _order_behind(op: Op | None) -> Order:
    if not isinstance(op, tri.Group) or not _on_device(op):
        return ()
    transpose = _only_transposition(op)
    return tuple(transpose.permutation) if transpose else ()


def _device_groups(block: ir.Block) -> list[tri.Group]:
    return [op for op in direct_ops(block) if isinstance(op, tri.Group) and _on_device(op)]


def _fits(value: ir.Value, order: Order) -> bool:
    """Return whether all that read a value can do so in an order: kernels on the GPU, and views."""
    tensor = tensor_of(value.type)
    for use in value.uses:
        op = view(use.owner)
        if isinstance(op, VIEWS):
            seen = viewed_order(op, order)
            if seen is None or not _fits(op.y, seen):
                return False
        elif not _on_device(op) and plain_order(tensor.shape, order) != row_major(tensor.rank):
            return False
    return True


def _on_device(op: Op | None) -> bool:
    return isinstance(op, tri.Group) and memory_of(op.results[0]) == SPACE


def _images(group: tri.Group) -> Iterator[ir.Value]:
    """List the values that a kernel reads or makes as images."""
    for op in _members(group):
        if isinstance(op, IMAGES):
            yield from _sources(group, op.operation.operands[0])
            yield from group.results


def _sources(group: tri.Group, value: ir.Value) -> Iterator[ir.Value]:
    """List the operands of a group, as large as a value in it, that it is computed from."""
    outside = _outside(group)
    pending = [value]
    while pending:
        current = pending.pop()
        if current in outside:
            yield outside[current]
        elif isinstance(current, ir.OpResult) and (op := view(current.owner)) is not None:
            shape = tensor_of(value.type).shape
            pending += [v for v in op.operation.operands if tensor_of(v.type).shape == shape]


def _outside(group: tri.Group) -> dict[ir.Value, ir.Value]:
    """Return the operands of a group by the arguments that its body sees."""
    return dict(zip(group.block.arguments, group.operation.operands, strict=True))


def _followed(group: tri.Group, result: ir.Value) -> list[ir.Value]:
    """List the operands that should have the order of a result that is computed from them."""
    if not all(op.elementwise or isinstance(op, IMAGES) for op in _members(group)):
        return []
    shape = tensor_of(result.type).shape
    return [v for v in group.operation.operands if tensor_of(v.type).shape == shape]


def _members(group: tri.Group) -> list[Op]:
    inside = ops(group.block)
    return [op for op in inside if not (op.terminator or isinstance(op, tri.Constant))]


class _EquivalenceClasses:
    """Equivalence classes of values that should have one order."""

    def __init__(self) -> None:
        self._next: dict[ir.Value, ir.Value] = {}

    def first(self, value: ir.Value) -> ir.Value:
        """Return the representative of a value's class."""
        while value in self._next:
            value = self._next[value]
        return value

    def join(self, a: ir.Value, b: ir.Value) -> None:
        """Unite the classes of two values."""
        a, b = self.first(a), self.first(b)
        if a != b:
            self._next[b] = a


def _weights(block: ir.Block) -> DimOrders:
    """Return the orders of weights that are read by convolutions on the GPU alone."""
    orders: DimOrders = {}
    others: set[ir.Value] = set()
    for operation in block.operations:
        op = view(operation)
        read: DimOrders = {}
        if isinstance(op, tri.Group) and _on_device(op):
            read = _read_weights(op)
        for value in operation.operation.operands:
            order = read.get(value)
            if order is None or orders.setdefault(value, order) != order:
                others.add(value)
    return {value: order for value, order in orders.items() if value not in others}


def _read_weights(group: tri.Group) -> DimOrders:
    """Return the weights of a group and their preferred orders."""
    outside = _outside(group)
    orders: DimOrders = {}
    for op in _members(group):
        if not isinstance(op, (tri.Conv, tri.ConvTranspose, tri.MatMul)):
            continue
        weight = outside.get(_uncast(op.operation.operands[1]))
        maker = view(weight.owner) if isinstance(weight, ir.OpResult) else None
        if weight is not None and isinstance(maker, (tri.Constant, tri.Weight)):
            orders[weight] = _weight_order(op, tensor_of(weight.type))
    return orders


def _uncast(value: ir.Value) -> ir.Value:
    """Return the operand of a chain of casts."""
    while isinstance(value, ir.OpResult) and isinstance(op := view(value.owner), tri.Cast):
        value = op.x
    return value


def _weight_order(op: Op, weight: Tensor) -> Order:
    """Return the order of weights: spatial axes outermost, channels of a tile innermost.

    Outputs are innermost; for bytes inputs are, since matrix units read bytes along the depth.
    """
    axes = (1, 0) if isinstance(op, tri.Conv) else (0, 1)
    inner = axes[::-1] if weight.dtype in BYTES else axes
    if isinstance(op, tri.MatMul):
        return inner if weight.rank == 2 else row_major(weight.rank)
    return (*range(2, weight.rank), *inner)


def _give(operation: ir.Operation, orders: DimOrders) -> None:
    """Give the results of one op their orders, and its body those of its operands."""
    op = view(operation)
    if isinstance(op, tri.Group):
        transpose = _only_transposition(op)
        if transpose is not None and _becomes_view(op, transpose):
            _make_view(op, transpose)
            return
        for argument, value in zip(op.block.arguments, operation.operands, strict=True):
            argument.set_type(value.type)
        for inner, value in zip(op.end.operands, op.results, strict=True):
            _order(value, orders.get(value, ()))
            inner.set_type(value.type)
    elif isinstance(op, VIEWS):
        order = viewed_order(op, order_of(op.x.type))
        assert order is not None, "an order was chosen that its views do not have"
        _order(op.y, order)
    elif isinstance(op, (tri.Constant, tri.Weight)):
        _order(op.y, orders.get(op.y, ()))


def _order(value: ir.Value, order: Order) -> None:
    tensor = tensor_of(value.type)
    value.set_type(type_of(tensor, plain_order(tensor.shape, order)))


def _only_transposition(group: tri.Group) -> tri.Transpose | None:
    members = _members(group)
    op = members[0] if len(members) == 1 else None
    return op if isinstance(op, tri.Transpose) else None


def _becomes_view(group: tri.Group, transpose: tri.Transpose) -> bool:
    (operand,) = group.operation.operands
    if {memory_of(operand), memory_of(group.results[0])} != {SPACE}:
        return False
    order = transposed_order(order_of(operand.type), transpose.permutation)
    return _fits(group.results[0], order)


def _make_view(group: tri.Group, transpose: tri.Transpose) -> None:
    (operand,) = group.operation.operands
    order = transposed_order(order_of(operand.type), transpose.permutation)
    _order(group.results[0], order)
    attributes = {"permutation": transpose.permutation}
    with ir.InsertionPoint(group.operation):
        types = [group.results[0].type]
        made = tri.Transpose.create([operand], types, attributes, loc=group.location)
    group.results[0].replace_all_uses_with(made.y)
    group.operation.erase()
