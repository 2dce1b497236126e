"""Every function, reduction and cast of the tile dialect, for every type, printed and run."""

from collections.abc import Callable, Sequence
from itertools import product

import ml_dtypes as ml_dtypes  # gives numpy bfloat16
import numpy as np
import pytest
from interpreter import run_source
from sources import HOPPER, needs_triton
from trivium.dialects import tile
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import COMPUTED, DTYPES, Array, Tensor, is_float, numpy_dtype
from trivium.dialects.tile.arithmetic import BINARY, COMPARISONS, FLOAT_ONLY, INTEGER_ONLY, UNARY
from trivium.dialects.tile.contraction import REDUCTIONS, SCANS
from trivium.dialects.tile.interpret import run_kernel
from trivium.targets.gpu.emit.compile_sources import Compiled, Job, compile_sources
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.emit.source import Source
from trivium.targets.gpu.kernels.builder import KernelBuilder
from trivium.targets.gpu.kernels.value import Value, arange, full, made

pytestmark = needs_triton

SIZES = {"R": 4, "C": 16}
SHAPE = (4, 16)
NUMBERS = tuple(dtype for dtype in COMPUTED if dtype not in ("f16", "bf16", "i1"))
ALL = COMPUTED
Build = Callable[[Value, Value], Sequence[Value]]


def check(dtype: str, build: Build, left: Array, right: Array, exact: bool = True) -> Source:
    """Compare printed code with the dialect's meaning for tiles of one type; compile it, too."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        kernel = KernelBuilder(module, "arithmetic", ir.Location.unknown())
        with kernel:
            shape = Tensor(SHAPE, dtype)
            for name, size in SIZES.items():
                kernel.block_of(name, size)
            at = [arange("R").expand(1), arange("C").expand(0)]
            a, b = kernel.argument("a", shape, name="a"), kernel.argument("b", shape, name="b")
            for index, number in enumerate(build(a.load_raw(at), b.load_raw(at))):
                stored = Tensor(tuple(SIZES[str(n)] for n in number.shape), number.dtype)
                place = at if len(number.shape) == 2 else [arange(str(n)) for n in number.shape]
                kernel.argument(index, stored, name="y", output=True).store(number, place)
        (made_kernel,) = kernel.finish()
        source = print_kernel(made_kernel.op)
        used = [{"a": left, "b": right}[str(s)].reshape(-1) for s in made_kernel.inputs]
        outputs = made_kernel.op.memories[len(used) :]
        arrays = [*used, *(np.zeros(m.extent, numpy_dtype(m.dtype)) for m in outputs)]
        meant = [array.copy() for array in arrays]
        run_kernel(made_kernel.op, meant)
    for got, want in zip(run_source(source, arrays), meant, strict=True):
        if exact:
            np.testing.assert_array_equal(got, want, source.text)
        else:
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6, err_msg=source.text)
    (compiled,) = compile_sources([Job(source)], HOPPER)
    assert isinstance(compiled, Compiled), f"{compiled}\n{source.text}"
    return source


def draw(dtype: str, seed: int, nonzero: bool = False) -> Array:
    """Draw numbers of both signs whose products have few digits."""
    random = np.random.default_rng(seed)
    numbers = random.integers(-12 if DTYPES[dtype].kind in ("float", "int") else 0, 12, SHAPE)
    if nonzero:
        numbers[numbers == 0] = 5
    if dtype == "i1":
        return numbers > 5
    return (numbers * (0.25 if is_float(dtype) else 1)).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_functions_of_two_numbers(dtype: str) -> None:
    names = [
        name
        for name in BINARY
        if not (name in INTEGER_ONLY and is_float(dtype))
        and not (name in ("div", "div_nearest") and not is_float(dtype))
        and not name.startswith("shift")
    ]

    def build(a: Value, b: Value) -> list[Value]:
        binary = [(a, b), (a, full(3, dtype)), (full(7, dtype), b)]
        return [
            made(tile.Binary.build(x.value, y.value, function=name))
            for name, (x, y) in product(names, binary)
        ]

    check(dtype, build, draw(dtype, 0), draw(dtype, 1, nonzero=True))


def test_only_quotients_of_models_are_rounded_to_nearest() -> None:
    left, right = draw("f32", 0), draw("f32", 1, nonzero=True)
    nearest = check("f32", lambda a, b: [a.divided_nearest(b)], left, right).text
    assert "tl.div_rn(" in nearest
    assert "tl.div_rn(" not in check("f32", lambda a, b: [a / b], left, right).text


@pytest.mark.parametrize("dtype", [d for d in NUMBERS if not is_float(d)])
def test_shifts(dtype: str) -> None:
    shifts = np.random.default_rng(1).integers(0, 7, SHAPE).astype(numpy_dtype(dtype))

    def build(a: Value, b: Value) -> list[Value]:
        return [a.shift_left(b), a.shift_right(b), a.shift_left(2), a.shift_right(1)]

    check(dtype, build, draw(dtype, 0), shifts)


def test_logic_of_bools() -> None:
    def build(a: Value, b: Value) -> list[Value]:
        true = full(1, "i1")
        both = [a.logical_and(b), a.logical_or(b), a.logical_xor(b), a.invert(), a.equal(b)]
        return [*both, a.logical_and(true), a.logical_xor(true), a.equal(true)]

    check("i1", build, draw("i1", 0), draw("i1", 1))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_not_a_number_and_infinities(dtype: str) -> None:
    """`max` and `min` of two pass NaN on; reductions skip it; comparisons with it are false."""
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5], numpy_dtype(dtype))
    left = np.resize(values, SHAPE)
    right = np.resize(np.repeat(values, 6), SHAPE)

    def build(a: Value, b: Value) -> list[Value]:
        comparisons = [
            made(tile.Binary.build(a.value, b.value, function=f)) for f in sorted(COMPARISONS)
        ]
        extremes = [a.maximum(b), a.minimum(b), a.maximum(float("-inf")), a.minimum(0.0)]
        return [*comparisons, *extremes, a.reduce("max", 1), a.reduce("min", 1)]

    check(dtype, build, left, right)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_functions_of_one_number(dtype: str) -> None:
    positive = np.abs(draw(dtype, 0, nonzero=True)) / 4

    def build(a: Value, b: Value) -> list[Value]:
        return [a.apply(name) for name in UNARY if name != "not"]

    check(dtype, build, positive, positive, exact=False)


@pytest.mark.parametrize("dtype", [d for d in NUMBERS if not is_float(d)])
def test_functions_of_one_integer(dtype: str) -> None:
    def build(a: Value, b: Value) -> list[Value]:
        return [a.apply(name) for name in UNARY if name not in FLOAT_ONLY]

    check(dtype, build, draw(dtype, 0), draw(dtype, 1))


@pytest.mark.parametrize("dtype", ALL)
def test_casts_to_every_type(dtype: str) -> None:
    def build(a: Value, b: Value) -> list[Value]:
        return [a.cast(to) for to in ALL if to != dtype]

    positive = np.abs(draw(dtype, 0)) if dtype != "i1" else draw(dtype, 0)
    check(dtype, build, positive, positive)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i32", "ui8"])
def test_bits(dtype: str) -> None:
    bits = DTYPES[dtype].bits
    others = [to for to in ALL if DTYPES[to].bits == bits and to not in (dtype, "i1")]
    check(dtype, lambda a, b: [a.bits(to) for to in others], draw(dtype, 0), draw(dtype, 1))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions(dtype: str, axis: int) -> None:
    def build(a: Value, b: Value) -> list[Value]:
        small = b.reduce("prod", axis)
        return [small, *(a.reduce(kind, axis) for kind in REDUCTIONS if kind != "prod")]

    ones = np.where(draw("i1", 3), 1, 2).astype(numpy_dtype(dtype))
    ones[:, 6:] = 1
    check(dtype, build, draw(dtype, 0), ones)


def test_reduction_to_one_number() -> None:
    check("f32", lambda a, b: [a.reduce("sum", 1).reduce("max", 0)], draw("f32", 0), draw("f32", 1))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(dtype: str, reverse: bool) -> None:
    def build(a: Value, b: Value) -> list[Value]:
        scans = [(b if kind == "prod" else a, kind) for kind in SCANS]
        return [
            made(tile.Scan.build(x.value, kind=kind, axis=1, reverse=reverse)) for x, kind in scans
        ]

    ones = np.where(draw("i1", 3), 1, 2).astype(numpy_dtype(dtype))
    ones[:, 6:] = 1
    check(dtype, build, np.abs(draw(dtype, 0)) % 4, ones)


@pytest.mark.parametrize("dtype", ALL)
def test_choices(dtype: str) -> None:
    def build(a: Value, b: Value) -> list[Value]:
        chosen = a.equal(b)
        return [chosen.select(a, b), chosen.select(a, 1), chosen.select(full(1, dtype), b)]

    check(dtype, build, draw(dtype, 0), draw(dtype, 1))
