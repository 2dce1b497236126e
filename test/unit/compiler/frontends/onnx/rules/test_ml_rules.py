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


def trees(
    count: int, depth: int, features: int, leaf: str, targets: int, modes: list[str]
) -> dict[str, Any]:
    """Draw complete trees, whose leaves have weights for some targets."""
    given: dict[str, list[Any]] = {}

    def add(**numbers: Any) -> None:
        for name, number in numbers.items():
            given.setdefault(name, []).append(number)

    inner = 2**depth - 1
    for tree in range(count):
        for node in range(2 * inner + 1):
            is_leaf = node >= inner
            add(
                nodes_treeids=tree,
                nodes_nodeids=node,
                nodes_modes="LEAF" if is_leaf else RANDOM.choice(modes),
                nodes_featureids=0 if is_leaf else int(RANDOM.integers(features)),
                nodes_values=0.0 if is_leaf else float(RANDOM.integers(-2, 3)) / 2,
                nodes_truenodeids=0 if is_leaf else 2 * node + 1,
                nodes_falsenodeids=0 if is_leaf else 2 * node + 2,
                nodes_missing_value_tracks_true=int(RANDOM.integers(2)),
            )
            for target in range(targets) if is_leaf else ():
                weight = {f"{leaf}_weights": float(RANDOM.normal())}
                add(**{f"{leaf}_treeids": tree, f"{leaf}_nodeids": node, f"{leaf}_ids": target})
                add(**weight)
    return given


MODES = [f"BRANCH_{mode}" for mode in ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")]


def halves(rows: int, features: int, kind: str = "float32") -> Array:
    """Draw samples that often equal a threshold, some of them NaN."""
    x = RANDOM.integers(-3, 4, (rows, features)).astype(kind) / 2
    x[RANDOM.random(x.shape) < 0.1] = np.nan
    return x.astype(kind)


@pytest.mark.parametrize("mode", [[mode] for mode in MODES])
def test_modes_of_trees(mode: list[str]) -> None:
    check("TreeEnsembleRegressor", halves(40, 5), n_targets=1, **trees(3, 3, 5, "target", 1, mode))


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_tree_ensemble_regressor(aggregate: str, targets: int) -> None:
    given = trees(7, 4, 5, "target", targets, MODES) | {"base_values": listed(targets)}
    given |= {"aggregate_function": aggregate, "n_targets": targets}
    check("TreeEnsembleRegressor", halves(40, 5), **given)


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_tree_ensemble_classifier_of_other_types(kind: str) -> None:
    given = trees(7, 4, 5, "class", 3, MODES) | {"classlabels_int64s": [4, 2, 9]}
    check("TreeEnsembleClassifier", drawn(9, 5, kind=kind), outputs=2, **given)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_tree_ensemble_classifier(transform: str) -> None:
    given = trees(7, 4, 5, "class", 3, MODES) | {"classlabels_int64s": [4, 2, 9]}
    check("TreeEnsembleClassifier", halves(40, 5), outputs=2, post_transform=transform, **given)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("are_positive", [False, True])
@pytest.mark.parametrize("base", [[], [0.25]])
def test_tree_ensemble_classifier_of_one_score(
    transform: str, are_positive: bool, base: list[float]
) -> None:
    given = trees(3, 3, 5, "class", 1, MODES) | {"classlabels_int64s": [4, 2]}
    if are_positive:
        given["class_weights"] = [abs(weight) / 6 for weight in given["class_weights"]]
    if base:
        given["base_values"] = base
    check("TreeEnsembleClassifier", halves(40, 5), outputs=2, post_transform=transform, **given)


KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
@pytest.mark.parametrize("gamma", [0.2, 30.0])
def test_svm_regressor(kernel: str, one_class: int, gamma: float) -> None:
    given = {"kernel_type": kernel, "kernel_params": [gamma, 0.1, 3], "n_supports": 6}
    given |= {"coefficients": listed(6), "support_vectors": listed(6, 4), "rho": [0.3]}
    check("SVMRegressor", drawn(7, 4) / 4, one_class=one_class, **given)


def svm(kernel: str, counts: list[int], features: int) -> dict[str, Any]:
    pairs, total = len(counts) * (len(counts) - 1) // 2, sum(counts)
    return {
        "kernel_type": kernel,
        "kernel_params": [0.2, 0.1, 3],
        "vectors_per_class": counts,
        "support_vectors": listed(total, features),
        "coefficients": listed(len(counts) - 1, total),
        "rho": listed(pairs),
        "classlabels_ints": list(range(5, 5 + len(counts))),
    }


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("counts", [[4, 3], [2, 4, 3], [2, 1, 3, 2]])
def test_svm_classifier(kernel: str, counts: list[int]) -> None:
    check("SVMClassifier", drawn(20, 4), outputs=2, **svm(kernel, counts, 4))


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX"])
@pytest.mark.parametrize("counts", [[3, 4], [2, 3, 4], [1, 2, 3, 2]])
def test_svm_with_probabilities(counts: list[int], transform: str) -> None:
    pairs = len(counts) * (len(counts) - 1) // 2
    given = {"prob_a": [-1.5 - i / 4 for i in range(pairs)], "prob_b": listed(pairs)}
    machine = svm("RBF", counts, 4)
    check("SVMClassifier", drawn(20, 4), outputs=2, **machine, **given, post_transform=transform)


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("LabelEncoder", {"keys_strings": ["a"], "values_int64s": [1]}, "has keys of object for"),
    ("LabelEncoder", {"keys_floats": [1.0]}, "has 0 lists of values, must have 1"),
    ("Scaler", {"offset": [1.0, 2.0], "scale": [1.0]}, "has 2 numbers, must have 1 or 4"),
    ("Normalizer", {"norm": "L3"}, "has norm 'L3', must be MAX, L1 or L2"),
    (
        "SVMRegressor",
        {"kernel_type": "COSINE", "n_supports": 1, "coefficients": [1.0], "rho": [0.0]}
        | {"support_vectors": [1.0] * 4},
        "has kernel 'COSINE'",
    ),
    (
        "SVMClassifier",
        {"coefficients": [1.0] * 8, "rho": [0.0], "classlabels_ints": [0, 1], "prob_a": [1.0]},
        "has probabilities of a linear machine, must have support vectors",
    ),
    (
        "SVMClassifier",
        {"coefficients": [1.0] * 2, "rho": [0.0], "classlabels_ints": [0, 1]}
        | {"support_vectors": [1.0] * 8, "vectors_per_class": [1, 1], "prob_a": [1.0]},
        "has 1 and 0 numbers for 1 pairs",
    ),
    (
        "TreeEnsembleRegressor",
        {"nodes_treeids": [0], "nodes_nodeids": [0], "nodes_modes": ["BRANCH_LEQ"]}
        | {"nodes_featureids": [0], "nodes_values": [1.0], "n_targets": 1}
        | {"nodes_truenodeids": [0], "nodes_falsenodeids": [7]},
        "names node 7 of tree 0, which does not exist",
    ),
    (
        "TreeEnsembleRegressor",
        {"nodes_treeids": [0, 0], "nodes_nodeids": [0, 1], "nodes_modes": ["BRANCH_LEQ", "LEAF"]}
        | {"nodes_featureids": [9, 0], "nodes_values": [1.0, 0.0], "n_targets": 1}
        | {"nodes_truenodeids": [1, 0], "nodes_falsenodeids": [1, 0]},
        r"has feature 9 in a tree, must be in \[0, 4\)",
    ),
]


@pytest.mark.parametrize(("op", "given", "message"), FAULTS)
def test_nodes_with_faults(op: str, given: dict[str, Any], message: str) -> None:
    outputs = 2 if "Classifier" in op else 1
    with pytest.raises(trivium.CompileError, match=message):
        trivium.compile(model_of(op, [drawn(3, 4)], outputs, 3, given))
