"""Models of one node of ONNX Runtime's operators, run by ONNX Runtime and by Trivium."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import trivium
from onnx import helper

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def bytes_of(kind: str, *shape: int) -> Array:
    info = np.iinfo(kind)
    return RANDOM.integers(info.min, info.max, shape, endpoint=True).astype(kind)


def scale(*shape: int) -> Array:
    return RANDOM.uniform(0.01, 0.05, shape).astype(np.float32)


def run_both(
    op: str,
    inputs: list[Array | None],
    outputs: int = 1,
    domain: str = "com.microsoft",
    constants: dict[str, Array] | None = None,
    inner: bool = False,
    **given: Any,
) -> list[tuple[Array, Array]]:
    """Return what Trivium and ONNX Runtime compute; inputs but `constants` are given at the run.

    Of the outputs it is the first and the last, or all with `inner`.
    """
    names = [f"i{n}" if each is not None else "" for n, each in enumerate(inputs)]
    feeds = {n: each for n, each in zip(names, inputs, strict=True) if each is not None}
    results = [f"o{n}" if inner or n in (0, outputs - 1) else "" for n in range(outputs)]
    node = helper.make_node(op, names, results, domain=domain, **given)
    ports = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in feeds.items()
    ]
    made = [onnx.ValueInfoProto(name=name) for name in results if name]
    graph = helper.make_graph([node], "g", ports, made)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    wanted = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)
    fixed = constants or {}
    free = {name: array for name, array in feeds.items() if name not in fixed}
    got = trivium.compile(model, constants=fixed).run(free)
    return [(got[name.name], each) for name, each in zip(made, wanted, strict=True)]


def check(op: str, inputs: list[Array | None], *args: Any, **given: Any) -> None:
    for got, wanted in run_both(op, inputs, *args, **given):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)


def check_integers(op: str, inputs: list[Array | None], **given: Any) -> None:
    """Allow a difference of one where the quotient is at a half, for one in a thousand."""
    for got, wanted in run_both(op, inputs, **given):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        apart = np.abs(got.astype(int) - wanted.astype(int))
        assert apart.max() <= 1
        assert apart.mean() < 2e-3
