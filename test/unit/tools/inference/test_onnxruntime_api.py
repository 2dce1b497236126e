"""Code that was written for onnxruntime does the same with one changed import."""

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import trivium.onnxruntime_api as ours

BOTH = pytest.mark.parametrize("ort", [onnxruntime, ours], ids=["onnxruntime", "trivium"])

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21], producer_name: "hand", model_version: 3,
     doc_string: "a model", metadata_props: ["author": "somebody"]>
    layer (float[N, 3] x, int64[1] k) => (float[N, 2] y, float[N, 2] z, int64[1] twice)
    <float[3, 2] w = {1, 0, 0, 1, -1, -1}> {
        y = MatMul (x, w)
        z = Relu (y)
        twice = Add (k, k)
    }
""")
TEXT = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    words (string[2] t, double[1, 2] d, bool[2] b) => (string[2] u, double[1, 2] e, bool[2] c) {
        u = Identity (t)
        e = Neg (d)
        c = Not (b)
    }
""")
X, K = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([3])


def use(ort: Any, model: Any, feeds: dict[str, Any]) -> list[Any]:
    """Do what programs do with a session; return all that they see."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(
        model.SerializeToString(), sess_options=options, providers=["CPUExecutionProvider"]
    )
    ports = [
        [(port.name, port.type, port.shape) for port in listed]
        for listed in (session.get_inputs(), session.get_outputs())
    ]
    meta = session.get_modelmeta()
    said = [meta.producer_name, meta.graph_name, meta.description, meta.version]
    said += [dict(meta.custom_metadata_map), meta.domain, session.get_providers()]
    results = session.run(None, feeds)
    last = session.get_outputs()[-1].name
    (chosen,) = session.run([last], feeds, ort.RunOptions())
    return [ports, said, *(array.tolist() for array in (*results, chosen))]


@pytest.mark.parametrize(
    ("model", "feeds"),
    [
        (MODEL, {"x": X, "k": K}),
        (
            TEXT,
            {
                "t": np.array(["a", "bc"], object),
                "d": np.array([[1.5, -2]]),
                "b": np.array([True, False]),
            },
        ),
    ],
    ids=["numbers", "text"],
)
def test_programs_see_the_same(model: Any, feeds: dict[str, Any]) -> None:
    assert use(ours, model, feeds) == use(onnxruntime, model, feeds)


@BOTH
def test_arrays_are_bound(ort: Any) -> None:
    session = ort.InferenceSession(MODEL.SerializeToString(), providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    y = np.zeros((4, 2), np.float32)
    binding.bind_cpu_input("x", X)
    binding.bind_ortvalue_input("k", ort.OrtValue.ortvalue_from_numpy(K))
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    binding.bind_output("z")
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(y, X[:, :2] - X[:, 2:])
    first, second = binding.copy_outputs_to_cpu()
    np.testing.assert_array_equal(first, y)
    np.testing.assert_array_equal(second, np.maximum(y, 0))
    assert [value.shape() for value in binding.get_outputs()] == [[4, 2], [4, 2]]


@BOTH
def test_values(ort: Any) -> None:
    value = ort.OrtValue.ortvalue_from_numpy(X.copy())
    facts = (value.shape(), value.data_type(), value.device_name(), value.tensor_size_in_bytes())
    assert facts == ([4, 3], "tensor(float)", "cpu", 48)
    value.update_inplace(2 * X)
    np.testing.assert_array_equal(value.numpy(), 2 * X)
    made = ort.OrtValue.ortvalue_from_shape_and_type([2, 5], np.int64)
    assert (made.shape(), made.data_type()) == ([2, 5], "tensor(int64)")
    session = ort.InferenceSession(MODEL.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {"x": value, "k": ort.OrtValue.ortvalue_from_numpy(K)}
    (twice,) = session.run_with_ort_values(["twice"], feeds)
    assert twice.numpy().tolist() == [6]


@BOTH
def test_wrong_inputs_are_refused(ort: Any) -> None:
    session = ort.InferenceSession(MODEL.SerializeToString(), providers=["CPUExecutionProvider"])
    with pytest.raises(ValueError, match=r"Required inputs \(\['k'\]\) are missing"):
        session.run(None, {"x": X})
    refused = (
        ours.InvalidArgument
        if ort is ours
        else onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument
    )
    for wrong in (X.astype(np.float64), X[:, :2]):
        with pytest.raises(refused, match=r"float|dimensions|must be"):
            session.run(None, {"x": wrong, "k": K})
    with pytest.raises(refused, match="Invalid output name"):
        session.run(["w"], {"x": X, "k": K})


@BOTH
def test_threads_share_a_session(ort: Any) -> None:
    session = ort.InferenceSession(MODEL.SerializeToString(), providers=["CPUExecutionProvider"])
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).standard_normal((50, 3)).astype(np.float32)
        for _ in range(50):
            (y,) = session.run(["y"], {"x": x, "k": K})
            if not np.array_equal(y, x[:, :2] - x[:, 2:]):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@BOTH
def test_results_come_back_from_another_thread(ort: Any) -> None:
    session = ort.InferenceSession(MODEL.SerializeToString(), providers=["CPUExecutionProvider"])
    done, seen = threading.Event(), list[Any]()

    def back(results: Any, data: Any, fault: str) -> None:
        seen.extend([results[0].tolist(), data, fault])
        done.set()

    session.run_async(["twice"], {"x": X, "k": K}, back, "mine")
    assert done.wait(30)
    assert seen == [[6], "mine", ""]


@BOTH
def test_dimensions_may_be_fixed(ort: Any) -> None:
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("N", 4)
    session = ort.InferenceSession(
        MODEL.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    assert session.get_inputs()[0].shape == [4, 3]


def test_packages_run_as_models_do(tmp_path: Path) -> None:
    package = ours.InferenceSession(saved(tmp_path))
    results = package.run(None, {"x": X, "k": K})
    wanted = onnxruntime.InferenceSession(MODEL.SerializeToString()).run(None, {"x": X, "k": K})
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    data = Path(saved(tmp_path)).read_bytes()
    assert ours.InferenceSession(data).get_outputs()[0] == ("y", "tensor(float)", ["N", 2])


def saved(folder: Path) -> str:
    import trivium

    path = os.fspath(folder / "model.trv")
    trivium.build(MODEL).save(path)
    return path


def test_what_cannot_be_had_is_refused(tmp_path: Path) -> None:
    data = MODEL.SerializeToString()
    with pytest.raises(ours.Fail, match="provider 'CUDAExecutionProvider' is not available"):
        ours.InferenceSession(data, providers=["CUDAExecutionProvider"])
    with pytest.raises(ours.NoSuchFile, match=r"none\.onnx"):
        ours.InferenceSession(tmp_path / "none.onnx")
    with pytest.raises(ours.Fail, match=r"entry 'ep\.dynamic' is not known"):
        ours.SessionOptions().add_session_config_entry("ep.dynamic", "1")
    with pytest.raises(AttributeError, match="has no 'intra_op_threads'"):
        ours.SessionOptions().intra_op_threads = 1
    for name, value in (("enable_profiling", True), ("optimized_model_filepath", "x.onnx")):
        options = ours.SessionOptions()
        setattr(options, name, value)
        with pytest.raises(ours.Fail, match=f"{name} has no equivalent"):
            ours.InferenceSession(data, options)
    own = ("TriviumExecutionProvider", {"target": "host"})
    with pytest.raises(ours.Fail, match="options target come too late"):
        ours.InferenceSession(saved(tmp_path), providers=[own])
    with pytest.raises(ours.Fail, match="library of operators"):
        ours.SessionOptions().register_custom_ops_library("ops.so")


def test_targets_are_a_provider() -> None:
    own = ("TriviumExecutionProvider", {"target": "host"})
    session = ours.InferenceSession(MODEL.SerializeToString(), providers=[own])
    assert session.run(["twice"], {"x": X, "k": K})[0].tolist() == [6]
    assert session.get_providers() == ["TriviumExecutionProvider"]
