"""Trivium as an ONNX backend: what ONNX's suite asks of it, and inputs that decide about shapes."""

import numpy as np
import onnx
import onnx.parser
import pytest
from trivium.compiler.onnx_backend import TriviumBackend
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import RunError

HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.example" : 1]>'
RESHAPE = "g (float[6] x, int64[2] shape) => (float[A, B] y) { y = Reshape (x, shape) }"
X = np.arange(6, dtype=np.float32)


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def shape(*sizes: int) -> np.ndarray:
    return np.array(sizes, np.int64)


def test_runs_in_the_order_of_the_inputs() -> None:
    model = parse(
        "g (float[6] a, float[6] b) => (float[6] y, float[6] z) { y = Sub (a, b) z = Neg (a) }"
    )
    y, z = TriviumBackend.run_model(model, [X, X + 1])
    assert np.array_equal(y, np.full(6, -1, np.float32))
    assert np.array_equal(z, -X)


def test_a_shape_that_is_an_input_is_known_when_it_runs() -> None:
    model = TriviumBackend.prepare(parse(RESHAPE))
    for sizes in ((2, 3), (3, 2), (2, 3)):
        (y,) = model.run([X, shape(*sizes)])
        assert np.array_equal(y, X.reshape(sizes))


def test_a_symbolic_dimension_is_known_when_it_runs() -> None:
    model = TriviumBackend.prepare(parse("g (float[N] x) => (float[N] y) { y = Neg (x) }"))
    for size in (2, 5):
        (y,) = model.run([X[:size]])
        assert np.array_equal(y, -X[:size])


def test_an_initializer_is_no_input() -> None:
    model = parse("g (float[6] x) => (float[6] y) <float[6] w = {1,1,1,1,1,1}> { y = Add (x, w) }")
    model.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [6]))
    (y,) = TriviumBackend.run_model(model, [X])
    assert np.array_equal(y, X + 1)


def test_the_number_of_inputs_is_checked() -> None:
    with pytest.raises(RunError, match=r"got 1 inputs, must get 2: x, shape"):
        TriviumBackend.prepare(parse(RESHAPE)).run([X])


def test_what_is_not_supported_is_found_by_prepare() -> None:
    strange = parse("g (float[2] x) => (float[2] y) { y = com.example.Sparkle (x) }")
    assert not TriviumBackend.is_compatible(strange)
    with pytest.raises(CompileError, match="Sparkle"):
        TriviumBackend.prepare(strange)
    assert TriviumBackend.is_compatible(parse(RESHAPE))


def test_devices() -> None:
    assert TriviumBackend.supports_device("CPU")
    assert TriviumBackend.supports_device("CPU:0")
    assert not TriviumBackend.supports_device("CUDA")
    with pytest.raises(CompileError, match="device is 'CUDA', must be CPU"):
        TriviumBackend.prepare(parse(RESHAPE), "CUDA")
