"""The debug verifier: it passes the default pipeline, and finds passes that break values."""

from dataclasses import dataclass

import numpy as np
import pytest
from ir_graphs import module_of
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.location import node_location
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Tensor
from trivium.passes.core import PASSES, Pass
from trivium.passes.default import default_pipeline, grouping_pipeline
from trivium.passes.verify_values import (
    ValuesDiffer,
    VerifyValues,
    check_values,
    difference,
    record_values,
    run_checked,
)

pytestmark = pytest.mark.usefixtures("context")
X = Tensor((2, 3), "f32")


def module() -> Module:
    def build(x: ir.Value) -> ir.Value:
        product = tri.MatMul.build(
            x,
            tri.Constant.build(value=np.eye(3, dtype=np.float32)).y,
            loc=node_location("MatMul_0", ["product"]),
        )
        relu = tri.Relu.build(product.y, loc=node_location("Relu_1", ["positive"]))
        return tri.Exp.build(relu.y, loc=node_location("Exp_2", ["result"])).y

    return module_of(build, X)


INPUT = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)


class TestDropRelu(Pass):
    """Replace relu by its operand: wrong."""

    __test__ = False

    def run(self, module: Module) -> None:
        for op in ops(module.operation):
            if isinstance(op, tri.Relu):
                op.y.replace_all_uses_with(op.x)
                op.operation.erase()


class TestSwapNames(Pass):
    """Let the relu claim the value of the product: right numbers, wrong names."""

    __test__ = False

    def run(self, module: Module) -> None:
        product, relu = (
            op for op in ops(module.operation) if isinstance(op, (tri.MatMul, tri.Relu))
        )
        product.operation.location = node_location("MatMul_0")
        relu.operation.location = node_location("Relu_1", ["product"])


class TestClaimTwice(Pass):
    """Let the relu claim the value of the product, which the product claims, too."""

    __test__ = False

    def run(self, module: Module) -> None:
        for op in ops(module.operation):
            if isinstance(op, tri.Relu):
                op.operation.location = node_location("Relu_1", ["product"])


for _test_pass in (TestDropRelu, TestSwapNames, TestClaimTwice):
    del PASSES[_test_pass.name]


def test_default_pipeline_keeps_values() -> None:
    run_checked(module(), (*default_pipeline(2), *grouping_pipeline(2)), [INPUT])


def test_values_are_recorded_by_name() -> None:
    values = record_values(module(), [INPUT])
    assert set(values) == {"product", "positive", "result", "output 'o0'"}
    np.testing.assert_array_equal(values["positive"], np.maximum(INPUT, 0))


def test_pass_that_changes_a_value_is_named() -> None:
    passes = [*default_pipeline(1), TestDropRelu()]
    with pytest.raises(ValuesDiffer, match=r"after test-drop-relu: value result is off by"):
        run_checked(module(), passes, [INPUT])


def test_pass_that_names_another_value_is_named() -> None:
    with pytest.raises(ValuesDiffer, match=r"after test-swap-names: value product is off by"):
        run_checked(module(), [TestSwapNames()], [INPUT])


def test_value_claimed_twice_is_refused() -> None:
    message = r"Relu_1: error: 'tri.relu' op claims value 'product', as 'tri.mat_mul' does"
    with pytest.raises(CompileError, match=message):
        run_checked(module(), [TestClaimTwice()], [INPUT])


def test_value_of_another_type_differs() -> None:
    expected = {"product": np.zeros((3, 2), np.float32)}
    with pytest.raises(
        ValuesDiffer, match=r"value product is float32\(2, 3\), was float32\(3, 2\)"
    ):
        check_values(expected, module(), [INPUT])


def test_outputs_that_the_source_does_not_name_are_nobodys() -> None:
    def build(x: ir.Value) -> ir.Value:
        parts = [
            tri.Split.build(x, axis=1, sizes=(1, 2), loc=node_location(name, [f"{name}_first", ""]))
            for name in ("Split_0", "Split_1")
        ]
        return tri.Concat.build([part.ys[1] for part in parts], axis=1).y

    checked = module_of(build, X)
    VerifyValues().run(checked)
    assert set(record_values(checked, [INPUT])) == {"Split_0_first", "Split_1_first", "output 'o0'"}


def test_verifying_changes_nothing() -> None:
    checked = module()
    before = str(checked)
    VerifyValues().run(checked)
    assert str(checked) == before


@dataclass(frozen=True)
class Case:
    """Two arrays, and whether the second one passes for the first."""

    a: list[float]
    b: list[float]
    dtype: str
    same: bool


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "case",
    [
        Case([1, 1000], [1, 1000.1], "float32", True),
        Case([1, 1000], [1.1, 1000], "float32", True),  # small beside the largest number
        Case([1, 1000], [1, 1001], "float32", False),
        Case([1, 1000], [1, 1001], "float16", True),
        Case([1, 1000], [1, 1000.1], "float64", False),
        Case([0, 1], [0, 2], "int64", False),
        Case([NAN, INF, 1], [NAN, INF, 1], "float32", True),
        Case([NAN, 1], [0, 1], "float32", False),
        Case([INF, 1], [-INF, 1], "float32", False),
        Case([0, 0], [0, 1e-30], "float32", False),
        Case([], [], "float32", True),
    ],
    ids=str,
)
def test_difference(case: Case) -> None:
    a, b = (np.array(x, case.dtype) for x in (case.a, case.b))
    assert (difference(a, b) == "") == case.same
