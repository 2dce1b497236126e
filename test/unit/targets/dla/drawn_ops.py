"""Single quantised ops, drawn by a seed: shapes, strides, pads, groups, scales, zero points."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from trivium.dialects.core.tensor import Array
from trivium.test.unit.passes.quantized_graph import Graph

Rule = Callable[["Drawn"], str]
RULES: dict[str, Rule] = {}


def draws(rule: Rule) -> Rule:
    RULES[rule.__name__] = rule
    return rule


@dataclass
class Drawn:
    """Draw what an op is made of, and gather it in a graph."""

    seed: int
    kind: str = "int8"
    random: np.random.Generator = field(init=False)
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.graph = Graph(self.kind, self.random)

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def zero(self) -> int:
        bounds = np.iinfo(self.kind)
        return self.integer(bounds.min, bounds.max)

    def chance(self) -> bool:
        return self.integer(0, 1) == 1

    def pick(self, *choices: str) -> str:
        return choices[self.integer(0, len(choices) - 1)]

    def shape(self, rank: int, most: int = 9) -> tuple[int, ...]:
        return (self.integer(1, 2), *(self.integer(1, most) for _ in range(rank - 1)))

    def input(self, shape: Sequence[int]) -> str:
        scale = float(self.random.uniform(0.01, 0.05))
        return self.graph.input(tuple(shape), scale, self.zero())

    def floats(self, *shape: int) -> str:
        return self.graph.weight(self.random.normal(size=shape).astype(np.float32))

    def weights(self, shape: tuple[int, ...], axis: int) -> str:
        if self.chance():
            return self.graph.weights_of(shape, axis)
        whole = self.graph.weight(self.random.integers(-127, 128, shape).astype(np.int8))
        return self.graph.op("DequantizeLinear", [whole, *self.graph.scale(0.01, 0, "int8")])

    def bounded(self, value: str) -> str:
        match self.integer(0, 3):
            case 0:
                return self.graph.op("Relu", [value])
            case 1:
                bounds = [self.graph.weight(np.float32(bound)) for bound in (-0.7, 1.1)]
                return self.graph.op("Clip", [value, *bounds])
            case _:
                return value

    def window(
        self, sizes: Sequence[int], most: int = 4, dilate: bool = True
    ) -> dict[str, list[int]]:
        """Draw a kernel that fits, and whose windows all meet the image."""
        while True:
            kernel = [self.integer(1, most) for _ in sizes]
            dilations = [self.integer(1, 2) if dilate else 1 for _ in sizes]
            pads = [self.integer(0, (k - 1) // 2) for k in (*kernel, *kernel)]
            spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
            rank = len(sizes)
            rooms = [size + pads[i] + pads[rank + i] for i, size in enumerate(sizes)]
            if all(span <= room for span, room in zip(spans, rooms, strict=True)):
                strides = [self.integer(1, 3) for _ in sizes]
                found = {"kernel_shape": kernel, "strides": strides, "pads": pads}
                return {**found, "dilations": dilations} if dilate else found

    def model(self, rule: Rule) -> onnx.ModelProto:
        value = rule(self)
        scale = float(self.random.uniform(0.02, 0.2))
        return self.graph.model(value, scale, self.zero())

    def feeds(self) -> list[Array]:
        shapes = self.graph.inputs.values()
        bounds = np.iinfo(self.kind)
        return [
            self.random.integers(bounds.min, bounds.max + 1, shape).astype(self.kind)
            for shape in shapes
        ]


@draws
def conv(d: Drawn) -> str:
    groups, rank = (1, 1, 2, 3)[d.integer(0, 3)], d.integer(3, 4)
    channels, filters = groups * d.integer(1, 9), groups * d.integer(1, 9)
    x = (d.integer(1, 2), channels, *(d.integer(1, 9) for _ in range(rank - 2)))
    window = d.window(x[2:])
    w = d.weights((filters, channels // groups, *window["kernel_shape"]), 0)
    bias = [d.floats(filters)] if d.chance() else []
    return d.bounded(d.graph.op("Conv", [d.input(x), w, *bias], group=groups, **window))


@draws
def depthwise(d: Drawn) -> str:
    channels, factor = d.integer(2, 20), d.integer(1, 2)
    x = (d.integer(1, 2), channels, d.integer(2, 9), d.integer(2, 9))
    window = d.window(x[2:])
    w = d.weights((channels * factor, 1, *window["kernel_shape"]), 0)
    return d.bounded(d.graph.op("Conv", [d.input(x), w], group=channels, **window))


@draws
def mat_mul(d: Drawn) -> str:
    x = d.shape(d.integer(2, 3))
    return d.bounded(d.graph.op("MatMul", [d.input(x), d.weights((x[-1], d.integer(1, 20)), 1)]))


@draws
def gemm(d: Drawn) -> str:
    rows, depth, columns = d.integer(1, 4), d.integer(1, 30), d.integer(1, 20)
    bias = [d.floats(columns)] if d.chance() else []
    operands = [d.input((rows, depth)), d.weights((columns, depth), 0), *bias]
    return d.bounded(d.graph.op("Gemm", operands, transB=1))


@draws
def flat_gemm(d: Drawn) -> str:
    x = d.shape(4, 5)
    kind = d.graph.scale(0.02, d.zero())
    flat = d.graph.op("Flatten", [d.input(x)])
    if d.chance():
        held = d.graph.op("QuantizeLinear", [flat, *kind])
        flat = d.graph.op("DequantizeLinear", [held, *kind])
    depth = int(np.prod(x[1:]))
    return d.graph.op("Gemm", [flat, d.weights((7, depth), 0), d.floats(7)], transB=1)


@draws
def max_pool(d: Drawn) -> str:
    x = d.shape(d.integer(3, 4))
    window = d.window(x[2:])
    return d.bounded(d.graph.op("MaxPool", [d.input(x)], ceil_mode=d.integer(0, 1), **window))


@draws
def average_pool(d: Drawn) -> str:
    x = d.shape(d.integer(3, 4))
    window = d.window(x[2:], dilate=False)
    return d.bounded(d.graph.op("AveragePool", [d.input(x)], count_include_pad=1, **window))


@draws
def counted_average(d: Drawn) -> str:
    x = d.shape(d.integer(3, 4))
    window = d.window(x[2:], dilate=False)
    return d.bounded(d.graph.op("AveragePool", [d.input(x)], ceil_mode=d.integer(0, 1), **window))


@draws
def mean(d: Drawn) -> str:
    if d.integer(0, 3) == 0:
        axes = d.graph.weight(np.array([1]))
        return d.graph.op("ReduceMean", [d.input(d.shape(3)), axes], keepdims=d.integer(0, 1))
    axes = d.graph.weight(np.array(([2, 3], [2], [-1])[d.integer(0, 2)]))
    return d.graph.op("ReduceMean", [d.input(d.shape(4)), axes], keepdims=d.integer(0, 1))


@draws
def elements(d: Drawn) -> str:
    shape = d.shape(d.integer(1, 5))
    channel = 1 if len(shape) == 4 else len(shape) - 1
    other = [n if i == channel or d.chance() else 1 for i, n in enumerate(shape)]
    if len(shape) not in (3, 4):
        other = [n if i == channel else 1 for i, n in enumerate(shape)]
    if d.integer(0, 3) == 0:
        other = list(shape)
    operands = [d.input(shape), d.input(other)]
    if d.chance():
        operands.reverse()
    return d.bounded(d.graph.op(d.pick("Add", "Mul", "Max", "Min"), operands))


@draws
def constant_elements(d: Drawn) -> str:
    shape = d.shape(d.integer(1, 4))
    constant = [n if d.chance() else 1 for n in shape]
    if len(shape) != 4:
        constant = [1] * (len(shape) - 1) + constant[-1:]
    whole = d.graph.weight(d.random.integers(0, 128, constant).astype(d.kind))
    other = d.graph.op("DequantizeLinear", [whole, *d.graph.scale(0.03, d.zero())])
    return d.graph.op(d.pick("Add", "Mul", "Max", "Min"), [other, d.input(shape)])


@draws
def table(d: Drawn) -> str:
    x = d.input(d.shape(d.integer(1, 5)))
    return d.graph.op(d.pick("Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Exp"), [x])


@draws
def scale(d: Drawn) -> str:
    return d.bounded(d.input(d.shape(d.integer(1, 5))))


@draws
def window(d: Drawn) -> str:
    """Take a window of what a table has made: of what others made an accelerator takes none."""
    rank = d.integer(2, 4)
    shape = list(d.shape(rank))
    channel = 1 if rank == 4 else rank - 1
    shape[channel] = d.integer(1, 40)
    starts, ends = [0], [shape[0]]
    for axis in range(1, rank):
        first = d.integer(0, shape[axis] - 1)
        starts.append(first - first % 16 if axis == channel else first)
        ends.append(d.integer(starts[axis] + 1, shape[axis]))
    numbers = [d.graph.weight(np.array(each, np.int64)) for each in (starts, ends)]
    scale = d.graph.scale(0.01, d.zero())
    quantized = d.graph.op("QuantizeLinear", [d.graph.op("Sigmoid", [d.input(shape)]), *scale])
    made = d.graph.op("DequantizeLinear", [quantized, *scale])
    return d.graph.op("Slice", [made, *numbers])


@draws
def concat(d: Drawn) -> str:
    rank = d.integer(2, 4)
    shape, axis = list(d.shape(rank)), d.integer(1, rank - 1)
    channel = 1 if rank == 4 else rank - 1
    parts = []
    for _ in range(d.integer(2, 3)):
        shape[axis] = 16 * d.integer(1, 2) if axis == channel else d.integer(1, 5)
        parts.append(d.input(shape))
    return d.graph.op("Concat", parts, axis=axis)


@draws
def resize(d: Drawn) -> str:
    shape = d.shape(d.integer(3, 4))
    empty = d.graph.weight(np.zeros(0, np.float32))
    sizes = [*shape[:2], *(d.integer(1, 20) for _ in shape[2:])]
    transform = d.pick("half_pixel", "asymmetric", "align_corners")
    rounding = d.pick("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    attributes = {"coordinate_transformation_mode": transform, "nearest_mode": rounding}
    operands = [d.input(shape), empty, empty, d.graph.weight(np.array(sizes))]
    return d.graph.op("Resize", operands, mode="nearest", **attributes)
