"""Ops and rules that one accelerator has alone: nobody else may hold them, or is asked."""

from collections.abc import Iterator

import pytest
from trivium.dialects import dla, tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.fields import Operand, Result
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Dialect
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.core.verification import verify
from trivium.dialects.dla.dialect import TensorOp
from trivium.passes.rewriting import NoMatch
from trivium.targets.dla.limits import tensor_refusal
from trivium.targets.dla.registry import find_instructions
from trivium.targets.dla.select_dla import REFUSAL, SelectDla
from trivium.targets.dla.selection import OWN_RULES, Selection, selects

OTHER = Dialect("other_npu", target="other_npu")
GROUP = """
func.func @main(%x: tensor<1x2x2x16xi8>) -> tensor<1x2x2x16xi8> {{
  %y = "tri.group"(%x) <{{}}> ({{
  ^bb0(%a: tensor<1x2x2x16xi8>):
    %b = "other_npu.twin"(%a) : (tensor<1x2x2x16xi8>) -> tensor<1x2x2x16xi8>
    "tri.yield"(%b) : (tensor<1x2x2x16xi8>) -> ()
  }}) {{target = "{target}"}} : (tensor<1x2x2x16xi8>) -> tensor<1x2x2x16xi8>
  return %y : tensor<1x2x2x16xi8>
}}
"""
LOOKUP = """
func.func @main(%x: tensor<1x16x2x2xi8>) -> tensor<1x16x2x2xi8> {
  %t = "tri.constant"() {value = dense<3> : tensor<256xi8>} : () -> tensor<256xi8>
  %y = "tri.gather"(%t, %x) : (tensor<256xi8>, tensor<1x16x2x2xi8>) -> tensor<1x16x2x2xi8>
  return %y : tensor<1x16x2x2xi8>
}
"""


class Twin(TensorOp, dialect=OTHER):
    """Stand for an op that another accelerator has."""

    x: Operand
    y: Result

    @staticmethod
    def infer(x: Tensor) -> Tensor:
        return x


@pytest.mark.parametrize("target", ["", "other_npu"])
def test_an_own_op_stands_where_its_target_runs(target: str) -> None:
    with new_context():
        verify(Module.parse(GROUP.format(target=target)).operation)


def test_an_own_op_is_refused_in_what_is_for_another_target() -> None:
    with new_context(), pytest.raises(CompileError) as caught:
        verify(Module.parse(GROUP.format(target="vanilla")).operation)
    message = "'other_npu.twin' op is of 'other_npu' alone, stands in a tri.group for 'vanilla'"
    assert message in str(caught.value)


def test_another_accelerator_does_not_take_it() -> None:
    with new_context():
        module = Module.parse(GROUP.format(target=""))
        (twin,) = [op for op in ops(module.main) if isinstance(op, Twin)]
        refusal = tensor_refusal(twin, find_instructions("vanilla").description)
    assert refusal == "vanilla has no op other_npu.twin, which is of 'other_npu' alone"


@pytest.fixture
def own_rules() -> Iterator[None]:
    """Forget the rules that a test adds."""
    before = {name: [*rules] for name, rules in OWN_RULES.items()}
    yield
    OWN_RULES.clear()
    OWN_RULES.update(before)


def selected() -> list[str]:
    with new_context():
        module = Module.parse(LOOKUP)
        SelectDla("vanilla").run(module)
        assert not any(REFUSAL in op.operation.attributes for op in ops(module.main))
        return [op.op_name for op in ops(module.main)]


@pytest.mark.usefixtures("own_rules")
def test_rules_of_others_are_not_asked() -> None:
    @selects(tri.Gather, target="other_npu")
    def refuse(op: tri.Gather, selection: Selection) -> None:
        raise AssertionError(op.op_name + selection.description.name)

    assert dla.Lookup.op_name in selected()


@pytest.mark.usefixtures("own_rules")
def test_own_rules_come_first_and_may_refuse() -> None:
    asked: list[str] = []

    @selects(tri.Gather, target="vanilla")
    def refuse(op: tri.Gather, selection: Selection) -> None:
        asked.append(op.op_name)
        raise NoMatch("is not for me")

    assert dla.Lookup.op_name in selected()
    assert asked == ["tri.gather"]
