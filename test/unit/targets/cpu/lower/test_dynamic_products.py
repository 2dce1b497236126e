"""Contractions, convolutions and pools of symbolic sizes, beside those of known sizes."""

from typing import Any

import pytest
from cpu_kernels import on_every_machine
from dynamic_kernels import assert_equal_to_static, iterations
from resampled import SAMPLED
from symbolic_groups import Dynamic, Sizes
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import Machine, find_machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.targets.cpu.schedule.tiles import most_rows

ROWS: list[Sizes] = [
    {"N": n, "T": t} for n, t in ((1, 1), (2, 3), (1, 14), (5, 15), (1, 64), (1, 97), (1, 131))
]
"""Sizes of 1, below and above the height of tiles and the width of panels, and primes."""

IMAGES: list[Sizes] = [
    {"N": n, "H": h, "W": w}
    for n, h, w in ((1, 1, 1), (2, 3, 5), (1, 7, 7), (1, 16, 17), (2, 5, 33), (1, 14, 15))
]

HEADS = ["N 2 T 8", "N 2 T 8", "N 2 T 8"]

PRODUCTS = [
    Dynamic(tri.MatMul, ["N T 24", "24 40"]),
    Dynamic(tri.MatMul, ["N T 5", "N 5 T"]),
    Dynamic(tri.MatMul, ["N 5 T", "N T 6"]),
    Dynamic(tri.MatMul, ["N T", "T"]),
    Dynamic(
        tri.Gemm,
        ["24 T", "7 24", "7"],
        {"trans_a": True, "trans_b": True, "alpha": 0.5, "beta": 1.0},
    ),
    Dynamic(tri.IndexedMatMul, ["N*T 24", "3 24 140", "N*T i64"]),
    Dynamic(cpu.PackedMatMul, ["N T 24", "2 24 32"], {"columns": 40, "rows": 14}),
    Dynamic(cpu.PackedMatMul, ["N T 512", "2 512 32"], {"columns": 40}),
    Dynamic(cpu.PackedMatMul, ["T 24", "1 24 32"], {"columns": 32}, ranges={"T": "1..13"}),
    Dynamic(cpu.PackedMatMul, ["N T 24", "2 24 32 i8"], {"columns": 40}),
    Dynamic(cpu.DotMatMul, ["N T 24 ui8", "2 6 32 i32", "40 i32"], {"columns": 40}),
]

ATTENTION = [
    Dynamic(tri.Attention, [*HEADS, []], {"scale": 0.25}),
    Dynamic(tri.Attention, [*HEADS, []], {"scale": 0.25, "causal": True}, ranges={"T": "1..512"}),
    Dynamic(tri.Attention, [*HEADS, ["1 1 T T i1"]], {"scale": 0.25, "fills": (-1e9,)}),
    Dynamic(tri.Attention, ["N 2 1 8", *HEADS[1:], []], {"scale": 0.25}),
    Dynamic(tri.Attention, ["N 2 16*T 8"] * 3 + [[]], {"scale": 0.25}),
]

LINEAR_ATTENTION = [
    Dynamic(
        tri.LinearAttention,
        ["N T 4 9", "N T 2 9", "N T 2 20", "N T 2 9", "N T 1 1", "N 2 9 20"],
        {"scale": 0.25},
    ),
    Dynamic(
        tri.LinearAttention, ["N 3 T 9", "N 3 T 9", "N 3 T 70", None, None, None], {"scale": 0.25}
    ),
]

ONES: dict[str, Any] = {"strides": (1, 1), "dilations": (1, 1)}
TWOS: dict[str, Any] = {"strides": (2, 2), "dilations": (1, 1)}
PADDED: dict[str, Any] = {"pads": (1, 1, 1, 1)}
SQUARE: dict[str, Any] = {"kernel": (3, 3)}
BLOCKED: dict[str, Any] = {**ONES, **SQUARE, "outputs": 32, "lanes": 16}


def _relu_of_sum(made: ir.Value, other: ir.Value) -> Op:
    return tri.Relu.build(tri.Add.build(made, other).y)


CONVOLUTIONS = [
    Dynamic(cpu.BlockedConv, ["N 2 H+2 W+2 16", "2 288 16", "32"], BLOCKED),
    Dynamic(cpu.BlockedConv, ["N 2 2*H+1 2*W+1 16", "2 288 16", "32"], BLOCKED | TWOS),
    Dynamic(cpu.BlockedConv, ["N 2 H W 16", "1 32 32", "32"], BLOCKED | {"kernel": (1, 1)}),
    Dynamic(cpu.BlockedConv, ["N 3 H+2 W+2", "2 27 16", "32"], BLOCKED),
    Dynamic(cpu.BlockedConv, ["N 2 H+2 30 16", "2 288 16", "32"], BLOCKED),
    Dynamic(cpu.BlockedConv, ["N 2 H+2 8 16", "2 288 16", "32"], BLOCKED),
    Dynamic(cpu.PanelConv, ["N 5 H W", "1 45 16", "12"], ONES | PADDED | SQUARE | {"outputs": 12}),
    Dynamic(cpu.PanelConv, ["N 5 H W", "1 45 16", "12"], TWOS | PADDED | SQUARE | {"outputs": 12}),
    Dynamic(cpu.LaneConv, ["N 2 H+2 W+2 16", "2 9 1 16", "32"], ONES | SQUARE),
    Dynamic(tri.Conv, ["N 4 H W", "4 1 3 3", "4"], ONES | PADDED | {"group": 4}),
    Dynamic(tri.Conv, ["N 4 H W", "4 1 3 3", "4"], TWOS | PADDED | {"group": 4}),
    Dynamic(tri.Conv, ["N 4 H W", "40 4 1 1", "40"], ONES | {"pads": (0,) * 4, "group": 1}),
    Dynamic(
        tri.ConvTranspose,
        ["N 4 H W", "4 3 3 3", "3"],
        TWOS | PADDED | {"group": 1, "output_padding": (1, 1)},
    ),
]

WINOGRAD = [
    Dynamic(
        cpu.BlockedWinogradConv,
        ["N 2 4*((H+3)//4)+2 4*((W+3)//4)+2 16", "2 36 32 16", "32"],
        {"tile": 4, "outputs": 32, "sizes": ("=H", "=W")},
        exact=False,
    ),
    Dynamic(
        cpu.BlockedWinogradConv,
        ["N 2 2*((H+1)//2)+2 18 16", "1 16 32 48", None],
        {"tile": 2, "outputs": 48, "sizes": ("=H", 15)},
        extra=["N 3 H 15 16"],
        following=_relu_of_sum,
        exact=False,
    ),
    *[
        Dynamic(
            cpu.WinogradConv,
            [f"N 3 {image}", str(7 * points * 3), bias],
            {"tile": tile, "outputs": 7, "block": 4, "pads": pads},
            exact=False,
        )
        for image, tile, points, bias, pads in (
            ("H W", 4, 36, "7", (1, 1, 1, 1)),
            ("H+2 W+1", 2, 16, None, (0, 1, 0, 0)),
            ("H 70", 4, 36, "7", (1, 1, 1, 1)),
            ("9 10", 4, 36, "7", (1, 1, 1, 1)),
        )
    ],
]
"""Transforms may be contracted either way."""

ORDERED_BY_WIDTH = [
    Dynamic(tri.Conv, ["N 5 H W", "6 5 3 3", "6"], ONES | PADDED | {"group": 1}, exact=False),
    Dynamic(
        cpu.PackedConv,
        ["N 5 H W", "1 270", "6"],
        ONES | PADDED | SQUARE | {"outputs": 6, "block": 6, "vectors": 2},
        exact=False,
    ),
]
"""Convolutions that add taps or channels first, by the width of images that is known."""

POOLS = [
    Dynamic(tri.MaxPool, ["N 3 H+2 W+2"], TWOS | PADDED | SQUARE),
    Dynamic(tri.AveragePool, ["N 3 H+2 W+2"], ONES | PADDED | SQUARE | {"count_include_pad": True}),
    Dynamic(tri.MaxPoolIndices, ["N 3 H+2 W+2"], TWOS | PADDED | SQUARE | {"storage_order": 0}),
    Dynamic(cpu.Block, ["N 32 H W"], {"lanes": 16}),
    Dynamic(cpu.Unblock, ["N 2 H W 16"]),
]

FORWARD: dict[str, Any] = {"hidden_size": 5, "direction": "forward"}

RECURRENT = [
    Dynamic(tri.Iota, [], {"size": "=T+3*N"}),
    Dynamic(tri.Sizes, [], {"values": ("=T", 7, "=N-1"), "shape": (3, 1)}),
    Dynamic(tri.Lstm, ["T N 3", "1 20 3", "1 20 5", "1 40", None, None, None, None], FORWARD),
    Dynamic(
        tri.Lstm,
        ["T N 3", "1 20 3", "1 20 4", None, "N i32", None, None, "1 15", "1 4 5"],
        FORWARD | {"clip": 0.5},
    ),
    Dynamic(
        cpu.PackedLstm,
        ["T N 20", "1 2 4 4 4", "N i64", "1 N 4", "1 N 5", "1 15", "1 1 5 1 8"],
        FORWARD | {"input_forget": True},
    ),
    Dynamic(tri.QuantizedLstm, ["T N 20", "1 5 20 i32", "1 20", *[None] * 4], FORWARD),
    Dynamic(
        cpu.DotLstm,
        ["T N 20", "1 2 2 16 i32", "1 20", "1 20 i32", *[None] * 4],
        FORWARD,
    ),
    Dynamic(tri.GridSample, ["N 3 5 6", "N T 2 2"], {"mode": "linear", "align_corners": False}),
]

REGIONS = [
    *[
        Dynamic(tri.RoiAlign, ["2 3 H W", "N 4", "N i64"], {"sizes": (2, 5), "mode": mode} | more)
        for mode, more in (("avg", {"sampling_ratio": 2}), ("avg", {}), ("max", {}))
    ],
    Dynamic(tri.MaxRoiPool, ["2 3 H W", "N 5"], {"sizes": (3, 2)}),
]


@pytest.mark.parametrize("case", [*PRODUCTS, *ATTENTION, *LINEAR_ATTENTION, *RECURRENT], ids=str)
def test_products_of_any_sizes_are_those_of_known_sizes(case: Dynamic) -> None:
    few = [at for at in ROWS if not case.ranges or at["T"] < 14 or "512" in case.ranges["T"]]
    assert_equal_to_static([case], few)


FEW_ROWS = [
    Dynamic(cpu.PackedMatMul, ["N T 24", "1 24 32"], {"columns": 32, "rows": 14}),
    Dynamic(cpu.DotMatMul, ["N T 24 ui8", "1 6 32 i32", "32 i32"], {"columns": 32}),
]


@pytest.mark.parametrize("case", FEW_ROWS, ids=str)
def test_tiles_of_each_height_compute_what_those_of_known_sizes_do(case: Dynamic) -> None:
    assert_equal_to_static([case], [{"N": 1, "T": t} for t in (2, 5, 8, 9, 10, 11, 12, 13, 20)])


@pytest.mark.parametrize("case", FEW_ROWS, ids=str)
def test_up_to_a_tile_of_rows_is_one_pass_over_the_weights(case: Dynamic) -> None:
    tile = most_rows(find_machine("x86-64-v4"), 2)
    passes = [
        iterations(case, find_machine("x86-64-v4"), {"N": 1, "T": t}) for t in (1, 5, 8, tile)
    ]
    assert passes == [1, 1, 1, 1]
    assert iterations(case, find_machine("x86-64-v4"), {"N": 1, "T": tile + 1}) == 2


@on_every_machine
def test_attention_in_vectors_of_all_widths(machine: Machine) -> None:
    assert_equal_to_static(ATTENTION[:1], ROWS, machine)


@pytest.mark.parametrize("case", [*CONVOLUTIONS, *ORDERED_BY_WIDTH, *POOLS, *REGIONS], ids=str)
def test_images_of_any_sizes_are_computed_as_those_of_known_sizes(case: Dynamic) -> None:
    assert_equal_to_static([case], IMAGES)


@pytest.mark.parametrize("case", [*WINOGRAD, *SAMPLED], ids=str)
def test_images_of_any_sizes_are_transformed_as_those_of_known_sizes(case: Dynamic) -> None:
    assert_equal_to_static([case], IMAGES[::2])
