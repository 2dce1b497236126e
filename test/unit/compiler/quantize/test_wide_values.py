"""Values of 16 bits: closer than 8, the same numbers as the reference and as ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.passes.quantize.lower_quantized import LowerQuantized

RANDOM = np.random.default_rng(6)
X = RANDOM.standard_normal((8, 3, 12, 12)).astype(np.float32)
SHAPES = {"k": (8, 3, 3, 3), "b": (8,), "w": (8, 10)}
PARAMETERS = {
    name: (RANDOM.standard_normal(shape) / 3).astype(np.float32) for name, shape in SHAPES.items()
}


def net() -> onnx.ModelProto:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[2, 3, 12, 12] x) => (float[2, 10] y) {
            [conv] c = Conv <pads = [1, 1, 1, 1]> (x, k, b)
            [bend] r = Relu (c)
            [pool] p = GlobalAveragePool (r)
            [flat] f = Flatten (p)
            [layer] y = MatMul (f, w)
        }
    """)
    for name, array in PARAMETERS.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def by_onnxruntime(model: onnx.ModelProto) -> Any:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return np.concatenate([session.run(None, {"x": x})[0] for x in np.split(X, 4)])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, onnx.ModelProto]:
    folder: Path = tmp_path_factory.mktemp("wide")
    for storage in ("i8", "i16", "ui16"):
        path = folder / f"{storage}.onnx"
        trivium.quantize(net(), {"x": X}, path, storage=storage)
    return {path.stem: onnx.load(path) for path in folder.iterdir()}


def error(model: onnx.ModelProto) -> float:
    floats = by_onnxruntime(net())
    return float(np.linalg.norm(by_onnxruntime(model) - floats) / np.linalg.norm(floats))


def test_sixteen_bits_are_between_eight_and_floats(models: dict[str, onnx.ModelProto]) -> None:
    errors = {storage: error(model) for storage, model in models.items()}
    for wide in ("i16", "ui16"):
        assert 0 < errors[wide] < 0.7 * errors["i8"]  # what is left is that of the weights


@pytest.mark.parametrize("storage", ["i16", "ui16"])
def test_the_numbers_are_those_of_the_reference(
    storage: str, models: dict[str, onnx.ModelProto]
) -> None:
    model = models[storage]
    elements = {t.data_type for t in model.graph.initializer}
    assert (onnx.TensorProto.INT16 if storage == "i16" else onnx.TensorProto.UINT16) in elements
    assert onnx.TensorProto.INT8 in elements  # weights
    with new_context():
        module = import_onnx(model)
        (reference,) = run(module, [X[:2]])
        LowerQuantized().run(module)
        (integers,) = run(module, [X[:2]])
    step = scale_of_output(model)
    ours = trivium.compile(model).run({"x": X[:2]})["y"]
    assert np.abs(ours - reference).max() <= 1.01 * step
    assert np.abs(ours - by_onnxruntime(model)[:2]).max() <= 1.01 * step
    by_integers = trivium.compile(model, quantized="integers").run({"x": X[:2]})["y"]
    assert np.array_equal(by_integers, integers)
    assert np.abs(by_integers - reference).max() <= 1.01 * step


def scale_of_output(model: onnx.ModelProto) -> float:
    held = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    return float(held[model.graph.node[-1].input[1]])
