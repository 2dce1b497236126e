"""Write a linear layer, samples for it, and samples for another model, into a folder.

There is a network, too, in which one channel of a value is large, and nobody reads it.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
model = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    layer (float[2, 2] x) => (float[2, 3] y)
    <float[2, 3] w = {1, -2, 3, 0.5, 1.5, 2}, float[3] b = {0.25, 0, -1}> {
        y = Gemm (x, w, b)
    }
""")
onnx.save(model, folder / "layer.onnx")
samples = np.linspace(0, 1, 16, dtype=np.float32).reshape(8, 2)
np.savez(folder / "data.npz", x=samples)
np.savez(folder / "other.npz", z=samples)
network = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    network (float[2, 2] x) => (float[2, 2] y)
    <float[2, 3] wide = {1, 0, 20, -1, 1, 12}, float[3, 2] w = {1, -1, 0.5, 1, 0, 0}> {
        [spread] parts = MatMul (x, wide)
        [layer] y = MatMul (parts, w)
    }
""")
onnx.save(network, folder / "network.onnx")
np.savez(folder / "normal.npz", x=np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32))
