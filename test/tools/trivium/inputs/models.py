"""Write the models and arrays that the tests of `trivium` use into a folder."""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser

HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.example" : 1]>'
MODELS = {
    "scale.onnx": "scale (float[N, 3] x) => (float[N, 3] y) { y = Add (x, x) }",
    "different.onnx": """different (float[3] x) => (float[N] y) {
        [exponent] a = Exp (x)
        [different] y = Unique <axis = 0> (a)
    }""",
    "strange.onnx": """strange (float[2] x) => (float[2] y) {
        [first] a = com.example.Sparkle (x)
        [second] y = com.example.Glitter (a)
    }""",
}

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, text in MODELS.items():
    onnx.save(onnx.parser.parse_model(HEAD + text), folder / name)
WEIGHTED = {
    "layer.onnx": ("layer (float[20, 16] x) => (float[20, 40] y) { y = MatMul (x, w) }", (16, 40)),
    "groups.onnx": (
        """groups (float[1, 64, 14, 14] x) => (float[1, 64, 14, 14] y) {
            a = Conv <group = 4, pads = [1, 1, 1, 1]> (x, w)
            y = Conv <group = 4, pads = [1, 1, 1, 1]> (a, w)
        }""",
        (64, 16, 3, 3),
    ),
}
for name, (text, shape) in WEIGHTED.items():
    model = onnx.parser.parse_model(HEAD + text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(shape, np.float32), "w"))
    onnx.save(model, folder / name)
(folder / "broken.onnx").write_bytes((folder / "scale.onnx").read_bytes()[:40])
np.save(folder / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
np.save(folder / "wide.npy", np.zeros((2, 4), np.float32))
(folder / "relu.mlir").write_text(
    """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %y = "tri.relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
        return %y : tensor<2x3xf32>
    }"""
)
