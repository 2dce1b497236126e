"""Calibration on two workers of Ray gives the scales and the model of one process."""

import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
import trivium.ray
from trivium.compiler.quantize.observe import MOST_SHARES, ObservedModel, Share
from trivium.compiler.quantize.ranges import Seen
from trivium.dialects.core.tensor import Array
from trivium.tools.cluster.spread import call_each, fetched
from trivium.tools.main import main


def net() -> onnx.ModelProto:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[3, 5] x) => (float[3, 4] y) {
            a = MatMul (x, w)
            b = Relu (a)
            y = MatMul (b, v)
        }
    """)
    for number, (name, shape) in enumerate({"w": (5, 7), "v": (7, 4)}.items()):
        array = np.random.default_rng(number).standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def samples(batches: int) -> dict[str, Array]:
    """Return data whose extremes are in the last batches."""
    random = np.random.default_rng(5)
    x = random.standard_t(3, (3 * batches, 5)).astype(np.float32)
    x[-1, 0], x[-4, 1] = 40, -55
    return {"x": x}


@pytest.mark.parametrize("method", ["minmax", "percentile", "kl", "mse"])
def test_workers_find_the_scales_of_one_process(ray: Any, tmp_path: Path, method: str) -> None:
    data = samples(MOST_SHARES + 5)
    alone, together = tmp_path / "alone.onnx", tmp_path / "together.onnx"
    wanted = trivium.quantize(net(), data, alone, method=method, percentile=99)
    found = trivium.quantize(
        net(), data, together, method=method, percentile=99, spread=trivium.ray.spread
    )
    assert found == wanted
    assert together.read_bytes() == alone.read_bytes()
    assert wanted.values["x"].least == -55
    assert wanted.values["x"].most == 40
    other = trivium.quantize(net(), {"x": data["x"][:-6]}, method=method, percentile=99)
    assert other != wanted


def test_histograms_are_those_of_numpy() -> None:
    """Counts of shares add up to those of all numbers, zeros left out."""
    feeds = [{"x": part} for part in np.split(samples(7)["x"], 7)]
    feeds[2]["x"] = np.zeros_like(feeds[2]["x"])
    look = ObservedModel(lambda feed: feed, feeds, ["x"])

    def whole(count: int, bounds: Mapping[str, Seen] | None) -> dict[str, Seen]:
        first, *others = (look(Share(start, count, bounds)) for start in range(count))
        for other in others:
            first = {"x": first["x"].merge(other["x"])}
        return first

    numbers = np.abs(np.concatenate([feed["x"].ravel() for feed in feeds]))
    for count in (1, 2, 7):
        bounds = whole(count, None)
        assert (bounds["x"].least, bounds["x"].most) == (-55, 40)
        counts = whole(count, bounds)["x"].counts
        assert (counts == np.histogram(numbers[numbers > 0], 2048, (0, 55))[0]).all()


def test_a_worker_fetches_a_function_once(ray: Any) -> None:
    """Both passes over the data meet one object in each worker."""
    variable = "READ_FROM_PICKLES"

    def read() -> Any:
        os.environ[variable] = str(int(os.environ.get(variable, "0")) + 1)
        return Counting()

    class Counting:  # not of a module, which workers could not import
        def __call__(self, item: int) -> tuple[int, str]:
            return os.getpid(), os.environ.get(variable, "0")

        def __reduce__(self) -> tuple[Any, ...]:
            return read, ()

    called = Counting()
    found = [trivium.ray.spread(called, [1, 2, 3, 4]) for _ in range(2)]
    processes = {process for turn in found for process, _ in turn}
    assert os.getpid() not in processes
    assert {loads for turn in found for _, loads in turn} == {"1"}
    fetched.cache_clear()
    assert call_each([ray.put(str)], [1, 2]) == ["1", "2"]


def test_a_package_is_a_buffer_beside_a_pickle() -> None:
    """What moves buffers by itself maps the package: its bytes are not in the pickle."""
    session = trivium.compile(net())
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(session, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 1000
    (buffer,) = buffers
    assert buffer.raw().nbytes > 1000
    feeds = {"x": np.ones((3, 5), np.float32)}
    wanted = session.run(feeds)["y"]
    for copy in (
        pickle.loads(data, buffers=buffers),
        *(pickle.loads(pickle.dumps(session, protocol)) for protocol in (2, 4, 5)),
    ):
        assert (copy.run(feeds)["y"] == wanted).all()


def test_the_command_quantises_on_a_cluster(
    ray: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(net(), tmp_path / "net.onnx")
    np.savez(tmp_path / "samples.npz", **samples(4))
    command = ["quantize", str(tmp_path / "net.onnx")]
    data = ["--data", str(tmp_path / "samples.npz"), "--method", "kl"]
    assert main([*command, *data, "-o", str(tmp_path / "a.onnx")]) == 0
    assert main([*command, *data, "-o", str(tmp_path / "b.onnx"), "--ray", "auto"]) == 0
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    capsys.readouterr()
    for flags, reason in (
        (["--table", "t.json", "-o", "c.onnx"], "--ray runs calibration data, and there is none"),
        (["--weights", "int8", "-o", "c.onnx"], "drop --ray"),
    ):
        assert main([*command, *flags, "--ray", "auto"]) == 2
        assert reason in capsys.readouterr().err
