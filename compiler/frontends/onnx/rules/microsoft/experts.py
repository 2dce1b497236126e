"""Rules of ONNX Runtime for mixtures of experts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.numerics.packed_bits import WIDTHS
from ......dialects.core.sizes.atoms import Size
from ......dialects.core.sizes.checks import need_same, need_same_shape
from ....core.values import cast, constant, tensor
from ....decoding.experts import expert_product, mixed
from ...registry import Value, onnx_op
from . import DOMAIN

SWIGLU = "swiglu"

ACTIVATIONS: dict[str, Callable[[Value], Value]] = {
    "relu": lambda x: tri.Relu.build(x).y,
    "gelu": lambda x: tri.Gelu.build(x, approximate="tanh").y,
    "silu": lambda x: tri.Silu.build(x).y,
    "identity": lambda x: x,
}
"""What experts do to results of their first matrix; swiglu reads two results."""


@dataclass(frozen=True)
class Layer:
    """Hold one matrix of each expert, [experts, rows, depth], and their biases, if any."""

    matrices: Value
    bias: Value | None

    def of(self, x: Value, index: Value) -> Value:
        turned = tri.Transpose.build(self.matrices, permutation=(0, 2, 1)).y
        return expert_product(x, turned, self.bias, index)


@dataclass(frozen=True)
class Activation:
    """Hold what experts compute between their matrices.

    With `fusion`, the first matrix has gates and what they multiply: 1 has them by turns, 2 side by
    side. `limit` is infinite where nothing is clamped.
    """

    kind: str
    fusion: int
    alpha: float
    beta: float
    limit: float

    def check(self, gate: Layer | None) -> None:
        """Raise Unsupported for what only other machines compute, or nobody says the meaning of."""
        if self.kind != SWIGLU and self.kind not in ACTIVATIONS:
            known = ", ".join((*ACTIVATIONS, SWIGLU))
            raise Unsupported(f"has activation_type '{self.kind}', must be one of {known}")
        if self.kind == SWIGLU:
            if self.fusion not in (0, 1, 2):
                raise Invalid(f"has swiglu_fusion {self.fusion}, must be 0, 1 or 2")
            if (self.fusion == 0) != (gate is not None):
                need = "must have fc3" if gate is None else "must have no fc3"
                raise Invalid(f"has swiglu_fusion {self.fusion}, {need}")
        elif gate is not None and self.kind != "silu":
            raise Unsupported(f"has fc3 and activation_type '{self.kind}', must be silu or swiglu")

    def of(self, first: Value, third: Value | None) -> Value:
        """Apply it to results of the first matrices, and of the third ones, if any."""
        if self.kind != SWIGLU:
            y = ACTIVATIONS[self.kind](first)
            return y if third is None else tri.Mul.build(y, third).y
        gate, linear = (first, third) if third is not None else self._apart(first)
        if np.isfinite(self.limit):
            gate = tri.Minimum.build(gate, _number(self.limit, gate)).y
            linear = tri.Clip.build(linear, min=-self.limit, max=self.limit).y
        gated = tri.Swish.build(gate, alpha=self.alpha).y
        return tri.Mul.build(gated, tri.Add.build(linear, _number(self.beta, linear)).y).y

    def _apart(self, first: Value) -> tuple[Value, Value]:
        rows, columns = tensor(first).shape
        need_same(columns % 2, 0, f"has {columns} gates and results in fc1, must be an even number")
        by_turns = self.fusion == 1
        shape = (rows, columns // 2, 2) if by_turns else (rows, 2, columns // 2)
        apart = tri.Reshape.build(first, shape=shape).y
        axis = 2 if by_turns else 1
        parts = (tri.Gather.build(apart, constant(np.array(i)), axis=axis).y for i in range(2))
        gate, linear = parts
        return gate, linear


def _number(value: float, like: Value) -> Value:
    return cast(constant(np.array(value, np.float32)), tensor(like).dtype)


def _mixture(
    x: Value,
    router: Value,
    layers: tuple[Layer, Layer, Layer | None],
    activation: Activation,
    *,
    k: int,
    normalize: int,
    sparse_mixer: int,
) -> Value:
    """Mix the experts that each row of [rows, size] or [batch, length, size] chooses."""
    if sparse_mixer:
        raise Unsupported("has use_sparse_mixer, which chooses experts otherwise on GPUs alone")
    first, second, third = layers
    activation.check(third)
    shape = tensor(x).shape
    if len(shape) not in (2, 3):
        raise Invalid(f"has input {tensor(x)}, must be of rank 2 or 3")
    count: Size = tensor(x).size // shape[-1]
    fault = f"has router_probs {tensor(router)}, must be [{count}, experts]"
    need_same_shape(tensor(router).shape[:1], (count,), fault)
    rows = tri.Reshape.build(x, shape=(count, shape[-1])).y

    def feed(taken: Value, index: Value) -> Value:
        inner = activation.of(
            first.of(taken, index), None if third is None else third.of(taken, index)
        )
        return second.of(inner, index)

    y = mixed(rows, router, k, feed, normalized=bool(normalize))
    return tri.Reshape.build(y, shape=(*shape[:-1], tensor(y).shape[1])).y


@onnx_op("MoE", since=1, domain=DOMAIN)
def moe(
    x: Value,
    router_probs: Value,
    fc1: Value,
    fc1_bias: Value | None,
    fc2: Value,
    fc2_bias: Value | None = None,
    fc3: Value | None = None,
    fc3_bias: Value | None = None,
    *,
    k: int = 1,
    activation_type: str = "relu",
    normalize_routing_weights: int = 0,
    use_sparse_mixer: int = 0,
    swiglu_fusion: int = 0,
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    swiglu_limit: float = np.inf,
    swiglu_limit_after_activation: int = 0,
) -> Value:
    """Send each row through `k` experts; `router_probs` are logits."""
    _check_limit(swiglu_limit_after_activation)
    gate = None if fc3 is None else Layer(fc3, fc3_bias)
    return _mixture(
        x,
        router_probs,
        (Layer(fc1, fc1_bias), Layer(fc2, fc2_bias), gate),
        Activation(activation_type, swiglu_fusion, activation_alpha, activation_beta, swiglu_limit),
        k=k,
        normalize=normalize_routing_weights,
        sparse_mixer=use_sparse_mixer,
    )


@onnx_op("QMoE", since=1, domain=DOMAIN)
def quantized_moe(
    x: Value,
    router_probs: Value,
    fc1: Value,
    fc1_scales: Value | None,
    fc1_bias: Value | None,
    fc2: Value,
    fc2_scales: Value | None,
    fc2_bias: Value | None = None,
    fc3: Value | None = None,
    fc3_scales: Value | None = None,
    fc3_bias: Value | None = None,
    fc1_zero_points: Value | None = None,
    fc2_zero_points: Value | None = None,
    fc3_zero_points: Value | None = None,
    router_weights: Value | None = None,
    *,
    k: int = 1,
    activation_type: str = "relu",
    normalize_routing_weights: int = 0,
    use_sparse_mixer: int = 0,
    swiglu_fusion: int = 0,
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    swiglu_limit: float = np.inf,
    swiglu_limit_after_activation: int = 0,
    quant_type: str = "int",
    expert_weight_bits: int = 4,
    fc1_expert_weight_bits: int = 0,
    fc2_expert_weight_bits: int = 0,
    fc3_expert_weight_bits: int = 0,
    block_size: int = 0,
    weights_prepacked: int = 0,
    accuracy_level: int = 0,
) -> Value:
    """Send each row through `k` experts of few bits, which are computed in floats.

    `accuracy_level` is the least precision: rows are not rounded at any level.
    """
    _check_limit(swiglu_limit_after_activation)
    if quant_type != "int":
        raise Unsupported(f"has quant_type '{quant_type}', must be 'int'")
    if weights_prepacked == 1:
        raise Unsupported("has weights_prepacked 1, the layout of one machine: give them as is")
    if router_weights is not None:
        raise Unsupported("has router_weights, must weight experts by router_probs")
    layers = [
        None
        if w is None
        else Layer(_dequantized(name, w, scales, zeros, bits or expert_weight_bits, block_size), b)
        for name, w, scales, zeros, b, bits in (
            ("fc1", fc1, fc1_scales, fc1_zero_points, fc1_bias, fc1_expert_weight_bits),
            ("fc2", fc2, fc2_scales, fc2_zero_points, fc2_bias, fc2_expert_weight_bits),
            ("fc3", fc3, fc3_scales, fc3_zero_points, fc3_bias, fc3_expert_weight_bits),
        )
    ]
    first, second, third = layers
    assert first is not None
    assert second is not None
    return _mixture(
        x,
        router_probs,
        (first, second, third),
        Activation(activation_type, swiglu_fusion, activation_alpha, activation_beta, swiglu_limit),
        k=k,
        normalize=normalize_routing_weights,
        sparse_mixer=use_sparse_mixer,
    )


def _check_limit(after_activation: int) -> None:
    if after_activation:
        raise Unsupported("has swiglu_limit_after_activation, must clamp what is activated")


def _dequantized(
    name: str, w: Value, scales: Value | None, zeros: Value | None, bits: int, block_size: int
) -> Value:
    """Return matrices in floats, given bytes of […, depth * bits / 8] and scales of rows or blocks.

    Without zero points, the zero is in the middle.
    """
    if bits not in WIDTHS:
        known = ", ".join(map(str, WIDTHS))
        raise Unsupported(f"has {name} of {bits} bits, must be of {known}")
    if scales is None:
        raise Invalid(f"has {name} without scales, must have them")
    numbers = tri.build_unpacked(w, bits)
    experts, rows, depth = tensor(numbers).shape
    size = block_size or depth
    need_same(depth % size, 0, f"has {name} of depth {depth}, must be of whole blocks of {size}")
    blocks = depth // size
    per_block = (experts, rows, blocks, 1)
    count = tensor(scales).size
    fault = f"has scales {tensor(scales)} of {name}, must be {list(per_block[:3])}"
    need_same(count, experts * rows * blocks, fault)
    dtype = tensor(scales).dtype
    zero = constant(np.array(1 << bits - 1, np.float32))
    if zeros is not None:
        zero = _zero_points(name, zeros, (experts, rows, blocks), bits)
    apart = tri.Reshape.build(numbers, shape=(experts, rows, blocks, size)).y
    centered = tri.Sub.build(cast(apart, dtype), cast(zero, dtype)).y
    made = tri.Mul.build(centered, tri.Reshape.build(scales, shape=per_block).y).y
    return tri.Reshape.build(made, shape=(experts, rows, depth)).y


def _zero_points(name: str, zeros: Value, shape: tuple[Size, Size, Size], bits: int) -> Value:
    """Return zero points [experts, rows, blocks, 1], of which bytes hold several."""
    experts, rows, blocks = shape
    numbers = tri.build_unpacked(zeros, bits)
    per_row = tensor(zeros).rank == 2  # one for each row, packed along the rows
    last = rows if per_row else blocks
    wanted = (experts, last) if per_row else (experts, rows, last)
    fault = f"has zero points {tensor(zeros)} of {name}, must be of {list(wanted)} packed numbers"
    need_same_shape(tensor(numbers).shape[:-1], wanted[:-1], fault)
    need_same(tensor(numbers).shape[-1], -(-last * bits // 8) * (8 // bits), fault)
    starts, steps = (0,) * len(wanted), (1,) * len(wanted)
    cut = tri.Slice.build(numbers, starts=starts, sizes=wanted, steps=steps).y
    return tri.Reshape.build(cut, shape=(experts, rows, blocks, 1)).y
