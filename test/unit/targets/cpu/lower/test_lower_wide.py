"""Kernels on tensors of the sizes that networks have: full vectors, several tiles, long rows."""

import ml_dtypes
import numpy as np
import pytest
from closeness import assert_close
from cpu_kernels import compile_cases, on_every_machine, share
from groups import Case, draw
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor

RANDOM = np.random.default_rng()


def normal(*shape: int, dtype: object = np.float32) -> Array:
    return (RANDOM.standard_normal(shape) * 3).astype(dtype)


def places(size: int, *shape: int) -> Array:
    return RANDOM.integers(-size, size, shape)


def case(op: type[Op], *operands: object, **attributes: object) -> Case:
    return Case(str(len(attributes)), op, operands, attributes)


def window(kernel: tuple[int, ...], stride: int, pad: int, **more: object) -> dict[str, object]:
    rank = len(kernel)
    common = {"strides": (stride,) * rank, "pads": (pad,) * rank * 2, "dilations": (1,) * rank}
    return {"kernel": kernel} | common | more


def resize(x: Array, sizes: tuple[int, ...], **attributes: object) -> Case:
    scales = tuple(float(n) / d for n, d in zip(sizes, x.shape, strict=True))
    return case(tri.Resize, x, sizes=sizes, scales=scales, **attributes)


def pools() -> list[Case]:
    made: list[Case] = []
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16):
        image = normal(1, 3, 12, 35, dtype=dtype)
        made += [
            case(tri.MaxPool, image, **window((3, 3), 2, 1)),
            case(tri.MaxPool, image, **window((2, 2), 2, 0, ceil_mode=True)),
            case(tri.AveragePool, image, **window((3, 3), 1, 1)),
            case(tri.AveragePool, image, **window((3, 3), 2, 1, count_include_pad=True)),
            case(tri.AveragePool, image, **window((2, 3), 3, 1, ceil_mode=True)),
            case(tri.LpPool, image, **window((3, 3), 2, 1, p=3)),
            case(tri.MaxPoolIndices, image, **window((3, 3), 2, 1, storage_order=1)),
        ]
    volume, line = normal(1, 2, 5, 6, 20), normal(2, 3, 50)
    made += [
        case(tri.MaxPool, volume, **window((2, 3, 3), 2, 1)),
        case(tri.AveragePool, volume, **window((2, 3, 3), 2, 1)),
        case(tri.MaxPool, line, **window((5,), 3, 2)),
        case(tri.MaxPool, (line * 9).astype(np.int8), **window((3,), 1, 1)),
        case(tri.MaxPool, np.where(line > 4, np.nan, line), **window((3,), 2, 1)),
        case(tri.AveragePool, normal(1, 4, 7, 7), **window((7, 7), 1, 0)),
    ]
    return made


def resizes() -> list[Case]:
    image = normal(1, 2, 9, 20)
    made = [
        resize(image, (1, 2, 18, 40), coordinate_transform=transform, nearest_mode=rounding)
        for transform in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    ]
    for mode in ("linear", "cubic"):
        made += [
            resize(image, (1, 2, 17, 33), mode=mode),
            resize(image, (1, 2, 17, 33), mode=mode, coordinate_transform="align_corners"),
            resize(image, (1, 2, 5, 7), mode=mode, antialias=True),
            resize(image.astype(np.float16), (1, 2, 9, 33), mode=mode, exclude_outside=True),
        ]
    crop = {"coordinate_transform": "tf_crop_and_resize", "extrapolation_value": 3.0}
    crop["roi"] = (0.0, 0.0, -0.2, 0.1, 1.0, 1.0, 0.9, 1.2)
    made += [resize(image, (1, 2, 5, 17), mode=mode, **crop) for mode in ("nearest", "linear")]
    made += [resize(normal(1, 2, 3, 4, 20), (1, 2, 5, 8, 37), mode="linear")]
    # Blocked images, whose last axis remains.
    for mode, dtype in (("nearest", np.float32), ("linear", np.float16), ("cubic", np.float32)):
        made += [resize(normal(2, 1, 5, 4, 16, dtype=dtype), (2, 1, 11, 3, 16), mode=mode)]
    made += [resize(normal(1, 2, 5, 4, 16), (1, 2, 9, 9, 16), mode="linear", antialias=True)]
    return made


def reductions() -> list[Case]:
    x, tall = normal(5, 130, 67), np.abs(normal(130, 70)) + 0.1
    made = [
        case(op, x, axes=axes, keepdims=False)
        for op in (tri.ReduceSum, tri.ReduceMean, tri.ReduceMax, tri.ReduceMin)
        for axes in ((0,), (1,), (2,), (0, 2), (0, 1, 2))
    ]
    made += [
        case(op, tall, axes=(axis,))
        for op in (tri.ReduceProd, tri.ReduceL1, tri.ReduceL2, tri.ReduceSumSquare)
        for axis in (0, 1)
    ]
    made += [
        case(op, tall, axes=(axis,))
        for op in (tri.ReduceLogSum, tri.ReduceLogSumExp)
        for axis in (0, 1)
    ]
    made += [
        case(op, x, axis=axis, select_last_index=last)
        for op in (tri.ArgMax, tri.ArgMin)
        for axis in (0, 1, 2)
        for last in (False, True)
    ]
    made += [case(tri.CumSum, x, axis=axis) for axis in (1, 2)]
    made += [case(tri.TopK, np.round(x), k=9, axis=axis, largest=axis > 0) for axis in (1, 2)]
    return made


def channel_norms() -> list[Case]:
    images = [normal(2, 9, 40), normal(2, 9, 5, 7), normal(1, 20, 2, 3, 5)]
    made = [case(tri.Lrn, x, size=size) for x in images for size in (1, 4, 5, 30)]
    made += [
        case(tri.Lrn, images[1], size=5, alpha=0.5, beta=beta, bias=0.5)
        for beta in (0.5, 0.6, 0.75, 1.0, 1.7, 2.0)
    ]
    made += [case(tri.Lrn, images[1].astype(dtype), size=3) for dtype in (np.float16, np.float64)]
    return made


def moves() -> list[Case]:
    x, image = normal(3, 40, 50), normal(2, 12, 34, 35)
    byte, flags = image.astype(np.int8), image > 0
    return [
        case(tri.Transpose, x, permutation=(0, 2, 1)),
        case(tri.Transpose, x.astype(np.float64), permutation=(2, 1, 0)),
        case(tri.Transpose, image, permutation=(0, 2, 3, 1)),
        case(tri.Transpose, byte, permutation=(0, 2, 3, 1)),
        case(tri.Transpose, flags, permutation=(3, 2, 1, 0)),
        case(tri.Transpose, image[:, :3], permutation=(0, 2, 3, 1)),
        case(tri.Slice, image, starts=(1, 11, 0, 33), sizes=(1, 4, 17, 30), steps=(1, -3, 2, -1)),
        case(tri.Concat, [x, x[:, :1], x[:, :17]], axis=1),
        case(tri.Concat, [x, x[..., :1], x[..., :17]], axis=2),
        case(tri.Split, x, axis=2, sizes=(1, 16, 33)),
        case(tri.Pad, image, pads=(0, 1, 2, 3, 1, 0, 2, 1), mode="reflect"),
        case(tri.Pad, image, pads=(0, 0, 1, 1, 0, 0, 1, 1), value=-1.0),
        case(tri.Pad, image, pads=(0, 0, -1, 40, 0, 0, 1, -9), mode="wrap"),
        case(tri.DepthToSpace, image, blocksize=2),
        case(tri.DepthToSpace, image, blocksize=2, mode="CRD"),
        case(tri.SpaceToDepth, image[:, :, :, :34], blocksize=2),
        case(tri.Gather, x, places(40, 9), axis=1),
        case(tri.Gather, x, places(50, 7, 9), axis=2),
        case(tri.GatherElements, x, places(40, 3, 60, 50), axis=1),
        case(tri.GatherNd, x, places(3, 2, 17, 2)),
        case(tri.OneHot, places(50, 33), normal(2), depth=50),
        case(tri.ScatterNd, x, places(3, 9, 2), normal(9, 50), reduction="add"),
        case(tri.Trilu, x, k=3),
        case(tri.Trilu, x, k=-(2**40)),
        case(tri.Tile, x, repeats=(2, 1, 3)),
        case(tri.Expand, x[:, :1], shape=(2, 3, 40, 50)),
        case(tri.GridSample, image, RANDOM.uniform(-1.2, 1.2, (2, 9, 7, 2)).astype(np.float32)),
    ]


@on_every_machine
@pytest.mark.parametrize("family", [pools, resizes, reductions, channel_norms, moves])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_compute_what_the_reference_does(family, machine: Machine) -> None:
    cases = share(draw(family, RANDOM), machine)
    compiled = compile_cases(cases, machine)
    for index, made in enumerate(cases):
        wanted = made.reference()
        results = compiled.run(index, made.inputs, [Tensor.of(y) for y in wanted])
        for got, want in zip(results, wanted, strict=True):
            assert_close(made, got, want, made.inputs)
