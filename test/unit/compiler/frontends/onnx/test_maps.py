"""Inputs that are maps: their keys and values in place of a dict, against ONNX Runtime."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import TensorProto, helper
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.tensor import Array
from trivium.runtime.errors import RunError

KINDS = {
    "text": TensorProto.STRING,
    "int64": TensorProto.INT64,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
}
Kinds = tuple[str, str]
TEXT = ("text", "float32")
NUMBERS = ("int64", "float32")
WORDS = ("a", "b\u00e9e", "c", "a")


def map_model(op: str, kinds: Kinds, **attributes: Any) -> onnx.ModelProto:
    key, value = (KINDS[kind] for kind in kinds)
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    node = helper.make_node(op, ["m"], ["y"], "node", domain="ai.onnx.ml", **attributes)
    inputs, outputs = [helper.make_value_info("m", kind)], [onnx.ValueInfoProto(name="y")]
    graph = helper.make_graph([node], "g", inputs, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def ports(kinds: Kinds, given: Mapping[Any, Any]) -> dict[str, Array]:
    """Return what a session takes for a dict."""
    key, value = (object if kind == "text" else kind for kind in kinds)
    return {"m.keys": np.array([*given], key), "m.values": np.array([*given.values()], value)}


def by_onnxruntime(model: onnx.ModelProto, given: Mapping[Any, Any]) -> Array:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"m": dict(given)})[0]


def same(got: Array, wanted: Array) -> None:
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("kinds", "vocabulary", "dicts"),
    [
        (TEXT, {"string_vocabulary": WORDS}, [{"b\u00e9e": 2.5, "z": 9, "a": -1}, {"z": 1}]),
        (NUMBERS, {"int64_vocabulary": [-7, 4, 3]}, [{3: 2.5, -7: 1}, {5: 4.0}, {4: np.inf}]),
    ],
)
def test_values_in_the_order_of_a_vocabulary(
    kinds: Kinds, vocabulary: dict[str, Any], dicts: list[dict[Any, float]]
) -> None:
    model = map_model("DictVectorizer", kinds, **vocabulary)
    session = trivium.compile(model)
    assert [port.name for port in session.inputs] == ["m.keys", "m.values"]
    for given in dicts:
        same(session.run(ports(kinds, given))["y"], by_onnxruntime(model, given))


@pytest.mark.parametrize(
    ("kinds", "given", "wanted"),
    [
        (("text", "int64"), {"c": 2**60, "a": 5}, [5, 0, 2**60, 5]),
        (("text", "float64"), {"c": 0.1, "z": 5}, [0, 0, 0.1, 0]),
        (("int64", "text"), {3: "x", 9: "y"}, ["x", "", "y"]),
    ],
)
def test_values_that_onnx_runtime_takes_from_no_dict(
    kinds: Kinds, given: dict[Any, Any], wanted: list[Any]
) -> None:
    text = kinds[0] == "text"
    vocabulary = {"string_vocabulary": WORDS} if text else {"int64_vocabulary": [3, 4, 9]}
    session = trivium.compile(map_model("DictVectorizer", kinds, **vocabulary))
    got = session.run(ports(kinds, given))["y"]
    assert got.tolist() == [wanted]
    assert got.dtype == (object if kinds[1] == "text" else kinds[1])


@pytest.mark.parametrize("kinds", [TEXT, NUMBERS])
def test_an_empty_map(kinds: Kinds) -> None:
    vocabulary = {"string_vocabulary": WORDS} if kinds == TEXT else {"int64_vocabulary": [1, 2]}
    model = map_model("DictVectorizer", kinds, **vocabulary)
    session = trivium.compile(model, shapes={"m.size": Range(0, 9)})
    assert not session.run(ports(kinds, {}))["y"].any()
    given = {"a": 1} if kinds == TEXT else {2: 1}
    same(session.run(ports(kinds, given))["y"], by_onnxruntime(model, given))


@pytest.mark.parametrize("form", [{}, {"map_form": "SPARSE", "max_map": 5}, {"map_form": "SPARSE"}])
@pytest.mark.parametrize("cast_to", ["TO_FLOAT", "TO_INT64"])
def test_values_in_the_order_of_their_keys(form: dict[str, Any], cast_to: str) -> None:
    model = map_model("CastMap", NUMBERS, cast_to=cast_to, **form)
    session = trivium.compile(model)
    for given in ({3: 2.75, 1: -1.5, 0: 4, 7: 1e10}, {9: 1.0}):
        same(session.run(ports(NUMBERS, given))["y"], by_onnxruntime(model, given))


def test_text_in_the_order_of_its_keys() -> None:
    given = {2: "1.5", 0: "-3"}
    feeds = ports(("int64", "text"), given)

    def run(cast_to: str, **form: Any) -> list[Any]:
        model = map_model("CastMap", ("int64", "text"), cast_to=cast_to, **form)
        return trivium.compile(model).run(feeds)["y"].tolist()

    assert run("TO_STRING") == [["-3", "1.5"]]
    assert run("TO_FLOAT") == [[-3, 1.5]]
    sparse = map_model("CastMap", NUMBERS, cast_to="TO_STRING", map_form="SPARSE", max_map=3)
    (_, missing, _) = by_onnxruntime(sparse, {0: 1.0, 2: 1.0})[0]
    assert run("TO_STRING", map_form="SPARSE", max_map=3) == [["-3", missing, "1.5"]]


def test_keys_that_are_known() -> None:
    fixed, model = np.array([7, 2]), map_model("CastMap", NUMBERS)
    session = trivium.compile(model, constants={"m.keys": fixed})
    assert session.run({"m.values": np.float32([1, 5])})["y"].tolist() == [[5, 1]]


def test_a_map_that_goes_out_again() -> None:
    model = map_model("CastMap", NUMBERS)
    model.graph.output.append(model.graph.input[0])
    feeds = ports(NUMBERS, {4: 1.0, 2: 3.0})
    made = trivium.compile(model).run(feeds)
    assert made["y"].tolist() == [[3, 1]]
    assert made["m.keys"].tolist() == [4, 2]
    assert made["m.values"].tolist() == [1, 3]


def test_keys_without_values_are_refused() -> None:
    session = trivium.compile(map_model("CastMap", NUMBERS))
    feeds = {"m.keys": np.array([1, 2]), "m.values": np.float32([1])}
    with pytest.raises(RunError, match=r"m\.values"):
        session.run(feeds)


@pytest.mark.parametrize(
    ("op", "kinds", "attributes", "message"),
    [
        ("DictVectorizer", TEXT, {}, "has 0 lists of keys, must have 1"),
        ("DictVectorizer", TEXT, {"int64_vocabulary": [1]}, "has a vocabulary of int64 for keys"),
        ("CastMap", NUMBERS, {"cast_to": "TO_INT8"}, "cast_to is 'TO_INT8', must be one of TO_F"),
        ("CastMap", NUMBERS, {"map_form": "X"}, "map_form is 'X', must be one of DENSE, SPARSE"),
        ("CastMap", NUMBERS, {"cast_to": "TO_STRING"}, "as text: ONNX does not say how"),
        (
            "CastMap",
            NUMBERS,
            {"map_form": "SPARSE", "max_map": 0},
            "has max_map 0, must be at least 1",
        ),
        ("ZipMap", NUMBERS, {"classlabels_int64s": [1]}, r"\('m'\) is a map, must be a tensor"),
    ],
)
def test_what_is_refused(op: str, kinds: Kinds, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(CompileError, match=f"node: error: '{op}' .*{message}"):
        trivium.compile(map_model(op, kinds, **attributes))


def test_a_map_that_is_declared_as_a_tensor_is_refused() -> None:
    model = map_model("CastMap", NUMBERS)
    model.graph.output.append(helper.make_tensor_value_info("m", TensorProto.FLOAT, [None]))
    with pytest.raises(CompileError, match="output is a map, the model declares another kind"):
        trivium.compile(model)


def test_a_tensor_is_no_map() -> None:
    model = map_model("CastMap", NUMBERS)
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("m", TensorProto.FLOAT, [2]))
    with pytest.raises(CompileError, match=r"input 'x' \('m'\) is a tensor, must be a map"):
        trivium.compile(model)
