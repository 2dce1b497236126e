"""Batch normalisation and scales folded into weights compute what torch computes without that."""

from typing import Any

import numpy as np
import pytest
import torch
from ir_graphs import module_of, names, run_all
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array, Tensor
from trivium.passes.eliminate import Eliminate
from trivium.passes.fold.fold_batch_norm import FoldBatchNorm
from trivium.passes.fold.fold_constants import FoldConstants
from trivium.passes.fold.fold_scale import FoldScale

functional: Any = torch.nn.functional
RANDOM = np.random.default_rng(7)
PASSES = (FoldBatchNorm(), FoldScale(), Eliminate())


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def constant(array: Array) -> ir.Value:
    return tri.Constant.build(value=array).y


class Norm:
    """Random parameters of a batch normalisation, for both sides."""

    def __init__(self, channels: int) -> None:
        self.scale, self.bias, self.mean = (normal(channels) for _ in range(3))
        self.var = np.abs(normal(channels)) + 0.1

    def build(self, x: ir.Value) -> ir.Value:
        parameters = map(constant, (self.scale, self.bias, self.mean, self.var))
        return tri.BatchNorm.build(x, *parameters, epsilon=1e-3).y

    def expected(self, x: Any) -> Any:
        mean, var, scale, bias = map(torch.from_numpy, (self.mean, self.var, self.scale, self.bias))
        return functional.batch_norm(x, mean, var, scale, bias, False, 0.0, 1e-3)


def check(module: Module, x: Array, want: Any, left: list[str]) -> None:
    assert names(run_all(module, PASSES)) == left
    np.testing.assert_allclose(run(module, [x])[0], want.numpy(), rtol=1e-4, atol=1e-4)


CONVS = {
    "plain": (4, 6, 1, True),
    "no bias": (4, 6, 1, False),
    "grouped": (4, 6, 2, True),
    "depthwise": (4, 4, 4, False),
    "depthwise with multiplier": (3, 6, 3, True),
}


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("inputs", "channels", "group", "bias"), CONVS.values(), ids=CONVS)
def test_folds_into_conv(inputs: int, channels: int, group: int, bias: bool) -> None:
    x, w = normal(2, inputs, 7, 5), normal(channels, inputs // group, 3, 2)
    b = normal(channels) if bias else None
    norm = Norm(channels)

    def build(v: ir.Value) -> ir.Value:
        conv = tri.Conv.build(
            v,
            constant(w),
            None if b is None else constant(b),
            strides=(2, 1),
            pads=(1, 0, 0, 1),
            dilations=(1, 1),
            group=group,
        )
        return norm.build(conv.y)

    padded = functional.pad(torch.from_numpy(x), (0, 1, 1, 0))
    y = functional.conv2d(
        padded,
        torch.from_numpy(w),
        None if b is None else torch.from_numpy(b),
        stride=(2, 1),
        groups=group,
    )
    check(module_of(build, Tensor.of(x)), x, norm.expected(y), ["conv"])


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("group", [1, 2])
def test_folds_into_transposed_conv(group: int) -> None:
    x, w, b = normal(2, 4, 5), normal(4, 6 // group, 3), normal(6)
    norm = Norm(6)

    def build(v: ir.Value) -> ir.Value:
        conv = tri.ConvTranspose.build(
            v,
            constant(w),
            constant(b),
            strides=(2,),
            pads=(1, 1),
            dilations=(1,),
            group=group,
            output_padding=(1,),
        )
        return norm.build(conv.y)

    y = functional.conv_transpose1d(
        *map(torch.from_numpy, (x, w, b)), stride=2, padding=1, output_padding=1, groups=group
    )
    check(module_of(build, Tensor.of(x)), x, norm.expected(y), ["conv_transpose"])


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_folds_into_gemm(trans_b: bool, bias: bool) -> None:
    x, w, c = normal(5, 4), normal(*((3, 4) if trans_b else (4, 3))), normal(1, 3)
    norm = Norm(3)

    def build(v: ir.Value) -> ir.Value:
        gemm = tri.Gemm.build(
            v, constant(w), constant(c) if bias else None, alpha=0.5, beta=2.0, trans_b=trans_b
        )
        return norm.build(gemm.y)

    product = torch.from_numpy(x) @ torch.from_numpy(w.T if trans_b else w) * 0.5
    y = product + torch.from_numpy(c) * 2 if bias else product
    check(module_of(build, Tensor.of(x)), x, norm.expected(y), ["gemm"])


@pytest.mark.usefixtures("context")
def test_folds_into_mat_mul_behind_reshape() -> None:
    x, w = normal(2, 5, 4), normal(4, 3)
    norm = Norm(3)

    def build(v: ir.Value) -> ir.Value:
        product = tri.MatMul.build(v, constant(w))
        return norm.build(tri.Reshape.build(product.y, shape=(10, 3)).y)

    y = (torch.from_numpy(x) @ torch.from_numpy(w)).reshape(10, 3)
    check(module_of(build, Tensor.of(x)), x, norm.expected(y), ["mat_mul", "add", "reshape"])


@pytest.mark.usefixtures("context")
def test_norm_after_pool_becomes_product_and_sum() -> None:
    x = normal(2, 3, 4, 4)
    norm = Norm(3)

    def build(v: ir.Value) -> ir.Value:
        return norm.build(tri.Relu.build(v).y)

    want = norm.expected(functional.relu(torch.from_numpy(x)))
    check(module_of(build, Tensor.of(x)), x, want, ["relu", "mul", "add"])


@pytest.mark.usefixtures("context")
def test_scale_and_shift_after_norm_fold_with_it() -> None:
    x, w = normal(1, 3, 4, 4), normal(5, 3, 1, 1)
    norm, scale, shift = Norm(5), normal(5, 1, 1), normal(1, 5, 1, 1)

    def build(v: ir.Value) -> ir.Value:
        conv = tri.Conv.build(v, constant(w), strides=(1, 1), pads=(0,) * 4, dilations=(1, 1))
        scaled = tri.Mul.build(constant(scale), norm.build(conv.y))
        return tri.Sub.build(scaled.y, constant(shift)).y

    y = norm.expected(functional.conv2d(torch.from_numpy(x), torch.from_numpy(w)))
    want = y * torch.from_numpy(scale) - torch.from_numpy(shift)
    check(module_of(build, Tensor.of(x)), x, want, ["conv"])


@pytest.mark.usefixtures("context")
def test_large_weights_stay_beside_the_ir_under_a_name_like_theirs() -> None:
    x, w = normal(1, 16, 2, 2), normal(32, 16, 1, 1)
    norm = Norm(32)

    def build(v: ir.Value) -> ir.Value:
        weight = tri.Weight.build(name="conv.weight", type=Tensor.of(w)).y
        conv = tri.Conv.build(v, weight, strides=(1, 1), pads=(0,) * 4, dilations=(1, 1))
        return norm.build(conv.y)

    module = module_of(build, Tensor.of(x))
    module.weights["conv.weight"] = w
    y = norm.expected(functional.conv2d(torch.from_numpy(x), torch.from_numpy(w)))
    check(module, x, y, ["conv"])
    assert list(module.weights) == ["weight.1"] or len(module.weights) == 1


@pytest.mark.usefixtures("context")
def test_weight_without_data_keeps_the_norm() -> None:
    norm = Norm(3)

    def build(v: ir.Value) -> ir.Value:
        weight = tri.Weight.build(name="w", type=Tensor((3, 2, 1), "f32")).y
        conv = tri.Conv.build(v, weight, strides=(1,), pads=(0, 0), dilations=(1,))
        return norm.build(conv.y)

    module = module_of(build, Tensor((1, 2, 4), "f32"))
    assert names(run_all(module, [FoldConstants(), *PASSES])) == ["conv", "mul", "add"]
