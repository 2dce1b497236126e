"""Activations and norms are recognised in every spelling, and compute what torch says."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from ir_graphs import module_of, names, run_all
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.tensor import Array, Tensor
from trivium.passes.building import (
    add,
    div,
    erf,
    exp,
    log,
    maximum,
    minimum,
    mul,
    number,
    reduce_mean,
    sigmoid,
    sqrt,
    sub,
    tanh,
)
from trivium.passes.core import Pass
from trivium.passes.cse import Cse
from trivium.passes.eliminate import Eliminate
from trivium.passes.fuse.fuse_gelu import FuseGelu
from trivium.passes.fuse.fuse_hardswish import FuseHardswish
from trivium.passes.fuse.fuse_layer_norm import FuseLayerNorm
from trivium.passes.fuse.fuse_mish import FuseMish
from trivium.passes.fuse.fuse_rms_norm import FuseRmsNorm
from trivium.passes.fuse.fuse_silu import FuseSilu
from trivium.passes.rewriting import LOGS, Log

X = Tensor((2, 3, 5), "f32")
SCALE = np.array([1, 2, 3, 4, 5], np.float32)
BIAS = np.array([5, 4, 3, 2, 1], np.float32)
ROOT_2_PI = math.sqrt(2 / math.pi)
functional: Any = torch.nn.functional

Build = Callable[[ir.Value], ir.Value]


def vector(array: Array) -> ir.Value:
    return tri.Constant.build(value=array).y


def power(x: ir.Value, exponent: float) -> ir.Value:
    return tri.Pow.build(x, number(exponent, x)).y


def mean(x: ir.Value) -> ir.Value:
    return reduce_mean(x, [2])


def clip(x: ir.Value) -> ir.Value:
    return tri.Clip.build(x, min=0.0, max=6.0).y


def one_plus_erf(x: ir.Value) -> ir.Value:
    return add(erf(div(x, math.sqrt(2))), 1)


def one_plus_tanh(inner: ir.Value) -> ir.Value:
    return add(1, tanh(inner))


def centered(x: ir.Value) -> ir.Value:
    return sub(x, mean(x))


def tanh_gelu(build: Build) -> Build:
    return lambda x: mul(mul(x, 0.5), one_plus_tanh(build(x)))


GELU: dict[str, Build] = {
    "number first": lambda x: mul(mul(0.5, x), one_plus_erf(x)),
    "number last": lambda x: mul(mul(x, one_plus_erf(x)), 0.5),
    "number at the sum": lambda x: mul(x, mul(one_plus_erf(x), 0.5)),
    "divided by two": lambda x: div(mul(one_plus_erf(x), x), 2),
    "root multiplied": lambda x: mul(mul(x, 0.5), add(1, erf(mul(math.sqrt(0.5), x)))),
    "twice the half": lambda x: mul(mul(mul(x, 0.25), one_plus_erf(x)), 2),
}
TANH_GELU: dict[str, Build] = {
    "power": tanh_gelu(lambda x: mul(add(x, mul(power(x, 3), 0.044715)), ROOT_2_PI)),
    "products": tanh_gelu(lambda x: mul(ROOT_2_PI, add(mul(mul(mul(x, x), x), 0.044715), x))),
    "power of power": tanh_gelu(
        lambda x: mul(add(x, mul(mul(power(x, 2), x), 0.044715)), ROOT_2_PI)
    ),
    "factored": tanh_gelu(lambda x: mul(mul(x, ROOT_2_PI), add(1, mul(mul(0.044715, x), x)))),
    "multiplied out": tanh_gelu(
        lambda x: add(mul(x, ROOT_2_PI), mul(power(x, 3), 0.044715 * ROOT_2_PI))
    ),
}
HARDSWISH: dict[str, Build] = {
    "op": lambda x: mul(x, tri.HardSigmoid.build(x, alpha=1 / 6, beta=0.5).y),
    "divided last": lambda x: div(mul(x, clip(add(x, 3))), 6),
    "divided first": lambda x: mul(x, div(clip(add(x, 3)), 6)),
    "multiplied": lambda x: mul(mul(x, 1 / 6), clip(add(3, x))),
    "limits": lambda x: mul(x, div(minimum(6, maximum(add(x, 3), 0)), 6)),
}
SILU: dict[str, Build] = {
    "left": lambda x: mul(x, sigmoid(x)),
    "right": lambda x: mul(sigmoid(x), x),
}
MISH: dict[str, Build] = {
    "op": lambda x: mul(x, tanh(tri.Softplus.build(x).y)),
    "written out": lambda x: mul(tanh(log(add(exp(x), 1))), x),
}


def layer_norm(factor: Callable[[ir.Value, ir.Value], ir.Value]) -> Build:
    """Spell a norm by what is done with the centred x and its variance + epsilon."""

    def build(x: ir.Value) -> ir.Value:
        d = centered(x)
        return add(factor(d, add(mean(power(d, 2)), 1e-5)), vector(BIAS))

    return build


LAYER_NORM: dict[str, Build] = {
    "divided": layer_norm(lambda d, v: mul(div(d, sqrt(v)), vector(SCALE))),
    "scale first": layer_norm(lambda d, v: mul(vector(SCALE), div(d, sqrt(v)))),
    "reciprocal": layer_norm(
        lambda d, v: mul(mul(d, tri.Reciprocal.build(sqrt(v)).y), vector(SCALE))
    ),
    "scale at the root": layer_norm(lambda d, v: mul(d, mul(tri.Rsqrt.build(v).y, vector(SCALE)))),
    "power": layer_norm(lambda d, v: mul(mul(d, power(v, -0.5)), vector(SCALE))),
    "centred twice": lambda x: add(
        mul(div(centered(x), sqrt(add(mean(mul(centered(x), centered(x))), 1e-5))), vector(SCALE)),
        vector(BIAS),
    ),
}


def rms_factor(x: ir.Value) -> ir.Value:
    return add(mean(mul(x, x)), 1e-5)


RMS_NORM: dict[str, Build] = {
    "divided": lambda x: mul(div(x, sqrt(rms_factor(x))), vector(SCALE)),
    "root": lambda x: mul(vector(SCALE), mul(x, tri.Rsqrt.build(rms_factor(x)).y)),
    "scale at the root": lambda x: mul(x, mul(vector(SCALE), tri.Rsqrt.build(rms_factor(x)).y)),
}


def weights(array: Array) -> Any:
    return torch.from_numpy(array)


CASES: list[tuple[dict[str, Build], Pass, str, Callable[[Any], Any]]] = [
    (GELU, FuseGelu(), "gelu", functional.gelu),
    (TANH_GELU, FuseGelu(), "gelu", lambda x: functional.gelu(x, approximate="tanh")),
    (HARDSWISH, FuseHardswish(), "hardswish", functional.hardswish),
    (SILU, FuseSilu(), "silu", functional.silu),
    (MISH, FuseMish(), "mish", functional.mish),
    (
        LAYER_NORM,
        FuseLayerNorm(),
        "layer_norm",
        lambda x: functional.layer_norm(x, (5,), weights(SCALE), weights(BIAS), 1e-5),
    ),
    (
        RMS_NORM,
        FuseRmsNorm(),
        "rms_norm",
        lambda x: functional.rms_norm(x, (5,), weights(SCALE), 1e-5),
    ),
]
SPELLINGS = [
    pytest.param(build, step, op, expected, id=f"{op}-{index}-{spelling}".replace(" ", "-"))
    for index, (builds, step, op, expected) in enumerate(CASES)
    for spelling, build in builds.items()
]


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("build", "step", "op", "expected"), SPELLINGS)
def test_spelling_becomes_one_op(
    build: Build, step: Pass, op: str, expected: Callable[[Any], Any]
) -> None:
    module = run_all(module_of(build, X), [Cse(), step, Eliminate()])
    assert names(module) == [op]
    x = (np.random.default_rng(0).normal(size=X.shape) * 3).astype(np.float32)
    want = expected(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(run(module, [x])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("context")
def test_half_types_are_recognised_by_their_rounded_numbers() -> None:
    module = module_of(TANH_GELU["power"], Tensor((2,), "f16"))
    assert names(run_all(module, [FuseGelu(), Eliminate()])) == ["gelu"]


@pytest.mark.usefixtures("context")
def test_log_says_why_a_fragment_stays() -> None:
    def build(x: ir.Value) -> ir.Value:
        s = sigmoid(x)
        return add(mul(x, s), s)

    log = Log()
    LOGS.append(log)
    try:
        FuseSilu().run(module_of(build, X))
    finally:
        LOGS.remove(log)
    reasons = [reason for _, reason in log.lines]
    assert "_Silu: tri.mul: value of tri.sigmoid is used outside of the fragment" in reasons
