"""Clip takes limits as ONNX Runtime does: missing, NaN, infinite, crossed, computed at run time."""

from typing import Any

import numpy as np
import onnxruntime
import pytest
import trivium
from onnx import ModelProto, helper
from trivium.dialects.core.tensor import Array
from trivium.test.unit.compiler.frontends.onnx.graphs import info, model, node

NAN, INF = float("nan"), float("inf")
LIMITS = {"nan": NAN, "one": 1.0, "five": 5.0, "plus": INF, "minus": -INF}
CLIPS = (
    *("nan", "_ nan", "nan one", "one nan", "nan nan", "one", "_ one", "", "one five", "five one"),
    *("plus", "_ plus", "minus", "_ minus", "minus plus", "plus minus", "nan plus", "minus nan"),
)
X = (NAN, INF, -INF, -3, -0.5, 0, 0.5, 1, 2, 5, 7)
BUILDS: dict[str, dict[str, Any]] = {
    "level 0": {"opt_level": 0},
    "level 1": {"opt_level": 1},
    "level 2": {},
    "strict": {"math": "strict"},
    "host": {"target": "host"},
}
CASES = [(dtype, name) for dtype in ("float64", "float16") for name in ("level 0", "level 2")]
CASES += [("float32", name) for name in BUILDS]


def expected(made: ModelProto, feeds: dict[str, Array]) -> list[Array]:
    return onnxruntime.InferenceSession(made.SerializeToString()).run(None, feeds)


def clips(dtype: Any, known: bool) -> tuple[ModelProto, dict[str, Array]]:
    """Make a model that clips by all pairs of limits: alone, and between other ops.

    Not between ops of f16: ONNX Runtime computes these, and a clip between them, in f32.
    """
    limits = {name: np.array(value, dtype) for name, value in LIMITS.items()}
    feeds = {"x": np.array(X * 7, dtype), **({} if known else limits)}  # vectors, and a rest
    nodes = [node("Add", "x x", "twice")]
    for index, names in enumerate(CLIPS):
        nodes += [
            node("Clip", f"x {names}", f"y{index}"),
            node("Clip", f"twice {names}", f"c{index}"),
        ]
        nodes += [node("Mul", f"c{index} x", f"z{index}")]
    alone = np.dtype(dtype) == np.float16
    outputs = [f"{y}{index}" for index in range(len(CLIPS)) for y in ("y" if alone else "yz")]
    inputs = {
        name: info(name, value.shape, helper.np_dtype_to_tensor_dtype(value.dtype))
        for name, value in feeds.items()
    }
    return model(nodes, inputs, outputs, initializers=limits if known else {}, opset=13), feeds


@pytest.mark.filterwarnings("ignore:.*encountered in multiply")
@pytest.mark.parametrize("known", [True, False], ids=["constant", "computed"])
@pytest.mark.parametrize(("dtype", "build"), CASES)
def test_limits_are_those_of_onnxruntime(dtype: str, build: str, known: bool) -> None:
    made, feeds = clips(dtype, known)
    got = trivium.compile(made, **BUILDS[build]).run(feeds)
    for name, want in zip(got, expected(made, feeds), strict=True):
        np.testing.assert_array_equal(got[name], want, err_msg=name)


@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("names", ["lo", "_ hi", "", "lo hi", "hi lo"])
def test_integers_have_limits_of_their_own(names: str, dtype: str) -> None:
    feeds = {"x": np.arange(0, 100, 7).astype(dtype)}
    limits = {"lo": np.array(10, dtype), "hi": np.array(50, dtype)}
    inputs = {"x": info("x", [15], helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))}
    used = {name: limits[name] for name in names.replace("_", "").split()}
    made = model([node("Clip", f"x {names}")], inputs, initializers=used, opset=13)
    np.testing.assert_array_equal(trivium.compile(made).run(feeds)["y"], *expected(made, feeds))


@pytest.mark.parametrize("limits", [{"min": NAN}, {"max": NAN}, {"min": NAN, "max": NAN}])
def test_attributes_of_nan_limit_nothing(limits: dict[str, float]) -> None:
    """ONNX Runtime refuses these: they mean what inputs of NaN mean since opset 11."""
    x = np.array([-3, 0, 7], np.float32)
    made = model([node("Clip", "x", **limits)], {"x": [3]}, opset=10)
    np.testing.assert_array_equal(trivium.compile(made).run({"x": x})["y"], x)
