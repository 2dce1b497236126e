"""The rewriter keeps value identity: who claims which source value after a rewrite."""

import pytest
from ir_graphs import module_of, names
from trivium.dialects import tri
from trivium.dialects.core.location import node_location, node_names, value_names
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Tensor
from trivium.passes.rewriting import LOGS, Log, NoMatch, Pattern, Rewriter, in_order, rewrite

pytestmark = pytest.mark.usefixtures("context")
X = Tensor((2, 3), "f32")


def chain() -> Module:
    """exp, then two equal relus of it, then their sum."""

    def build(x: ir.Value) -> ir.Value:
        e = tri.Exp.build(x, loc=node_location("Exp_0", ["e"]))
        a = tri.Relu.build(e.y, loc=node_location("Relu_1", ["a"]))
        b = tri.Relu.build(e.y, loc=node_location("Relu_2", ["b"]))
        return tri.Add.build(a.y, b.y, loc=node_location("Add_3", ["sum"])).y

    return module_of(build, X)


def claims(module: Module) -> dict[str, tuple[str, ...]]:
    return {op.op_name: value_names(op.location) for op in ops(module.operation)}


class FuseExp(Pattern):
    """relu(exp(x)) => sqrt(neg(x)), which is wrong, and does not matter."""

    root = tri.Relu

    def rewrite(self, op: tri.Relu, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Exp)
        with rewriter.before(op):
            new = tri.Sqrt.build(tri.Neg.build(inner.x).y)
        rewriter.replace(op, new, inner)


def test_new_op_stands_for_all_nodes_and_has_the_value_of_the_last() -> None:
    module = chain()
    assert rewrite(module, FuseExp())
    assert names(module) == ["neg", "sqrt", "neg", "sqrt", "add"]
    first = next(op for op in ops(module.operation) if isinstance(op, tri.Sqrt))
    assert node_names(first.location) == ("Exp_0", "Relu_1")
    assert value_names(first.location) == ("a",)


def test_helper_op_stands_for_the_node_and_for_none_of_its_values() -> None:
    module = chain()
    rewrite(module, FuseExp())
    helper = next(op for op in ops(module.operation) if isinstance(op, tri.Neg))
    assert node_names(helper.location) == ("Relu_1",)
    assert value_names(helper.location) == ()


class DropRelu(Pattern):
    """relu(x) => x."""

    root = tri.Relu

    def rewrite(self, op: tri.Relu, rewriter: Rewriter) -> None:
        rewriter.replace(op, [op.x])


def test_value_with_a_name_keeps_it() -> None:
    module = chain()
    rewrite(module, DropRelu())
    assert claims(module) == {"tri.exp": ("e",), "tri.add": ("sum",)}


def test_value_without_a_name_takes_over_that_of_an_equal_one() -> None:
    module = chain()
    rewrite(module, FuseExp())
    helper = next(op for op in ops(module.operation) if isinstance(op, tri.Neg))
    rewriter = Rewriter(module)
    user = next(op for op in ops(module.operation) if isinstance(op, tri.Sqrt))
    rewriter.replace(user, [helper.y])
    assert value_names(helper.location) == ("a",)
    assert node_names(helper.location) == ("Relu_1", "Exp_0")


class Never(Pattern):
    """Give a reason."""

    root = (tri.Exp, tri.Add)

    def rewrite(self, op: object, rewriter: Rewriter) -> None:
        raise NoMatch("not today")


def test_reasons_are_logged_for_the_roots_only() -> None:
    log = Log()
    LOGS.append(log)
    try:
        assert not rewrite(chain(), Never())
    finally:
        LOGS.remove(log)
    assert [line for _, line in log.lines] == [
        "Never: tri.exp: not today",
        "Never: tri.add: not today",
    ]


class Forever(Pattern):
    """exp(x) => exp(x)."""

    root = tri.Exp

    def rewrite(self, op: tri.Exp, rewriter: Rewriter) -> None:
        with rewriter.before(op):
            new = tri.Exp.build(op.x)
        rewriter.replace(op, new)


def test_patterns_that_never_settle_are_a_bug() -> None:
    with pytest.raises(RuntimeError, match="patterns Forever did not converge in 100 sweeps"):
        rewrite(chain(), Forever())


def test_equal_ops_are_not_one_op() -> None:
    """Handles of MLIR hash by content; patterns must tell the two relus apart nevertheless."""
    module = chain()
    relus = [op for op in ops(module.operation) if isinstance(op, tri.Relu)]
    assert in_order([relus[1], relus[0], relus[1]]) == relus


def test_known_values_are_looked_up() -> None:
    def build(x: ir.Value) -> ir.Value:
        return tri.Relu.build(x).y

    module = module_of(build, X)
    rewriter = Rewriter(module)
    (relu,) = ops(module.operation)
    assert isinstance(relu, tri.Relu)
    with pytest.raises(NoMatch, match=r"operand is made by an input, not tri\.exp"):
        rewriter.producer(relu.x, tri.Exp)
    with pytest.raises(NoMatch, match="operand is not a constant"):
        rewriter.scalar(relu.x)
    assert rewriter.find_scalar(relu.x) is None
