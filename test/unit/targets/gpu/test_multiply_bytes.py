"""Products of bytes: zero points go behind them, and matrix units get the bytes."""

from collections.abc import Sequence

import numpy as np
import pytest
from gpu_kernels import run_group
from groups import release
from trivium.dialects import tile, tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import view
from trivium.dialects.core.tensor import Array, Tensor
from trivium.targets.gpu.lower.group import lower_group
from trivium.targets.gpu.multiply_bytes import MultiplyBytes

RANDOM = np.random.default_rng(3)


def drawn(dtype: str, *shape: int) -> Array:
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def shaped(shape: Sequence[int], dtype: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"


def model(op: str, attributes: str, x: Array, w: Array, y: Sequence[int], zero: int) -> str:
    """Write `op(x - zero, w)`, of which the weights are in `w`."""
    byte = {"int8": "i8", "uint8": "ui8"}[str(x.dtype)]
    narrow, wide, weights = shaped(x.shape, byte), shaped(x.shape, "i32"), shaped(w.shape, "i32")
    result = shaped(y, "i32")
    return f"""func.func @main(%x: {narrow}) -> {result} {{
  %z = "tri.constant"() {{value = dense<{zero}> : tensor<i32>}} : () -> tensor<i32>
  %w = "tri.weight"() {{name = "w", type = {weights}}} : () -> {weights}
  %c = "tri.cast"(%x) {{to = "i32"}} : ({narrow}) -> {wide}
  %d = "tri.sub"(%c, %z) : ({wide}, tensor<i32>) -> {wide}
  %y = "tri.{op}"(%d, %w) {{{attributes}}} : ({wide}, {weights}) -> {result}
  return %y : {result}
}}"""


def check(text: str, x: Array, w: Array, changes: bool = True) -> None:
    """Compare a model before and after, and look for wide weights."""
    with new_context(), ir.Location.unknown():
        module = Module.parse(text, {"w": w})
        (want,) = run(module, [x])
        MultiplyBytes().run(module)
        (got,) = run(module, [x])
        (product,) = (op for op in ops(module.main) if isinstance(op, (tri.MatMul, tri.Conv)))
        assert isinstance(view(product.operation.operands[1].owner), tri.Cast) == changes
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("zero", [0, 3, 127, 128, -128, 255])
@pytest.mark.parametrize("shape", [(5, 64), (2, 3, 64), (64,)])
def test_zero_points_go_behind_a_matrix_product(
    shape: tuple[int, ...], zero: int, dtype: str
) -> None:
    x, w = drawn(dtype, *shape), drawn("int8", 64, 7).astype(np.int32)
    check(model("mat_mul", "", x, w, (*shape[:-1], 7), zero), x, w)


CONV = (
    "strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
    "group = {} : i64, pads = array<i64: {}>"
)


@pytest.mark.parametrize(
    ("dtype", "zero"), [("int8", 0), ("int8", -7), ("uint8", 128), ("uint8", 0)]
)
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize(("pads", "sizes"), [("0, 0, 0, 0", (4, 5)), ("1, 0, 2, 1", (7, 6))])
def test_images_are_padded_with_their_zero_point(
    pads: str, sizes: tuple[int, int], group: int, dtype: str, zero: int
) -> None:
    x, w = drawn(dtype, 2, 4, 6, 7), drawn("int8", 6, 4 // group, 3, 3).astype(np.int32)
    check(model("conv", CONV.format(group, pads), x, w, (2, 6, *sizes), zero), x, w)


def test_what_is_no_byte_stays_wide() -> None:
    x, w = drawn("int8", 5, 64), drawn("int8", 64, 7).astype(np.int32)
    w[3, 3] = 128
    check(model("mat_mul", "", x, w, (5, 7), 3), x, w, changes=False)
    w[3, 3] = 1
    x, kernels = drawn("int8", 2, 4, 6, 7), drawn("int8", 6, 4, 3, 3).astype(np.int32)
    text = model("conv", CONV.format(1, "1, 1, 1, 1"), x, kernels, (2, 6, 6, 7), 300)
    check(text, x, kernels, changes=False)


def group_of(dtypes: Sequence[str], shapes: Sequence[Sequence[int]]) -> tri.Group:
    """Build a group that widens two tensors, and multiplies them."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        group = tri.Group.create([[]], [], {"target": "gpu"})
    block = ir.Block.create_at_start(group.operation.regions[0], [])
    for shape, dtype in zip(shapes, dtypes, strict=True):
        block.add_argument(tri.Add.mlir_type(Tensor(tuple(shape), dtype)), ir.Location.unknown())
    with ir.InsertionPoint(block):
        a, b = (tri.Cast.build(argument, to="i32").y for argument in block.arguments)
        tri.Yield.build([tri.MatMul.build(a, b).y])
    _KEEP.append(module)
    return group


_KEEP: list[ir.Module] = []


@pytest.mark.parametrize("rows", [2, 40])
@pytest.mark.parametrize("dtype", ["i8", "ui8"])
def test_signed_bytes_that_were_only_widened_are_multiplied_as_bytes(dtype: str, rows: int) -> None:
    shapes = ((rows, 300), (300, 20))
    a = drawn({"i8": "int8", "ui8": "uint8"}[dtype], *shapes[0])
    b = drawn("int8", *shapes[1])
    (got,) = run_group(lambda: group_of((dtype, "i8"), shapes), [a, b])
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        lower_group(group_of((dtype, "i8"), shapes), module)
        dots = [op for op in ops(module.operation) if isinstance(op, tile.Dot)]
        assert len(dots) == (dtype == "i8" and rows > 4)
        _KEEP.clear()
    _KEEP.clear()
    release()
