"""A decoder is imported twice, to see its ports and to bind them; its weights are read once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from gguf import GGMLQuantizationType as Type
from trivium.compiler.frontends.gguf import weights as gguf_weights
from trivium.compiler.source import import_model
from trivium.dialects.core.mlir import new_context
from trivium.targets.options import CompileOptions
from trivium.test.unit.compiler.frontends.gguf.gguf_models import Model, weights, write
from trivium.test.unit.generated_decoders import LLAMA, decoder

OPTIONS = CompileOptions(generate={"capacity": 8})


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[Any]:
    """Let a function of a module note what it returns."""
    function, made = getattr(module, name), list[Any]()

    def noted(*args: Any, **given: Any) -> Any:
        made.append(function(*args, **given))
        return made[-1]

    monkeypatch.setattr(module, name, noted)
    return made


def test_weights_beside_an_onnx_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = decoder(replace(LLAMA, layers=1))
    given = {"save_as_external_data": True, "location": "weights", "size_threshold": 64}
    onnx.save(model, tmp_path / "model.onnx", **given)
    loaded = counted(monkeypatch, onnx, "load_external_data_for_model")
    arrays = counted(monkeypatch, onnx.numpy_helper, "to_array")
    with new_context():
        import_model(tmp_path / "model.onnx", OPTIONS)
    assert len(loaded) == 1
    table = next(t for t in model.graph.initializer if t.name == "embed_tokens.weight")
    assert sum(made.shape == tuple(table.dims) for made in arrays) == 1


def test_matrices_of_a_gguf_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(layers=1)
    write(tmp_path / "model.gguf", model, weights(model), Type.Q4_0)
    packed = counted(monkeypatch, gguf_weights, "pack")
    with new_context():
        import_model(tmp_path / "model.gguf", OPTIONS)
    assert len(packed) == 9  # of a layer seven, words and head
