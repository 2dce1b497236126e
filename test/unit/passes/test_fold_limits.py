"""Limits before a quantisation become limits of its integers: the bytes are those of numpy."""

import numpy as np
import onnx.parser
import pytest
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.passes.decompose import Decompose
from trivium.passes.eliminate import Eliminate
from trivium.passes.fold.fold_limits import FoldLimits
from trivium.passes.quantize.expose_storage import ExposeStorage


@pytest.mark.parametrize(
    ("low", "high", "scale", "zero"),
    [
        (0, 6, 6 / 255, -128),
        (0, 6, 0.03, -128),
        (0, 6, 0.0471, 3),
        (-1, 1, 0.013, 77),
        (5, 6, 0.011, 127),  # all that is left is the greatest byte
        (-3, -2, 0.1, 100),
        (2, 1, 0.02, 0),  # the upper limit wins over a greater lower one
    ],
)
def test_bytes_are_those_of_limits_before_the_scale(
    low: float, high: float, scale: float, zero: int
) -> None:
    s = np.float32(scale)
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        layer (float[4000] x) => (int8[4000] y)
        <float s = {{{s:.9g}}}, int8 z = {{{zero}}}, float l = {{{low}}}, float h = {{{high}}}> {{
            c = Clip (x, l, h)
            y = QuantizeLinear (c, s, z)
        }}
    """)
    generator = np.random.default_rng(0)
    near = (generator.integers(-300, 300, 1000) + np.float32(0.5)) * s
    edges = np.array([0, -0.0, low, high, np.inf, -np.inf, 1e30, -1e30], np.float32)
    spread = generator.uniform(-8, 8, 4000 - 3000 - len(edges)).astype(np.float32)
    x = np.concatenate(
        [near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9)), edges, spread]
    ).astype(np.float32)
    limited = np.minimum(np.maximum(x, np.float32(low)), np.float32(high))
    expected = np.clip(np.rint(limited / s) + np.float32(zero), -128, 127).astype(np.int8)
    with new_context():
        module = import_onnx(model)
        for step in (Decompose(("quantize",)), ExposeStorage(), FoldLimits(), Eliminate()):
            step.run(module)
        module.verify()
        assert sum(isinstance(op, tri.Clip) for op in ops(module.operation)) == 1
        (y,) = run(module, [x])
    assert y.dtype == np.int8
    assert (y == expected).all()
