"""Simplify chains of ops that only change shapes."""

from collections.abc import Sequence
from typing import cast

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import Invalid
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Shape
from ...dialects.tri.dialect import TriOp
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite, users, uses


class FoldShapes(Pass):
    """Merge reshapes, transposes and expansions that follow one another.

    A transpose that moves only axes of size 1 becomes a reshape. An expansion whose user
    broadcasts anyway disappears. Elementwise ops move before a reshape that only adds or drops
    axes of size 1: there they fuse with the op that makes the value, and the reshape merges with
    what follows.

        %a = tri.reshape %x; %b = tri.reshape %a         =>   %b = tri.reshape %x
        %a = tri.transpose %x; %b = tri.transpose %a     =>   %b = tri.transpose %x
        %a = tri.expand %x; %b = tri.add %a, %y          =>   %b = tri.add %x, %y
        %a = tri.reshape %x; %b = tri.relu %a            =>   %a = tri.relu %x; %b = tri.reshape %a
    """

    def run(self, module: Module) -> None:
        rewrite(
            module,
            _RepeatedReshape(),
            _TransposeOfTranspose(),
            _TransposeOfUnits(),
            _TransposeOfReshape(),
            _OperandOfExpand(),
            _ElementwiseOfReshape(),
        )


class _RepeatedReshape(Pattern):
    """Reshape, or expand, once instead of twice."""

    root = (tri.Reshape, tri.Expand)

    def rewrite(self, op: tri.Reshape | tri.Expand, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, type(op))
        with rewriter.before(op):
            new = type(op).build(inner.x, shape=op.shape)
        rewriter.replace(op, new, inner)


class _TransposeOfTranspose(Pattern):
    root = tri.Transpose

    def rewrite(self, op: tri.Transpose, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Transpose)
        first = inner.permutation
        with rewriter.before(op):
            permutation = tuple(first[axis] for axis in op.permutation)
            new = tri.Transpose.build(inner.x, permutation=permutation)
        rewriter.replace(op, new, inner)


class _TransposeOfUnits(Pattern):
    root = tri.Transpose

    def rewrite(self, op: tri.Transpose, rewriter: Rewriter) -> None:
        shape = tensor_of(op.x.type).shape
        moved = [axis for axis in op.permutation if shape[axis] != 1]
        if moved != sorted(moved):
            raise NoMatch("moves axes larger than 1")
        with rewriter.before(op):
            new = tri.Reshape.build(op.x, shape=tensor_of(op.y.type).shape)
        rewriter.replace(op, new)


class _TransposeOfReshape(Pattern):
    """Transpose before a reshape that only merges axes, when another op is there to merge with."""

    root = tri.Transpose

    def rewrite(self, op: tri.Transpose, rewriter: Rewriter) -> None:
        reshape = rewriter.producer(op.x, tri.Reshape)
        above = isinstance(rewriter.find_producer(reshape.x), tri.Transpose)
        below = all(user.name == tri.Reshape.op_name for user in users(op.y))
        if not above and not below:
            raise NoMatch("neither a transpose before the reshape nor a reshape after it")
        merged = merged_axes(tensor_of(reshape.x.type).shape, reshape.shape)
        if merged is None:
            raise NoMatch("reshape does more than merge axes")
        inside = [axis for part in op.permutation for axis in merged[part]]
        units = [axis for axis in range(tensor_of(reshape.x.type).rank) if axis not in inside]
        with rewriter.before(op):
            turned = tri.Transpose.build(reshape.x, permutation=(*units, *inside))
            new = tri.Reshape.build(turned.y, shape=tensor_of(op.y.type).shape)
        rewriter.replace(op, new, reshape)


class _OperandOfExpand(Pattern):
    root = TriOp

    def rewrite(self, op: TriOp, rewriter: Rewriter) -> None:
        if not op.elementwise and not isinstance(op, (tri.Attention, tri.MatMul)):
            raise NoMatch("does not broadcast its operands")
        for index, operand in enumerate(op.operation.operands):
            inner = rewriter.find_producer(operand)
            if isinstance(inner, tri.Expand) and _accepts(op, index, inner.x):
                rewriter.set_operand(op, index, inner.x)
                return
        raise NoMatch("no operand is expanded, or the result would be smaller")


class _ElementwiseOfReshape(Pattern):
    root = TriOp

    def rewrite(self, op: TriOp, rewriter: Rewriter) -> None:
        if not op.elementwise:
            raise NoMatch("is not elementwise")
        result = tensor_of(op.results[0].type).shape
        operands = list(op.operation.operands)
        reshape = next((r for v in operands if (r := _units_of(v, result, rewriter))), None)
        if reshape is None:
            raise NoMatch("no operand is a computed value with axes of size 1 added or dropped")
        before = tensor_of(reshape.x.type).shape
        shapes = [_with_units(value, result, before) for value in operands]
        pairs = list(zip(operands, shapes, strict=True))
        if any(_computed_otherwise(value, shape, rewriter) for value, shape in pairs):
            raise NoMatch("another operand is a computed value, which would get the reshape")
        with rewriter.before(op):
            values = [
                reshape.x if value == reshape.y else _reshaped(value, shape)
                for value, shape in pairs
            ]
            made = type(op).build(*values, **op.attributes)
            new = tri.Reshape.build(made.results[0], shape=result)
        rewriter.replace(op, new, reshape)


def _units_of(value: ir.Value, result: Shape, rewriter: Rewriter) -> tri.Reshape | None:
    """Return the reshape that makes a value of a computed one, changes units and is used once."""
    reshape = rewriter.find_producer(value)
    if not isinstance(reshape, tri.Reshape) or reshape.shape != result:
        return None
    if not _is_computed(reshape.x, rewriter):
        return None
    alone = uses(reshape.y) == 1 and uses(reshape.x) == 1
    return reshape if alone and _large(tensor_of(reshape.x.type).shape) == _large(result) else None


def _large(shape: Shape) -> list[int]:
    return [size for size in shape if size != 1]


def _is_computed(value: ir.Value, rewriter: Rewriter) -> bool:
    """Return whether an op makes the value that elementwise ops fuse with."""
    maker = rewriter.find_producer(value)
    return maker is not None and (maker.anchor or maker.elementwise)


def _computed_otherwise(value: ir.Value, shape: Shape, rewriter: Rewriter) -> bool:
    """Return whether a value would be a reshape of a computed one, which would be moved in turn."""
    reshape = rewriter.find_producer(value)
    source = reshape.x if isinstance(reshape, tri.Reshape) else value
    return tensor_of(source.type).shape != shape and _is_computed(source, rewriter)


def _reshaped(value: ir.Value, shape: Shape) -> ir.Value:
    return (
        value if shape == tensor_of(value.type).shape else tri.Reshape.build(value, shape=shape).y
    )


def _with_units(value: ir.Value, result: Shape, before: Shape) -> Shape:
    """Return the shape with which a value that broadcasts to `result` broadcasts to `before`."""
    tensor = tensor_of(value.type)
    aligned = (1,) * (len(result) - tensor.rank) + tensor.shape
    sizes = iter([size for size, whole in zip(aligned, result, strict=True) if whole != 1])
    return tuple(1 if whole == 1 else next(sizes) for whole in before)


def merged_axes(before: Shape, after: Shape) -> list[list[int]] | None:
    """List for each axis of `after` the axes of `before` that a reshape makes it of.

    Axes of size 1 are made of none. Returns None when the reshape also splits an axis.
    """
    rest = [axis for axis, size in enumerate(before) if size != 1]
    merged: list[list[int]] = []
    for size in after:
        made, axes = 1, list[int]()
        while made < size and rest:
            axes.append(rest.pop(0))
            made *= before[axes[-1]]
        if made != size:
            return None
        merged.append(axes)
    return None if rest else merged


def _accepts(op: Op, index: int, value: ir.Value) -> bool:
    """Return whether an op would infer the same type with another operand at an index."""
    given = [tensor_of(operand.type) for operand in op.operation.operands]
    given[index] = tensor_of(value.type)
    try:
        inferred = op.infer(*_regrouped(op, given))
    except Invalid:
        return False
    return inferred == tensor_of(op.results[0].type)


def _regrouped(op: Op, flat: Sequence[object]) -> list[object]:
    """Return what each operand has, field by field, as `operand_groups` returns operands."""
    operands = iter(flat)

    def regrouped(group: object) -> object:
        if isinstance(group, list):
            return [next(operands) for _ in cast("list[object]", group)]
        return None if group is None else next(operands)

    return [regrouped(group) for group in op.operand_groups()]
