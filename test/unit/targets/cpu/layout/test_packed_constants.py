"""Packed constants equal the packed values of what they are computed from, and stay as small."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from trivium.dialects import cpu, tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.interpret import ConstantEvaluator
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array
from trivium.dialects.cpu.packing import join_parts, pack_columns
from trivium.passes.rewriting import NoMatch, Rewriter
from trivium.targets.cpu.layout.packed_constants import joined_constant, packed_constant

RANDOM = np.random.default_rng(0)
Build = Callable[[Module], ir.Value]


def whole(*shape: int) -> Array:
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def scales(*shape: int) -> Array:
    return RANDOM.uniform(0.5, 2, shape).astype(np.float32)


class Weights:
    """Build weights of a function whose last op stands for the one that reads them."""

    def __init__(self) -> None:
        with ir.Location.unknown():
            self.module = Module(ir.Module.parse("func.func @main() { return }"))
            self.point = ir.InsertionPoint(self.module.main.regions[0].blocks[0].operations[0])
        self.stored = 0

    def constant(self, array: Array) -> ir.Value:
        self.stored += array.nbytes
        with self.point, ir.Location.unknown():
            return tri.build_constant(self.module, array, "w").results[0]

    def build(self, cls: type[tri.TriOp], *operands: ir.Value, **attributes: object) -> ir.Value:
        with self.point, ir.Location.unknown():
            return cls.build(*operands, **attributes).results[0]

    def scaled(self, q: Array, scale: Array, zero: Array | None = None) -> ir.Value:
        value = self.constant(q)
        if zero is not None:
            wide = self.build(tri.Cast, value, to="i32")
            value = self.build(tri.Sub, wide, self.constant(zero))
        return self.build(tri.Mul, self.build(tri.Cast, value, to="f32"), self.constant(scale))


def check(weights: Weights, value: ir.Value, split: Callable[[Array], list[Array]]) -> None:
    """Check that parts equal those of the evaluated weight, bit by bit, and take no more bytes."""
    rewriter = Rewriter(weights.module)
    reader = [op for op in ops(weights.module.operation)][-1]
    before = {hash(op) for op in ops(weights.module.operation)}
    wanted = join_parts(split(rewriter.constant(value)))
    made = joined_constant(reader, value, split, rewriter)
    np.testing.assert_array_equal(ConstantEvaluator(weights.module.weights)(made), wanted)
    added = [op for op in ops(weights.module.operation) if hash(op) not in before]
    constants = [op for op in added if isinstance(op, (tri.Constant, tri.Weight))]
    stored = sum(tensor_of(op.y.type).size_bytes for op in constants)
    filled = wanted.size / math.prod(tensor_of(value.type).shape)
    assert stored <= weights.stored * filled * 1.01
    assert stored < wanted.nbytes / 1.9


LAYOUTS: dict[str, Callable[[Array], list[Array]]] = {
    "columns": lambda w: [pack_columns(w.reshape(len(w), -1).T, 16)],
    "blocks of rows": lambda w: cpu.split_kernels(w, 2, 5),
    "kernel columns": lambda w: [cpu.pack_kernel_columns(w, 16)],
    "group columns": lambda w: [cpu.pack_group_columns(w, 2, 16)],
    "lanes": lambda w: [cpu.pack_lanes(w, 8)],
    "taps in blocks": lambda w: [part[None] for part in cpu.split_taps(w, 6)],
    "taps in columns": lambda w: [cpu.tap_columns(w, 16)],
}

KERNELS = (32, 4, 3, 3)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["one scale", "scales", "zero points", "halves", "cast alone"])
def test_kernels_stay_narrow(layout: str, kind: str) -> None:
    with new_context():
        weights = Weights()
        q, each = whole(*KERNELS), (32, 1, 1, 1)
        match kind:
            case "one scale":
                value = weights.scaled(q, np.float32(0.3))
            case "scales":
                value = weights.scaled(q, scales(*each))
            case "zero points":
                value = weights.scaled(q, scales(*each), whole(*each).astype(np.int32))
            case "halves":
                halves = weights.constant(scales(*KERNELS).astype(np.float16))
                value = weights.build(tri.Cast, halves, to="f32")
            case _:
                value = weights.build(tri.Cast, weights.constant(q), to="f32")
        check(weights, value, LAYOUTS[layout])


def columns(w: Array) -> list[Array]:
    return [pack_columns(w, 16)]


@pytest.mark.parametrize("shape", [(), (1, 64), (96, 1), (64,)])
def test_matrices_stay_narrow_with_scales_along_any_axis(shape: tuple[int, ...]) -> None:
    with new_context():
        weights = Weights()
        check(weights, weights.scaled(whole(96, 64), scales(*shape)), columns)


def test_scales_of_blocks_stay_one_for_each() -> None:
    with new_context():
        weights = Weights()
        blocks = weights.scaled(whole(3, 32, 64), scales(3, 1, 64))
        check(weights, weights.build(tri.Reshape, blocks, shape=(96, 64)), columns)


def test_scales_that_are_taken_for_each_row_stay_one_for_each_block() -> None:
    with new_context():
        weights = Weights()
        rows = weights.constant(np.arange(96) // 32)
        scale = weights.build(tri.Gather, weights.constant(scales(3, 64)), rows, axis=0)
        wide = weights.build(tri.Cast, weights.constant(whole(96, 64)), to="f32")
        check(weights, weights.build(tri.Mul, wide, scale), columns)


def test_what_moves_weights_is_done_to_integers() -> None:
    with new_context():
        weights = Weights()
        value = weights.scaled(whole(130, 96), scales(130, 1))
        cut = weights.build(tri.Slice, value, starts=(2, 0), sizes=(128, 96), steps=(1, 1))
        check(weights, weights.build(tri.Transpose, cut, permutation=(1, 0)), columns)


def test_zeros_that_fill_up_stay_zeros_with_a_zero_point() -> None:
    with new_context():
        weights = Weights()
        value = weights.scaled(whole(96, 40), scales(1, 40), whole(1, 40).astype(np.int32))
        check(weights, value, columns)


@pytest.mark.parametrize("q", [whole(1, 64), whole(96, 1), np.repeat(whole(48, 64), 2, 0)])
def test_what_all_constants_repeat_is_stored_once_by_the_first(q: Array) -> None:
    with new_context():
        weights = Weights()
        value = weights.scaled(np.broadcast_to(q, (96, 64)).copy(), np.float32(0.3))
        check(weights, value, columns)


@pytest.mark.parametrize("w", [scales(1, 64), scales(1, 1), np.repeat(scales(48, 64), 2, 0)])
def test_stored_weights_that_repeat_are_packed_when_they_are_compiled(w: Array) -> None:
    with new_context():
        weights = Weights()
        w = np.broadcast_to(w, (96, 64))
        value = weights.constant(w.copy())
        rewriter = Rewriter(weights.module)
        reader = [op for op in ops(weights.module.operation)][-1]
        made = packed_constant(reader, value, lambda w: w.T, rewriter)
        assert isinstance(rewriter.find_producer(made), tri.Weight)
        np.testing.assert_array_equal(rewriter.constant(made), w.T)


def test_what_is_not_narrow_is_evaluated() -> None:
    with new_context():
        weights = Weights()
        value = weights.build(tri.Exp, weights.constant(scales(96, 64)))
        rewriter = Rewriter(weights.module)
        reader = [op for op in ops(weights.module.operation)][-1]
        made = packed_constant(reader, value, lambda w: w.T, rewriter)
        maker = rewriter.find_producer(made)
        assert isinstance(maker, tri.Weight)
        np.testing.assert_array_equal(
            weights.module.weights[maker.name], rewriter.constant(value).T
        )


def test_a_weight_that_depends_on_an_input_is_none() -> None:
    text = "func.func @main(%x: tensor<4x4xf32>) { return }"
    with new_context(), ir.Location.unknown():
        module = Module(ir.Module.parse(text))
        rewriter = Rewriter(module)
        block = module.main.regions[0].blocks[0]
        with ir.InsertionPoint(block.operations[0]):
            op = tri.Exp.build(block.arguments[0])
        with pytest.raises(NoMatch, match="operand is not a constant"):
            packed_constant(op, op.y, lambda w: w, rewriter)
