"""Passes on modules whose weights have data: folding, merging and forgetting them."""

import numpy as np
import pytest
from ir_graphs import module_of, names
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.location import node_location, value_names
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import ops
from trivium.dialects.core.tensor import Array, Tensor, numpy_dtype
from trivium.passes.cse import Cse
from trivium.passes.eliminate import Eliminate
from trivium.passes.fold.fold_constants import FoldConstants
from trivium.passes.fold.unflatten_gemm import UnflattenGemm

pytestmark = pytest.mark.usefixtures("context")
X = Tensor((2, 20), "f32")
W = np.arange(600, dtype=np.float32).reshape(30, 20)


def weight(name: str, array: Array) -> ir.Value:
    location = node_location(name, [name])
    return tri.Weight.build(name=name, type=Tensor.of(array), loc=location).y


def test_transposed_weight_becomes_a_weight_named_after_its_value() -> None:
    def build(x: ir.Value) -> ir.Value:
        place = node_location("Transpose_3", ["w_transposed"])
        turned = tri.Transpose.build(weight("w", W), permutation=(1, 0), loc=place)
        return tri.MatMul.build(x, turned.y).y

    module = module_of(build, X)
    module.weights["w"] = W
    FoldConstants().run(module)
    assert names(module) == ["mat_mul"]
    assert module.weights["w"] is W
    np.testing.assert_array_equal(module.weights["w_transposed"], W.T)
    made = [op for op in ops(module.operation) if isinstance(op, tri.Weight)]
    assert [value_names(op.location) for op in made] == [("w",), ("w_transposed",)]
    Eliminate().run(module)
    assert list(module.weights) == ["w_transposed"]


def test_chain_on_a_weight_leaves_no_weight_in_the_middle() -> None:
    def build(x: ir.Value) -> ir.Value:
        wide = tri.Cast.build(weight("w", W.astype(np.float16)), to="f32")
        turned = tri.Transpose.build(wide.y, permutation=(1, 0))
        return tri.MatMul.build(x, turned.y).y

    module = module_of(build, X)
    module.weights["w"] = W.astype(np.float16)
    FoldConstants().run(module)
    assert len(module.weights) == 2
    module.verify()


def test_small_result_is_written_in_the_ir() -> None:
    def build(x: ir.Value) -> ir.Value:
        return tri.Add.build(x, tri.ReduceMean.build(weight("w", W), axes=(0,)).y).y

    module = module_of(build, X)
    module.weights["w"] = W
    FoldConstants().run(module)
    Eliminate().run(module)
    assert names(module) == ["add"]
    assert module.weights == {}


def test_equal_weights_are_one() -> None:
    def build(x: ir.Value) -> ir.Value:
        a = tri.MatMul.build(x, weight("a", W.T))
        b = tri.MatMul.build(x, weight("b", W.T))
        return tri.Add.build(a.y, b.y).y

    module = module_of(build, X)
    module.weights.update(a=W.T.copy(), b=W.T.copy())
    Cse().run(module)
    Eliminate().run(module)
    assert names(module) == ["mat_mul", "add"]
    assert list(module.weights) == ["a"]


@pytest.mark.parametrize("place", [(0, 0), (19, 29), (7, 3)])
def test_weights_that_differ_in_one_number_are_two(place: tuple[int, int]) -> None:
    def build(x: ir.Value) -> ir.Value:
        a = tri.MatMul.build(x, weight("a", W.T))
        b = tri.MatMul.build(x, weight("b", W.T))
        return tri.Add.build(a.y, b.y).y

    module = module_of(build, X)
    other = W.T.copy()
    other[place] += 1
    module.weights.update(a=W.T.copy(), b=other)
    Cse().run(module)
    assert names(module) == ["mat_mul", "mat_mul", "add"]


def test_equal_nan_are_equal_and_zeros_of_two_signs_are_not() -> None:
    nan = np.full(300, np.nan, np.float32)
    zero = np.zeros(300, np.float32)

    def build(x: ir.Value) -> ir.Value:
        pairs = [tri.Add.build(weight(a, zero), weight(b, zero)).y for a, b in ("ab", "cd")]
        return tri.Concat.build([*pairs, x], axis=0).y

    module = module_of(build, Tensor((1,), "f32"))
    module.weights.update(a=nan, b=nan.copy(), c=zero, d=-zero)
    Cse().run(module)
    made = [op for op in ops(module.operation) if isinstance(op, tri.Weight)]
    assert [op.name for op in made] == ["a", "c", "d"]


def test_gemm_with_transposed_weights_is_unflattened_for_good() -> None:
    def build(x: ir.Value) -> ir.Value:
        product = tri.Gemm.build(x, weight("w", W), trans_b=True)
        return tri.Reshape.build(product.y, shape=(1, 2, 30)).y

    module = module_of(build, X)
    module.weights["w"] = W
    x = np.ones((2, 20), np.float32)
    expected = run(module, [x])[0]
    for step in (UnflattenGemm(), FoldConstants(), Eliminate()):
        step.run(module)
    assert names(module) == ["reshape", "mat_mul"]
    np.testing.assert_array_equal(run(module, [x])[0], expected)


@pytest.mark.parametrize(("narrow", "folds"), [((), True), (("f8E4M3FN",), False)])
def test_narrow_weights_stay_where_they_are_multiplied_as_they_are(
    narrow: tuple[str, ...], folds: bool
) -> None:
    stored = W.astype(numpy_dtype("f8E4M3FN"))

    def build(x: ir.Value) -> ir.Value:
        return tri.MatMul.build(x, tri.Cast.build(weight("w", stored), to="f32").y).y

    module = module_of(build, Tensor((2, 30), "f32"))
    module.weights["w"] = stored
    FoldConstants(size_budget=0, growth=4, narrow=narrow).run(module)
    assert names(module) == (["mat_mul"] if folds else ["cast", "mat_mul"])
