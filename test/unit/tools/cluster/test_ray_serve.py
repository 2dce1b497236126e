"""The demo of Ray Serve answers requests, several at once."""

import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import onnx.parser
import pytest
import trivium

DEMO = Path(__file__).resolve().parents[4] / "docs" / "demo"


def test_rows_of_requests(ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve = pytest.importorskip("ray.serve", reason="ray[serve] is not installed")
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        layer (float[N, 3] x) => (float[N, 2] y)
        <float[3, 2] w = {1, 0, 0, 1, -1, -1}> { y = MatMul (x, w) }
    """)
    trivium.build(model).save(tmp_path / "layer.trv")
    monkeypatch.syspath_prepend(DEMO)
    demo = import_module("serve_ray")
    cloudpickle = import_module("ray.cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules["serve_ray"])
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    serve.start(http_options={"port": port})
    serve.run(demo.application(str(tmp_path / "layer.trv")))

    def ask(row: Any) -> Any:
        with urlopen(f"http://127.0.0.1:{port}/", json.dumps({"x": row}).encode()) as answer:
            return json.load(answer)["y"]

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(ask, [[n, 2 * n, 1] for n in range(40)]))
    assert made == [[n - 1, 2 * n - 1] for n in range(40)]
    with pytest.raises(HTTPError) as caught:
        ask([1, 2])
    assert "must be 3" in json.load(caught.value)["error"]
    serve.shutdown()
