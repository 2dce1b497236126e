"""Rules of ONNX Runtime for normalisations: of sums of two branches, with gates, of groups."""

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported, need_one_of
from ......dialects.core.sizes.atoms import Size
from ......dialects.core.sizes.checks import need, need_divides, need_same, need_same_shape
from ......dialects.core.sizes.dim import floordiv
from ......dialects.core.tensor import normalize_axis
from ....core.values import cast, tensor
from ...registry import Node, Value, onnx_op
from . import DOMAIN

FLOAT = 1


@onnx_op("SimplifiedLayerNormalization", since=1)
def simplified_layer_normalization(
    x: Value,
    scale: Value,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = FLOAT,
    node: Node,
) -> tri.RmsNorm:
    """Divide by the root of the mean of squares; ONNX Runtime has it in ONNX's own domain."""
    if stash_type != FLOAT or node.wants(1):
        raise Unsupported("keeps what it divides by, must have one output")
    axis = normalize_axis(axis, tensor(x).rank)
    return tri.RmsNorm.build(x, scale, axis=axis, epsilon=epsilon)


@onnx_op("SkipLayerNormalization", since=1, domain=DOMAIN)
def skip_layer_normalization(
    x: Value,
    skip: Value,
    gamma: Value,
    beta: Value | None = None,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
    node: Node,
) -> tuple[Value | None, ...]:
    """Normalise a sum over the last axis; the last output is the sum."""
    total = _sum(x, skip, bias, node)
    made = tri.LayerNorm.build(total, gamma, beta, axis=tensor(total).rank - 1, epsilon=epsilon)
    return made.y, None, None, total


@onnx_op("SkipSimplifiedLayerNormalization", since=1, domain=DOMAIN)
def skip_simplified_layer_normalization(
    x: Value,
    skip: Value,
    gamma: Value,
    bias: Value | None = None,
    *,
    epsilon: float = 1e-12,
    node: Node,
) -> tuple[Value | None, ...]:
    """Divide a sum by the root of the mean of its squares; the last output is the sum."""
    total = _sum(x, skip, bias, node)
    made = tri.RmsNorm.build(total, gamma, axis=tensor(total).rank - 1, epsilon=epsilon)
    return made.y, None, None, total


def _sum(x: Value, skip: Value, bias: Value | None, node: Node) -> Value:
    if node.wants(1) or node.wants(2):
        raise Unsupported("puts out mean or deviation, which only training needs")
    total = tri.Add.build(x, skip).y
    return total if bias is None else tri.Add.build(total, bias).y


GATES = {"silu": tri.Silu, "swish": tri.Silu, "sigmoid": tri.Sigmoid}


@onnx_op("GatedRMSNorm", since=1, domain=DOMAIN)
def gated_rms_norm(
    x: Value, scale: Value, gate: Value, *, activation: str = "silu", epsilon: float = 1e-5
) -> Value:
    """Divide groups by the root of the mean of squares, and multiply by activated gates, in f32.

    Groups of the last axis have as many elements as `scale`.
    """
    need_one_of("activation", activation, tuple(GATES))
    whole, factors, gates = tensor(x), tensor(scale), tensor(gate)
    fault = f"has input {whole}, scale {factors} and gates {gates}, must have as many of these"
    need_same_shape(gates.shape, whole.shape, fault)
    if factors.rank != 1:
        raise Invalid(f"has scale {factors}, must have rank 1")
    size = factors.shape[0]
    y = _normalised(_grouped(x, size), scale, epsilon)
    open_gate = GATES[activation].build(cast(gate, "f32")).y
    y = tri.Mul.build(tri.Reshape.build(y, shape=whole.shape).y, open_gate).y
    return cast(y, whole.dtype)


@onnx_op("BranchwiseRMSNorm", since=1, domain=DOMAIN)
def branchwise_rms_norm(
    x: Value, scale: Value | None = None, *, epsilon: float = 1e-5, num_branches: int = 0
) -> Value:
    """Divide each branch by the root of the mean of its squares, in f32.

    `x` is [..., branches, size], or [..., branches * size] where `num_branches` is given; `scale`
    is [size], or for all branches, also in one axis.
    """
    whole = tensor(x)
    need(whole.rank, 1 if num_branches else 2, f"has input {whole}, must have an axis of branches")
    if num_branches:
        fault = f"has input {whole}, must have {num_branches} branches in its last axis"
        need_divides(whole.shape[-1], num_branches, fault)
        x = _grouped(x, floordiv(whole.shape[-1], num_branches))
    branches, size = tensor(x).shape[-2:]
    if scale is not None and tensor(scale).shape != (size,):
        wanted = f"must be for one or all of {branches} branches of {size}"
        need_same(tensor(scale).size, branches * size, f"has scale {tensor(scale)}, {wanted}")
        scale = tri.Reshape.build(scale, shape=(branches, size)).y
    y = cast(_normalised(x, scale, epsilon), whole.dtype)
    return tri.Reshape.build(y, shape=whole.shape).y


def _grouped(x: Value, size: Size) -> Value:
    """Divide the last axis in groups."""
    *outer, last = tensor(x).shape or (1,)
    need_divides(last, size, f"has input {tensor(x)}, must have groups of {size} in its last axis")
    return tri.Reshape.build(x, shape=(*outer, floordiv(last, size), size)).y


def _normalised(x: Value, scale: Value | None, epsilon: float) -> Value:
    factors = None if scale is None else cast(scale, "f32")
    return tri.RmsNorm.build(cast(x, "f32"), factors, axis=-1, epsilon=epsilon).y
