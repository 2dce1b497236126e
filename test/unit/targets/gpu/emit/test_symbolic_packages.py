"""Packages for a GPU whose sizes depend on symbols: one compile, run by Triton's interpreter."""

from collections.abc import Sequence

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
import trivium
from interpreted import interpreted
from onnx import TensorProto, helper, numpy_helper
from trivium.runtime.errors import RunError
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.stand_in import StandIn

SIZES = ((2, 5), (1, 1), (3, 40), (2, 5), (1, 17))


def encoder() -> onnx.ModelProto:
    """Return a model of x[N, T, 16] with a product, an epilogue, a softmax over T and a norm."""
    random = np.random.default_rng(0)
    weights = {"w": (16, 24), "b": (24,), "s": (24,)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="product"),
        helper.make_node("Add", ["product", "b"], ["biased"], name="bias"),
        helper.make_node("Relu", ["biased"], ["kept"], name="relu"),
        helper.make_node("Softmax", ["kept"], ["weights"], name="softmax", axis=1),
        helper.make_node("LayerNormalization", ["weights", "s"], ["y"], name="norm"),
    ]
    graph = helper.make_graph(
        nodes,
        "encoder",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "T", 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "T", 24])],
        [
            numpy_helper.from_array(random.standard_normal(shape, np.float32), name)
            for name, shape in weights.items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture(scope="module")
def package() -> Package:
    ranges = {"N": trivium.Range(0, 8), "T": trivium.Range(1, 64, likely=16)}
    return trivium.build(encoder(), target="gpu:sm_90", shapes=ranges)


def expected(model: onnx.ModelProto, xs: Sequence[np.ndarray]) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return [np.asarray(session.run(None, {"x": x})[0]) for x in xs]


RESIZED = """
    <ir_version: 8, opset_import: ["" : 17]>
    resized (float[1, 2, H, W] x) => (float[1, 2, K, L] y)
    <float[0] none = {}, float[4] twice = {1, 1, 2, 2}> {
        y = Resize <mode = "linear"> (x, none, twice)
    }
"""


def test_one_compile_runs_all_sizes(package: Package, stand_in: StandIn) -> None:
    random = np.random.default_rng(1)
    xs = [random.standard_normal((n, t, 16), np.float32) for n, t in SIZES]
    stand_in.execute(package, lambda run: interpreted(package, run))
    with Session(package, device=stand_in.device()) as session:
        for x, want in zip(xs, expected(encoder(), xs), strict=True):
            n, t, _ = x.shape
            stand_in.sizes = {"N": n, "T": t}
            (got,) = session.run({"x": x}).values()
            assert not stand_in.errors
            np.testing.assert_allclose(got, want, 1e-4, 1e-5)


def test_images_are_resized_at_all_sizes(stand_in: StandIn) -> None:
    model = onnx.parser.parse_model(RESIZED)
    sides = trivium.Range(1, 64, likely=16)
    package = trivium.build(model, target="gpu:sm_90", shapes={"H": sides, "W": sides})
    random = np.random.default_rng(2)
    xs = [random.random((1, 2, h, w), np.float32) for h, w in ((3, 5), (1, 9))]
    stand_in.execute(package, lambda run: interpreted(package, run))
    with Session(package, device=stand_in.device()) as session:
        for x, want in zip(xs, expected(model, xs), strict=True):
            stand_in.sizes = {"H": x.shape[2], "W": x.shape[3]}
            (got,) = session.run({"x": x}).values()
            assert not stand_in.errors
            np.testing.assert_allclose(got, want, 1e-5, 1e-6)
    assert {step.kind for step in package.manifest.steps} == {"copy", "gpu"}


def test_a_size_that_is_met_again_runs_as_a_graph(package: Package, stand_in: StandIn) -> None:
    x = np.zeros((2, 5, 16), np.float32)
    with Session(package, device=stand_in.device()) as session:
        for graphs in (0, 1, 2):
            session.run({"x": x})
            assert len(stand_in.records("cuGraphLaunch")) == graphs


def test_nothing_runs_for_no_elements(package: Package, stand_in: StandIn) -> None:
    with Session(package, device=stand_in.device()) as session:
        (got,) = session.run({"x": np.zeros((0, 3, 16), np.float32)}).values()
        assert got.shape == (0, 3, 24)
        assert not stand_in.records("cuLaunchKernel")


def test_memory_grows_and_is_freed(package: Package, stand_in: StandIn) -> None:
    stand_in.sizes = {"N": 8, "T": 64}
    with Session(package, device=stand_in.device()) as session:
        for n, t in ((1, 1), (8, 64), (1, 1)):
            session.run({"x": np.zeros((n, t, 16), np.float32)})
        live = stand_in.live
        session.trim()
        session.run({"x": np.zeros((1, 1, 16), np.float32)})
        assert stand_in.live <= live


def test_arrays_on_the_device_have_the_sizes_of_a_run(package: Package, stand_in: StandIn) -> None:
    with Session(package, device=stand_in.device()) as session:
        made = session.run_on_device({"x": np.zeros((3, 7, 16), np.float32)})
        assert made["y"].shape == (3, 7, 24)
        with pytest.raises(RunError, match="a replay has one set of sizes"):
            session.replay()


def test_sizes_out_of_range_are_refused(package: Package, stand_in: StandIn) -> None:
    with Session(package, device=stand_in.device()) as session:
        with pytest.raises(RunError, match="T"):
            session.run({"x": np.zeros((1, 65, 16), np.float32)})
        assert not stand_in.records("cuLaunchKernel")
