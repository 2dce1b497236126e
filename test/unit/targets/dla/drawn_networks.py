"""Small networks of ops of `dla` on tensors, drawn at random, in one group on an accelerator."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from trivium.dialects import dla, tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array, Shape
from trivium.dialects.dla.dialect import TensorOp

Draw = Callable[["Network", ir.Value], ir.Value]


class Network:
    """Build ops one by one, each on what an earlier one made."""

    def __init__(self, random: Generator, shape: Shape) -> None:
        self.random = random
        sizes = "x".join(map(str, shape))
        self.module = Module.parse(
            f"func.func @main(%x: tensor<{sizes}xi8>) -> tensor<{sizes}xi8> {{\n"
            f"  return %x : tensor<{sizes}xi8>\n}}"
        )
        self.block = self.module.main.regions[0].blocks[0]

    def bytes(self, *shape: int) -> Array:
        return self.random.integers(-128, 128, shape).astype(np.int8)

    def one(self, *choices: Any) -> Any:
        return choices[self.random.integers(len(choices))]

    def constant(self, array: Array) -> ir.Value:
        return tri.build_constant(self.module, array, "w").results[0]

    def grow(self, count: int) -> list[ir.Value]:
        """Add so many ops at random; return what nothing uses."""
        values: list[ir.Value] = [self.block.arguments[0]]
        with ir.InsertionPoint(list(self.block.operations)[-1]), ir.Location.unknown():
            for _ in range(count):
                draw = DRAWN[self.random.integers(len(DRAWN))]
                values.append(
                    draw(self, values[self.random.integers(max(0, len(values) - 3), len(values))])
                )
        return [value for value in values[1:] if not list(value.uses)]

    def enclose(self, outputs: list[ir.Value], target: str) -> None:
        """Put all ops into one group and return its outputs from the function."""
        members = [op for op in ops(self.module.main) if isinstance(op, TensorOp)]
        made = {op.results[0] for op in members}
        read = [v for op in members for v in op.operation.operands if v not in made]
        inputs = list(dict.fromkeys(read))
        end = list(self.block.operations)[-1].operation
        types = [value.type for value in outputs]
        with ir.InsertionPoint(end), ir.Location.unknown():
            group = tri.Group.create([inputs], types, {"target": target})
        body = ir.Block.create_at_start(group.operation.regions[0], [])
        inside = {v: body.add_argument(v.type, ir.Location.unknown()) for v in inputs}
        with ir.InsertionPoint(body), ir.Location.unknown():
            for op in members:
                copy = op.operation.clone()
                for index, value in enumerate(op.operation.operands):
                    copy.operands[index] = inside[value]
                inside[op.results[0]] = copy.results[0]
            tri.Yield.build([inside[value] for value in outputs])
        with ir.InsertionPoint(end), ir.Location.unknown():
            ir.Operation.create("func.return", [], list(group.results))
        end.erase()
        for op in reversed(members):
            op.operation.erase()
        function = ir.FunctionType.get([a.type for a in self.block.arguments], types)
        self.module.main.attributes["function_type"] = ir.TypeAttr.get(function)
        self.module.verify()


def network(seed: int, shape: Shape, count: int, target: str = "vanilla") -> Module:
    """Return a module whose function is one group of ops, drawn by a seed."""
    drawn = Network(np.random.default_rng(seed), shape)
    drawn.enclose(drawn.grow(count), target)
    return drawn.module


def programs(module: Module) -> list[dla.Program]:
    """List what groups have become."""
    return [op for op in ops(module.operation) if isinstance(op, dla.Program)]


def traffic(program: dla.Program) -> int:
    """Return how many bytes of images a program loads and stores."""
    moves = [op for op in program.ops if isinstance(op, (dla.Load, dla.Store))]
    return sum(op.rows * op.columns * op.channels for op in moves)


def shape_of(value: ir.Value) -> Shape:
    return tensor_of(value.type).shape


def conv(net: Network, x: ir.Value) -> ir.Value:
    shape = shape_of(x)
    mode = net.one("dense", "dense", "depthwise")
    dilation = net.one(1, 1, 2)
    kernel = [int(net.one(1, 2, 3, 5)) for _ in range(2)]
    extents = [(k - 1) * dilation + 1 for k in kernel]
    if any(e > s for e, s in zip(extents, shape[1:3], strict=True)):
        kernel, extents, dilation = [1, 1], [1, 1], 1
    filters = shape[3] if mode == "depthwise" else int(net.one(3, 16, 40, 130))
    width = [shape[3], filters] if mode == "dense" else [shape[3]]
    depth = kernel[0] * kernel[1] * (shape[3] if mode == "dense" else 1)
    per = net.one(1, filters)
    return dla.Conv.build(
        x,
        net.constant(net.bytes(*kernel, *width)),
        net.constant(net.random.integers(-9000, 9000, filters).astype(np.int32)),
        mode=mode,
        strides=tuple(int(net.one(1, 1, 2)) for _ in range(2)),
        dilations=(dilation, dilation),
        pads=tuple(int(net.random.integers(extents[axis % 2])) for axis in range(4)),
        source_zero=int(net.random.integers(-9, 9)),
        destination_zero=int(net.random.integers(-9, 9)),
        multiplier=tuple(net.random.integers(1 << 29, 1 << 30, per).tolist()),
        shift=tuple([35 + int(np.log2(depth) / 2)] * per),
        low=int(net.one(-128, 0)),
    ).y


def pool(net: Network, x: ir.Value) -> ir.Value:
    shape = shape_of(x)
    kernel = tuple(min(int(net.one(1, 2, 3, 7)), size) for size in shape[1:3])
    return dla.Pool.build(
        x,
        mode=net.one("max", "average"),
        divisor=net.one("none", "inside"),
        kernel=kernel,
        strides=tuple(int(net.one(1, 2, 3)) for _ in range(2)),
        pads=tuple(int(net.random.integers(kernel[axis % 2])) for axis in range(4)),
        source_zero=int(net.random.integers(-9, 9)),
        multiplier=int(net.random.integers(1 << 20, 1 << 22)),
        shift=22,
    ).y


def eltwise(net: Network, x: ir.Value) -> ir.Value:
    shape = shape_of(x)
    small = [int(net.one(1, size)) for size in shape[:3]]
    other = net.one(x, net.constant(net.bytes(*small, shape[3])))
    return dla.Eltwise.build(
        x,
        other,
        operator=net.one("add", "mul", "max", "min"),
        source_zero=int(net.random.integers(-9, 9)),
        other_zero=int(net.random.integers(-9, 9)),
        multiplier=int(net.random.integers(1, 1 << 20)),
        other_multiplier=int(net.random.integers(1, 1 << 20)),
        shift=int(net.one(20, 24)),
    ).y


def lookup(net: Network, x: ir.Value) -> ir.Value:
    return dla.Lookup.build(x, net.constant(net.bytes(256))).y


def resize(net: Network, x: ir.Value) -> ir.Value:
    out = tuple(int(net.random.integers(1, 2 * size + 1)) for size in shape_of(x)[1:3])
    sizes = shape_of(x)[1:3]
    step = tuple((size << 16) // count for size, count in zip(sizes, out, strict=True))
    start = tuple(int(net.one(-9000, 0, 30000)) for _ in range(2))
    return dla.Resize.build(x, out=out, step=step, start=start).y


def copy(net: Network, x: ir.Value) -> ir.Value:
    return dla.Copy.build(x, multiplier=int(net.one(1, 3)), shift=1, source_zero=4).y


def concat(net: Network, x: ir.Value) -> ir.Value:
    shape = shape_of(x)
    # Parts of channels are whole atoms but for the last one.
    axis = int(net.one(1, 2, 3) if shape[3] % 16 == 0 else net.one(1, 2))
    if shape[axis] > 64:
        return copy(net, x)
    return dla.Concat.build([x, lookup(net, x)], axis=axis).y


def window(net: Network, x: ir.Value) -> ir.Value:
    shape = shape_of(x)[1:]
    start = [int(net.random.integers(size)) for size in shape]
    start[2] -= start[2] % 16  # whole atoms
    rests = [size - first for size, first in zip(shape, start, strict=True)]
    sizes = [int(net.random.integers(1, rest + 1)) for rest in rests]
    return dla.Slice.build(x, start=tuple(start), sizes=tuple(sizes)).y


DRAWN: tuple[Draw, ...] = (conv, conv, conv, pool, eltwise, lookup, resize, copy, concat, window)
