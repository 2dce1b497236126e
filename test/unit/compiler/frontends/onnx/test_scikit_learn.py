"""Estimators and pipelines of scikit-learn, against scikit-learn: skl2onnx writes the models."""

import warnings
from typing import Any

import numpy as np
import pytest
import trivium
from skl2onnx import to_onnx
from sklearn import (
    cluster,
    compose,
    decomposition,
    ensemble,
    feature_selection,
    impute,
    mixture,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn import discriminant_analysis as discriminant
from sklearn import linear_model as linear

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(90, 5)).astype(np.float32)
TWO = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64)
THREE = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.5]).astype(np.int64) * 3 + 1
NUMBERS = (X @ [1, 2, 3, -1, 0.5] + X[:, 0] ** 2).astype(np.float32)
COUNTS = RANDOM.integers(0, 3, (90, 3)).astype(np.int64)
GAPS = X.copy()
GAPS[::7, 1] = np.nan

ROWS = (90, 3)
"""The sizes of batches."""

SEED: dict[str, Any] = {"random_state": 0}
FEW: dict[str, Any] = {"n_estimators": 6, "random_state": 0}

CLASSIFIERS = {
    "logistic": linear.LogisticRegression(),
    "linear_svc": svm.LinearSVC(**SEED),
    "sgd_log": linear.SGDClassifier(loss="log_loss", **SEED),
    "sgd_hinge": linear.SGDClassifier(**SEED),
    "ridge": linear.RidgeClassifier(),
    "perceptron": linear.Perceptron(**SEED),
    "svc_rbf": svm.SVC(),
    "svc_poly": svm.SVC(kernel="poly"),
    "svc_sigmoid": svm.SVC(kernel="sigmoid"),
    "svc_linear": svm.SVC(kernel="linear"),
    "svc_probabilities": svm.SVC(probability=True, **SEED),
    "svc_poly_probabilities": svm.SVC(kernel="poly", probability=True, **SEED),
    "neighbours": neighbors.KNeighborsClassifier(),
    "gaussian_bayes": naive_bayes.GaussianNB(),
    "bernoulli_bayes": naive_bayes.BernoulliNB(),
    "tree": tree.DecisionTreeClassifier(max_depth=5, **SEED),
    "forest": ensemble.RandomForestClassifier(**FEW),
    "extra_trees": ensemble.ExtraTreesClassifier(**FEW),
    "boosting": ensemble.GradientBoostingClassifier(**FEW),
    "ada_boost": ensemble.AdaBoostClassifier(**FEW),
    "bagging": ensemble.BaggingClassifier(**FEW),
    "perceptrons": neural_network.MLPClassifier((6,), max_iter=30, **SEED),
    "discriminant": discriminant.LinearDiscriminantAnalysis(),
    "one_vs_rest": multiclass.OneVsRestClassifier(linear.LogisticRegression()),
    "voting": ensemble.VotingClassifier(
        [("a", linear.LogisticRegression()), ("b", tree.DecisionTreeClassifier(max_depth=3))],
        voting="soft",
        flatten_transform=False,
    ),
    "scaled": pipeline.make_pipeline(
        preprocessing.StandardScaler(), decomposition.PCA(3), linear.LogisticRegression()
    ),
    "columns": pipeline.make_pipeline(
        compose.ColumnTransformer(
            [("a", preprocessing.StandardScaler(), [0, 1]), ("b", impute.SimpleImputer(), [2, 3])]
        ),
        ensemble.RandomForestClassifier(**FEW),
    ),
}

REGRESSORS = {
    "least_squares": linear.LinearRegression(),
    "ridge": linear.Ridge(),
    "lasso": linear.Lasso(0.1),
    "elastic_net": linear.ElasticNet(0.1),
    "linear_svr": svm.LinearSVR(**SEED),
    "svr_rbf": svm.SVR(),
    "svr_poly": svm.SVR(kernel="poly"),
    "neighbours": neighbors.KNeighborsRegressor(),
    "tree": tree.DecisionTreeRegressor(max_depth=5, **SEED),
    "forest": ensemble.RandomForestRegressor(**FEW),
    "extra_trees": ensemble.ExtraTreesRegressor(**FEW),
    "boosting": ensemble.GradientBoostingRegressor(**FEW),
    "ada_boost": ensemble.AdaBoostRegressor(**FEW),
    "bagging": ensemble.BaggingRegressor(**FEW),
    "perceptrons": neural_network.MLPRegressor(hidden_layer_sizes=(6,), max_iter=30, **SEED),
}

TRANSFORMERS: dict[str, tuple[Any, Any]] = {
    "standard": (preprocessing.StandardScaler(), X),
    "min_max": (preprocessing.MinMaxScaler(), X),
    "max_abs": (preprocessing.MaxAbsScaler(), X),
    "robust": (preprocessing.RobustScaler(), X),
    "normalizer": (preprocessing.Normalizer(), X),
    "normalizer_l1": (preprocessing.Normalizer("l1"), X),
    "binarizer": (preprocessing.Binarizer(threshold=0.1), X),
    "polynomial": (preprocessing.PolynomialFeatures(2), X),
    "one_hot": (preprocessing.OneHotEncoder(sparse_output=False), COUNTS),
    "ordinal": (preprocessing.OrdinalEncoder(), COUNTS),
    "imputer": (impute.SimpleImputer(), GAPS),
    "pca": (decomposition.PCA(2), X),
    "svd": (decomposition.TruncatedSVD(2), X),
    "best": (feature_selection.VarianceThreshold(), X),
    "union": (
        pipeline.make_union(preprocessing.StandardScaler(), preprocessing.MinMaxScaler()),
        X,
    ),
}


def runs(estimator: Any, x: Any) -> list[tuple[Any, list[Any]]]:
    """Convert, compile with a batch of any size, and return samples with all outputs."""
    model = to_onnx(estimator, x[:1], target_opset={"": 21, "ai.onnx.ml": 3})
    session = trivium.compile(model)
    (name,) = (value.name for value in model.graph.input)
    return [(x[:rows], list(session.run({name: x[:rows]}).values())) for rows in ROWS]


def fitted(estimator: Any, *given: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits that are cut short
        return estimator.fit(*given)


OTHERWISE = {
    ("sgd_log", 3): "chooses among probabilities that are equal in f32",
    ("discriminant", 2): "takes a softmax where scikit-learn takes a sigmoid",
}
"""Where the models that skl2onnx writes differ from scikit-learn, in ONNX Runtime as well."""


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name: str, classes: int) -> None:
    if (name, classes) in OTHERWISE:
        pytest.skip(OTHERWISE[name, classes])
    y = TWO if classes == 2 else THREE
    estimator = fitted(CLASSIFIERS[name], X, y)
    for x, (labels, scores) in runs(estimator, X):
        np.testing.assert_array_equal(labels, estimator.predict(x))
        if hasattr(estimator, "predict_proba"):
            np.testing.assert_allclose(scores, estimator.predict_proba(x), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name: str) -> None:
    estimator = fitted(REGRESSORS[name], X, NUMBERS)
    for x, (y,) in runs(estimator, X):
        np.testing.assert_allclose(y.reshape(-1), estimator.predict(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name: str) -> None:
    estimator, given = TRANSFORMERS[name]
    fitted(estimator, given)
    for x, (y,) in runs(estimator, given):
        np.testing.assert_allclose(y, estimator.transform(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("estimator", [naive_bayes.MultinomialNB(), naive_bayes.ComplementNB()])
def test_bayes_of_counts(estimator: Any) -> None:
    fitted(estimator, np.abs(X), THREE)
    for x, (labels, scores) in runs(estimator, np.abs(X)):
        np.testing.assert_array_equal(labels, estimator.predict(x))
        np.testing.assert_allclose(scores, estimator.predict_proba(x), rtol=0, atol=1e-5)


def test_clusters() -> None:
    estimator = fitted(cluster.KMeans(3, n_init=1, **SEED), X)
    for x, (labels, distances) in runs(estimator, X):
        np.testing.assert_array_equal(labels, estimator.predict(x))
        np.testing.assert_allclose(distances, estimator.transform(x), rtol=1e-4, atol=1e-4)


def test_mixture() -> None:
    estimator = fitted(mixture.GaussianMixture(3, **SEED), X)
    for x, (labels, shares) in runs(estimator, X):
        np.testing.assert_array_equal(labels.reshape(-1), estimator.predict(x))
        np.testing.assert_allclose(shares, estimator.predict_proba(x), rtol=0, atol=1e-5)


def test_outliers() -> None:
    estimator = fitted(ensemble.IsolationForest(n_estimators=6, **SEED), X)
    for x, (labels, scores) in runs(estimator, X):
        np.testing.assert_array_equal(labels.reshape(-1), estimator.predict(x))
        np.testing.assert_allclose(
            scores.reshape(-1), estimator.decision_function(x), rtol=0, atol=1e-5
        )
