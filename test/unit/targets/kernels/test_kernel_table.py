"""Lowerings by kind, and which of them the CPU and the GPU share."""

import pytest
from trivium.dialects import tri
from trivium.targets.cpu import TARGET as CPU
from trivium.targets.gpu import TARGET as GPU
from trivium.targets.kernels.kernel_table import KernelTable
from trivium.targets.kernels.lower.shared import ARITHMETIC, FORMULAS


def test_a_table_keeps_the_kind_of_each_lowering() -> None:
    table = KernelTable("toy")
    table.elementwise(tri.Exp)(lambda op, x: x)
    table.indexed(tri.Transpose)(lambda op, x: x)
    table.template(tri.MatMul)(lambda op, kernel, a, b, y: None)
    kinds = {op.op_name: lowering.kind for op, lowering in table.lowerings.items()}
    assert kinds == {
        "tri.exp": "elementwise",
        "tri.transpose": "indexed",
        "tri.mat_mul": "template",
    }


def test_an_op_has_one_lowering_per_target() -> None:
    table = KernelTable("toy")
    table.elementwise(tri.Exp)(lambda op, x: x)
    with pytest.raises(TypeError, match=r"target toy lowers tri\.exp twice"):
        table.indexed(tri.Exp)(lambda op, x: x)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in ARITHMETIC])
def test_lowerings_by_operators_are_the_same_function_on_all_targets(op: type) -> None:
    assert CPU.lowerings[op].function is GPU.lowerings[op].function


def test_lowerings_by_elementary_functions_are_on_all_targets() -> None:
    assert set(FORMULAS) <= set(CPU.lowerings) & set(GPU.lowerings)
