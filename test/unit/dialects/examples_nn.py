"""Random operands and attributes for the ops of neural networks: food for the property tests.

Each function draws one example: operands in the order of the op's fields (None for an absent one),
and attributes. Sizes are odd and distinct, so that a swap of axes shows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from trivium.dialects import tri
from trivium.dialects.core.op import Op

Generator = np.random.Generator
Example = tuple[list[Any], dict[str, Any]]


def floats(rng: Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(rng.choice(["float32", "float16", "float64"]))


def like(rng: Generator, x: np.ndarray, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(x.dtype)


def maybe(rng: Generator, value: Any) -> Any:
    return value if rng.integers(2) else None


def flag(rng: Generator) -> bool:
    return bool(rng.integers(2))


def tuple_of(rng: Generator, low: int, high: int, count: int) -> tuple[int, ...]:
    return tuple(int(v) for v in rng.integers(low, high, count))


def conv(rng: Generator) -> Example:
    rank, group = int(rng.integers(1, 4)), int(rng.choice([1, 2, 4]))
    x = floats(rng, 3, 4, *(9, 8, 7)[:rank])
    w = like(rng, x, 2 * group, 4 // group, *tuple_of(rng, 1, 4, rank))
    attributes = {
        "strides": tuple_of(rng, 1, 5, rank),
        "pads": tuple_of(rng, 0, 3, 2 * rank),
        "dilations": tuple_of(rng, 1, 3, rank),
        "group": group,
    }
    return [x, w, maybe(rng, like(rng, x, 2 * group))], attributes


def conv_transpose(rng: Generator) -> Example:
    rank, group = int(rng.integers(1, 4)), int(rng.choice([1, 2, 4]))
    x = floats(rng, 3, 4, *(5, 4, 3)[:rank])
    w = like(rng, x, 4, 3, *tuple_of(rng, 2, 4, rank))
    attributes = {
        "strides": tuple_of(rng, 1, 4, rank),
        "pads": tuple_of(rng, 0, 2, 2 * rank),
        "dilations": tuple_of(rng, 1, 3, rank),
        "group": group,
        "output_padding": tuple_of(rng, 0, 2, rank),
    }
    return [x, w, maybe(rng, like(rng, x, 3 * group))], attributes


def pool(rng: Generator) -> Example:
    rank = int(rng.integers(1, 4))
    attributes = {
        "kernel": tuple_of(rng, 2, 4, rank),
        "strides": tuple_of(rng, 1, 5, rank),
        "pads": tuple_of(rng, 0, 2, 2 * rank),
        "dilations": tuple_of(rng, 1, 3, rank),
        "ceil_mode": flag(rng),
    }
    return [floats(rng, 3, 2, *(9, 8, 7)[:rank])], attributes


def max_pool(rng: Generator) -> Example:
    operands, attributes = pool(rng)
    if flag(rng):
        operands = [(operands[0] * 50).astype(rng.choice(["int8", "uint8"]))]
    return operands, attributes


def max_pool_indices(rng: Generator) -> Example:
    operands, attributes = max_pool(rng)
    return operands, attributes | {"storage_order": int(rng.integers(2))}


def average_pool(rng: Generator) -> Example:
    operands, attributes = pool(rng)
    return operands, attributes | {"count_include_pad": flag(rng)}


def lp_pool(rng: Generator) -> Example:
    operands, attributes = pool(rng)
    return operands, attributes | {"p": int(rng.integers(1, 4))}


def matmul(rng: Generator) -> Example:
    shapes = [
        ((3, 4), (4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((0, 4), (4, 5)),
        ((3, 0), (0, 5)),
    ]
    left, right = shapes[rng.integers(len(shapes))]
    a = floats(rng, *left) if flag(rng) else rng.integers(-9, 9, left)
    return [a, like(rng, a, *right) if a.dtype.kind == "f" else rng.integers(-9, 9, right)], {}


def gemm(rng: Generator) -> Example:
    trans_a, trans_b = flag(rng), flag(rng)
    a = floats(rng, *((4, 3) if trans_a else (3, 4)))
    b = like(rng, a, *((5, 4) if trans_b else (4, 5)))
    bias = [(3, 5), (5,), (3, 1), (1,), ()][rng.integers(5)]
    attributes = {"alpha": 0.5, "beta": 2.0, "trans_a": trans_a, "trans_b": trans_b}
    return [a, b, maybe(rng, like(rng, a, *bias))], attributes


def einsum(rng: Generator) -> Example:
    equation, shapes = [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("bij,bjk", [(2, 3, 4), (2, 4, 5)]),
        ("ii->i", [(4, 4)]),
        ("i,i", [(3,), (3,)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (6, 4, 5)]),
        ("a, b , c -> cab", [(2,), (3,), (4,)]),
    ][rng.integers(6)]
    first = floats(rng, *shapes[0])
    return [[first, *(like(rng, first, *s) for s in shapes[1:])]], {"equation": equation}


def batch_norm(rng: Generator) -> Example:
    x = floats(rng, 3, 4, *(5, 2)[: rng.integers(3)])
    scale, bias, mean, var = (like(rng, x, 4) for _ in range(4))
    return [x, scale, bias, mean, np.abs(var)], {"epsilon": 1e-3}


def layer_norm(rng: Generator) -> Example:
    x = floats(rng, 3, 4, 5)
    axis = int(rng.integers(-3, 3))
    shape = x.shape[axis % 3 :] if flag(rng) else (5,)
    scale, bias = (maybe(rng, like(rng, x, *shape)) for _ in range(2))
    return [x, scale, bias], {"axis": axis, "epsilon": 1e-3}


def rms_norm(rng: Generator) -> Example:
    (x, scale, _), attributes = layer_norm(rng)
    return [x, scale], attributes


def group_norm(rng: Generator) -> Example:
    x = floats(rng, 3, 6, *(5, 2)[: rng.integers(1, 3)])
    return [x, like(rng, x, 6), like(rng, x, 6)], {"groups": int(rng.choice([1, 2, 3, 6]))}


def instance_norm(rng: Generator) -> Example:
    operands, _ = group_norm(rng)
    return operands, {}


def lp_normalize(rng: Generator) -> Example:
    return [floats(rng, 3, 4, 5)], {"axis": int(rng.integers(-3, 3)), "p": int(rng.integers(1, 3))}


def lrn(rng: Generator) -> Example:
    x = floats(rng, 3, 7, *(5, 2)[: rng.integers(3)])
    return [x], {"size": int(rng.integers(1, 9)), "alpha": 0.1}


def distribution(rng: Generator) -> Example:
    return [floats(rng, 3, 4, 5)], {"axis": int(rng.integers(-3, 3))}


def resize(rng: Generator) -> Example:
    x = floats(rng, 2, 3, 7, 5) if flag(rng) else rng.integers(0, 256, (2, 3, 7, 5), np.uint8)
    sizes = (2, 3, *tuple_of(rng, 1, 15, 2))
    transforms = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners"]
    transforms += ["asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"]
    nearest = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
    return [x], {
        "sizes": sizes,
        "scales": tuple(new / old for new, old in zip(sizes, x.shape, strict=True)),
        "mode": str(rng.choice(["nearest", "linear", "cubic"])),
        "coordinate_transform": str(rng.choice(transforms)),
        "nearest_mode": str(rng.choice(nearest)),
        "exclude_outside": flag(rng),
        "antialias": flag(rng),
        "roi": (0.0, 0.0, 0.1, 0.2, 1.0, 1.0, 0.7, 1.2),
    }


def grid_sample(rng: Generator) -> Example:
    axes = int(rng.integers(1, 4))
    grid = rng.uniform(-2, 2, (2, *(4, 3, 2)[:axes], axes)).astype(np.float32)
    return [floats(rng, 2, 3, *(5, 6, 4)[:axes]), grid], {
        "mode": str(rng.choice(["nearest", "linear", "cubic"])),
        "padding_mode": str(rng.choice(["zeros", "border", "reflection"])),
        "align_corners": flag(rng),
    }


def recurrent(rng: Generator, gates: int, states: int) -> Example:
    direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
    count, layout = 1 + (direction == "bidirectional"), int(rng.integers(2))
    length, batch, inputs, hidden = 5, 3, 4, 2
    x = floats(rng, *((length, batch) if layout == 0 else (batch, length)), inputs)
    state = (count, batch, hidden) if layout == 0 else (batch, count, hidden)
    operands = [
        x,
        like(rng, x, count, gates * hidden, inputs),
        like(rng, x, count, gates * hidden, hidden),
        maybe(rng, like(rng, x, count, 2 * gates * hidden)),
        maybe(rng, np.array([5, 0, 3], np.int32)),
        *(maybe(rng, like(rng, x, *state)) for _ in range(states)),
    ]
    clip = float(rng.choice([0.0, 0.5]))
    attributes = {"hidden_size": hidden, "direction": direction, "layout": layout, "clip": clip}
    return operands, attributes


def rnn(rng: Generator) -> Example:
    operands, attributes = recurrent(rng, gates=1, states=1)
    activation = str(rng.choice(["Relu", "Tanh", "Affine", "Softsign", "LeakyRelu", "ScaledTanh"]))
    count = operands[1].shape[0]
    return operands, attributes | {"activations": (activation,) * count}


def gru(rng: Generator) -> Example:
    operands, attributes = recurrent(rng, gates=3, states=1)
    return operands, attributes | {"linear_before_reset": flag(rng)}


def lstm(rng: Generator) -> Example:
    operands, attributes = recurrent(rng, gates=4, states=2)
    peepholes = maybe(rng, like(rng, operands[0], operands[1].shape[0], 3 * 2))
    return [*operands, peepholes], attributes | {"input_forget": flag(rng)}


def attention(rng: Generator) -> Example:
    batch = [(), (2,), (2, 3)][rng.integers(3)]
    q = floats(rng, *batch, 4, 5, 8)
    shared = int(rng.choice([1, 2, 4]))
    k, v = like(rng, q, *batch, shared, 7, 8), like(rng, q, *batch, shared, 7, 3)
    added, kept = like(rng, q, 4, 1, 7), rng.random((5, 7)) > 0.5
    mask = [None, added, kept][rng.integers(3)]
    return [q, k, v, mask], {"scale": 0.3, "causal": flag(rng)}


EXAMPLES: dict[type[Op], Callable[[Generator], Example]] = {
    tri.Attention: attention,
    tri.AveragePool: average_pool,
    tri.BatchNorm: batch_norm,
    tri.Conv: conv,
    tri.ConvTranspose: conv_transpose,
    tri.Einsum: einsum,
    tri.Gemm: gemm,
    tri.GridSample: grid_sample,
    tri.GroupNorm: group_norm,
    tri.Gru: gru,
    tri.Hardmax: distribution,
    tri.InstanceNorm: instance_norm,
    tri.LayerNorm: layer_norm,
    tri.LogSoftmax: distribution,
    tri.LpNormalize: lp_normalize,
    tri.LpPool: lp_pool,
    tri.Lrn: lrn,
    tri.Lstm: lstm,
    tri.MatMul: matmul,
    tri.MaxPool: max_pool,
    tri.MaxPoolIndices: max_pool_indices,
    tri.Resize: resize,
    tri.RmsNorm: rms_norm,
    tri.Rnn: rnn,
    tri.Softmax: distribution,
}
