"""Large initializers, which are read from the file and not with the model."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.tensor_file import strip_initializers
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module

RANDOM = np.random.default_rng(0)
LARGE = RANDOM.normal(size=(160, 130)).astype(np.float32)
TYPES = ["float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool"]


def model_of(*initializers: TensorProto) -> onnx.ModelProto:
    """Return a model that returns its initializers."""
    nodes = [helper.make_node("Identity", [t.name], [f"y{i}"]) for i, t in enumerate(initializers)]
    outputs = [
        helper.make_tensor_value_info(f"y{i}", t.data_type, list(t.dims))
        for i, t in enumerate(initializers)
    ]
    graph = helper.make_graph(nodes, "g", [], outputs, list(initializers))
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def imported(source: object) -> Module:
    with new_context():
        return import_onnx(source)  # pyright: ignore[reportArgumentType]


def stripped(model: onnx.ModelProto) -> tuple[onnx.ModelProto, list[str]]:
    small, spans = strip_initializers(memoryview(model.SerializeToString()))
    return onnx.load_model_from_string(small), list(spans)


@pytest.mark.parametrize("dtype", ["float32", *TYPES])
def test_values_are_those_of_the_file(dtype: str, tmp_path: Path) -> None:
    array = (RANDOM.normal(size=(300, 500)) * 50).astype(dtype)
    tensors = [numpy_helper.from_array(array, "w"), numpy_helper.from_array(array[:2, :3], "v")]
    model = model_of(*tensors)
    onnx.save(model, tmp_path / "m.onnx")
    assert stripped(model)[1] == ["w"]
    module = imported(str(tmp_path / "m.onnx"))
    np.testing.assert_array_equal(module.weights["w"], array)
    assert not module.weights["w"].flags.writeable
    assert str(module) == str(imported(model))


def test_the_rest_of_a_model_stays_as_it_is() -> None:
    model = model_of(numpy_helper.from_array(LARGE, "w"))
    model.metadata_props.add(key="k", value="v")
    small, _ = stripped(model)
    assert not small.graph.initializer[0].HasField("raw_data")
    small.graph.initializer[0].raw_data = LARGE.tobytes()
    assert small == model


def external(tensor: TensorProto) -> None:
    tensor.data_location = TensorProto.EXTERNAL


def segment(tensor: TensorProto) -> None:
    tensor.segment.begin = 0


def four_bits(tensor: TensorProto) -> None:
    tensor.data_type = TensorProto.INT4


@pytest.mark.parametrize("change", [external, segment, four_bits])
def test_data_that_is_not_simply_there_stays_in_the_message(change) -> None:  # type: ignore
    model = model_of(numpy_helper.from_array(LARGE, "w"))
    change(model.graph.initializer[0])
    assert stripped(model) == (model, [])


def test_of_two_initializers_of_one_name_the_last_counts(tmp_path: Path) -> None:
    first, second = (numpy_helper.from_array(x, "w") for x in (LARGE, LARGE[:2]))
    model = model_of(first)
    model.graph.initializer.append(second)
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 2
    onnx.save(model, tmp_path / "m.onnx")
    module = imported(str(tmp_path / "m.onnx"))
    assert "160x130" not in str(module)


def test_data_of_another_size_is_an_error(tmp_path: Path) -> None:
    tensor = numpy_helper.from_array(LARGE, "w")
    tensor.dims[0] += 1
    model = model_of(tensor)
    onnx.save(model, tmp_path / "m.onnx")
    messages: list[str] = []
    for source in (str(tmp_path / "m.onnx"), model):
        with pytest.raises(CompileError, match="uses tensor 'w', which does not decode") as caught:
            imported(source)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("cut", [1, 40, 70_000])
def test_a_file_that_ends_early_is_no_model(cut: int, tmp_path: Path) -> None:
    data = model_of(numpy_helper.from_array(LARGE, "w")).SerializeToString()[:-cut]
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(ValueError, match="ends"):
        strip_initializers(memoryview(data))
    with pytest.raises(CompileError, match="do not decode as one"):
        imported(str(tmp_path / "m.onnx"))


def test_several_graphs_are_merged_by_protobuf(tmp_path: Path) -> None:
    model = model_of(numpy_helper.from_array(LARGE, "w"))
    more = onnx.ModelProto(graph=onnx.GraphProto(name="h"))
    data = model.SerializeToString() + more.SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data)
    np.testing.assert_array_equal(imported(str(tmp_path / "m.onnx")).weights["w"], LARGE)
