"""Products of floats of 8 bits: scales go behind them, and matrix units get the floats."""

import re
from collections.abc import Iterator, Sequence

import ml_dtypes
import numpy as np
import pytest
from gpu_kernels import Execute, run_group
from groups import release
from printed import run_printed
from sources import needs_triton
from trivium.dialects import tile, tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import view
from trivium.dialects.core.tensor import Array, Tensor, numpy_dtype
from trivium.dialects.tile.interpret import run_kernel
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.emit.compile_sources import Failure, Job, compile_sources
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.emit.resources import rejection
from trivium.targets.gpu.emit.widen_float8 import WidenFloat8
from trivium.targets.gpu.lower.group import lower_group
from trivium.targets.gpu.multiply_float8 import MultiplyFloat8
from trivium.targets.gpu.schedule.architecture import find_architecture

RANDOM = np.random.default_rng(11)
KINDS = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
_KEEP: list[ir.Module] = []


@pytest.fixture(autouse=True)
def _release() -> Iterator[None]:
    yield
    _KEEP.clear()
    release()


def drawn(dtype: str, *shape: int) -> Array:
    """Draw numbers over all of the range that sums of f16 results hold."""
    exponents = RANDOM.integers(-9, 3, shape)
    return (RANDOM.standard_normal(shape) * 2.0**exponents).astype(KINDS[dtype])


def group_of(dtypes: Sequence[str], shapes: Sequence[Sequence[int]], wide: str) -> tri.Group:
    """Build a group that widens two tensors, and multiplies them."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        group = tri.Group.create([[]], [], {"target": "gpu"})
    block = ir.Block.create_at_start(group.operation.regions[0], [])
    for shape, dtype in zip(shapes, dtypes, strict=True):
        block.add_argument(tri.Add.mlir_type(Tensor(tuple(shape), dtype)), ir.Location.unknown())
    with ir.InsertionPoint(block):
        a, b = (tri.Cast.build(argument, to=wide).y for argument in block.arguments)
        tri.Yield.build([tri.MatMul.build(a, b).y])
    _KEEP.append(module)
    return group


def on_stored(execute: Execute) -> Execute:
    """Run kernels on arrays of the types that they see memory as."""

    def run(kernel: tile.Kernel, arrays: Sequence[Array]) -> None:
        seen = zip(arrays, kernel.memories, strict=True)
        execute(kernel, [array.view(numpy_dtype(memory.dtype)) for array, memory in seen])

    return run


def product(a: Array, b: Array) -> Array:
    return a.astype(np.float64) @ b.astype(np.float64)


def dots(dtypes: Sequence[str], shapes: Sequence[Sequence[int]], wide: str) -> list[str]:
    """Return the types of the factors of all dots of a product."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        lower_group(group_of(dtypes, shapes, wide), module)
        found = [op for op in ops(module.operation) if isinstance(op, tile.Dot)]
        return [tile.plain_type(op.a.type).dtype for op in found]


MEANT = on_stored(run_kernel)


@pytest.mark.parametrize("passes", [(), (WidenFloat8(),)], ids=["native", "widened"])
@pytest.mark.parametrize("rows", [2, 37])
@pytest.mark.parametrize("wide", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("dtype", KINDS)
def test_floats_that_were_only_widened_are_multiplied_as_they_are(
    dtype: str, wide: str, rows: int, passes: tuple[WidenFloat8, ...]
) -> None:
    shapes = ((rows, 70), (70, 20))
    a, b = (drawn(dtype, *shape) for shape in shapes)
    (got,) = run_group(lambda: group_of((dtype, dtype), shapes, wide), [a, b], passes, MEANT)
    want = product(a, b)
    bound = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    step = {"f32": 2.0**-20, "f16": 2.0**-10, "bf16": 2.0**-7}[wide]
    assert got.dtype == numpy_dtype(wide)
    assert (np.abs(got.astype(np.float64) - want) <= step * bound).all()
    assert dots((dtype, dtype), shapes, wide) == ([dtype] if rows > 4 else [])


@pytest.mark.parametrize(
    ("dtypes", "wide"),
    [
        (("f8E4M3FN", "f8E5M2"), "f32"),
        (("f8E4M3FN", "f8E4M3FN"), "f64"),
        (("f8E5M2", "f16"), "f32"),
    ],
)
def test_other_factors_are_multiplied_wide(dtypes: Sequence[str], wide: str) -> None:
    assert dots(dtypes, ((37, 70), (70, 20)), wide) == [wide]


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("columns", [1, 20])
@pytest.mark.parametrize("passes", [(), (WidenFloat8(),)], ids=["native", "widened"])
def test_every_float_times_one_is_itself(
    passes: tuple[WidenFloat8, ...], columns: int, dtype: str
) -> None:
    bits = np.arange(256, dtype=np.uint8).view(KINDS[dtype])
    one = np.ones((1, columns), KINDS[dtype])
    shapes = ((256, 1), (1, columns))
    build = lambda: group_of((dtype, dtype), shapes, "f32")  # noqa: E731
    (got,) = run_group(build, [bits.reshape(256, 1), one], passes, MEANT)
    np.testing.assert_array_equal(got, bits.astype(np.float32).reshape(256, 1) * np.ones(columns))


@needs_triton
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", KINDS)
def test_printed_kernels_multiply_floats_of_8_bits(dtype: str, architecture: str) -> None:
    shapes = ((33, 48), (48, 32))
    a, b = (drawn(dtype, *shape) for shape in shapes)
    passes = kernel_passes(find_architecture(architecture))
    build = lambda: group_of((dtype, dtype), shapes, "f32")  # noqa: E731
    (got,) = run_group(build, [a, b], passes, on_stored(run_printed))
    bound = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    assert (np.abs(got - product(a, b)) <= 2.0**-20 * bound).all()


INSTRUCTIONS = {
    ("sm_80", False): r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16",
    ("sm_89", False): r"mma\.sync\.aligned\.m16n8k32\.row\.col\.f32\.{0}\.{0}",
    ("sm_90", False): r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k32\.f32\.{0}\.{0}",
    ("sm_90", True): r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k16\.f32\.f16\.f16",
}


@needs_triton
@pytest.mark.parametrize(("architecture", "strict"), INSTRUCTIONS)
@pytest.mark.parametrize("dtype", KINDS)
def test_matrix_units_multiply_floats_of_8_bits_where_they_can(
    dtype: str, architecture: str, strict: bool
) -> None:
    chosen = find_architecture(architecture)
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        lower_group(group_of((dtype, dtype), ((1024, 512), (512, 1024)), "f32"), module)
        for each in kernel_passes(chosen, strict):
            each.run(Module(module))
        kernels = [op for op in ops(module.operation) if isinstance(op, tile.Kernel)]
        jobs = [Job(print_kernel(k), k.warps, k.stages) for k in kernels]
    (compiled,) = compile_sources(jobs, chosen)
    assert not isinstance(compiled, Failure), compiled
    assert rejection(compiled, chosen) is None
    name = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}[dtype]
    wanted = INSTRUCTIONS[architecture, strict].format(name)
    assert re.search(wanted, compiled.assembly), wanted


SCALED = """func.func @main(%x: {x}, %w: {w}, %s: {s}, %t: {t}) -> {y} {{
  %a = "tri.cast"(%x) {{to = "f32"}} : ({x}) -> {xw}
  %b = "tri.mul"(%a, %s) : ({xw}, {s}) -> {xw}
  %c = "tri.cast"(%w) {{to = "f32"}} : ({w}) -> {ww}
  %d = "tri.mul"(%c, %t) : ({ww}, {t}) -> {ww}
  %y = "tri.mat_mul"(%b, %d) : ({xw}, {ww}) -> {y}
  return %y : {y}
}}"""


@pytest.mark.parametrize(
    ("left", "right"), [((), ()), ((1,), (7,)), ((5, 1), (1, 7)), ((2, 1, 1), (1, 1))]
)
@pytest.mark.parametrize("dtype", KINDS)
def test_scales_go_behind_a_product(
    dtype: str, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    x, w = drawn(dtype, 2, 5, 33), drawn(dtype, 33, 7)
    s, t = (RANDOM.random(shape).astype(np.float32) for shape in (left, right))
    a = x.astype(np.float64) * s
    b = w.astype(np.float64) * t
    types = {"x": Tensor(x.shape, dtype), "w": Tensor(w.shape, dtype)}
    types |= {"xw": Tensor(x.shape, "f32"), "ww": Tensor(w.shape, "f32")}
    types |= {"s": Tensor(left, "f32"), "t": Tensor(right, "f32"), "y": Tensor((2, 5, 7), "f32")}
    with new_context(), ir.Location.unknown():
        module = Module.parse(SCALED.format(**types), {})
        MultiplyFloat8().run(module)
        (got,) = run(module, [x, w, s, t])
        (made,) = (op for op in ops(module.main) if isinstance(op, tri.MatMul))
        factors = [view(value.owner) for value in made.operation.operands]
        assert all(isinstance(factor, tri.Cast) for factor in factors)
    assert (np.abs(got - a @ b) <= 2.0**-20 * (np.abs(a) @ np.abs(b))).all()


def rounding(dtype: str, saturate: bool, size: int) -> tri.Group:
    """Build a group that rounds f32 to floats of 8 bits."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        group = tri.Group.create([[]], [], {"target": "gpu"})
    block = ir.Block.create_at_start(group.operation.regions[0], [])
    block.add_argument(tri.Add.mlir_type(Tensor((size,), "f32")), ir.Location.unknown())
    with ir.InsertionPoint(block):
        made = tri.Cast.build(block.arguments[0], to=dtype, saturate=saturate)
        tri.Yield.build([made.y])
    _KEEP.append(module)
    return group


def halfway(dtype: str) -> Array:
    """Return all finite floats of 8 bits, what lies between two of them, and a little beside."""
    bits = np.arange(256, dtype=np.uint8).view(KINDS[dtype]).astype(np.float32)
    finite = np.sort(bits[np.isfinite(bits)])
    middle = (finite[1:] + finite[:-1]) / 2
    near = [np.nextafter(middle, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.concatenate([finite, middle, *near]).astype(np.float32)


@pytest.mark.parametrize("passes", [(), (WidenFloat8(),)], ids=["native", "widened"])
@pytest.mark.parametrize("dtype", KINDS)
def test_numbers_are_rounded_to_the_nearest_float(
    dtype: str, passes: tuple[WidenFloat8, ...]
) -> None:
    x = halfway(dtype)
    (got,) = run_group(lambda: rounding(dtype, True, x.size), [x], passes, MEANT)
    np.testing.assert_array_equal(got.view(np.uint8), x.astype(KINDS[dtype]).view(np.uint8))


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("dtype", KINDS)
def test_numbers_beyond_the_range_saturate_or_not(dtype: str, saturate: bool) -> None:
    x = np.array([1e9, -1e9, np.inf, -np.inf, np.nan], np.float32)
    (got,) = run_group(lambda: rounding(dtype, saturate, x.size), [x], (), MEANT)
    most = float(ml_dtypes.finfo(KINDS[dtype]).max)
    beyond = {"f8E4M3FN": np.nan, "f8E5M2": np.inf}[dtype]
    want = np.array([1, -1, 1, -1, np.nan]) * (most if saturate else beyond)
    np.testing.assert_array_equal(got.astype(np.float64), want)


@needs_triton
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("dtype", KINDS)
def test_printed_kernels_round_to_floats_of_8_bits(dtype: str, architecture: str) -> None:
    x = halfway(dtype)
    passes = kernel_passes(find_architecture(architecture))
    build = lambda: rounding(dtype, True, x.size)  # noqa: E731
    (got,) = run_group(build, [x], passes, on_stored(run_printed))
    np.testing.assert_array_equal(got.view(np.uint8), x.astype(KINDS[dtype]).view(np.uint8))


def convolution(dtype: str, x: Sequence[int], w: Sequence[int]) -> tri.Group:
    """Build a group that widens an image and kernels, and convolves them."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        group = tri.Group.create([[]], [], {"target": "gpu"})
    block = ir.Block.create_at_start(group.operation.regions[0], [])
    for shape in (x, w):
        block.add_argument(tri.Add.mlir_type(Tensor(tuple(shape), dtype)), ir.Location.unknown())
    with ir.InsertionPoint(block):
        a, b = (tri.Cast.build(argument, to="f32").y for argument in block.arguments)
        plain = {"strides": (1, 1), "pads": (1,) * 4, "dilations": (1, 1), "group": 1}
        tri.Yield.build([tri.Conv.build(a, b, None, **plain).y])
    _KEEP.append(module)
    return group


@pytest.mark.parametrize("channels", [2, 32])
@pytest.mark.parametrize("passes", [(), (WidenFloat8(),)], ids=["native", "widened"])
def test_convolutions_multiply_floats_of_8_bits(
    passes: tuple[WidenFloat8, ...], channels: int
) -> None:
    x, w = drawn("f8E4M3FN", 1, channels, 6, 5), drawn("f8E4M3FN", 20, channels, 3, 3)
    build = lambda: convolution("f8E4M3FN", x.shape, w.shape)  # noqa: E731
    (got,) = run_group(build, [x, w], passes, MEANT)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    want, bound = (
        np.einsum("nchwij,ocij->nohw", f(windows), f(w.astype(np.float64)))
        for f in (np.asarray, np.abs)
    )
    assert (np.abs(got - want) <= 2.0**-20 * bound).all()
