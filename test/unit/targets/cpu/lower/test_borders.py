"""Kernels that leave room for zeros around what they make."""

from collections.abc import Callable, Sequence

import numpy as np
from closeness import assert_close
from cpu_kernels import compile_groups, on_every_machine
from groups import Case
from trivium.dialects import cpu, tri
from trivium.dialects.core.attributes import type_of
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.passes.fuse.grouping import build_group

RANDOM = np.random.default_rng(3)
LANES = 16


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def image(channels: int, *sizes: int) -> Array:
    return cpu.Block(lanes=LANES).reference(normal(2, channels, *sizes))


def conv(rows: int) -> Case:
    w = cpu.pack_group_columns(normal(32, 16, rows, rows), 1, 32)
    window = {"kernel": (rows, rows), "strides": (1, 1), "dilations": (1, 1)}
    more = {"outputs": 32, "lanes": LANES}
    return Case("conv", cpu.BlockedConv, (image(16, 6, 7), w, normal(32)), window | more)


def lanes() -> Case:
    w = cpu.pack_lanes(normal(32, 1, 3, 3), LANES)
    window = {"kernel": (3, 3), "strides": (2, 1), "dilations": (1, 1)}
    return Case("lanes", cpu.LaneConv, (image(32, 7, 9), w, None), window)


def winograd() -> Case:
    u = cpu.transform_kernel_columns(normal(32, 16, 3, 3), 2, 32)
    more = {"tile": 2, "outputs": 32, "sizes": (5, 6)}
    return Case("winograd", cpu.BlockedWinogradConv, (image(16, 8, 8), u, normal(32)), more)


def block() -> Case:
    return Case("block", cpu.Block, (normal(2, 32, 5, 6),), {"lanes": LANES})


def pool() -> Case:
    window = {"kernel": (3, 3, 1), "strides": (2, 2, 1), "dilations": (1, 1, 1)}
    return Case("pool", tri.MaxPool, (image(32, 9, 8),), window | {"pads": (1, 1, 0, 1, 1, 0)})


CASES = [conv(1), conv(2), lanes(), winograd(), block(), pool()]
PADS = (0, 0, 1, 2, 0, 0, 0, 0, 1, 0)


def group_of(case: Case, other: Array) -> tri.Group:
    """Group an op with a sum, a relu and a border."""
    inputs = [*case.inputs, other]
    block = ir.Block.create_at_start(_function().regions[0], [])
    values = [
        block.add_argument(type_of(Tensor.of(array)), ir.Location.unknown()) for array in inputs
    ]
    with ir.InsertionPoint(block):
        given = iter(values)
        operands = [None if operand is None else next(given) for operand in case.operands]
        made: Op = case.cls.build(*operands, **case.attributes)
        added = tri.Add.build(made.results[0], values[-1])
        relu = tri.Relu.build(added.y)
        return build_group([made, added, relu, tri.Pad.build(relu.y, pads=PADS)])


def _function() -> ir.Operation:
    module = ir.Module.create()
    KEPT.append(module)
    with ir.InsertionPoint(module.body):
        types = ir.TypeAttr.get(ir.FunctionType.get([], []))
        attributes = {"sym_name": ir.StringAttr.get("main"), "function_type": types}
        return ir.Operation.create("func.func", [], [], attributes, regions=1)


KEPT: list[ir.Module] = []
"""Modules whose ops are still in use."""


@on_every_machine
def test_results_lie_inside_of_zeros(machine: Machine) -> None:
    others: Sequence[Array] = [normal(*case.reference()[0].shape) for case in CASES]
    makers: list[Callable[[], tri.Group]] = [
        lambda case=case, other=other: group_of(case, other)
        for case, other in zip(CASES, others, strict=True)
    ]
    compiled = compile_groups(makers, machine)
    for index, (case, other) in enumerate(zip(CASES, others, strict=True)):
        inner = np.maximum(case.reference()[0] + other, 0)
        sides = list(zip(PADS[:5], PADS[5:], strict=True))
        wanted = np.pad(inner, sides)
        (got,) = compiled.run(index, [*case.inputs, other], [Tensor.of(wanted)])
        assert_close(case, got, wanted, case.inputs)
        border = np.pad(np.zeros_like(inner), sides, constant_values=1)
        np.testing.assert_array_equal(got[border == 1], 0)
