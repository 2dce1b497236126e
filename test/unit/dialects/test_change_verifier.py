"""Verification of the ops that changed, and the hash of ops."""

from collections.abc import Iterator

import pytest
from trivium.dialects import tri
from trivium.dialects.core import verification
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.verification import ChangeVerifier

IR = """
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.exp"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "tri.group"(%1) ({
  ^bb0(%a: tensor<2xf32>):
    %3 = "tri.neg"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %4 = "tri.abs"(%3) : (tensor<2xf32>) -> tensor<2xf32>
    "tri.yield"(%4) : (tensor<2xf32>) -> ()
  }) {target = "cpu"} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
"""


@pytest.fixture
def module() -> Iterator[Module]:
    with new_context(), ir.Location.unknown():
        yield Module.parse(IR)


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List the ops of ours that are verified."""
    names: list[str] = []
    verify = verification._verify

    def listed(op: Op) -> None:
        names.append(op.op_name)
        verify(op)

    monkeypatch.setattr(verification, "_verify", listed)
    return names


def named(module: Module, name: str) -> Op:
    return next(op for op in ops(module.operation) if op.op_name == name)


def test_nothing_is_verified_where_nothing_changed(module: Module, verified: list[str]) -> None:
    ChangeVerifier(module.operation).verify()
    assert verified == []


def test_a_new_op_and_its_users_are_verified(module: Module, verified: list[str]) -> None:
    verifier = ChangeVerifier(module.operation)
    relu, exp = named(module, "tri.relu"), named(module, "tri.exp")
    with ir.InsertionPoint(exp.operation):
        exp.operation.operands[0] = tri.Sqrt.build(relu.results[0]).y
    verifier.verify()
    assert verified == ["tri.sqrt", "tri.exp", "tri.group"]
    del verified[:]
    verifier.verify()
    assert verified == []


def test_a_group_is_verified_with_what_changed_inside(module: Module, verified: list[str]) -> None:
    verifier = ChangeVerifier(module.operation)
    named(module, "tri.abs").operation.attributes["trivium.note"] = ir.StringAttr.get("new")
    verifier.verify()
    assert verified == ["tri.abs", "tri.yield", "tri.group"]


def test_all_inside_of_a_changed_op_is_verified(module: Module, verified: list[str]) -> None:
    verifier = ChangeVerifier(module.operation)
    named(module, "tri.group").operation.attributes["target"] = ir.StringAttr.get("gpu")
    verifier.verify()
    assert verified == ["tri.neg", "tri.abs", "tri.yield", "tri.group"]


def test_a_fault_of_a_changed_op_is_found(module: Module) -> None:
    verifier = ChangeVerifier(module.operation)
    named(module, "tri.exp").operation.attributes["strange"] = ir.StringAttr.get("x")
    with pytest.raises(CompileError, match=r"'tri\.exp' op has no attribute 'strange'"):
        verifier.verify()


def test_a_type_that_changes_makes_the_users_invalid(module: Module) -> None:
    verifier = ChangeVerifier(module.operation)
    relu, exp = named(module, "tri.relu"), named(module, "tri.exp")
    other = ir.Type.parse("tensor<3xf32>")
    operand, before = relu.operation.operands[0], ir.InsertionPoint(relu.operation)
    made = ir.Operation.create("tri.relu", [other], [operand], ip=before)
    exp.operation.operands[0] = made.results[0]
    with pytest.raises(CompileError) as caught:
        verifier.verify()
    text = str(caught.value)
    assert "'tri.relu' op result is tensor<3xf32>, inferred tensor<2xf32>" in text
    assert "'tri.exp' op result is tensor<2xf32>, inferred tensor<3xf32>" in text


def test_ops_without_results_have_a_hash_each(module: Module) -> None:
    text = "\n".join(f"{IR.replace('@f', f'@f{number}')}" for number in range(20))
    ends = [op for op in ops(Module.parse(text).operation) if op.terminator]
    assert len({hash(op) for op in ends}) == len(ends) == 20
    before = hash(ends[0])
    ends[0].operation.attributes["trivium.note"] = ir.StringAttr.get("new")
    assert hash(ends[0]) == before
    assert ends[0] in {ends[0]: 1}
