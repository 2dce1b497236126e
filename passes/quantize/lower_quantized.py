"""Compute with the integers of quantised numbers, without any float in between."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.quantized import QuantizedType
from ...dialects.core.tensor import Array, Shape
from ...dialects.tri.image.window import Window
from ..building import add, mul, transpose
from ..constants import hint
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite
from .quantized_site import Quantity, Site, site_of
from .quantized_table import look_up


class LowerQuantized(Pass):
    """Replace an op between dequantised and quantised numbers by one on integers.

    Sums of products are of i32, biases have their scale; `tri.requantize` converts them to the
    scale of the result, by a multiplier of `bits` bits and a shift that rounds as `rounding` says.
    Activations that limit the result become its bounds. Results differ by one at most from those
    of floats. Other elementwise functions of one byte become a table of their results. What is not
    constant, sums that may overflow, and ops without a rule stay.

        tri.quantize (tri.relu (tri.conv (tri.dequantize %x), (tri.dequantize %w), %b)) to q
            =>   tri.requantize (tri.conv (%x - zero : i32), (%w : i32), %b / (sx * sw))
        tri.quantize (tri.sigmoid (tri.dequantize %x)) to q   =>   tri.gather %table, %x
    """

    rounding: str = "half_away"
    bits: int = 31

    def run(self, module: Module) -> None:
        rewrite(module, _Lower(self.rounding, self.bits))


Rule = Callable[[Any, Site], ir.Value]
RULES: dict[type[Op], Rule] = {}


def _lowers(*classes: type[Op]) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(classes, rule))
        return rule

    return register


class _Lower(Pattern):
    root = tri.Quantize

    def __init__(self, rounding: str, bits: int) -> None:
        self.rounding, self.bits = rounding, bits

    def rewrite(self, op: tri.Quantize, rewriter: Rewriter) -> None:
        try:
            self._compute(op, rewriter)
        except NoMatch as reason:
            try:
                look_up(op, rewriter)
            except NoMatch as other:
                raise NoMatch(f"{reason}; and {other}") from None

    def _compute(self, op: tri.Quantize, rewriter: Rewriter) -> None:
        site = site_of(op, self.rounding, self.bits, rewriter)
        made = rewriter.find_producer(site.source)
        rule = RULES.get(type(made)) if made is not None else None
        if made is None or rule is None:
            name = made.op_name if made else "an input"
            raise NoMatch(f"has no rule for {name} on integers")
        for value in (*made.operation.operands, *op.results):
            if not tensor_of(value.type).size:
                raise NoMatch("has a tensor without elements")
        with rewriter.before(op, *site.ops):
            stored = rule(made, site)
            cast = tri.StorageCast.build(stored, to=op.to)
        rewriter.replace(op, cast, *site.ops)


@_lowers(tri.Dequantize)
def _rescale(op: tri.Dequantize, site: Site) -> ir.Value:
    return _rescaled(site.quantity(op.y), site)


def _rescaled(x: Quantity, site: Site) -> ir.Value:
    if x.kind == site.kind and not site.clamps:
        return x.stored()
    return site.requantized(x.centered(), [x.scale / site.kind.scales[0]])


@_lowers(tri.Conv, tri.ConvTranspose)
def _conv(op: tri.Conv | tri.ConvTranspose, site: Site) -> ir.Value:
    x, w = site.quantity(op.x), site.quantity(op.w)
    scales = _scales_along(w, int(isinstance(op, tri.ConvTranspose))) * x.scale
    channels = tensor_of(op.x.type).shape[1] // op.group
    _need_room(x, w, channels * math.prod(tensor_of(op.w.type).shape[2:]))
    site.shifts(scales / site.kind.scales[0])  # refuses, if it does, before anything is built
    bias = None if op.b is None else _bias(op.b, scales, op, site)
    total = type(op).build(x.centered(), w.centered(), bias, **op.attributes).y
    return site.requantized(total, scales / site.kind.scales[0], axis=1)


@_lowers(tri.MatMul)
def _mat_mul(op: tri.MatMul, site: Site) -> ir.Value:
    if tensor_of(op.b.type).rank != 2 or tensor_of(op.a.type).rank < 2:
        raise NoMatch("is not a product with a matrix")
    return _products(op, site.quantity(op.a), site.quantity(op.b), None, site)


@_lowers(tri.Gemm)
def _gemm(op: tri.Gemm, site: Site) -> ir.Value:
    if op.trans_a or op.alpha != 1 or op.beta != 1:
        raise NoMatch("has scales of its own, or a is transposed")
    return _products(op, site.quantity(op.a), site.quantity(op.b), op.c, site, op.trans_b)


def _products(
    op: tri.MatMul | tri.Gemm,
    a: Quantity,
    b: Quantity,
    c: ir.Value | None,
    site: Site,
    turned: bool = False,
) -> ir.Value:
    scales = _scales_along(b, 0 if turned else 1) * a.scale
    _need_room(a, b, tensor_of(op.a.type).shape[-1])
    site.shifts(scales / site.kind.scales[0])
    bias = None if c is None else _bias(c, scales, op, site)
    right = transpose(b.centered(), 1, 0) if turned else b.centered()
    total = tri.MatMul.build(a.centered(), right).y
    total = total if bias is None else add(total, bias)
    return site.requantized(total, scales / site.kind.scales[0], tensor_of(total.type).rank - 1)


@_lowers(tri.Mul)
def _mul(op: tri.Mul, site: Site) -> ir.Value:
    a, b = site.quantity(op.a), site.quantity(op.b)
    _need_room(a, b, 1)
    factors = [a.scale * b.scale / site.kind.scales[0]]
    site.shifts(factors)
    return site.requantized(mul(a.centered(), b.centered()), factors)


@_lowers(tri.Add, tri.Maximum, tri.Minimum)
def _combine(op: tri.Add | tri.Maximum | tri.Minimum, site: Site) -> ir.Value:
    """Multiply each term by an integer, so that one shift brings the sum to the result's scale."""
    terms = [site.quantity(op.a), site.quantity(op.b)]
    factors = [term.scale / site.kind.scales[0] for term in terms]
    multipliers, shift = site.common(terms, factors)
    pairs = zip(terms, multipliers, strict=True)
    a, b = [mul(term.centered(), multiplier) for term, multiplier in pairs]
    return site.shifted(type(op).build(a, b).y, [1], [shift])


@_lowers(tri.ReduceMean)
def _mean(op: tri.ReduceMean, site: Site) -> ir.Value:
    x, shape = site.quantity(op.x), tensor_of(op.x.type).shape
    count = math.prod(shape[axis] for axis in op.axes)
    if not count or x.largest * count >= 1 << 31:
        raise NoMatch(f"is of {count} elements, whose sum must fit in i32")
    factors = [x.scale / site.kind.scales[0] / count]
    site.shifts(factors)
    total = tri.ReduceSum.build(x.centered(), axes=op.axes, keepdims=op.keepdims).y
    return site.requantized(total, factors)


@_lowers(tri.AveragePool)
def _average_pool(op: tri.AveragePool, site: Site) -> ir.Value:
    """Sum windows by a convolution of ones, each channel by itself.

    Windows that have different numbers of elements are divided by what of the input is in each.
    """
    x, shape, taps = site.quantity(op.x), tensor_of(op.x.type).shape, math.prod(op.kernel)
    window = op.window
    inside, counted = (_counts(window, shape[2:], pad) for pad in (0, int(op.count_include_pad)))
    same = bool((counted == taps).all())
    if not same and (not inside.all() or not np.array_equal(inside, counted)):
        raise NoMatch("windows that have different numbers of elements count padding, too")
    if x.largest * taps >= 1 << 31:
        raise NoMatch(f"is of {taps} elements, whose sum must fit in i32")
    factor = x.scale / site.kind.scales[0]
    site.shifts([factor / taps])
    ones = tri.Constant.build(value=np.ones((shape[1], 1, *op.kernel), np.int32)).y
    total = tri.Conv.build(
        x.centered(),
        ones,
        None,
        strides=op.strides,
        pads=window.reaching(shape[2:]),
        dilations=op.dilations,
        group=shape[1],
    ).y
    if same:
        return site.requantized(total, [factor / taps])
    return site.mean(total, inside, factor, x.largest * taps)


def _counts(window: Window, sizes: Shape, padding: int) -> Array:
    """Count what each window has of an input, and of its padding where that counts."""
    seen = window.slide(np.ones(sizes, np.int32), padding, overhang=0)
    return np.sum(list(seen), axis=0)


@_lowers(tri.Concat)
def _concat(op: tri.Concat, site: Site) -> ir.Value:
    parts = [site.quantity(x) for x in op.xs]
    for part in parts:
        site.shifts([part.scale / site.kind.scales[0]])
    return tri.Concat.build([_rescaled(part, site) for part in parts], axis=op.axis).y


@_lowers(tri.MaxPool, tri.Reshape, tri.Transpose, tri.Slice, tri.Resize)
def _move(op: tri.MaxPool | tri.Resize, site: Site) -> ir.Value:
    x = site.quantity(op.x)
    if isinstance(op, tri.Resize) and _interpolates(op):
        raise NoMatch(f"resizes by mode '{op.mode}', must be nearest")
    site.shifts([x.scale / site.kind.scales[0]])
    moved = type(op).build(x.stored(), **op.attributes).y
    kind = QuantizedType.parse(tensor_of(x.value.type).dtype)
    again = tri.StorageCast.build(moved, to=str(kind)).y
    return _rescaled(Quantity(again, kind), site)


def _interpolates(op: tri.Resize) -> bool:
    return op.mode != "nearest" or op.coordinate_transform == "tf_crop_and_resize"


def _scales_along(w: Quantity, axis: int) -> Array:
    """Return the scales of weights, which may be one for each index of one axis alone."""
    if w.kind.axis not in (None, axis):
        raise NoMatch(f"weights have scales along axis {w.kind.axis}, must be {axis}")
    return np.array(w.kind.scales)


def _need_room(a: Quantity, b: Quantity, depth: int) -> None:
    most = a.largest * b.largest * max(depth, 1)
    if most >= 1 << 31:
        raise NoMatch(f"sums of {depth} products may be up to {most}, must fit in i32")


def _bias(value: ir.Value, scales: Array, op: Op, site: Site) -> ir.Value:
    """Build a bias as integers of the scale of the products."""
    array = site.rewriter.constants(value)
    if array is None or array.ndim > 1:
        raise NoMatch("bias is not a constant vector")
    whole = np.rint(array.astype(np.float64) / scales)
    whole = np.clip(whole, -(1 << 31), (1 << 31) - 1).astype(np.int32)
    module = site.rewriter.module
    return tri.build_constant(module, whole, f"{hint(op)}.bias").results[0]
