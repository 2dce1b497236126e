"""Bounds on what passes build: long chains and many operands must not make huge IR or kernels."""

import numpy as np
import pytest
from ir_graphs import module_of
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Tensor
from trivium.passes.fold import fold_slices
from trivium.passes.fold.fold_constants import FoldConstants
from trivium.passes.fold.fold_slices import FoldSlices
from trivium.passes.fuse import fuse_elementwise
from trivium.passes.fuse.fuse_elementwise import FuseElementwise
from trivium.targets.cpu import TARGET
from trivium.targets.host import TARGET as HOST

pytestmark = pytest.mark.usefixtures("context")
X = Tensor((3,), "f32")


def _found(module: Module, kind: type[tri.TriOp]) -> list[tri.TriOp]:
    return [op for op in ops(module.operation) if isinstance(op, kind)]


def test_a_long_chain_becomes_groups_of_bounded_size() -> None:
    count = fuse_elementwise.MOST_MEMBERS + 100

    def build(x: ir.Value) -> ir.Value:
        for _ in range(count):
            x = tri.Relu.build(x).y
        return x

    module = module_of(build, X)
    FuseElementwise().run(module)
    sizes = [len(_found_in(group)) for group in _found(module, tri.Group)]
    assert sum(sizes) == count
    assert max(sizes) == fuse_elementwise.MOST_MEMBERS


def _found_in(group: tri.TriOp) -> list[object]:
    assert isinstance(group, tri.Group)
    return [op for op in ops(group.block) if isinstance(op, tri.Relu)]


def test_merged_concatenations_have_a_bounded_number_of_operands() -> None:
    def build(x: ir.Value) -> ir.Value:
        for _ in range(12):
            x = tri.Concat.build([x, x], axis=0).y
        return x

    module = module_of(build, X)
    x = np.arange(3, dtype=np.float32)
    FoldSlices().run(module)
    counts = [len(op.operation.operands) for op in _found(module, tri.Concat)]
    assert max(counts) <= fold_slices.MOST_PIECES
    np.testing.assert_array_equal(run(module, [x])[0], np.tile(x, 1 << 12))


def test_a_chain_that_doubles_a_constant_is_not_folded_without_bound() -> None:
    def build(x: ir.Value) -> ir.Value:
        grown = tri.Constant.build(value=np.ones(256, np.float32)).y
        for _ in range(30):
            grown = tri.Concat.build([grown, grown], axis=0).y
        return tri.Add.build(x, tri.ReduceMax.build(grown, axes=(0,), keepdims=True).y).y

    module = module_of(build, X)
    FoldConstants().run(module)
    assert sum(array.nbytes for array in module.weights.values()) < 1 << 20
    assert len(_found(module, tri.Concat)) > 5


def test_kernels_have_a_bounded_number_of_operands() -> None:
    module = module_of(lambda x: tri.Concat.build([x] * 300, axis=0).y, X)
    (concat,) = _found(module, tri.Concat)
    assert TARGET.refusal(concat) == "cpu takes ops of at most 256 operands and results"
    assert HOST.refusal(concat) is None
