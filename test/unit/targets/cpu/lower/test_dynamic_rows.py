"""Kernels that loop over rows and elements of symbolic sizes, beside those of known sizes."""

import pytest
from cpu_kernels import on_every_machine
from dynamic_kernels import assert_equal_to_static
from symbolic_groups import Dynamic
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op

SIZES = [
    {"N": n, "T": t}
    for n, t in ((1, 1), (2, 3), (3, 16), (1, 17), (5, 64), (2, 97), (3, 131), (1, 257))
]
"""Sizes of 1, below and above the width of vectors, and primes."""


def _relu_of_sum(made: ir.Value, *others: ir.Value) -> Op:
    for other in others:
        made = tri.Add.build(made, other).y
    return tri.Relu.build(made)


ELEMENTWISE = [
    Dynamic(tri.Relu, ["N T 5"]),
    Dynamic(tri.Add, ["N T", "1 T"]),
    Dynamic(tri.Mul, ["N T 7", "T 1"]),
    Dynamic(tri.Where, ["N T i1", "N T", "N 1"]),
    Dynamic(tri.Cast, ["N T"], {"to": "f16"}),
    Dynamic(tri.Mul, ["N T 3", "T 1"], extra=["N T 3", "1 3"], following=_relu_of_sum),
]

ROWS = [
    Dynamic(tri.Softmax, ["N 100"], {"axis": -1}),
    Dynamic(tri.Softmax, ["N T"], {"axis": -1}),
    Dynamic(tri.Softmax, ["N T 5"], {"axis": 1}),
    Dynamic(tri.Softmax, ["N 5 T"], {"axis": 1}),
    Dynamic(tri.Softmax, ["N 16*T"], {"axis": -1}),
    Dynamic(tri.Softmax, ["N T"], {"axis": -1}, ranges={"T": "200..300"}),
    Dynamic(tri.LogSoftmax, ["N T"], {"axis": -1}),
    Dynamic(tri.LayerNorm, ["N T", "T", "T"], {"axis": -1, "epsilon": 1e-5}, exact=False),
    Dynamic(tri.LayerNorm, ["N T 40", "40", "40"], {"axis": -1, "epsilon": 1e-5}),
    Dynamic(tri.RmsNorm, ["N T 40", "40"], {"axis": -1, "epsilon": 1e-5}),
    Dynamic(tri.InstanceNorm, ["N 4 T T", "4", "4"], {"epsilon": 1e-5}, exact=False),
    Dynamic(tri.GroupNorm, ["N 4 T", "4", "4"], {"epsilon": 1e-5, "groups": 2}, exact=False),
    Dynamic(tri.BatchNorm, ["N 4 T", "4", "4", "4", "4"], {"epsilon": 1e-5}),
    Dynamic(tri.ReduceSum, ["N T 5"], {"axes": (1,)}),
    Dynamic(tri.ReduceSum, ["N 5 T"], {"axes": (2,)}),
    Dynamic(tri.ReduceMean, ["N T 64"], {"axes": (1, 2)}),
    Dynamic(tri.ReduceMean, ["N 4 T T"], {"axes": (2, 3)}),
    Dynamic(tri.ReduceMean, ["N T i64"], {"axes": (1,)}),
    Dynamic(tri.ReduceMax, ["N T"], {"axes": (0,)}),
    Dynamic(tri.ReduceLogSumExp, ["N T"], {"axes": (1,)}),
    Dynamic(
        tri.Lrn, ["N 6 T T"], {"size": 3, "alpha": 1e-4, "beta": 0.75, "bias": 1.0}, exact=False
    ),
]

MOVES = [
    Dynamic(tri.Transpose, ["N T 7"], {"permutation": (0, 2, 1)}),
    Dynamic(tri.Transpose, ["N T 20"], {"permutation": (0, 2, 1)}),
    Dynamic(tri.Transpose, ["N 20 T"], {"permutation": (0, 2, 1)}),
    Dynamic(tri.Transpose, ["N T"], {"permutation": (1, 0)}),
    Dynamic(tri.Transpose, ["N T 4 8"], {"permutation": (0, 2, 1, 3)}),
    Dynamic(tri.Concat, [["N T 3", "N 2*T 3"]], {"axis": 1}),
    Dynamic(
        tri.Slice,
        ["N T 4"],
        {"starts": (0, "=T-1", 0), "sizes": ("=N", "=T", 4), "steps": (1, -1, 1)},
    ),
    Dynamic(tri.Split, ["N 2*T"], {"axis": 1, "sizes": ("=T", "=T")}),
    Dynamic(tri.Reshape, ["N T 4"], {"shape": ("=N*T", 4)}),
    Dynamic(tri.Tile, ["N T"], {"repeats": (2, 3)}),
    Dynamic(tri.Trilu, ["N T T"], {"upper": True, "k": 1}),
    Dynamic(tri.Pad, ["N T"], {"pads": (0, 2, 1, 3), "mode": "constant", "value": 1.0}),
    Dynamic(tri.Pad, ["N T"], {"pads": (0, 2, 1, 3), "mode": "edge", "value": 1.0}),
    Dynamic(tri.Gather, ["T 8", "N i64"], {"axis": 0}),
    Dynamic(tri.Gather, ["N T", "7 i64"], {"axis": 1}),
    Dynamic(tri.GatherElements, ["N T", "N T i64"], {"axis": 1}),
    Dynamic(tri.GatherNd, ["N T 3", "5 2 i64"], {"batch_dims": 0}),
    Dynamic(tri.OneHot, ["N T i64", "2"], {"axis": -1, "depth": "=T"}),
    Dynamic(tri.ScatterElements, ["N T", "N T i64", "N T"], {"axis": 1, "reduction": "add"}),
    Dynamic(tri.ScatterNd, ["N T 3", "5 2 i64", "5 3"], {"reduction": "none"}),
    Dynamic(tri.CumSum, ["N T"], {"axis": 1, "exclusive": False, "reverse": False}),
    Dynamic(tri.ArgMax, ["N T"], {"axis": 1, "select_last_index": False}),
    Dynamic(tri.ArgMax, ["N T 3"], {"axis": 1, "select_last_index": True}),
    Dynamic(tri.TopK, ["N T+2"], {"axis": 1, "k": 3, "largest": True}),
    Dynamic(tri.DepthToSpace, ["N 8 T T"], {"blocksize": 2, "mode": "DCR"}),
    Dynamic(
        tri.Resize,
        ["N 3 T T+1"],
        {"sizes": ("=N", 3, "=3*T", "=3*T+3"), "scales": (1.0, 1.0, 3.0, 3.0), "mode": "nearest"},
    ),
    Dynamic(tri.Slice, ["N T"], {"starts": (0, 1), "sizes": ("=N", "=T-1"), "steps": (1, 1)}),
    Dynamic(tri.Expand, ["N 1 4"], {"shape": ("=N", "=T", 4)}),
    Dynamic(tri.ReverseSequence, ["N T 3", "N i64"], {"batch_axis": 0, "time_axis": 1}),
]


@pytest.mark.parametrize("case", [*ELEMENTWISE, *ROWS, *MOVES], ids=str)
def test_one_kernel_for_all_sizes_computes_what_kernels_of_known_sizes_do(case: Dynamic) -> None:
    ranged = [at for at in SIZES if not case.ranges] or [{"N": 2, "T": 200}, {"N": 1, "T": 259}]
    assert_equal_to_static([case], ranged)


@on_every_machine
def test_vectors_of_all_widths(machine: Machine) -> None:
    assert_equal_to_static([ELEMENTWISE[-1], ROWS[1], MOVES[1]], SIZES[:6], machine)
