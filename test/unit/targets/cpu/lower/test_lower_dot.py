"""Products of bytes and bf16, word by word: bytes exactly, with every machine's instructions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import pytest
from cpu_kernels import compile_cases, compile_groups
from groups import Case, build_group
from numpy.lib.stride_tricks import sliding_window_view
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.targets.cpu.kernels.products.dot import find_instruction
from word_machines import MACHINES, runs_here, spell, with_features

RANDOM = np.random.default_rng(17)
BF16 = ml_dtypes.bfloat16


@dataclass(frozen=True)
class Expected:
    """Pair a case with what numpy makes of the plain operands, in 64 bits.

    `sums` are those of the weights of each output, so shaped that results broadcast them.
    """

    case: Case
    result: Array
    sums: Array

    def signed(self) -> "Expected":
        """Return the same case for signed bytes, each of which is 128 less."""
        attributes = {**self.case.attributes, "signed": True}
        result = (self.result.astype(np.int64) - 128 * self.sums).astype(np.int32)
        return replace(self, case=replace(self.case, attributes=attributes), result=result)


def whole(dtype: type, *shape: int) -> Array:
    """Draw bytes, of which every fourth is an extreme one."""
    info = np.iinfo(dtype)
    values = RANDOM.integers(info.min, info.max + 1, shape)
    ends = RANDOM.choice([info.min, info.max], shape)
    return np.where(RANDOM.random(shape) < 0.25, ends, values).astype(dtype)


def numbers(dtype: type, *shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(dtype) if dtype is BF16 else whole(dtype, *shape)


def plain(x: Array) -> Array:
    """Return what a kernel multiplies, in 64 bits."""
    if x.dtype == BF16:
        return x.astype(np.float64)
    return x.astype(np.int64) + (128 if x.dtype == np.int8 else 0)


def weights(x: Array, *shape: int) -> tuple[Array, Array]:
    """Draw weights and biases for elements like these."""
    if x.dtype == BF16:
        return numbers(BF16, *shape), RANDOM.standard_normal(shape[0]).astype(np.float32)
    return whole(np.int8, *shape), RANDOM.integers(-(1 << 30), 1 << 30, shape[0]).astype(np.int32)


def narrowed(total: Array, x: Array) -> Array:
    """Bring a sum to the type that the kernel returns; integers wrap around."""
    return total if x.dtype == BF16 else total.astype(np.int32)


def product(a: Array, columns: int, block: int = 32) -> Expected:
    w, b = weights(a, columns, a.shape[-1])
    words = cpu.pack_vnni_columns(np.ascontiguousarray(w.T), block)
    case = Case("product", cpu.DotMatMul, (a, words, b), {"columns": columns})
    total = plain(a) @ w.T.astype(plain(a).dtype) + b
    return Expected(case, narrowed(total, a), w.astype(np.int64).sum(1))


def products(dtype: type) -> list[Expected]:
    """Depths that fill words and do not, rows that alias, tails of columns, one row, batches."""
    shapes = (
        *((1, 1, 1), (1, 7, 130), (1, 64, 16), (3, 512, 33), (30, 2048, 70), (29, 9, 32)),
        *((15, 130, 5), (14, 66, 47)),
    )
    made = [product(numbers(dtype, rows, depth), columns) for rows, depth, columns in shapes]
    return [*made, product(numbers(dtype, 2, 3, 5, 11), 18, 16)]


def convolution(
    x: Array,
    outputs: int,
    kernel: tuple[int, ...],
    *,
    stride: int = 1,
    pads: Sequence[int] | None = None,
    dilation: int = 1,
    group: int = 1,
    padding: int = 0,
    panels: bool = False,
) -> Expected:
    rank = len(kernel)
    pads = (0,) * rank * 2 if pads is None else tuple(pads)
    w, b = weights(x, outputs, x.shape[1] // group, *kernel)
    attributes = {
        "outputs": outputs,
        "kernel": kernel,
        "strides": (stride,) * rank,
        "pads": pads,
        "dilations": (dilation,) * rank,
        "padding": padding,
    }
    if panels:
        words = cpu.pack_vnni_kernel_columns(w, 32)
        case = Case("panels", cpu.DotPanelConv, (x, words, b), attributes)
    else:
        words = cpu.pack_vnni_kernels(w, group, 5)
        case = Case("rows", cpu.DotConv, (x, words, b), attributes | {"block": 5})
    around = [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)]
    padded = np.pad(plain(x), around, constant_values=plain(np.array(padding, x.dtype)))
    reach = tuple((taps - 1) * dilation + 1 for taps in kernel)
    windows = sliding_window_view(padded, reach, tuple(range(2, rank + 2)))
    steps = (slice(None, None, stride),) * rank + (slice(None, None, dilation),) * rank
    windows = windows[(slice(None), slice(None), *steps)]
    depth = math.prod(kernel)
    windows = windows.reshape(x.shape[0], group, x.shape[1] // group, -1, depth)
    kernels = w.astype(windows.dtype).reshape(group, outputs // group, -1, depth)
    total = np.einsum("ngcpk,gock->ngop", windows, kernels)
    sizes = tuple(
        (size - extent) // stride + 1 for size, extent in zip(padded.shape[2:], reach, strict=True)
    )
    total = total.reshape(x.shape[0], outputs, *sizes) + b.reshape(-1, *(1,) * rank)
    sums = w.reshape(outputs, -1).astype(np.int64).sum(1).reshape(-1, *(1,) * rank)
    return Expected(case, narrowed(total, x), sums)


def convolutions(dtype: type) -> list[Expected]:
    """Channels that fill words and do not; paddings at both ends of a range; one to three axes."""
    ends = (0, 0) if dtype is BF16 else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low, high = (int(end) for end in ends)
    return [
        convolution(numbers(dtype, 2, 5, 9, 17), 6, (3, 3), pads=(1, 1, 1, 1), padding=low),
        convolution(numbers(dtype, 1, 3, 9, 33), 7, (3, 3), pads=(2, 0, 1, 2), padding=high),
        convolution(
            numbers(dtype, 1, 8, 9, 33), 7, (3, 3), stride=2, pads=(1, 1, 1, 1), padding=high
        ),
        convolution(numbers(dtype, 2, 6, 9, 33), 10, (3, 2), stride=3, group=2, dilation=2),
        convolution(numbers(dtype, 1, 12, 7, 7), 33, (1, 1)),
        convolution(numbers(dtype, 1, 13, 5, 50), 4, (1, 1), pads=(1, 0, 0, 2), padding=high),
        convolution(numbers(dtype, 1, 5, 7, 7), 9, (1, 1), stride=2),
        convolution(numbers(dtype, 2, 4, 37), 6, (4,), pads=(2, 1), padding=low),
        convolution(numbers(dtype, 1, 7, 4, 5, 6), 5, (2, 2, 2), pads=(1,) * 6, padding=high),
        convolution(numbers(dtype, 1, 1, 1, 1), 1, (1, 1)),
    ]


def panels(dtype: type) -> list[Expected]:
    """Lines that make up a tile and that are cut, outputs that leave tails, one tap and several."""
    high = 0 if dtype is BF16 else int(np.iinfo(dtype).max)
    padded = {"pads": (1, 0, 2, 1), "padding": high, "panels": True}
    made = [
        convolution(numbers(dtype, 2, 5, 9, width), outputs, (3, 3), stride=stride, **padded)
        for width, outputs in ((7, 16), (14, 33), (33, 70))
        for stride in (1, 2)
    ]
    return [
        *made,
        convolution(numbers(dtype, 2, 6, 9, 17), 40, (3, 2), dilation=2, panels=True),
        convolution(numbers(dtype, 1, 13, 7, 7), 33, (1, 1), panels=True),
        convolution(numbers(dtype, 2, 12, 7, 7), 16, (1, 1), stride=2, panels=True),
        convolution(numbers(dtype, 2, 4, 37), 6, (4,), pads=(2, 1), padding=high, panels=True),
    ]


def blocked(dtype: type) -> list[Expected]:
    """Blocked and plain images, both signs, lines that are tiles and that are cut, rows cut off."""
    padding = 0 if dtype is BF16 else 7
    plain_image = {"pads": (1, 0, 2, 1), "padding": padding, "panels": True}
    made = [
        convolution(numbers(dtype, 2, 16, 9, 14), 48, (3, 3), panels=True),
        convolution(numbers(dtype, 1, 32, 9, 33), 16, (3, 2), stride=2, panels=True),
        convolution(numbers(dtype, 2, 32, 7, 7), 64, (1, 1), panels=True),
        convolution(numbers(dtype, 1, 16, 9, 9), 32, (1, 1), stride=2, panels=True),
        convolution(numbers(dtype, 1, 16, 41), 16, (4,), dilation=2, panels=True),
        convolution(numbers(dtype, 2, 3, 9, 17), 32, (3, 3), stride=2, **plain_image),
        convolution(numbers(dtype, 2, 6, 9, 17), 32, (1, 1), panels=True),
    ]
    made = [blocked_case(each) for each in made]
    return made if dtype is np.int8 else [*made, bordered(dtype)]


def bordered(dtype: type) -> Expected:
    """Return a convolution whose taps are so far apart that some windows see the border alone."""
    image = np.pad(numbers(dtype, 1, 32, 6, 9), [(0, 0), (0, 0), (5, 6), (5, 5)])
    made = blocked_case(convolution(image, 48, (3, 3), dilation=5, panels=True))
    attributes = {**made.case.attributes, "border": (5, 5, 6, 5)}
    return replace(made, case=replace(made.case, attributes=attributes))


def blocked_case(expected: Expected) -> Expected:
    """Return the same convolution to a blocked image, of a blocked one where channels are blocks.

    A blocked image cannot be padded: those that are have other channels.
    """
    case, (x, *packed) = expected.case, expected.case.inputs
    block = cpu.Block(lanes=16).reference
    image = block(x) if x.shape[1] % 16 == 0 else x
    sums = expected.sums.reshape(1, -1, 16, *expected.sums.shape[1:])
    made = replace(
        case,
        cls=cpu.BlockedDotConv,
        operands=(image, *packed),
        attributes={**case.attributes, "lanes": 16},
    )
    return Expected(made, block(expected.result), np.moveaxis(sums, 2, -1))


def lane(
    x: Array, kernel: tuple[int, ...], stride: int, lanes: int = 16, spare: int = 0
) -> Expected:
    """Convolve each channel; behind what windows see, the image has what words hold, and more."""
    rank, channels = len(kernel), x.shape[1]
    w, b = weights(x, channels, 1, *kernel)
    reach = tuple(range(2, rank + 2))
    windows = sliding_window_view(plain(x), kernel, reach)
    windows = windows[(..., *(slice(None, None, stride),) * rank, *(slice(None),) * rank)]
    sizes = windows.shape[2 : 2 + rank]
    axes = tuple(range(-rank, 0))
    kernels = w.astype(windows.dtype).reshape(channels, *(1,) * rank, *kernel)
    total = (windows * kernels).sum(axes) + b.reshape(-1, *(1,) * rank)
    more = max(0, cpu.word_reach(sizes[-1], kernel[-1], stride) - x.shape[-1]) + spare
    image = np.pad(x, [*[(0, 0)] * (rank + 1), (0, more)], constant_values=77)
    block = cpu.Block(lanes=lanes).reference
    words = cpu.pack_lane_words(w, lanes, stride)
    window = {"kernel": kernel, "strides": (stride,) * rank, "sizes": sizes}
    case = Case("lanes", cpu.LaneDotConv, (block(image), words, b), window)
    sums = w.astype(np.int64).sum((1, *axes)).reshape(1, -1, *(1,) * rank, lanes)
    return Expected(case, block(narrowed(total, x)), sums)


def lanes_alone(dtype: type) -> list[Expected]:
    """Words that results share and do not, lines that are one tile and that are cut unevenly."""
    shapes = (
        *(((3, 3), 1, 16), ((3, 3), 1, 15), ((3, 3), 1, 9), ((3, 3), 2, 33), ((3, 3), 3, 20)),
        *(((5, 5), 1, 33), ((5, 5), 2, 35), ((2, 7), 1, 40), ((3, 4), 1, 19), ((1, 1), 1, 23)),
    )
    made = [
        lane(numbers(dtype, 2, 32, 8, width), kernel, stride) for kernel, stride, width in shapes
    ]
    made += [
        lane(numbers(dtype, 1, 16, 41), (3,), 1),
        lane(numbers(dtype, 1, 16, 12, 12), (11, 2), 1),
    ]
    return [*made, lane(numbers(dtype, 1, 16, 6, 21), (3, 3), 1, lanes=8, spare=3)]


def check(expected: Sequence[Expected], machine: Machine | None) -> None:
    compiled = compile_cases([e.case for e in expected], machine)
    for index, (case, result) in enumerate((e.case, e.result) for e in expected):
        (reference,) = case.reference()
        (got,) = compiled.run(index, case.inputs, [Tensor.of(reference)])
        if result.dtype == np.int32:
            np.testing.assert_array_equal(got, result)
            np.testing.assert_array_equal(reference, result)
            continue
        # Half a unit in the last place of bf16, and what sums in f32 lose.
        close = {"rtol": 2**-8, "atol": 1e-5 * np.abs(result).max()}
        np.testing.assert_allclose(got.astype(np.float64), result, **close)
        np.testing.assert_allclose(reference.astype(np.float64), result, **close)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, BF16])
@pytest.mark.parametrize("family", [products, convolutions, panels, blocked])
def test_kernels_compute_what_numpy_does(family, dtype) -> None:
    check(family(dtype), None)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_channels_have_kernels_of_their_own(dtype) -> None:
    check(lanes_alone(dtype), None)


@pytest.mark.parametrize("machine", MACHINES, ids=spell)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, BF16])
def test_machines_with_other_instructions_compute_the_same(machine, dtype) -> None:
    if not runs_here(machine):
        pytest.skip("this machine lacks the instructions")
    check(
        [*products(dtype), *convolutions(dtype)[:5], *panels(dtype)[-4:], *blocked(dtype)[1:3]]
        + ([] if dtype is BF16 else lanes_alone(dtype)[:3]),
        machine,
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_signed_bytes_are_128_less(dtype) -> None:
    cases = [*products(dtype), *convolutions(dtype), *panels(dtype)[-4:], *blocked(dtype)]
    cases += lanes_alone(dtype)[:3]
    check([each.signed() for each in cases], None)


def test_sums_wrap_around() -> None:
    """2^31 is passed by sums of the largest products, and by none of their parts."""
    a = np.full((1, 66_000), 255, np.uint8)
    w, b = np.full((66_000, 1), -128, np.int8), np.array([-7], np.int32)
    case = Case("wrap", cpu.DotMatMul, (a, cpu.pack_vnni_columns(w, 16), b), {"columns": 1})
    total = -255 * 128 * 66_000 - 7
    assert total < -(1 << 31)
    check([Expected(case, np.array([[total]]).astype(np.int32), np.array([w.sum()]))], None)


def sums_of_halves(a: Array, w: Array) -> Array:
    """Multiply matrices of bf16; return the sums in f32, before they are rounded."""
    words, bias = cpu.pack_vnni_columns(w, 32), np.zeros(w.shape[1], np.float32)
    case = Case("halves", cpu.DotMatMul, (a, words, bias), {"columns": w.shape[1]})

    def widen(values: Sequence[ir.Value]) -> list[Op]:
        return [tri.Cast.build(values[0], to="f32")]

    compiled = compile_groups([lambda: build_group(case, epilogue=widen)])
    (got,) = compiled.run(0, case.inputs, [Tensor((a.shape[0], w.shape[1]), "f32")])
    return got


@pytest.mark.parametrize("depth", [63, 768, 4096])
def test_halves_are_summed_as_exactly_as_f32(depth: int) -> None:
    a, w = numbers(BF16, 17, depth), numbers(BF16, depth, 33)
    wide = a.astype(np.float64), w.astype(np.float64)
    limit = 2e-7 * (np.abs(wide[0]) @ np.abs(wide[1]))
    assert (np.abs(sums_of_halves(a, w) - wide[0] @ wide[1]) < limit).all()


def test_the_instruction_for_halves_makes_no_denormals() -> None:
    if find_instruction(host_machine(), "bf16") is None:
        pytest.skip("this machine lacks the instruction")
    tiny = np.full((1, 2), 2.0**-130).astype(BF16)
    assert sums_of_halves(tiny, np.full((2, 1), 2.0**100).astype(BF16)) == 0
    small = np.full((1, 2), 2.0**-70).astype(BF16)
    assert sums_of_halves(small, np.full((2, 1), 2.0**-70).astype(BF16)) == 0


@pytest.mark.parametrize(
    ("features", "vector_bytes", "name"),
    [
        (("avx512_vnni",), 64, "llvm.x86.avx512.vpdpbusd.512"),
        (("avx512_vnni",), 32, None),  # without avx512vl, only for the widest vectors
        (("avx_vnni",), 32, "llvm.x86.avx512.vpdpbusd.256"),
        (("avx_vnni",), 64, None),
        (("avx2",), 32, None),
    ],
)
def test_instructions_are_those_of_the_machine(features, vector_bytes, name) -> None:
    found = find_instruction(with_features(features, vector_bytes), "i8")
    assert (found and found.name) == name
