"""Categories and class labels that are text, against ONNX Runtime and scikit-learn."""

import numpy as np
import pytest
import trivium
from trivium.dialects.core.tensor import Array

pytest.importorskip("onnxruntime")
skl2onnx = pytest.importorskip("skl2onnx")
from skl2onnx.common.data_types import FloatTensorType, StringTensorType  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)).astype(np.float32)
TWO = np.where(X[:, 0] > 0, "apple", "b\u00e9e")
THREE = np.where(X[:, 1] > 0.5, "third", TWO)
COLOURS = RNG.choice(["red", "green", "blue"], (40, 2)).astype(object)


def session(model: object, kind: object) -> trivium.Session:
    """Compile what skl2onnx writes, with tensors of probabilities in place of maps."""
    options = {id(model): {"zipmap": False}} if hasattr(model, "classes_") else None
    types = [("x", kind)]
    return trivium.compile(skl2onnx.convert_sklearn(model, "m", types, options=options))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(5, max_depth=3, random_state=0),
    ],
    ids=["logistic", "tree", "forest"],
)
def test_labels_of_classes(model: LogisticRegression, y: Array) -> None:
    model.fit(X, y)
    run = session(model, FloatTensorType([None, 4]))
    for rows in (X[:1], X[3:17]):
        label, probabilities = run.run({"x": rows}).values()
        assert label.tolist() == model.predict(rows).tolist()
        np.testing.assert_allclose(probabilities, model.predict_proba(rows), 1e-4, 1e-5)


@pytest.mark.parametrize("model", [OneHotEncoder(), OrdinalEncoder()], ids=["one hot", "ordinal"])
def test_categories(model: OneHotEncoder) -> None:
    model.fit(COLOURS)
    run = session(model, StringTensorType([None, 2]))
    (got,) = run.run({"x": COLOURS[5:11]}).values()
    expected = model.transform(COLOURS[5:11])
    np.testing.assert_array_equal(
        got, expected if isinstance(expected, np.ndarray) else expected.toarray()
    )
