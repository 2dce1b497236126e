"""An op runs on the device of its part, which has its operands; all else is refused."""

import pytest
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.targets.memory.values import memory_of
from trivium.targets.options import CompileOptions
from trivium.targets.placement.verify_placed import verify_placed
from trivium.targets.registry import choose_targets

TARGETS = "gpu:sm_90,cpu"

MODEL = """
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = "tri.relu"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1, %i = "tri.cholesky"(%0) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  %2 = "tri.mat_mul"(%1, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
"""
"""A GPU has no kernel for the op in the middle."""


def placed() -> tuple[Module, list[tri.Group]]:
    module = Module.parse(MODEL)
    pipeline_for(TARGETS, 2, CompileOptions(target=TARGETS)).run(module)
    return module, [op for op in ops(module.operation) if isinstance(op, tri.Group)]


def test_every_op_is_on_the_device_that_has_its_operands() -> None:
    with new_context():
        module, groups = placed()
        targets = {target.name: target for target in choose_targets(TARGETS)}
        assert {group.target for group in groups} == {"gpu", "cpu"}
        for group in groups:
            memory = targets[group.target].memory.name
            assert {memory_of(value) for value in group.operation.operands} <= {memory, None}
        verify_placed(module, choose_targets(TARGETS))


@pytest.mark.parametrize("target", ["gpu", "cpu"])
def test_an_op_that_is_moved_to_another_device_is_refused(target: str) -> None:
    with new_context():
        module, groups = placed()
        group = next(each for each in groups if each.target == target)
        other = {"gpu": "cpu", "cpu": "gpu"}[target]
        group.operation.attributes["target"] = ir.StringAttr.get(other)
        with pytest.raises(
            CompileError, match=r"is not for|reads operand \d from '\w+', must read"
        ):
            verify_placed(module, choose_targets(TARGETS))
