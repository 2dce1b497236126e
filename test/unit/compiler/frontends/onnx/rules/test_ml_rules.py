"""Operators of classical machine learning, against ONNX Runtime, for two sizes of batch."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import helper

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


def drawn(*shape: int, kind: str = "float32") -> Array:
    if np.dtype(kind).kind == "i":
        return RANDOM.integers(-3, 4, shape).astype(kind)
    return RANDOM.normal(size=shape).astype(kind)


def listed(*shape: int) -> list[float]:
    return drawn(*shape).reshape(-1).tolist()


def model_of(op: str, inputs: list[Array], outputs: int, version: int, given: Any) -> Any:
    """Make a model of one node; all inputs of matrices have N rows."""
    names = [f"i{n}" for n in range(len(inputs))]
    node = helper.make_node(
        op, names, [f"o{n}" for n in range(outputs)], domain="ai.onnx.ml", **given
    )
    ports = [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(each.dtype),
            ["N", *each.shape[1:]] if each.ndim > 1 else each.shape,
        )
        for name, each in zip(names, inputs, strict=True)
    ]
    graph = helper.make_graph(
        [node], "g", ports, [onnx.ValueInfoProto(name=n) for n in node.output]
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def check(op: str, *inputs: Array, outputs: int = 1, version: int = 3, **given: Any) -> None:
    """Compare the results for all rows, and for the first row alone."""
    model = model_of(op, list(inputs), outputs, version, given)
    theirs, ours = onnxruntime.InferenceSession(model.SerializeToString()), trivium.compile(model)
    for rows in (slice(None), slice(1)):
        feeds = {f"i{n}": each[rows] if each.ndim > 1 else each for n, each in enumerate(inputs)}
        got = ours.run(feeds)
        for name, wanted in zip(got, theirs.run(None, feeds), strict=True):
            made = got[name]
            assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "int32"])
def test_scaler(kind: str) -> None:
    check("Scaler", drawn(7, 4, kind=kind), offset=listed(4), scale=listed(4))
    check("Scaler", drawn(7, 4, kind=kind), offset=[0.5], scale=[3.0])


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_normalizer(norm: str, kind: str) -> None:
    x = drawn(7, 4, kind=kind)
    x[3] = 0
    check("Normalizer", x, norm=norm)
    check("Normalizer", x[0], norm=norm)


def test_binarizer() -> None:
    check("Binarizer", drawn(7, 4), threshold=0.25)


def test_imputer() -> None:
    x = drawn(7, 4)
    x[::2, 1] = np.nan
    check("Imputer", x, imputed_value_floats=listed(4), replaced_value_float=float("nan"))
    x[::2, 1] = 0.1
    check("Imputer", x, imputed_value_floats=[2.5], replaced_value_float=0.1)
    integers = drawn(7, 4, kind="int64")
    check("Imputer", integers, imputed_value_int64s=[9, 8, 7, 6], replaced_value_int64=2)


@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_array_feature_extractor(kind: str) -> None:
    check("ArrayFeatureExtractor", drawn(7, 4, kind=kind), np.array([3, 0, 0]))
    check("ArrayFeatureExtractor", drawn(4, kind=kind), np.array([1, 3]))


def test_feature_vectorizer() -> None:
    parts = [drawn(7, 4), drawn(7, 2), drawn(7, 3)]
    check("FeatureVectorizer", *parts, inputdimensions=[4, 2, 3])
    check("FeatureVectorizer", *parts, inputdimensions=[2, 2, 5])


@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_one_hot_encoder(kind: str) -> None:
    check("OneHotEncoder", drawn(7, 2, kind=kind), cats_int64s=[2, -1, 0, 100])


KEYS: list[tuple[str, dict[str, Any]]] = [
    (
        "int64",
        {"keys_int64s": [2, 0, -3, 1], "values_floats": [1.5, 2, 3, 4], "default_float": 9.0},
    ),
    ("int64", {"keys_int64s": [2, 100000, 1], "values_int64s": [7, 6, 5], "default_int64": 1}),
    ("float32", {"keys_floats": [2.0, 0.0, -1.0], "values_int64s": [7, 6, 5]}),
    ("float32", {"keys_floats": [float("nan"), 1.0], "values_floats": [7.0, 6.0]}),
]


@pytest.mark.parametrize(("kind", "given"), KEYS)
@pytest.mark.parametrize("version", [2, 4])
def test_label_encoder(kind: str, given: Any, version: int) -> None:
    x = RANDOM.integers(-3, 4, (9, 3)).astype(kind)
    if kind == "float32" and version >= 4:  # version 2 knew no NaN
        x[::3, 0] = np.nan
    check("LabelEncoder", x, version=version, **given)


def test_label_encoder_of_tensors() -> None:
    keys, values = np.array([1, 2, -2], np.int64), np.array([1.5, 2.5, -4], np.float32)
    given = {
        "keys_tensor": onnx.numpy_helper.from_array(keys),
        "values_tensor": onnx.numpy_helper.from_array(values),
        "default_tensor": onnx.numpy_helper.from_array(np.array([0.5], np.float32)),
    }
    check("LabelEncoder", drawn(9, 2, kind="int64"), version=4, **given)


@pytest.mark.parametrize("targets", [1, 3])
def test_linear_regressor(targets: int) -> None:
    given = {"coefficients": listed(targets, 4), "intercepts": listed(targets)}
    check("LinearRegressor", drawn(7, 4), targets=targets, **given)
    check("LinearRegressor", drawn(7, 4), targets=targets, coefficients=listed(targets, 4))


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_linear_classifier(transform: str, kind: str) -> None:
    given = {"coefficients": listed(3, 4), "intercepts": listed(3), "classlabels_ints": [7, 3, 9]}
    check("LinearClassifier", drawn(7, 4, kind=kind), outputs=2, post_transform=transform, **given)


def test_linear_classifier_with_probit() -> None:
    """Its scores are probabilities: the transform takes no others."""
    given = {"coefficients": [0.1, 0.2, 0.1, 0.3], "intercepts": [0.2, 0.1]}
    x = RANDOM.uniform(0.1, 0.9, (7, 2)).astype(np.float32)
    check(
        "LinearClassifier", x, outputs=2, post_transform="PROBIT", classlabels_ints=[0, 1], **given
    )


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_linear_classifier_of_one_score(transform: str) -> None:
    given = {"coefficients": listed(1, 4), "intercepts": listed(1), "classlabels_ints": [5, 2]}
    check("LinearClassifier", drawn(7, 4), outputs=2, post_transform=transform, **given)
