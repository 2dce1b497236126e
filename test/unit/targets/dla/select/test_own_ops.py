"""Ops and rules that one accelerator has alone: nobody else may hold them, or is asked."""

import pytest
from trivium.dialects import dla, tri
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.fields import Operand, Result
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Dialect
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.core.verification import verify
from trivium.dialects.dla.dialect import TensorOp
from trivium.passes.rewriting import NoMatch
from trivium.targets.dla.accelerator import Accelerator
from trivium.targets.dla.registry import find_instructions
from trivium.targets.dla.schedule.lower_to_buffers import LowerToBuffers
from trivium.targets.dla.select.limits import tensor_refusal
from trivium.targets.dla.select.select_dla import SelectDla
from trivium.targets.dla.select.selection import Selection

OTHER = Dialect("other_npu", target="other_npu")
TWINS = Dialect("twins")
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

    def infer(self, x: Tensor) -> Tensor:
        return x


class Untiled(Twin, dialect=TWINS):
    """Stand for an op that nobody cuts into tiles."""


@pytest.mark.parametrize("target", ["", "other_npu"])
def test_an_own_op_stands_where_its_target_runs(target: str) -> None:
    with new_context():
        verify(Module.parse(GROUP.format(target=target)).operation)


def test_an_own_op_is_refused_in_what_is_for_another_target() -> None:
    with new_context(), pytest.raises(CompileError) as caught:
        verify(Module.parse(GROUP.format(target="vanilla")).operation)
    message = "'other_npu.twin' op is of 'other_npu' alone, stands in a tri.group for 'vanilla'"
    assert message in str(caught.value)


def test_an_op_without_a_rule_for_its_tiles_is_named_with_the_phase() -> None:
    with new_context():
        text = GROUP.format(target="vanilla").replace("other_npu.twin", "twins.untiled")
        module = Module.parse(text)
        with pytest.raises(CompileError) as caught:
            LowerToBuffers().run(module)
    message = str(caught.value)
    assert "'twins.untiled' op has no rule for its tiles" in message
    assert "in phase TensorSched" in message


def test_another_accelerator_does_not_take_it() -> None:
    with new_context():
        module = Module.parse(GROUP.format(target=""))
        (twin,) = [op for op in ops(module.main) if isinstance(op, Twin)]
        refusal = tensor_refusal(twin, find_instructions("vanilla").description)
    assert refusal == "vanilla has no op other_npu.twin, which is of 'other_npu' alone"


def selected(monkeypatch: pytest.MonkeyPatch, target: Accelerator) -> list[str]:
    """Return the ops that there are after selection for an accelerator called vanilla."""
    monkeypatch.setattr("trivium.targets.dla.select.select_dla.find_target", lambda name: target)
    with new_context():
        module = Module.parse(LOOKUP)
        SelectDla().run(module)
        assert module.refusals == {"vanilla": {}}
        return [op.op_name for op in ops(module.main)]


def test_own_rules_are_asked_first_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def refuse(op: tri.Gather, selection: Selection) -> None:
        asked.append("refuse")
        raise NoMatch("is not for me")

    def take(op: tri.Gather, selection: Selection) -> None:
        asked.append("take")
        with selection.place():
            selection.replace(tri.Relu.build(op.indices), ())

    names = selected(monkeypatch, Accelerator("vanilla", {tri.Gather: (refuse, take)}))
    assert asked == ["refuse", "take"]
    assert "tri.relu" in names
    assert dla.Lookup.op_name not in names


def test_shared_rules_are_asked_where_own_ones_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(op: tri.Gather, selection: Selection) -> None:
        raise Invalid("is not for me")

    own = Accelerator("vanilla", {tri.Gather: (refuse,)})
    assert dla.Lookup.op_name in selected(monkeypatch, own)
    assert dla.Lookup.op_name in selected(monkeypatch, Accelerator("vanilla"))
