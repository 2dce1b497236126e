"""Attention with masks that formats do not have is written as products and a softmax."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from trivium.compiler.export import export
from trivium.dialects import tri

ATTENTION = """
    func.func @main(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x3xf32>,
                    %kept: tensor<4x6xi1>, %added: tensor<6xf32>) -> tensor<2x4x3xf32> {
      %y = "tri.attention"(%q, %k, %v, MASKS) {FILLS scale = 0.5}
          : (tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x3xf32>, TYPES) -> tensor<2x4x3xf32>
      return %y : tensor<2x4x3xf32>
    }"""
KEPT, ADDED = "tensor<4x6xi1>", "tensor<6xf32>"
CASES = {
    "a mask": ("%kept", KEPT, "", True),
    "a number in place of scores": ("%kept", KEPT, "fills = array<f64: -1.0e9>,", False),
    "two masks": ("%added, %kept", f"{ADDED}, {KEPT}", "", False),
}


@pytest.mark.parametrize("suffix", [".onnx", ".pnnx.param"])
@pytest.mark.parametrize("case", CASES)
def test_what_is_written_computes_the_same(case: str, suffix: str, tmp_path: Path) -> None:
    masks, types, fills, whole = CASES[case]
    source, written = tmp_path / "net.mlir", tmp_path / f"net{suffix}"
    text = ATTENTION.replace("MASKS", masks).replace("TYPES", types)
    source.write_text(text.replace("FILLS", fills))
    export(source, written)
    random = np.random.default_rng(0)
    drawn = [random.normal(size=s).astype(np.float32) for s in ((2, 4, 8), (2, 6, 8), (2, 6, 3))]
    kept = random.random((4, 6)) < 0.5
    kept[1] = False  # this query sees no key
    added = random.normal(size=6).astype(np.float32)
    given = {"%kept": kept, "%added": added}
    want = tri.Attention(scale=0.5, fills=(-1e9,) if fills else ()).reference(
        *drawn, [given[name] for name in masks.split(", ")]
    )
    session = trivium.compile(written)
    inputs = [*drawn, kept, added]
    np.testing.assert_allclose(session(*inputs[: len(session.inputs)]), want, atol=1e-6)
    if suffix == ".onnx":
        nodes = onnx.load(written).graph.node
        assert ("Attention" in [node.op_type for node in nodes]) == whole
        judge = onnxruntime.InferenceSession(written)
        names = [each.name for each in judge.get_inputs()]
        (judged,) = judge.run(None, dict(zip(names, inputs, strict=False)))
        np.testing.assert_allclose(judged, want, atol=1e-6)
