"""Groups: random graphs keep their meaning, every group is sound, nothing fusable is left."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from ir_graphs import module_of, names
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.location import node_location, node_names, value_names
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.tri.dialect import TriOp
from trivium.passes.fuse.fuse_elementwise import FuseElementwise
from trivium.passes.fuse.fuse_epilogues import FuseEpilogues
from trivium.passes.verify_values import VerifyValues, difference

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=150, database=None, phases=PHASES)
X = Tensor((3, 3), "f32")
KINDS = ["relu", "tanh", "add", "mul", "mat_mul", "softmax", "transpose", "row_sum", "number"]


def grown(choices: list[tuple[str, int, int]], *inputs: ir.Value) -> ir.Value:
    """Build one op for each choice, of values made before it, and add up the last three."""
    values = list(inputs)
    for kind, first, second in choices:
        values.append(_step(kind, values[first % len(values)], values[second % len(values)]))
    total = values[-1]
    for value in values[-3:-1]:
        total = tri.Add.build(total, value).y
    return total


def _step(kind: str, a: ir.Value, b: ir.Value) -> ir.Value:
    match kind:
        case "relu":
            return tri.Relu.build(a).y
        case "tanh":
            return tri.Tanh.build(a).y
        case "add":
            return tri.Add.build(a, b).y
        case "mul":
            return tri.Mul.build(a, b).y
        case "mat_mul":
            return tri.MatMul.build(a, tri.Tanh.build(b).y).y
        case "softmax":
            return tri.Softmax.build(a).y
        case "transpose":
            return tri.Transpose.build(a, permutation=(1, 0)).y
        case "row_sum":
            return tri.Add.build(a, tri.ReduceMean.build(b, axes=(1,)).y).y
        case _:
            number = tri.Constant.build(value=np.array(0.5, np.float32))
            return tri.Mul.build(a, number.y).y


@LAW
@given(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.integers(0, 30), st.integers(0, 30)),
        min_size=1,
        max_size=14,
    )
)
def test_groups_keep_the_meaning(choices: list[tuple[str, int, int]]) -> None:
    with new_context(), ir.Location.unknown():
        module = module_of(lambda *inputs: grown(choices, *inputs), X, X)
        random = np.random.default_rng(0)
        inputs = [random.normal(size=X.shape).astype(np.float32) for _ in range(2)]
        expected = run(module, inputs)[0]
        count = names(module)
        FuseEpilogues().run(module)
        FuseElementwise().run(module)
        module.verify()
        assert not difference(expected, run(module, inputs)[0])
        assert sorted(n for n in names(module) if n != "group") == sorted(count)
        for group in _groups(module):
            _check(group)


def _groups(module: Module) -> list[tri.Group]:
    return [op for op in ops(module.operation) if isinstance(op, tri.Group)]


def _check(group: tri.Group) -> None:
    members = [op for op in ops(group.block) if isinstance(op, TriOp)]
    working = [op for op in members if not isinstance(op, (tri.Constant, tri.Yield))]
    assert len(working) > 1
    assert len([op for op in working if not op.elementwise]) <= 1
    assert all(op.elementwise for op in working[1:])
    shapes = {str(op.results[0].type) for op in working}
    assert len(shapes) == 1
    assert all(argument.uses for argument in group.block.arguments)


@pytest.mark.usefixtures("context")
def test_group_is_named_after_all_its_ops_and_has_the_value_of_the_last() -> None:
    def build(x: ir.Value) -> ir.Value:
        product = tri.MatMul.build(x, x, loc=node_location("MatMul_1", ["product"]))
        return tri.Relu.build(product.y, loc=node_location("Relu_2", ["result"])).y

    module = module_of(build, X)
    FuseEpilogues().run(module)
    (group,) = _groups(module)
    assert node_names(group.location) == ("MatMul_1", "Relu_2")
    assert value_names(group.location) == ("result",)
    first = next(op for op in ops(group.block))
    assert value_names(first.location) == ("product",)
    VerifyValues().run(module)


@pytest.mark.usefixtures("context")
def test_groups_are_not_grouped_again() -> None:
    module = module_of(lambda x: tri.Relu.build(tri.Tanh.build(x).y).y, X)
    for _ in range(2):
        FuseElementwise().run(module)
        FuseEpilogues().run(module)
        assert names(module) == ["group", "tanh", "relu"]


@pytest.mark.usefixtures("context")
def test_copies_of_a_number_do_not_claim_its_value() -> None:
    def build(x: ir.Value) -> ir.Value:
        place = node_location("Constant_0", ["half"])
        half = tri.Constant.build(value=np.array(0.5, np.float32), loc=place).y
        first = tri.Mul.build(tri.Tanh.build(x).y, half)
        product = tri.MatMul.build(first.y, x)
        return tri.Mul.build(tri.Tanh.build(product.y).y, half).y

    module = module_of(build, X)
    FuseEpilogues().run(module)
    FuseElementwise().run(module)
    assert len(_groups(module)) == 2
    VerifyValues().run(module)


def test_no_op_is_both_elementwise_and_an_anchor() -> None:
    kinds = [(op.elementwise, op.anchor) for op in tri.TRI.ops.values() if issubclass(op, TriOp)]
    assert (True, True) not in kinds
    assert {(True, False), (False, True), (False, False)} == set(kinds)


@pytest.mark.parametrize("op", [tri.Softmax, tri.ReduceSum, tri.Attention, tri.MaxPool, tri.Conv])
def test_heavy_ops_are_anchors(op: type[TriOp]) -> None:
    assert op.anchor


@pytest.mark.parametrize("op", [tri.Add, tri.Less, tri.Relu, tri.Prelu, tri.Where, tri.Cast])
def test_ops_on_elements_are_elementwise(op: type[TriOp]) -> None:
    assert op.elementwise
