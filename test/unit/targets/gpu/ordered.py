"""Groups whose tensors lie in memory in other orders than row-major, alone and with epilogues."""

from collections.abc import Sequence

import numpy as np
from closeness import assert_close
from gpu_kernels import Execute, run_group
from groups import Case, Epilogue, build_group
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array
from trivium.dialects.tile.interpret import run_kernel
from trivium.passes.core import Pass

Order = tuple[int, ...]
RANDOM = np.random.default_rng(5)


def build_ordered(
    case: Case,
    orders: Sequence[Order],
    result: Order = (),
    extra: Sequence[Array] = (),
    epilogue: Epilogue | None = None,
) -> tri.Group:
    """Build a group of which each input, and the results, lie in an order, outermost dim first."""
    group = build_group(case, extra, epilogue)
    for argument, order in zip(group.block.arguments, orders, strict=False):
        argument.set_type(_lying(argument.type, order))
    for op in ops(group.block):
        for value in op.results:
            value.set_type(_lying(value.type, result))
    return group


def _lying(type_: ir.Type, order: Order) -> ir.Type:
    assert isinstance(type_, ir.RankedTensorType)
    if not order or order == tuple(range(type_.rank)):
        return type_
    i64 = ir.IntegerType.get_signless(64)
    encoding = ir.ArrayAttr.get([ir.IntegerAttr.get(i64, dim) for dim in order])
    return ir.RankedTensorType.get(type_.shape, type_.element_type, encoding)


def drawn(shape: Sequence[int], dtype: object = "float32") -> Array:
    kind = np.dtype(dtype)  # type: ignore[arg-type]
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return RANDOM.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
    numbers = np.asarray(RANDOM.standard_normal(shape))
    return (numbers / (shape[-1] if shape else 1) ** 0.5).astype(kind)


def check(
    case: Case,
    orders: Sequence[Order] = (),
    result: Order = (),
    passes: Sequence[Pass] = (),
    execute: Execute = run_kernel,
) -> None:
    """Run a case with ops behind it that broadcast."""
    (want,) = case.reference()
    extra = drawn((*(1 for _ in want.shape[:-1]), *want.shape[-1:]), want.dtype)

    def epilogue(values: Sequence[ir.Value]) -> list[Op]:
        total = tri.Add.build(*values)
        return [total, tri.Relu.build(total.y)]

    build = lambda: build_ordered(case, orders, result, [extra], epilogue)  # noqa: E731
    (fused,) = run_group(build, [*case.inputs, extra], passes, execute)
    assert_close(case, fused, np.maximum(want + extra, 0), [*case.inputs, extra])
