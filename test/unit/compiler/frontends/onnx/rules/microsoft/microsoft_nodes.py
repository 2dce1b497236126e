"""Models of one node of ONNX Runtime's domain, run by ONNX Runtime and by Trivium."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import helper
from trivium.test.unit.compiler.frontends.onnx.reference_backend import ReferenceBackend

Array = np.ndarray[Any, Any]
Inputs = Sequence[Array | None]
Names = Mapping[int, Sequence[str | None]]
"""Names of the axes of inputs, None for one whose size is known."""

MICROSOFT = "com.microsoft"
RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def feeds_of(inputs: Inputs) -> dict[str, Array]:
    return {f"i{n}": each for n, each in enumerate(inputs) if each is not None}


def node_model(
    op: str,
    inputs: Inputs,
    outputs: Sequence[str],
    domain: str = MICROSOFT,
    names: Names | None = None,
    **given: Any,
) -> onnx.ModelProto:
    """Make a model of one node; an output that is '' is not wanted."""
    taken = [f"i{n}" if each is not None else "" for n, each in enumerate(inputs)]
    node = helper.make_node(op, taken, outputs, "node", domain=domain, **given)
    ports: list[onnx.ValueInfoProto] = []
    for n, each in enumerate(inputs):
        if each is not None:
            axes = (names or {}).get(n, (None,) * each.ndim)
            shape = [name or size for name, size in zip(axes, each.shape, strict=True)]
            kind = helper.np_dtype_to_tensor_dtype(each.dtype)
            ports.append(helper.make_tensor_value_info(f"i{n}", kind, shape))
    made = [onnx.ValueInfoProto(name=name) for name in outputs if name]
    graph = helper.make_graph([node], "g", ports, made)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def by_onnxruntime(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1  # the threads of others spin while they wait
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, dict(feeds))


def bytes_of(kind: str, *shape: int) -> Array:
    info = np.iinfo(kind)
    return RANDOM.integers(info.min, info.max, shape, endpoint=True).astype(kind)


def scale(*shape: int) -> Array:
    return RANDOM.uniform(0.01, 0.05, shape).astype(np.float32)


def run_both(
    op: str,
    inputs: Inputs,
    outputs: int = 1,
    domain: str = MICROSOFT,
    constants: Mapping[str, Array] | None = None,
    inner: bool = False,
    **given: Any,
) -> list[tuple[Array, Array]]:
    """Return what Trivium and ONNX Runtime compute; inputs but `constants` are given at the run.

    Of the outputs it is the first and the last, or all with `inner`.
    """
    results = [f"o{n}" if inner or n in (0, outputs - 1) else "" for n in range(outputs)]
    model = node_model(op, inputs, results, domain, **given)
    feeds, fixed = feeds_of(inputs), constants or {}
    free = {name: array for name, array in feeds.items() if name not in fixed}
    got = trivium.compile(model, constants=dict(fixed)).run(free)
    wanted = by_onnxruntime(model, feeds)
    return [(got[n], each) for n, each in zip(filter(None, results), wanted, strict=True)]


def compiled(op: str, inputs: Inputs, outputs: int = 1, **given: Any) -> list[Array]:
    """Compile and run one node by Trivium alone."""
    model = node_model(op, inputs, [f"o{n}" for n in range(outputs)], **given)
    return list(trivium.compile(model).run(feeds_of(inputs)).values())


def exact(op: str, inputs: Inputs, *args: Any, **attributes: Any) -> None:
    for got, wanted in run_both(op, inputs, *args, **attributes):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(got, wanted)


def check(op: str, inputs: Inputs, *args: Any, **given: Any) -> None:
    for got, wanted in run_both(op, inputs, *args, **given):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=2e-5)


def check_integers(op: str, inputs: Inputs, **given: Any) -> None:
    """Allow a difference of one where the quotient is at a half, for one in a thousand."""
    for got, wanted in run_both(op, inputs, **given):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        apart = np.abs(got.astype(int) - wanted.astype(int))
        assert apart.max() <= 1
        assert apart.mean() < 2e-3


def by_reference(op: str, inputs: Inputs, outputs: int = 1, **given: Any) -> list[Array]:
    """Run a node by the reference of the ops that it becomes."""
    model = node_model(op, inputs, [f"o{n}" for n in range(outputs)], **given)
    return ReferenceBackend.prepare(model).run(list(feeds_of(inputs).values()))


def agree(op: str, inputs: Inputs, outputs: int = 1, **given: Any) -> None:
    """Assert that ONNX Runtime computes what the ops that a node becomes mean."""
    model = node_model(op, inputs, [f"o{n}" for n in range(outputs)], **given)
    wanted = by_onnxruntime(model, feeds_of(inputs))
    same(by_reference(op, inputs, outputs, **given), wanted)


def same(got: Sequence[Array], wanted: Sequence[Array]) -> None:
    for one, other in zip(got, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=2e-6)


def refused(message: str, op: str, inputs: Inputs, outputs: int = 1, **given: Any) -> None:
    """Assert that the import fails, with a message that begins with the node."""
    with pytest.raises(trivium.CompileError) as raised:
        by_reference(op, inputs, outputs, **given)
    assert f"node: error: '{op}' {message}" in str(raised.value)
