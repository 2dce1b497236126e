"""Operators as older opsets had them, with ONNX Runtime as the judge."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from trivium.dialects.core.tensor import Array
from trivium.test.unit.compiler.frontends.onnx.graphs import array, info, model, node
from trivium.test.unit.compiler.frontends.onnx.reference_backend import ReferenceBackend

I64 = onnx.TensorProto.INT64
X = array(2, 3, 4)
CUBE = {"x": X}


def both(made: onnx.ModelProto, feeds: Mapping[str, Array]) -> tuple[list[Array], list[Array]]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(made.SerializeToString(), options)
    expected = session.run(None, dict(feeds))
    return ReferenceBackend.prepare(made).run(list(feeds.values())), expected


def check(
    nodes: list[onnx.NodeProto],
    feeds: Mapping[str, Array],
    outputs: tuple[str, ...] = ("y",),
    **more: Any,
) -> None:
    inputs = {
        name: info(name, value.shape, onnx.helper.np_dtype_to_tensor_dtype(value.dtype))
        for name, value in feeds.items()
    }
    got, expected = both(model(nodes, inputs, outputs, **more), feeds)
    for ours, theirs in zip(got, expected, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


ATTRIBUTE_FORMS: dict[str, tuple[int, onnx.NodeProto]] = {
    "Clip-6": (7, node("Clip", "x", min=-0.5, max=0.25)),
    "Clip-6 from below": (10, node("Clip", "x", min=-0.5)),
    "Squeeze-1": (11, node("Squeeze", "x", axes=[-4, 1])),
    "Squeeze-1 all": (7, node("Squeeze", "x")),
    "Unsqueeze-1": (7, node("Unsqueeze", "x", axes=[4, 0])),
    "Unsqueeze-11": (11, node("Unsqueeze", "x", axes=[-1, 0])),
    "Slice-1": (9, node("Slice", "x", starts=[1, -3], ends=[9, -1], axes=[2, 3])),
    "Slice-1 without axes": (7, node("Slice", "x", starts=[0, 0, 1], ends=[1, 1, 3])),
    "Pad-2": (10, node("Pad", "x", pads=[0, 0, 1, 0, 0, 0, 0, 2], value=1.5)),
    "Pad-2 reflect": (7, node("Pad", "x", pads=[0, 0, 1, 0, 0, 0, 0, 2], mode="reflect")),
    "Pad-2 cuts": (7, node("Pad", "x", pads=[0, 0, -1, 0, 0, 0, 0, 0])),
    "ReduceSum-1": (7, node("ReduceSum", "x", axes=[1, 3], keepdims=0)),
    "ReduceMax-11": (11, node("ReduceMax", "x", axes=[-1])),
    "ReduceMean-13": (17, node("ReduceMean", "x", axes=[2])),
    "ReduceLogSumExp-1": (7, node("ReduceLogSumExp", "x")),
    "TopK-1": (9, node("TopK", "x", "y i", k=2, axis=3)),
    "ArgMax-1": (7, node("ArgMax", "x", axis=2)),
    "Flatten-1": (7, node("Flatten", "x", axis=2)),
    "Upsample-7": (7, node("Upsample", "x", scales=[1.0, 1.0, 2.0, 3.0])),
    "Identity-1": (7, node("Identity", "x")),
    "Dropout-7": (7, node("Dropout", "x", "y", ratio=0.9)),
    "Softmax-1": (7, node("Softmax", "x", axis=2)),
    "PRelu-7": (7, node("PRelu", "x x")),
    "Sum-6": (7, node("Sum", "x x x")),
    "Mean-6": (7, node("Mean", "x x x")),
    "ArgMax-1 without the axis": (7, node("ArgMax", "x", "y", axis=3, keepdims=0)),
}


@pytest.mark.parametrize("name", ATTRIBUTE_FORMS)
def test_attribute_form(name: str) -> None:
    opset, made = ATTRIBUTE_FORMS[name]
    x = array(1, 1, 3, 4) if name.startswith("Squeeze") else array(2, 1, 3, 4)
    check([made], {"x": x}, tuple(made.output), opset=opset)


@pytest.mark.parametrize("opset", [7, 9])
def test_split_by_attribute(opset: int) -> None:
    parts = node("Split", "x", "a b", axis=2, split=[1, 3])
    equal = node("Split", "x", "c d", axis=0)
    check([parts, equal], CUBE, ("a", "b", "c", "d"), opset=opset)


def test_split_by_input() -> None:
    constants = {"s": np.array([0, 3])}
    check([node("Split", "x s", "a b", axis=1)], CUBE, ("a", "b"), opset=13, initializers=constants)


@pytest.mark.parametrize("outputs", ["a b", "a b c d"])
def test_split_in_unequal_parts(outputs: str) -> None:
    count = len(outputs.split())
    made = node("Split", "x", outputs, num_outputs=count)
    check([made], {"x": array(7, 2)}, tuple(outputs.split()), opset=18)


SLICES = {
    "backwards to the start": ([-1], [-99], [2], [-2]),
    "past both ends": ([-99, 2], [99, 99], [0, 2], [1, 1]),
    "backwards from past the end": ([99], [0], [1], [-1]),
    "nothing": ([2], [1], [2], [1]),
    "to the greatest number": ([1], [2**63 - 1], [-1], [1]),
    "from the greatest to the least": ([2**63 - 1], [-(2**63)], [-1], [-1]),
}


@pytest.mark.parametrize("name", SLICES)
@pytest.mark.parametrize("opset", [10, 13])
def test_slice_by_inputs(name: str, opset: int) -> None:
    parts = dict(zip("seat", map(np.array, SLICES[name]), strict=True))
    check([node("Slice", "x s e a t")], CUBE, opset=opset, initializers=parts)


CLIPS = {"both": "x lo hi", "low": "x lo", "high": "x _ hi", "none": "x"}


@pytest.mark.parametrize("inputs", CLIPS.values(), ids=CLIPS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_clip_by_inputs(inputs: str, dtype: type) -> None:
    limits = {"lo": np.array(-1, dtype), "hi": np.array(2, dtype)}
    used = {name: value for name, value in limits.items() if name in inputs.split()}
    check([node("Clip", inputs)], {"x": (X * 3).astype(dtype)}, opset=13, initializers=used)


def test_clip_by_limits_that_are_computed() -> None:
    nodes = [node("ReduceMean", "x", "m", keepdims=0), node("Clip", "x m")]
    check(nodes, CUBE, opset=13)


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_pad_by_inputs(opset: int) -> None:
    constants = {"p": np.array([0, 1, 0, 2, 0, -1]), "v": np.array(2.5, np.float32)}
    check([node("Pad", "x p v")], CUBE, opset=opset, initializers=constants)


def test_pad_of_some_axes() -> None:
    constants = {"p": np.array([1, 2, 3, 0]), "a": np.array([-1, 0])}
    made = node("Pad", "x p _ a", mode="edge")
    check([made], CUBE, opset=18, initializers=constants)


@pytest.mark.parametrize("axes", [[1], [-1, 0], []])
@pytest.mark.parametrize("noop", [0, 1])
def test_reduce_by_inputs(axes: list[int], noop: int) -> None:
    constants = {"a": np.array(axes, np.int64)}
    made = node("ReduceSum", "x a", noop_with_empty_axes=noop, keepdims=0)
    check([made], CUBE, opset=13, initializers=constants)


def test_reduction_of_no_axes_still_squares() -> None:
    check([node("ReduceSumSquare", "x", noop_with_empty_axes=1)], CUBE, opset=18)


@pytest.mark.parametrize("opset", [10, 11])
def test_top_k_by_input(opset: int) -> None:
    made = node("TopK", "x k", "y i", axis=1)
    check([made], CUBE, ("y", "i"), opset=opset, initializers={"k": np.array([2])})


@pytest.mark.parametrize("opset", [10, 11])
def test_one_hot_of_negative_indices(opset: int) -> None:
    """They count from the end since version 11, and are off before."""
    constants = {"d": np.array(3), "v": np.array([0.0, 1.0], np.float32)}
    indices = {"i": info("i", [4], I64)}
    made = model([node("OneHot", "i d v")], indices, opset=opset, initializers=constants)
    (got,) = ReferenceBackend.prepare(made).run([np.array([0, -1, 2, 5])])
    last = [0, 0, 1] if opset == 11 else [0, 0, 0]
    np.testing.assert_array_equal(got, [[1, 0, 0], last, [0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("opset", [9, 11])
def test_scatter_by_its_old_name(opset: int) -> None:
    name = "Scatter" if opset == 9 else "ScatterElements"
    constants = {"i": np.array([[[1, 0, 2, 1]]]), "u": array(1, 1, 4)}
    check([node(name, "x i u", axis=1)], CUBE, opset=opset, initializers=constants)


def test_dropout_masks() -> None:
    """The mask keeps all: of the type of x in version 7, of bools from version 10 on."""
    for opset, dtype in ((7, np.float32), (10, np.bool_), (13, np.bool_)):
        made = model([node("Dropout", "x", "y m")], {"x": [20, 20]}, ("y", "m"), opset=opset)
        y, mask = ReferenceBackend.prepare(made).run([array(20, 20)])
        np.testing.assert_array_equal(y, array(20, 20))
        assert mask.dtype == dtype
        assert mask.all()
        assert mask.shape == (20, 20)


@pytest.mark.parametrize("broadcast", [{"axis": 1}, {"axis": 0}, {}])
def test_broadcasting_before_version_7(broadcast: dict[str, int]) -> None:
    """`axis` says where the first axis of `b` goes, by default `b` is the last axes."""
    axis = broadcast.get("axis", 2)
    b = array(X.shape[axis], seed=1)
    made = node("Mul", "x b", broadcast=1, **broadcast)
    (got,) = ReferenceBackend.prepare(model([made], {"x": X.shape, "b": b.shape}, opset=6)).run(
        [X, b]
    )
    np.testing.assert_array_equal(got, X * np.expand_dims(b, tuple(range(1, 3 - axis))))


def test_prelu_before_version_7_has_a_slope_for_each_channel() -> None:
    slope = array(3, seed=1)
    made = model([node("PRelu", "x s")], {"x": X.shape, "s": [3]}, opset=6)
    (got,) = ReferenceBackend.prepare(made).run([X, slope])
    np.testing.assert_array_equal(got, np.where(X < 0, X * slope[:, None], X))


RANGES = [(0, 10, 3), (10, 0, -4), (5, 5, 1), (0, 5, -1), (-3, 3, 2)]


@pytest.mark.parametrize("limits", RANGES)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32, np.float64])
def test_range(limits: tuple[int, int, int], dtype: type) -> None:
    constants = {name: np.array(v, dtype) for name, v in zip("abc", limits, strict=True)}
    nodes = [node("Range", "a b c", "r"), node("Cast", "r", "y", to=onnx.TensorProto.FLOAT)]
    check(nodes, {}, opset=11, initializers=constants)


@pytest.mark.parametrize("shape", [[0, -1], [-1], [3, 0, -1, 1], [4, 6], [2, 3, 2, 2]])
def test_reshape(shape: list[int]) -> None:
    if shape == [3, 0, -1, 1]:
        shape = [2, 0, -1, 1]
    check([node("Reshape", "x s")], CUBE, opset=7, initializers={"s": np.array(shape)})


@pytest.mark.parametrize("shape", [[1, 2, 1, 4], [3, 1], [2, 1, 4], [1]])
def test_expand_broadcasts_both_ways(shape: list[int]) -> None:
    constants = {"s": np.array(shape)}
    check([node("Expand", "x s")], {"x": array(2, 1, 4)}, opset=8, initializers=constants)


@pytest.mark.parametrize("sizes", [[5, 5], [2, 2], [3, 6], [4, 1]])
def test_center_crop_pad(sizes: list[int]) -> None:
    constants = {"s": np.array(sizes)}
    made = node("CenterCropPad", "x s", axes=[-2, -1])
    check([made], {"x": array(2, 3, 4)}, opset=18, initializers=constants)


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_tensor_scatter(mode: str) -> None:
    cache, update, first = array(2, 5, 3), array(2, 2, 3, seed=1), np.array([1, 3])
    if mode == "circular":
        first = np.array([4, 3])
    made = model(
        [node("TensorScatter", "c u f", mode=mode)],
        {"c": cache.shape, "u": update.shape, "f": info("f", [2], I64)},
        opset=24,
    )
    (got,) = ReferenceBackend.prepare(made).run([cache, update, first])
    expected = cache.copy()
    for batch in range(2):
        for step in range(2):
            expected[batch, (first[batch] + step) % 5] = update[batch, step]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("ordered", [0, 1])
def test_unique(axis: int | None, ordered: int) -> None:
    x = np.array([[3, 1, 3], [2, 1, 2], [3, 1, 3]], np.float32)
    axes = {} if axis is None else {"axis": axis}
    made = node("Unique", "x", "y i r c", sorted=ordered, **axes)
    check([made], {"x": x}, ("y", "i", "r", "c"), opset=11)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress(axis: int | None) -> None:
    axes = {} if axis is None else {"axis": axis}
    constants = {"c": np.array([False, True])}
    check([node("Compress", "x c", **axes)], CUBE, opset=11, initializers=constants)


def test_non_zero() -> None:
    check([node("NonZero", "x")], {"x": np.array([[0, 2], [3, 0]], np.float32)}, opset=13)


@pytest.mark.parametrize("k", [0, 1, -2])
def test_eye_like(k: int) -> None:
    check([node("EyeLike", "x", k=k)], {"x": array(3, 4)}, opset=9)
    as_ints = node("EyeLike", "x", k=k, dtype=I64)
    check([as_ints], {"x": array(3, 4)}, opset=9)
