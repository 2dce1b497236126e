"""Transformers that ONNX Runtime's optimisers and its quantiser rewrote, against ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import trivium

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("torch")
from onnx import helper  # noqa: E402
from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: E402
from onnxruntime.transformers import optimizer  # noqa: E402
from trivium.test.models.transformers import HEADS, HIDDEN, MODELS, exported  # noqa: E402
from trivium.test.unit.compiler.frontends.onnx.reference_backend import (  # noqa: E402
    ReferenceBackend,
)

pytestmark = pytest.mark.slow

LEVELS = onnxruntime.GraphOptimizationLevel


def session_of(model: onnx.ModelProto, level: Any, file: Path | None = None) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    if file is not None:
        options.optimized_model_filepath = str(file)
    given = model.SerializeToString()
    return onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def saved(model: onnx.ModelProto, level: Any, folder: Path) -> onnx.ModelProto:
    session_of(model, level, folder / "optimised.onnx")
    return onnx.load(folder / "optimised.onnx")


def fused(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """Fuse attention, embeddings and norms."""
    given = {"num_heads": HEADS, "hidden_size": HIDDEN, "opt_level": 0}
    return optimizer.optimize_model(model, model_type=name, **given).model


def quantised(model: onnx.ModelProto, name: str, folder: Path) -> onnx.ModelProto:
    """Fuse, then make integers of weights."""
    made = fused(model, name)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(made, folder / "fused.onnx")
    given = {"weight_type": QuantType.QInt8, "extra_options": {"DefaultTensorType": 1}}
    quantize_dynamic(folder / "fused.onnx", folder / "integers.onnx", **given)
    return onnx.load(folder / "integers.onnx")


def check(model: onnx.ModelProto, feeds: dict[str, Any], ops: set[str]) -> None:
    """Compare a package with ONNX Runtime, given operators of it that the model has."""
    assert ops <= {node.op_type for node in model.graph.node if node.domain}
    session = trivium.compile(model)
    got = session.run(feeds)
    compare([got[output.name] for output in model.graph.output], model, feeds)
    assert {step.kind for step in session.manifest.steps} == {"cpu"}


def compare(got: list[Any], model: onnx.ModelProto, feeds: dict[str, Any]) -> None:
    wanted = session_of(model, LEVELS.ORT_DISABLE_ALL).run(None, feeds)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", MODELS)
def test_fused_by_the_optimiser_of_transformers(name: str) -> None:
    model, feeds = exported(name)
    ops = {"Attention", "SkipLayerNormalization", "FastGelu" if name == "gpt2" else "BiasGelu"}
    check(fused(model, name), feeds, ops)


@pytest.mark.parametrize("name", MODELS)
def test_saved_by_a_session(name: str, tmp_path: Path) -> None:
    model, feeds = exported(name)
    basic = saved(model, LEVELS.ORT_ENABLE_BASIC, tmp_path)
    compare(ReferenceBackend.prepare(basic).run([*feeds.values()]), basic, feeds)
    ops = {"FusedMatMul", "FastGelu" if name == "gpt2" else "BiasGelu"}
    check(saved(model, LEVELS.ORT_ENABLE_EXTENDED, tmp_path), feeds, ops)


@pytest.mark.parametrize("name", MODELS)
def test_quantised(name: str, tmp_path: Path) -> None:
    model, feeds = exported(name)
    extended = saved(quantised(model, name, tmp_path), LEVELS.ORT_ENABLE_EXTENDED, tmp_path)
    check(extended, feeds, {"QAttention", "DynamicQuantizeMatMul"})
