"""Layouts that kernels declare are those that values have which the CPU's passes pass to them."""

from collections.abc import Iterator

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
from trivium.compiler.source import import_model
from trivium.compiler.stages import pipeline_for
from trivium.dialects import cpu, tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op, view
from trivium.targets.cpu.registry import IMAGES, TABLE
from trivium.targets.element_types import BLOCKED, NUMBERS, PACKED, ROWS, ElementTypes
from trivium.targets.options import CompileOptions

NETS = {
    "images": """
        net (float[1, 3, 34, 34] x) => (float[1, 7] y, float[1, 32, 60, 60] z) {
            a = Conv <kernel_shape = [3, 3]> (x, w1)
            b = Relu (a)
            c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, w2)
            d = Conv <kernel_shape = [3, 3], group = 32> (c, w3)
            e = Conv <kernel_shape = [1, 1]> (d, w4)
            z = ConvTranspose <kernel_shape = [2, 2], strides = [2, 2]> (e, w5)
            f = GlobalAveragePool (e)
            g = Flatten (f)
            y = MatMul (g, w6)
        }""",
    "sequence": """
        net (float[5, 1, 8] x) => (float[5, 1, 1, 16] y) {
            y = LSTM <hidden_size = 16> (x, w7, w8)
        }""",
    "bytes": """
        net (uint8[4, 64] x) => (int32[4, 32] y) { y = MatMulInteger (x, w9) }""",
}
SHAPES = {
    "w1": (32, 3, 3, 3),
    "w2": (32, 32, 3, 3),
    "w3": (32, 1, 3, 3),
    "w4": (32, 32, 1, 1),
    "w5": (32, 32, 2, 2),
    "w6": (32, 7),
    "w7": (1, 64, 8),
    "w8": (1, 64, 16),
    "w9": (64, 32),
}


def placed(name: str) -> Module:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>{NETS[name]}')
    for weights, shape in SHAPES.items():
        if weights in NETS[name]:
            kind = np.int8 if name == "bytes" else np.float32
            array = np.random.default_rng(0).uniform(-3, 3, shape).astype(kind)
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, weights))
    options = CompileOptions(machine="x86-64-v4", winograd_error=2e-5)
    module = import_model(model, options)
    pipeline_for("cpu", 2, options).run(module)
    return module


def layout_of(value: ir.Value) -> str:
    """Return how a value is stored, by what makes it; PACKED is what no input decides."""
    if not isinstance(value, ir.OpResult):
        owner = view(value.owner.owner)
        is_body = isinstance(owner, tri.Group)
        return layout_of(owner.operation.operands[value.arg_number]) if is_body else ROWS
    op = view(value.owner)
    assert op is not None
    if isinstance(op, tri.Group):
        results = list(op.operation.regions[0].blocks[0].operations)[-1].operands
        return layout_of(results[value.result_number])
    found = {layout_of(operand) for operand in op.operation.operands}
    if found <= {PACKED}:
        return PACKED
    if isinstance(op, cpu.CpuOp):
        declared = matching(op)
        names = [each.name for each in op.fields.results]
        return declared.layout(names[value.result_number]) if declared else ROWS
    return BLOCKED if BLOCKED in found else ROWS


def matching(op: Op) -> ElementTypes | None:
    """Return the declaration that fits the operands of an op, None where none does."""
    groups = zip(op.fields.operands, op.operand_groups(), strict=True)
    have = {spec.name: layout_of(value) for spec, value in groups if isinstance(value, ir.Value)}
    for declared in TABLE.declared[type(op)]:
        # Constants are stored as a kernel wants them: those that it reads as rows are biases.
        if all(each in (declared.layout(name), PACKED) for name, each in have.items()) and all(
            have.get(name, PACKED) == PACKED
            for name, each in declared.layouts.items()
            if each == PACKED
        ):
            return declared
    return None


def kernels(module: Module) -> Iterator[Op]:
    yield from (op for op in ops(module.operation) if type(op) in TABLE.declared)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("images", {cpu.BlockedConv, cpu.LaneConv, cpu.BlockedConvTranspose, cpu.Unblock}),
        ("sequence", {cpu.PackedLstm}),
        ("bytes", {cpu.DotMatMul}),
    ],
)
def test_values_have_the_declared_layouts(name: str, expected: set[type[Op]]) -> None:
    with new_context():
        module = placed(name)
        found = [op for op in kernels(module) if isinstance(op, cpu.CpuOp)]
        assert expected <= {type(op) for op in found}
        faults = [op.op_name for op in found if matching(op) is None]
        assert not faults
        for output in module.main_block.operations[len(module.main_block.operations) - 1].operands:
            assert layout_of(output) == ROWS


@pytest.mark.parametrize(
    ("op", "wrong"),
    [
        (cpu.BlockedConv, ElementTypes(NUMBERS, layouts={"w": PACKED})),
        (cpu.LaneConv, ElementTypes(NUMBERS, layouts={"x": PACKED, "w": PACKED, "y": BLOCKED})),
        (cpu.Unblock, ElementTypes(NUMBERS)),
    ],
)
def test_a_wrong_declaration_is_found(
    op: type[Op], wrong: ElementTypes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert IMAGES in TABLE.declared[cpu.BlockedConv]
    monkeypatch.setitem(TABLE.declared, op, (wrong,))
    with new_context():
        module = placed("images")
        assert any(matching(each) is None for each in kernels(module))
