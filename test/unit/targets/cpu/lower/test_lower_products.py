"""Convolutions and products in all their schedules: tails, tiles that hang over, padding."""

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from cpu_kernels import compile_cases, on_every_machine, share
from groups import Case, draw
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor, numpy_dtype
from trivium.dialects.cpu.block_quantized import BlockLayout
from trivium.dialects.cpu.matmul import NARROW
from trivium.dialects.cpu.packing import pack_columns

RANDOM = np.random.default_rng()


def normal(*shape: int, dtype: object = np.float32) -> Array:
    return (RANDOM.standard_normal(shape) * 3).astype(dtype)


def case(op: type[Op], *operands: object, **attributes: object) -> Case:
    return Case(str(len(attributes)), op, operands, attributes)


def window(kernel: tuple[int, ...], stride: int, pad: int, **more: object) -> dict[str, object]:
    rank = len(kernel)
    common = {"strides": (stride,) * rank, "pads": (pad,) * rank * 2, "dilations": (1,) * rank}
    return {"kernel": kernel} | common | more


def sliding(x: Array, w: Array, stride: int, pad: int, **more: object) -> Case:
    attributes = window(w.shape[2:], stride, pad, **more)
    del attributes["kernel"]
    return case(tri.Conv, x, w, normal(w.shape[0]), **attributes)


def convolutions() -> list[Case]:
    """Rows of outputs that fill vectors, end within one, and are shorter; maps that do not."""
    made: list[Case] = []
    for width in (7, 17, 32, 33, 39, 70):
        for stride, pad in ((1, 1), (2, 1), (2, 0), (3, 2)):
            image = normal(2, 3, 9, width)
            made += [
                sliding(image, normal(5, 3, 3, 3), stride, pad),
                sliding(image, normal(3, 1, 3, 3), stride, pad, group=3),
                sliding(image, normal(3, 1, 5, 2), stride, pad, group=3, dilations=(1, 3)),
                sliding(image, normal(33, 3, 2, 3), stride, pad, dilations=(2, 1)),
            ]
    return made


def packed(x: Array, outputs: int, size: int, stride: int, pad: int) -> Case:
    # Small numbers: long sums then stay as exact as the tolerance asks.
    w = cpu.pack_kernel_columns(normal(outputs, x.shape[1], size, size) / 16, 32)
    attributes = window((size, size), stride, pad, outputs=outputs)
    return case(cpu.PanelConv, x, w, normal(outputs), **attributes)


def panels() -> list[Case]:
    """Columns that leave tails, several tiles of rows, rows that lie a power of two apart."""
    image = normal(2, 5, 14, 14)
    made = [
        packed(image, outputs, size, stride, pad)
        for outputs in (16, 33, 70)
        for size, stride, pad in ((1, 1, 0), (1, 2, 0), (3, 1, 1), (3, 2, 1), (5, 1, 2), (4, 3, 0))
    ]
    # Lines of outputs that are cut into tiles.
    made += [
        packed(normal(2, 5, 6, width), 16, 3, stride, 1)
        for width in (17, 31, 70)
        for stride in (1, 2)
    ]
    # Output pixels as many as input pixels, yet not the same pixels.
    made.append(packed(normal(2, 5, 2, 2), 16, 1, 2, 1))
    for rows, depth, columns in ((1, 7, 130), (3, 512, 33), (30, 1024, 70), (29, 9, 32)):
        a, b = normal(rows, depth) / 16, normal(depth, columns) / 16
        made.append(case(cpu.PackedMatMul, a, pack_columns(b, 32), columns=columns))
    for dtype in NARROW:
        whole = RANDOM.integers(0 if dtype.startswith("ui") else -128, 128, (37, 70))
        w = pack_columns(whole.astype(numpy_dtype(dtype)), 32)
        # One row, a tile of rows, and several on machines that hold fewer.
        made += [case(cpu.PackedMatMul, normal(m, 37) / 16, w, columns=70) for m in (1, 3, 6)]
    return made


def indexed() -> list[Case]:
    """Rows in order of their matrices and in none, of matrices that are not there, of one alone."""
    made: list[Case] = []
    for rows, depth, columns in ((1, 33, 40), (14, 9, 16), (41, 24, 70), (70, 7, 300)):
        chosen = RANDOM.integers(-1, 4, rows)
        for index in (np.sort(chosen), chosen.astype(np.int32), np.full(rows, 2)):
            a, w = normal(rows, depth), normal(3, depth, columns)
            made.append(case(tri.IndexedMatMul, a, w, index))
    a, w = normal(20, 9, dtype=np.float16), normal(2, 9, 40, dtype=np.float16)
    made.append(case(tri.IndexedMatMul, a, w, np.arange(20) // 15))
    return made


def few_bits() -> list[Case]:
    """Return products of one row, a tile of rows and several, with blocks that are full or not."""
    made: list[Case] = []
    for bits, block, scales, zeros in (
        *((4, 32, "f32", ""), (4, 16, "f16", "ui8"), (4, 128, "f32", "f32")),
        *((2, 16, "f32", "ui8"), (2, 64, "bf16", ""), (8, 32, "f32", "ui8"), (8, 64, "f32", "")),
    ):
        for rows, depth, width in ((1, 128, 32), (3, 77, 32), (40, 150, 32), (2, 33, 64)):
            columns = 70
            layout, shape = BlockLayout(bits, block, scales, zeros), (columns, -(-depth // block))
            w = RANDOM.integers(0, 256, (*shape, block * bits // 8)).astype(np.uint8)
            factors = RANDOM.uniform(0.01, 0.05, shape).astype(numpy_dtype(scales))
            given = RANDOM.integers(0, 1 << bits, shape).astype(numpy_dtype(zeros or "f32"))
            packed = layout.pack(w, factors, given if zeros else None, width)
            sizes = {"bits": bits, "block": block, "columns": columns}
            a = normal(rows, depth) / 16
            kinds = {"scales": scales, "zero_points": zeros}
            made.append(case(cpu.PackedBlockMatMul, a, packed, **sizes, **kinds))
    return made


def half_panels() -> list[Case]:
    """Return convolutions of f16 and bf16 in panels: pixels, padding, strides, one axis."""
    made: list[Case] = []
    for dtype in (np.float16, ml_dtypes.bfloat16):
        for shape, outputs, size, stride, pad in (
            ((1, 5, 7, 7), 33, 1, 1, 0),
            ((2, 5, 7, 7), 33, 1, 1, 0),
            ((2, 5, 9, 17), 40, 3, 2, 1),
            ((1, 6, 25), 70, 3, 2, 1),
            ((2, 4, 13), 16, 3, 1, 0),
        ):
            taps = (size,) * (len(shape) - 2)
            kernels = normal(outputs, shape[1], *taps, dtype=dtype) / dtype(16)
            w = cpu.pack_kernel_columns(kernels, 32)
            x, b = normal(*shape, dtype=dtype), normal(outputs, dtype=dtype)
            made.append(case(cpu.PanelConv, x, w, b, **window(taps, stride, pad, outputs=outputs)))
    return made


def winograd() -> list[Case]:
    """Tile rows that share a vector, fill one and take several; tiles that hang over the end."""
    made: list[Case] = []
    for height, width in ((9, 9), (14, 14), (8, 28), (7, 33), (6, 70)):
        for tile in (2, 4):
            u = cpu.transform_kernels(normal(5, 3, 3, 3), tile, 3)
            made.append(
                case(
                    cpu.WinogradConv,
                    normal(2, 3, height, width),
                    u,
                    normal(5),
                    tile=tile,
                    outputs=5,
                    block=3,
                    pads=(1, 1, 1, 1),
                )
            )
    return made


def blocked() -> list[Case]:
    """Blocked and plain images, groups of whole blocks and of parts of one, lines cut in tiles."""
    made: list[Case] = []
    for lanes, width in ((16, 14), (16, 31), (8, 7)):
        image = cpu.Block(lanes=lanes).reference(normal(2, 48, 9, width))
        for size, stride, dilation in ((1, 1, 1), (1, 2, 1), (3, 1, 1), (3, 2, 1), (2, 1, 2)):
            common = {
                "kernel": (size, size),
                "strides": (stride, stride),
                "dilations": (dilation, dilation),
            }
            for group, outputs in ((1, 32), (3, 48)):
                kernels = normal(outputs, 48 // group, size, size) / 16
                w = cpu.pack_group_columns(kernels, group, 16 if group > 1 else 32)
                more = common | {"outputs": outputs, "lanes": lanes, "group": group}
                made.append(case(cpu.BlockedConv, image, w, normal(outputs), **more))
            for channels in (1, 4, lanes):
                w = cpu.pack_lanes(normal(48, channels, size, size) / 16, lanes)
                made.append(case(cpu.LaneConv, image, w, normal(48), **common))
            w = cpu.pack_group_columns(normal(32, 3, size, size), 1, 32)
            plain = normal(2, 3, 9, width)
            more = common | {"outputs": 32, "lanes": lanes}
            made.append(case(cpu.BlockedConv, plain, w, None, **more))
        made.append(case(cpu.Unblock, image))
        made.append(case(cpu.Block, normal(2, 48, 3, width), lanes=lanes))
    return made


def far_taps() -> list[Case]:
    """Taps so far apart that some windows see the border alone, by lines and by parts of them."""
    made: list[Case] = []
    for height, width, size, stride, dilation, border in (
        (16, 16, 3, 1, 12, (12, 12, 12, 12)),
        (5, 40, 3, 1, 7, (7, 7, 7, 7)),
        (9, 5, 3, 2, 4, (4, 3, 4, 5)),
        (7, 6, 5, 1, 3, (6, 0, 6, 12)),
        (6, 6, 2, 1, 3, (9, 9, 0, 0)),
    ):
        begins, ends = border[:2], border[2:]
        around = [(0, 0), (0, 0), *zip(begins, ends, strict=True), (0, 0)]
        image = np.pad(cpu.Block(lanes=16).reference(normal(1, 32, height, width)), around)
        w = cpu.pack_group_columns(normal(48, 32, size, size) / 16, 1, 32)
        window = {"strides": (stride,) * 2, "dilations": (dilation,) * 2, "kernel": (size, size)}
        more = {"outputs": 48, "lanes": 16, "border": border} | window
        made.append(case(cpu.BlockedConv, image, w, normal(48), **more))
        made.append(case(cpu.BlockedConv, image, w, None, rows=6, **more))
    return made


def volumes() -> list[Case]:
    """Tiles that reach from one plane to the next; planes of a border, which code passes over."""
    made: list[Case] = []
    for sizes, kernel, stride, dilation, rows in (
        ((3, 5, 4), (3, 3, 3), (1, 1, 1), (1, 1, 1), 12),
        ((2, 6, 33), (3, 1, 2), (1, 1, 1), (1, 1, 2), 0),
        ((5, 7, 6), (2, 3, 3), (2, 1, 2), (1, 2, 1), 0),
        ((4, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 0),
    ):
        window = {"strides": stride, "dilations": dilation, "kernel": kernel}
        plain, w = normal(2, 32, *sizes), normal(48, 32, *kernel) / 16
        image = cpu.Block(lanes=16).reference(plain)
        packed = cpu.pack_group_columns(w, 1, 32)
        border = tuple((k - 1) * d // 2 for k, d in zip(kernel, dilation, strict=True))
        around = [(0, 0), (0, 0), *((n, n) for n in border), (0, 0)]
        wide = np.pad(image, around)
        more = {"outputs": 48, "lanes": 16, "rows": rows} | window
        made.append(case(cpu.BlockedConv, wide, packed, normal(48), border=border * 2, **more))
        made.append(case(cpu.BlockedConv, wide, packed, None, **more))
        lanes = cpu.pack_lanes(normal(32, 4, *kernel) / 16, 16)
        made.append(case(cpu.LaneConv, wide, lanes, normal(32), **window))
        pads = {"pads": border * 2, "outputs": 48}
        columns = cpu.pack_kernel_columns(w, 32)
        made.append(case(cpu.PanelConv, plain, columns, normal(48), **pads, **window))
    return made


def blocked_winograd() -> list[Case]:
    """Tiles that hang over the end of one axis, of the other, of both; a panel that is not full."""
    made: list[Case] = []
    for sizes in ((8, 12), (7, 14), (14, 9), (9, 33), (3, 8, 12), (4, 7, 9), (1, 21, 30)):
        # Few channels in tiles of 4: that loses more with each of them.
        for tile, lanes, blocks in ((2, 16, 2), (4, 4, 1)):
            channels, outputs = blocks * lanes, 3 * lanes
            reach = [cpu.whole_tiles(size, tile) + 2 for size in sizes[-2:]]
            planes = [count + 1 for count in sizes[:-2]]
            image = cpu.Block(lanes=lanes).reference(normal(2, channels, *planes, *reach))
            kernels = normal(outputs, channels, *(2,) * len(planes), 3, 3) / 16
            u = cpu.transform_kernel_columns(kernels, tile, 2 * lanes)
            more = {"tile": tile, "outputs": outputs, "sizes": sizes}
            made.append(case(cpu.BlockedWinogradConv, image, u, normal(outputs), **more))
    return made


@on_every_machine
@pytest.mark.parametrize(
    ("dtype", "half_step", "kernels", "lost"),
    [
        (ml_dtypes.bfloat16, 2**-8, np.float32, 6e-6),
        (ml_dtypes.bfloat16, 2**-8, np.float16, 3e-3),
        (np.float16, 2**-11, np.float32, 6e-6),
    ],
)
def test_tiles_of_halves_are_rounded_once(
    dtype, half_step, kernels, lost, machine: Machine
) -> None:
    """Transforms and products are of f32: beside their error, results are off by half a step."""
    for tile, sizes in ((2, (7, 9)), (4, (9, 8))):
        reach = [cpu.whole_tiles(size, tile) + 2 for size in sizes]
        x, w, b = normal(2, 32, *reach).astype(dtype), normal(48, 32, 3, 3), normal(48)
        u = cpu.transform_kernel_columns(w, tile, 32).astype(kernels)
        image = cpu.Block(lanes=16).reference(x)
        more = {"tile": tile, "outputs": 48, "sizes": sizes}
        made = case(cpu.BlockedWinogradConv, image, u, b, **more)
        (reference,) = made.reference()
        (got,) = compile_cases([made], machine).run(0, made.inputs, [Tensor.of(reference)])
        windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (2, 3))
        want = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64))
        want = want[:, :, : sizes[0], : sizes[1]] + b.reshape(-1, 1, 1)
        for result in (got, reference):
            plain = cpu.Unblock().reference(result).astype(np.float64)
            limit = {"rtol": half_step, "atol": lost * np.abs(want).max()}
            np.testing.assert_allclose(plain, want, **limit)


@on_every_machine
@pytest.mark.parametrize(
    "family",
    [
        convolutions,
        panels,
        indexed,
        few_bits,
        half_panels,
        winograd,
        blocked,
        far_taps,
        volumes,
        blocked_winograd,
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_compute_what_the_reference_does(family, machine: Machine) -> None:
    cases = share(draw(family, RANDOM), machine)
    compiled = compile_cases(cases, machine)
    for index, made in enumerate(cases):
        wanted = made.reference()
        results = compiled.run(index, made.inputs, [Tensor.of(y) for y in wanted])
        for got, want in zip(results, wanted, strict=True):
            assert_close(made, got, want, made.inputs)
