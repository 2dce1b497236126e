"""Subgraphs for tests, and models of them beside ONNX Runtime."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array
from trivium.test.unit.compiler.frontends.onnx.graphs import info, node

BOOL, I64 = onnx.TensorProto.BOOL, onnx.TensorProto.INT64


def constant(name: str, value: Any) -> onnx.NodeProto:
    return node("Constant", "", name, value=numpy_helper.from_array(np.asarray(value)))


def graph(
    nodes: Sequence[onnx.NodeProto], inputs: Sequence[str], outputs: Sequence[str], **more: Any
) -> onnx.GraphProto:
    """Make a subgraph; a name that begins with `i_` is an integer, with `b_` a condition."""
    types = {"i": I64, "b": BOOL}

    def typed(name: str) -> onnx.ValueInfoProto:
        kind = types.get(name[0] if name[1:2] == "_" else "")
        return info(name, [], kind) if kind else info(name, None)

    return helper.make_graph(nodes, "g", [*map(typed, inputs)], [*map(typed, outputs)], **more)


def results(made: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """Import a model for the shapes of its feeds, and run it by the reference of each op."""
    with new_context():
        module = import_onnx(made, shapes={n: a.shape for n, a in feeds.items()})
        return list(interpret.run(module, list(feeds.values())))


def check(made: onnx.ModelProto, feeds: Mapping[str, Array], *, compiled: bool = False) -> None:
    """Compare a model with ONNX Runtime: its meaning, and if `compiled`, a session."""
    import onnxruntime as ort

    reference = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = reference.run(None, dict(feeds))
    _compare(results(made, feeds), expected)
    if compiled:
        session = compile(made, shapes={name: array.shape for name, array in feeds.items()})
        for _ in range(2):
            _compare(list(session.run(feeds).values()), expected)


def _compare(got: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
        assert mine.dtype == theirs.dtype


def refusal(made: onnx.ModelProto, **options: Any) -> str:
    with new_context(), pytest.raises(CompileError) as caught:
        import_onnx(made, **options)
    return str(caught.value)
