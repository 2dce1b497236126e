"""Rules of what ONNX Runtime's optimiser fuses: products and convolutions with activations."""

from collections.abc import Callable

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.tensor import numpy_dtype
from ....core.values import constant, tensor
from ...registry import Value, onnx_op
from ...windows import Ints
from ..conv import conv
from ..matmul import gemm
from . import DOMAIN

Activation = Callable[[Value, tuple[float, ...]], Value]

ACTIVATIONS: dict[str, Activation] = {
    "Relu": lambda x, _: tri.Relu.build(x).y,
    "Tanh": lambda x, _: tri.Tanh.build(x).y,
    "Sigmoid": lambda x, _: tri.Sigmoid.build(x).y,
    "LeakyRelu": lambda x, given: tri.LeakyRelu.build(x, alpha=_given(given, 0.01)[0]).y,
    "Clip": lambda x, given: tri.Clip.build(x, min=given[0], max=given[1]).y,
    "HardSigmoid": lambda x, given: (
        tri.HardSigmoid.build(
            x, alpha=_given(given, 0.2, 0.5)[0], beta=_given(given, 0.2, 0.5)[1]
        ).y
    ),
}


def _given(given: tuple[float, ...], *defaults: float) -> tuple[float, ...]:
    return given + defaults[len(given) :]


def _activated(x: Value, name: str, given: tuple[float, ...]) -> Value:
    if not name:
        return x
    if name not in ACTIVATIONS:
        raise Unsupported(f"has activation '{name}', must be one of {', '.join(ACTIVATIONS)}")
    if name == "Clip" and len(given) != 2:
        raise Invalid(f"has activation 'Clip' with {len(given)} bounds, must have 2")
    return ACTIVATIONS[name](x, given)


@onnx_op("FusedConv", since=1, domain=DOMAIN)
def fused_conv(
    x: Value,
    w: Value,
    b: Value | None = None,
    z: Value | None = None,
    *,
    activation: str = "",
    activation_params: tuple[float, ...] = (),
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Value:
    """Convolve, add `z`, and activate."""
    y = conv(
        x,
        w,
        b,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    ).y
    if z is not None:
        y = tri.Add.build(y, z).y
    return _activated(y, activation, activation_params)


@onnx_op("FusedGemm", since=1, domain=DOMAIN)
def fused_gemm(
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    """Multiply matrices, add `c`, and activate."""
    y = gemm(a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB).y
    given = (activation_alpha, activation_beta, activation_gamma)
    return _activated(y, activation, tuple(each for each in given if each is not None))


@onnx_op("FusedMatMul", since=1, domain=DOMAIN)
def fused_matmul(
    a: Value,
    b: Value,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Value:
    """Multiply matrices that are transposed, and scale the product."""
    left, right = _turned(a, transA, transBatchA), _turned(b, transB, transBatchB)
    y = tri.MatMul.build(left, right).y
    if alpha == 1:
        return y
    return tri.Mul.build(y, constant(np.array(alpha, numpy_dtype(tensor(y).dtype)))).y


def _turned(x: Value, matrix: int, batch: int) -> Value:
    """Bring the first axis behind the others of the batch, and exchange the last two axes."""
    axes = [*range(tensor(x).rank)]
    if batch and len(axes) > 2:
        axes = [*axes[1:-1], axes[0], axes[-1]]
    if matrix and len(axes) > 1:
        axes[-2:] = axes[:-3:-1]
    plain = axes == sorted(axes)
    return x if plain else tri.Transpose.build(x, permutation=tuple(axes)).y
