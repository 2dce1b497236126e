"""Lowerings by kind, and which of them the CPU and the GPU share."""

import numpy as np
import pytest
from groups import Case, build_group, op_of, release
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import numpy_dtype
from trivium.targets.core import Target
from trivium.targets.cpu import TARGET as CPU
from trivium.targets.element_types import COMPUTES, ElementTypes
from trivium.targets.gpu import TARGET as GPU
from trivium.targets.kernels.kernel_table import KernelTable
from trivium.targets.kernels.lower.shared import ARITHMETIC, FORMULAS


def test_a_table_keeps_the_kind_of_each_lowering() -> None:
    table = KernelTable("toy", COMPUTES)
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
    table = KernelTable("toy", COMPUTES)
    table.elementwise(tri.Exp)(lambda op, x: x)
    with pytest.raises(TypeError, match=r"target toy lowers tri\.exp twice"):
        table.indexed(tri.Exp)(lambda op, x: x)


def test_a_lowering_without_types_is_an_error() -> None:
    table = KernelTable("toy")
    with pytest.raises(TypeError, match=r"target toy declares no types for tri\.exp"):
        table.elementwise(tri.Exp)(lambda op, x: x)
    table.elementwise(tri.Exp, types=ElementTypes(["f32"]))(lambda op, x: x)
    assert tri.Exp in table.lowerings


@pytest.mark.parametrize(
    ("types", "fault"),
    [
        (ElementTypes(["f32"], {"z": ["i64"]}), r"tri\.gather has no 'z', it has 'x', 'indices'"),
        (ElementTypes(["f33"]), r"tri\.gather declares 'f33', which is no element type"),
        (ElementTypes(["f32"], {"indices": ["i65"]}), "declares 'i65'"),
        (ElementTypes(["f32"], layouts={"z": "rows"}), r"tri\.gather has no 'z'"),
        (ElementTypes(["f32"], layouts={"x": "heap"}), "declares 'heap', which is no layout"),
    ],
)
def test_faulty_declarations_are_errors(types: ElementTypes, fault: str) -> None:
    with pytest.raises(TypeError, match=fault):
        KernelTable("toy").indexed(tri.Gather, types=types)(lambda op, x, indices: x)


@pytest.mark.parametrize(
    ("x", "indices", "refusal"),
    [
        ("f32", "i64", None),
        ("f64", "i64", "toy has no kernels of tri.gather on f64 for 'x'"),
        ("f32", "i32", "toy has no kernels of tri.gather on i32 for 'indices'"),
    ],
)
def test_declared_types_are_what_a_target_takes(x: str, indices: str, refusal: str | None) -> None:
    target = Target("toy")
    target.lowers(tri.Gather, types=ElementTypes(["f32"], {"indices": ["i64"]}))(lambda op: op)
    case = Case("", tri.Gather, (np.ones(3, numpy_dtype(x)), np.ones(1, numpy_dtype(indices))))
    with new_context(), ir.Location.unknown():
        found = target.refusal(op_of(build_group(case)))
    release()
    assert found == refusal


@pytest.mark.parametrize(
    ("second", "is_other"),
    [
        (ElementTypes(["f64"], {"indices": ["i64"]}), True),
        (ElementTypes(["f32", "f64"], {"indices": ["i32"]}), True),
        (ElementTypes(["f32"], {"indices": ["i64"]}, {"x": "packed"}), True),
        (ElementTypes(["f32"], {"indices": ["i32", "i64"]}), False),
    ],
)
def test_overloads_are_of_different_types_or_layouts(second: ElementTypes, is_other: bool) -> None:
    table = KernelTable("toy")
    types = ElementTypes(["f32"], {"indices": ["i64"]}), second
    if not is_other:
        fault = r"tri\.gather declares two kernels for the same types and layouts"
        with pytest.raises(TypeError, match=fault):
            table.indexed(tri.Gather, types=types)(lambda op, x, indices: x)
        return
    table.indexed(tri.Gather, types=types)(lambda op, x, indices: x)
    assert table.declared[tri.Gather] == types


def test_an_op_is_taken_by_the_overload_of_its_types() -> None:
    target = Target("toy")
    long, short = (
        ElementTypes(["f64"], {"indices": ["i64"]}),
        ElementTypes(["f32"], {"indices": ["i32"]}),
    )
    target.lowers(tri.Gather, types=(long, short))(lambda op: op)
    found: dict[str, str | None] = {}
    for pair in ("f64 i64", "f32 i32", "f32 i64"):
        x, indices = pair.split()
        arrays = np.ones(3, numpy_dtype(x)), np.ones(1, numpy_dtype(indices))
        with new_context(), ir.Location.unknown():
            found[pair] = target.refusal(op_of(build_group(Case("", tri.Gather, arrays))))
        release()
    fault = "toy has no kernels of tri.gather on f32 for 'x'"
    assert found == {"f64 i64": None, "f32 i32": None, "f32 i64": fault}


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in ARITHMETIC])
def test_lowerings_by_operators_are_the_same_function_on_all_targets(op: type) -> None:
    assert CPU.lowerings[op].function is GPU.lowerings[op].function


def test_lowerings_by_elementary_functions_are_on_all_targets() -> None:
    assert set(FORMULAS) <= set(CPU.lowerings) & set(GPU.lowerings)
