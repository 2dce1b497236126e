"""Sizes that data decide: found, checked and used while IR is executed."""

import numpy as np
import pytest
from trivium.dialects import tri as tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.interpret import ConstantEvaluator, run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.symbol_scope import symbols_defined, symbols_needed

ROWS = """
func.func @main(%x: tensor<?x3xf32, ["N", ""]>, %chosen: tensor<?xi1, ["N"]>)
    -> (tensor<?xf32, ["3*u0"]>, tensor<?xf32, ["2*u1"]>) attributes {
    trivium.checks = [
        {expression = "4 - u1", message = "has too many", node = "n", relation = ">="}],
    trivium.symbols = {N = "0..", u0 = "0..", u1 = "0.."}} {
  %0 = "tri.group"(%x, %chosen) ({
  ^bb0(%a: tensor<?x3xf32, ["N", ""]>, %b: tensor<?xi1, ["N"]>):
    %g = "tri.compress"(%a, %b) {axis = 0, count = "u0"}
        : (tensor<?x3xf32, ["N", ""]>, tensor<?xi1, ["N"]>) -> tensor<?x3xf32, ["u0", ""]>
    "tri.yield"(%g) : (tensor<?x3xf32, ["u0", ""]>) -> ()
  }) {target = ""} : (tensor<?x3xf32, ["N", ""]>, tensor<?xi1, ["N"]>)
      -> tensor<?x3xf32, ["u0", ""]>
  %1 = "tri.reshape"(%0) {shape = ["3*u0"]}
      : (tensor<?x3xf32, ["u0", ""]>) -> tensor<?xf32, ["3*u0"]>
  %2:4 = "tri.unique"(%1) {axis = 0, count = "u1"}
      : (tensor<?xf32, ["3*u0"]>) -> (tensor<?xf32, ["u1"]>, tensor<?xi64, ["u1"]>,
                                      tensor<?xi64, ["3*u0"]>, tensor<?xi64, ["u1"]>)
  %3 = "tri.tile"(%2#0) {repeats = array<i64: 2>}
      : (tensor<?xf32, ["u1"]>) -> tensor<?xf32, ["2*u1"]>
  return %1, %3 : tensor<?xf32, ["3*u0"]>, tensor<?xf32, ["2*u1"]>
}
"""
X = np.array([[1, 2, 1], [2, 2, 2], [0, 1, 3]], np.float32)


@pytest.mark.parametrize("chosen", [[], [0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1]])
def test_sizes_are_found_while_ir_runs(chosen):
    chosen = np.array(chosen, bool)
    x = X[: len(chosen)]
    with new_context():
        kept, repeated = run(Module.parse(ROWS), [x, chosen])
    np.testing.assert_array_equal(kept, x[chosen].reshape(-1))
    np.testing.assert_array_equal(repeated, np.tile(np.unique(x[chosen]), 2))


def test_checks_are_made_when_sizes_are_known():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with new_context():
        module = Module.parse(ROWS)
        with pytest.raises(Invalid, match="n: has too many, where u1 = 6"):
            run(module, [x, np.ones(2, bool)])
        kept, _ = run(module, [x, np.array([False, True])])
    assert kept.tolist() == [3, 4, 5]


def test_inputs_may_be_static():
    text = """
    func.func @main(%x: tensor<4xi64>) -> tensor<?xi64, ["u0"]>
        attributes {trivium.symbols = {u0 = "0.."}} {
      %0 = "tri.non_zero"(%x) {count = "u0"} : (tensor<4xi64>) -> tensor<1x?xi64, ["", "u0"]>
      %1 = "tri.reshape"(%0) {shape = ["u0"]}
          : (tensor<1x?xi64, ["", "u0"]>) -> tensor<?xi64, ["u0"]>
      return %1 : tensor<?xi64, ["u0"]>
    }"""
    with new_context():
        module = Module.parse(text)
        for x in ([0, 0, 0, 0], [0, 7, 0, 0], [1, 1, 1, 1]):
            (found,) = run(module, [np.array(x)])
            assert found.tolist() == np.flatnonzero(x).tolist()


def test_what_defines_a_size_is_not_computed_ahead():
    text = """
    func.func @main() -> tensor<1xi64> attributes {trivium.symbols = {u0 = "0.."}} {
      %x = "tri.constant"() {value = dense<[3]> : tensor<1xi64>} : () -> tensor<1xi64>
      %0 = "tri.define_sizes"(%x) {sizes = ["u0"]} : (tensor<1xi64>) -> tensor<1xi64>
      return %0 : tensor<1xi64>
    }"""
    with new_context():
        module = Module.parse(text)
        _, made = ops(module.operation)
        assert ConstantEvaluator({})(made.results[0]) is None


def test_symbols_of_groups_are_those_of_their_ops():
    with new_context():
        module = Module.parse(ROWS)
        group, compress, *_ = ops(module.operation)
        assert symbols_defined(group) == symbols_defined(compress) == {"u0"}
        assert symbols_needed(group) == symbols_needed(compress) == set()
        tile = ops(module.operation)[-1]
        assert (symbols_defined(tile), symbols_needed(tile)) == (set(), {"u1"})
