"""The meaning of branches and loops, in numpy."""

import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid, Unsupported
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array


def results(text: str, *inputs: Array) -> tuple[Array, ...]:
    with new_context():
        module = Module.parse(text)
        assert any(isinstance(op, tri.ControlOp) for op in ops(module.operation))
        return run(module, inputs)


SCAN = """
func.func @main(%s: tensor<2xf32>, %x: tensor<?x2xf32, ["T", ""]>)
    -> (tensor<2xf32>, tensor<?x2xf32, ["T", ""]>)
    attributes {trivium.inputs = ["s", "x"], trivium.symbols = {T = "0.."}} {
  %r:2 = "tri.loop"(%s, %x) ({
  ^bb0(%i: tensor<i64>, %v: tensor<2xf32>, %e: tensor<2xf32>):
    %a = "tri.add"(%v, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%a, %v) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) {iterations = "T", operandSegmentSizes = array<i32: 0, 0, 1, 1, 0>}
      : (tensor<2xf32>, tensor<?x2xf32, ["T", ""]>)
      -> (tensor<2xf32>, tensor<?x2xf32, ["T", ""]>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<?x2xf32, ["T", ""]>
}
"""


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_loop_has_as_many_iterations_as_a_size_says(count: int) -> None:
    s, x = np.float32([1, 2]), np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    last, before = results(SCAN, s, x)
    sums = s + np.concatenate([np.zeros((1, 2), np.float32), np.cumsum(x, 0)])
    np.testing.assert_array_equal(last, sums[-1])
    np.testing.assert_array_equal(before, sums[:-1])


WHILE = """
func.func @main(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = "tri.loop"(%n, %c, %x) ({
  ^bb0(%i: tensor<i64>, %v: tensor<f32>):
    %m = "tri.constant"() {value = dense<100.0> : tensor<f32>} : () -> tensor<f32>
    %a = "tri.add"(%v, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %g = "tri.less"(%a, %m) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "tri.yield"(%g, %a) : (tensor<i1>, tensor<f32>) -> ()
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
      : (tensor<i64>, tensor<i1>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
"""


@pytest.mark.parametrize(
    ("trips", "going", "expected"), [(0, 1, 3), (2, 1, 12), (9, 1, 192), (9, 0, 3), (-5, 1, 3)]
)
def test_a_loop_ends_by_its_count_or_its_condition(trips: int, going: int, expected: int) -> None:
    (y,) = results(WHILE, np.array(trips), np.array(bool(going)), np.float32(3))
    assert y == expected


BRANCH = """
func.func @main(%c: tensor<1xi1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "tri.if"(%c, %x) ({
  ^bb0(%a: tensor<2xf32>):
    %b = "tri.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%b) : (tensor<2xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    "tri.fail"() {message = "is too small"} : () -> ()
  }) : (tensor<1xi1>, tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
"""


def test_a_branch_is_taken_and_one_that_fails_says_why() -> None:
    x = np.float32([1, 2])
    np.testing.assert_array_equal(results(BRANCH, np.array([True]), x)[0], -x)
    with pytest.raises(Unsupported, match="is too small"):
        results(BRANCH, np.array([False]), x)


TWO_AXES = """
func.func @main(%c: tensor<i1>, %x: tensor<2x3xf32>, %y: tensor<4x4xf32>)
    -> tensor<?x?xf32, ["u0", "u0"]>
    attributes {trivium.inputs = ["c", "x", "y"], trivium.symbols = {u0 = "0.."}} {
  %r = "tri.if"(%c, %x, %y) ({
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x4xf32>):
    "tri.yield"(%a) : (tensor<2x3xf32>) -> ()
  }, {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<4x4xf32>):
    "tri.yield"(%b) : (tensor<4x4xf32>) -> ()
  }) {result_sizes = ["u0"]}
      : (tensor<i1>, tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<?x?xf32, ["u0", "u0"]>
  return %r : tensor<?x?xf32, ["u0", "u0"]>
}
"""


def test_two_axes_of_one_size_are_found_to_be_equal() -> None:
    x, y = np.zeros((2, 3), np.float32), np.ones((4, 4), np.float32)
    np.testing.assert_array_equal(results(TWO_AXES, np.array(False), x, y)[0], y)
    with pytest.raises(Invalid, match="finds 2 and 3 for size u0"):
        results(TWO_AXES, np.array(True), x, y)


GROWING = """
func.func @main(%n: tensor<i64>, %x: tensor<1xf32>) -> tensor<?x?xf32, ["u1", "u3"]>
    attributes {trivium.inputs = ["n", "x"],
                trivium.symbols = {u0 = "0..", u1 = "0..", u2 = "0..", u3 = "0.."}} {
  %r:2 = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<?xf32, ["u0"]>):
    %b = "tri.concat"(%h, %h) {axis = 0 : i64}
        : (tensor<?xf32, ["u0"]>, tensor<?xf32, ["u0"]>) -> tensor<?xf32, ["2*u0"]>
    "tri.yield"(%b, %h) : (tensor<?xf32, ["2*u0"]>, tensor<?xf32, ["u0"]>) -> ()
  }) {carried_sizes = ["u0"], operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>,
      result_sizes = ["u1", "u2", "u3"]}
      : (tensor<i64>, tensor<1xf32>) -> (tensor<?xf32, ["u2"]>, tensor<?x?xf32, ["u1", "u3"]>)
  return %r#1 : tensor<?x?xf32, ["u1", "u3"]>
}
"""


def test_what_a_loop_puts_out_has_one_shape() -> None:
    x = np.ones(1, np.float32)
    assert results(GROWING, np.array(1), x)[0].shape == (1, 1)
    with pytest.raises(Invalid, match=r"puts out tensors of shapes \(1,\) and \(2,\)"):
        results(GROWING, np.array(2), x)


JOINING = """
func.func @main(%n: tensor<i64>, %x: tensor<1x2xf32>) -> tensor<?x2xf32, ["u2", ""]>
    attributes {trivium.inputs = ["n", "x"],
                trivium.symbols = {u0 = "0..", u1 = "0..", u2 = "0.."}} {
  %r:2 = "tri.loop"(%n, %x) ({
  ^bb0(%i: tensor<i64>, %h: tensor<?x2xf32, ["u0", ""]>):
    %b = "tri.concat"(%h, %h) {axis = 0 : i64}
        : (tensor<?x2xf32, ["u0", ""]>, tensor<?x2xf32, ["u0", ""]>)
        -> tensor<?x2xf32, ["2*u0", ""]>
    "tri.yield"(%b, %h)
        : (tensor<?x2xf32, ["2*u0", ""]>, tensor<?x2xf32, ["u0", ""]>) -> ()
  }) {carried_sizes = ["u0"], joined = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>,
      result_sizes = ["u1", "u2"]} : (tensor<i64>, tensor<1x2xf32>)
      -> (tensor<?x2xf32, ["u1", ""]>, tensor<?x2xf32, ["u2", ""]>)
  return %r#1 : tensor<?x2xf32, ["u2", ""]>
}
"""


@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_is_joined_may_differ_in_size(count: int) -> None:
    x = np.float32([[1, 2]])
    np.testing.assert_array_equal(
        results(JOINING, np.array(count), x)[0], np.repeat(x, 2**count - 1, 0)
    )
