"""A package as a stage of Ray Data, on two workers, of which one is killed midway."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.ray import Predictor
from trivium.test.unit.tools.cluster.fragile_predictor import FATAL, FragilePredictor

ROWS = 20_000
W = (np.random.default_rng(0).standard_normal((16, 4)) / 4).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> str:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[96, 16] x) => (float[96, 4] y) { a = MatMul (x, w) y = Tanh (a) }
    """)
    model.graph.initializer.append(onnx.numpy_helper.from_array(W, "w"))
    path = tmp_path / "net.trv"
    trivium.build(model).save(path)
    return str(path)


def test_every_row_once_where_a_worker_is_killed(ray: Any, path: str, tmp_path: Path) -> None:
    data = pytest.importorskip("ray.data", reason="ray[data] is not installed")
    x = np.random.default_rng(1).standard_normal((ROWS, 16)).astype(np.float32)
    numbered = np.concatenate([np.arange(ROWS, dtype=np.float32)[:, None], x], axis=1)
    rows = data.from_numpy(np.array_split(numbered, 40))
    killed = str(tmp_path / "killed")
    made = rows.map_batches(
        FragilePredictor,
        fn_constructor_args=(path, killed),
        batch_size=250,
        compute=data.ActorPoolStrategy(size=2),
    )
    batches = list(made.iter_batches(batch_size=None, batch_format="numpy"))
    found = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    order = np.argsort(found["id"])
    assert np.array_equal(found["id"][order], np.arange(ROWS))
    assert np.allclose(found["y"][order], np.tanh(x @ W), atol=1e-5)
    alone = Predictor(path)({"x": x})["y"]
    assert np.array_equal(found["y"][order], alone)
    assert len([*tmp_path.glob("killed.*")]) >= 2
    dead = int(Path(killed).read_text())
    assert FATAL not in found["id"][found["process"] == dead]
    assert found["mapped"].all()
