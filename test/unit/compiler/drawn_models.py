"""Models with symbolic dimensions, drawn as chains of operators: the same seed, the same model."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 21


@dataclass
class _Graph:
    """Collect nodes and initializers; `channels` is the static size of the current value."""

    random: random.Random
    channels: int
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    weights: list[onnx.TensorProto] = field(default_factory=list[onnx.TensorProto])

    def node(self, op: str, *inputs: str, outputs: int = 1, **attributes: object) -> str:
        names = [f"{op}_{len(self.nodes)}" + (f".{i}" if i else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], **attributes))
        return names[0]

    def array(self, *shape: int) -> str:
        numbers = np.random.default_rng(self.random.getrandbits(32)).standard_normal(shape)
        return self.given((numbers / max(1.0, float(np.prod(shape[1:])) ** 0.5)).astype("f4"))

    def given(self, array: NDArray[np.generic]) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *numbers: int) -> str:
        return self.given(np.array(numbers, np.int64))

    def size(self, value: str, axis: int) -> str:
        """Return one size of a value, as a tensor of one element."""
        return self.node("Gather", self.node("Shape", value), self.ints(axis))

    def sizes(self, *parts: str) -> str:
        return self.node("Concat", *parts, axis=0)


_Step = Callable[[_Graph, str], str]


def _unary(graph: _Graph, x: str) -> str:
    return graph.node(graph.random.choice(["Relu", "Sigmoid", "Tanh", "Erf", "Abs", "Neg"]), x)


def _affine(graph: _Graph, x: str) -> str:
    scaled = graph.node("Mul", x, graph.array(graph.channels))
    return graph.node("Add", scaled, graph.array(graph.channels))


def _project(graph: _Graph, x: str) -> str:
    before, graph.channels = graph.channels, graph.random.choice([8, 12, 24, 32])
    product = graph.node("MatMul", x, graph.array(before, graph.channels))
    return graph.node("Add", product, graph.array(graph.channels))


def _normalize(graph: _Graph, x: str) -> str:
    count = graph.channels
    return graph.node("LayerNormalization", x, graph.array(count), graph.array(count))


def _softmax(graph: _Graph, x: str) -> str:
    return graph.node("Softmax", x, axis=graph.random.choice([-1, 1]))


def _centre(graph: _Graph, x: str) -> str:
    return graph.node("Sub", x, graph.node("ReduceMean", x, graph.ints(1), keepdims=1))


def _attend(graph: _Graph, x: str) -> str:
    scores = graph.node("MatMul", x, graph.node("Transpose", x, perm=[0, 2, 1]))
    scaled = graph.node("Mul", scores, graph.given(np.array(graph.channels**-0.5, "f4")))
    return graph.node("MatMul", graph.node("Softmax", scaled, axis=-1), x)


def _heads(graph: _Graph, x: str) -> str:
    """Split the channels into heads by sizes taken from `Shape`, and join them again."""
    sizes = [graph.size(x, 0), graph.size(x, 1)]
    four = graph.sizes(*sizes, graph.ints(4), graph.ints(graph.channels // 4))
    heads = graph.node("Transpose", graph.node("Reshape", x, four), perm=[0, 2, 1, 3])
    back = graph.node("Transpose", graph.node("Softmax", heads, axis=-1), perm=[0, 2, 1, 3])
    return graph.node("Reshape", back, graph.sizes(*sizes, graph.ints(-1)))


def _double(graph: _Graph, x: str) -> str:
    return graph.node("Concat", x, _unary(graph, x), axis=1)


def _drop_first(graph: _Graph, x: str) -> str:
    longer = graph.node("Concat", x, x, axis=1)
    return graph.node("Slice", longer, graph.ints(1), graph.ints(2**63 - 1), graph.ints(1))


def _halve(graph: _Graph, x: str) -> str:
    """Take every second position, from the front or from the back."""
    if graph.random.random() < 0.5:
        limits = (graph.ints(0), graph.ints(2**63 - 1), graph.ints(1), graph.ints(2))
    else:
        limits = (graph.ints(-1), graph.ints(-(2**63) + 1), graph.ints(1), graph.ints(-2))
    return graph.node("Slice", x, *limits)


def _pad(graph: _Graph, x: str) -> str:
    return graph.node("Pad", x, graph.ints(0, 1, 0, 0, 2, 0), mode="constant")


def _expand(graph: _Graph, x: str) -> str:
    row = graph.array(1, 1, graph.channels)
    return graph.node("Add", x, graph.node("Expand", row, graph.node("Shape", x)))


def _positions(graph: _Graph, x: str) -> str:
    length = graph.node("Squeeze", graph.size(x, 1))
    zero, one = (graph.given(np.array(n, np.int64)) for n in (0, 1))
    places = graph.node("Cast", graph.node("Range", zero, length, one), to=TensorProto.FLOAT)
    column = graph.node("Unsqueeze", places, graph.ints(1))
    return graph.node("Add", x, graph.node("Sin", column))


def _mask(graph: _Graph, x: str) -> str:
    zero = graph.given(np.array(0, "f4"))
    return graph.node("Where", graph.node("Greater", x, zero), x, graph.node("Mul", x, x))


def _convolve_1d(graph: _Graph, x: str) -> str:
    before, graph.channels = graph.channels, graph.random.choice([8, 16, 20])
    across = graph.node("Transpose", x, perm=[0, 2, 1])
    stride = graph.random.choice([1, 2])
    weights = graph.array(graph.channels, before, 3)
    made = graph.node("Conv", across, weights, pads=[1, 1], strides=[stride])
    return graph.node("Transpose", made, perm=[0, 2, 1])


def _cumulate(graph: _Graph, x: str) -> str:
    total = graph.node("CumSum", x, graph.given(np.array(1, np.int64)))
    return graph.node("Tanh", total)


def _flat(graph: _Graph, x: str) -> str:
    """Flatten batch and length, multiply, and restore them."""
    shape = graph.node("Shape", x)
    rows = graph.node("Reshape", x, graph.ints(-1, graph.channels))
    square = graph.array(graph.channels, graph.channels)
    return graph.node("Reshape", graph.node("Gemm", rows, square), shape)


SEQUENCE: tuple[_Step, ...] = (
    _unary, _affine, _project, _normalize, _softmax, _centre, _attend, _heads, _double,
    _drop_first, _halve, _pad, _expand, _positions, _mask, _convolve_1d, _cumulate, _flat,
)  # fmt: skip


def _convolve(graph: _Graph, x: str) -> str:
    before, graph.channels = graph.channels, graph.random.choice([4, 8, 16])
    size, stride = graph.random.choice([(1, 1), (3, 1), (3, 2), (5, 1)])
    weights = graph.array(graph.channels, before, size, size)
    pads = [size // 2] * 4
    bias = graph.array(graph.channels)
    return graph.node("Conv", x, weights, bias, pads=pads, strides=[stride] * 2)


def _depthwise(graph: _Graph, x: str) -> str:
    weights = graph.array(graph.channels, 1, 3, 3)
    return graph.node("Conv", x, weights, pads=[1] * 4, group=graph.channels)


def _pool(graph: _Graph, x: str) -> str:
    kind = graph.random.choice(["MaxPool", "AveragePool"])
    return graph.node(kind, x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)


def _batch_norm(graph: _Graph, x: str) -> str:
    count = graph.channels
    spread = graph.given(np.abs(np.random.default_rng(count).standard_normal(count)).astype("f4"))
    middle = (graph.array(count) for _ in range(3))
    return graph.node("BatchNormalization", x, *middle, spread)


def _resize(graph: _Graph, x: str) -> str:
    scales = graph.given(np.array([1, 1, 2, 2], "f4"))
    mode = graph.random.choice(["nearest", "linear"])
    return graph.node(
        "Resize", x, "", scales, mode=mode, coordinate_transformation_mode="asymmetric"
    )


def _transposed(graph: _Graph, x: str) -> str:
    before, graph.channels = graph.channels, 8
    return graph.node("ConvTranspose", x, graph.array(before, 8, 2, 2), strides=[2, 2])


def _gate(graph: _Graph, x: str) -> str:
    """Scale channels by what a pool of the whole image gives, as squeeze-and-excitation does."""
    mean = graph.node("GlobalAveragePool", x)
    gate = graph.node("Conv", mean, graph.array(graph.channels, graph.channels, 1, 1))
    return graph.node("Mul", x, graph.node("Sigmoid", gate))


def _residual(graph: _Graph, x: str) -> str:
    weights = graph.array(graph.channels, graph.channels, 3, 3)
    return graph.node("Add", graph.node("Conv", x, weights, pads=[1] * 4), x)


def _rows(graph: _Graph, x: str) -> str:
    """Apply a linear layer to each pixel, as vision transformers do."""
    shape = graph.node("Shape", x)
    flat = graph.sizes(graph.size(x, 0), graph.ints(graph.channels), graph.ints(-1))
    pixels = graph.node("Transpose", graph.node("Reshape", x, flat), perm=[0, 2, 1])
    product = graph.node("MatMul", pixels, graph.array(graph.channels, graph.channels))
    return graph.node("Reshape", graph.node("Transpose", product, perm=[0, 2, 1]), shape)


IMAGE: tuple[_Step, ...] = (
    _unary, _convolve, _convolve, _depthwise, _pool, _batch_norm, _resize, _transposed, _gate,
    _residual, _rows,
)  # fmt: skip


def drawn_model(seed: int) -> onnx.ModelProto:
    """Return a model of 3 to 8 steps on a sequence [N, T, 8], or on an image [N, 4, H, W]."""
    chance = random.Random(seed)
    image = chance.random() < 0.4
    graph = _Graph(chance, 4 if image else 8)
    shape = ["N", 4, "H", "W"] if image else ["N", "T", 8]
    value = "x"
    for _ in range(chance.randint(3, 8)):
        value = chance.choice(IMAGE if image else SEQUENCE)(graph, value)
    graph.nodes.append(helper.make_node("Identity", [value], ["y"], name="y"))
    made = helper.make_graph(
        graph.nodes,
        f"drawn_{seed}",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(shape))],
        graph.weights,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def drawn_sizes(seed: int, count: int = 5) -> list[Mapping[str, int]]:
    """Return sizes for the symbols of a drawn model, the least ones first."""
    chance = random.Random(seed)
    image = [chance.choice([1, 2, 5, 8, 13, 16, 24]) for _ in range(2 * count)]
    least = {"N": 1, "T": 1, "H": 1, "W": 1}
    return [
        least,
        *(
            {"N": chance.randint(1, 3), "T": chance.randint(2, 40), "H": h, "W": w}
            for h, w in zip(image[1::2], image[2::2], strict=False)
        ),
    ][:count]


def drawn_input(seed: int, model: onnx.ModelProto, sizes: Mapping[str, int]) -> NDArray[np.float32]:
    """Return numbers for the input of a drawn model."""
    declared = model.graph.input[0].type.tensor_type.shape.dim
    shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in declared]
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")
