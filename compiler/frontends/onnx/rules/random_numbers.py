"""ONNX rules for random numbers: each run draws others, the same ones in each new session."""

import numpy as np
import onnx

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.op import Op
from .....dialects.core.tensor import DTYPES, Array, numpy_dtype
from ...core.values import cast, constant, constant_of, filled, tensor
from ..element_types import element_type
from ..registry import Node, Sizes, Value, onnx_op


@onnx_op("RandomUniform", since=1)
def random_uniform(
    *,
    shape: Sizes,
    dtype: int = onnx.TensorProto.FLOAT,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
    node: Node,
) -> Value:
    return _uniform(node, shape, _real(dtype), low, high, seed)


@onnx_op("RandomUniformLike", since=1)
def random_uniform_like(
    x: Value,
    *,
    dtype: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
    node: Node,
) -> Value:
    return _uniform(node, tensor(x).shape, _type_like(x, dtype), low, high, seed)


def _uniform(
    node: Node, shape: Sizes, dtype: str, low: float, high: float, seed: float | None
) -> Value:
    if not low < high:
        raise Invalid(f"draws from {low} to {high}, must be in this order")
    drawn = node.random.uniform(shape, dtype, seed)
    return cast(_scaled(drawn, high - low, low), dtype)


@onnx_op("RandomNormal", since=1)
def random_normal(
    *,
    shape: Sizes,
    dtype: int = onnx.TensorProto.FLOAT,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    node: Node,
) -> Value:
    return _normal(node, shape, _real(dtype), mean, scale, seed)


@onnx_op("RandomNormalLike", since=1)
def random_normal_like(
    x: Value,
    *,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    node: Node,
) -> Value:
    return _normal(node, tensor(x).shape, _type_like(x, dtype), mean, scale, seed)


def _normal(
    node: Node, shape: Sizes, dtype: str, mean: float, scale: float, seed: float | None
) -> Value:
    drawn = node.random.normal(shape, dtype, seed)
    return cast(_scaled(drawn, scale, mean), dtype)


def _scaled(x: Value, factor: float, offset: float) -> Value:
    kind = numpy_dtype(tensor(x).dtype)
    scaled = x if factor == 1 else tri.Mul.build(x, constant(np.array(factor, kind))).y
    return scaled if not offset else tri.Add.build(scaled, constant(np.array(offset, kind))).y


def _real(dtype: int) -> str:
    name = element_type(dtype)
    if DTYPES[name].kind != "float":
        raise Invalid(f"draws numbers of {name}, must be of a type of real numbers")
    return name


def _type_like(x: Value, dtype: int | None) -> str:
    """Return the type of what is drawn: that of `x`, if it has real numbers, and else f32."""
    if dtype is not None:
        return _real(dtype)
    return tensor(x).dtype if DTYPES[tensor(x).dtype].kind == "float" else "f32"


@onnx_op("Bernoulli", since=15)
def bernoulli(
    x: Value, *, dtype: int | None = None, seed: float | None = None, node: Node
) -> Value:
    """Draw 1 with the probability that each element has, and else 0."""
    drawn = node.random.uniform(tensor(x).shape, tensor(x).dtype, seed)
    ones = tri.Less.build(drawn, cast(x, tensor(drawn).dtype)).y
    return cast(ones, tensor(x).dtype if dtype is None else element_type(dtype))


@onnx_op("Multinomial", since=7)
def multinomial(
    x: Value,
    *,
    dtype: int = onnx.TensorProto.INT32,
    sample_size: int = 1,
    seed: float | None = None,
    node: Node,
) -> Value:
    """Draw classes by their logarithmic probabilities, which need not be normalised."""
    if tensor(x).rank != 2:
        raise Invalid(f"draws from {tensor(x)}, must have axes for samples and classes")
    wide = cast(x, "f64" if tensor(x).dtype == "f64" else "f32")
    drawn = node.random.classes(tri.Softmax.build(wide, axis=1).y, sample_size, seed)
    return cast(drawn, element_type(dtype))


@onnx_op("Dropout", since=12)
def dropout(
    x: Value,
    ratio: Value | None = None,
    training_mode: Value | None = None,
    *,
    seed: int | None = None,
    node: Node,
) -> tuple[Value, Value | Array | Op]:
    """Drop elements in training, and scale the others; outside of it, the ratio is 0."""
    dropped = np.array(0.5) if ratio is None else constant_of(ratio)
    drops = None if training_mode is None else node.evaluate(training_mode)
    never = training_mode is None or (drops is not None and not drops.any())
    if never or (dropped is not None and not dropped.any()):
        return x, filled(tensor(x).shape, np.ones((), np.bool_))
    wide = "f64" if tensor(x).dtype == "f64" else "f32"
    part = constant(np.array(0.5, numpy_dtype(wide))) if ratio is None else cast(ratio, wide)
    if training_mode is not None and drops is None:
        part = tri.Where.build(training_mode, part, constant(np.zeros((), numpy_dtype(wide)))).y
    drawn = node.random.uniform(tensor(x).shape, wide, None if seed is None else float(seed))
    kept = tri.GreaterEqual.build(drawn, part).y
    rest = tri.Sub.build(constant(np.array(1, numpy_dtype(wide))), part).y
    scaled = cast(tri.Div.build(cast(x, wide), rest).y, tensor(x).dtype)
    nothing = constant(np.zeros((), numpy_dtype(tensor(x).dtype)))
    return tri.Where.build(kept, scaled, nothing).y, kept
