"""Arithmetic on images of fp16 by operands of SDP, and transposed convolutions."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from test_nvdla_halves import FULL, HALF, drawn, floats, model
from trivium.compiler.check import can_run
from trivium.runtime.dla.part import DlaPart
from trivium.test.unit.targets.dla.nvdla.compared import interpreted, simulated, unequal

PICKED = {
    "pixel_start": [0, 0, 0],
    "pixel_end": [99, 1, 1],
    "channel_start": [2, 0, 0],
    "channel_end": [3, 99, 99],
    "all_axes": [1, 2, 3],
}
SHAPE = (2, 20, 5, 6)

CASES: dict[str, tuple[str, tuple[int, ...], dict[str, Any], int]] = {
    "difference": ("r = Relu (x) y = Sub (r, x)", SHAPE, {}, 2),
    "difference to constants": ("y = Sub (x, c)", SHAPE, {"c": drawn(20, 1, 1)}, 1),
    "difference from constants": ("y = Sub (c, x)", SHAPE, {"c": drawn(20, 1, 1)}, 1),
    "difference from a number": ("a = Sub (k, x) y = Relu (a)", SHAPE, {"k": 1.5}, 1),
    "bounds below 0": (
        "a = Clip (x, low, high) y = LeakyRelu <alpha = -0.5> (a)",
        *(SHAPE, {"low": -0.75, "high": -0.25}, 2),
    ),
    "quotient": ("y = Div (x, c)", SHAPE, {"c": 1 + np.abs(drawn(1, 20, 1, 1))}, 1),
    "gate": (
        """g = GlobalAveragePool (x) s = Sigmoid (g) y = Mul (x, s)""",
        *(SHAPE, {}, 3),
    ),
    "gate behind": ("g = GlobalAveragePool (x) y = Add (g, x)", SHAPE, {}, 2),
    "difference from pixels": ("g = GlobalAveragePool (x) y = Sub (g, x)", SHAPE, {}, 2),
    "gate in an image": (
        """r = Relu (x) g = Slice (r, pixel_start, pixel_end, all_axes) y = Mul (x, g)""",
        *(SHAPE, {}, 3),
    ),
    "mask": (
        """r = Relu (x) m = Slice (r, channel_start, channel_end, all_axes) y = Mul (x, m)""",
        *(SHAPE, {}, 6),
    ),
}
"""Nodes, the shape of the input, weights, and how many operations a loadable has for them."""

DECONVOLUTIONS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    "strides": ("strides = [2, 2], pads = [1, 1, 1, 1]", (1, 20, 5, 6), (20, 7, 4, 4)),
    "gaps": ("strides = [3, 2]", (1, 5, 4, 3), (5, 17, 2, 1)),
    "more rows": ("strides = [2, 3], output_padding = [1, 2]", (1, 4, 5, 4), (4, 3, 3, 5)),
    "groups": ("strides = [2, 2], group = 2", (1, 6, 4, 4), (6, 5, 3, 3)),
    "dilated": ("dilations = [2, 1], pads = [1, 0, 2, 1]", (1, 18, 6, 5), (18, 4, 3, 2)),
}


def checked(made: onnx.ModelProto, x: np.ndarray, operations: int | None) -> None:
    """Require one loadable with the bits of the references, near floats."""
    found = simulated(made, FULL, [x], "fp16")
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    part = found.package.manifest.part(DlaPart)
    assert part is not None
    (program,) = part.loadables
    assert operations in (None, program.operations)
    expected = floats(made, x)
    assert found.outputs[0].shape == expected.shape
    assert np.abs(found.outputs[0] - expected).max() < HALF * np.abs(expected).max()


@pytest.mark.parametrize("name", CASES)
def test_operands_give_the_bits_of_references_near_floats(name: str) -> None:
    body, shape, weights, operations = CASES[name]
    made = model(body, shape, **weights)
    for key, numbers in PICKED.items():
        made.graph.initializer.append(numpy_helper.from_array(np.array(numbers), key))
    checked(made, drawn(*shape), operations)


@pytest.mark.parametrize("name", DECONVOLUTIONS)
def test_transposed_convolutions_give_the_bits_of_references_near_floats(name: str) -> None:
    attributes, shape, weights = DECONVOLUTIONS[name]
    groups, has_bias = 2 if "group" in attributes else 1, name != "gaps"
    given: dict[str, Any] = {"w": drawn(*weights)}
    if has_bias:
        given["b"] = drawn(weights[1] * groups)
    made = model(f"y = ConvTranspose <{attributes}> (x, w{', b' * has_bias})", shape, **given)
    checked(made, drawn(*shape), None)


def test_a_difference_is_rounded_once() -> None:
    made = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float16[1, 2, 3, 4] x, float16[1, 2, 3, 4] z) => (float16[1, 2, 3, 4] y) {
            y = Sub (x, z)
        }
    """)
    x, z = (
        drawn(1, 2, 3, 4).astype(np.float16) * scale for scale in (np.float16(1), np.float16(7))
    )
    np.testing.assert_array_equal(simulated(made, FULL, [x, z]).outputs[0], x - z)


REFUSED = {
    "y = Div (k, x)": ({"k": 1.5}, "nv_full divides by constants"),
    "y = Div (x, k)": ({"k": 2.0**15}, "whose reciprocals f16 has with all bits"),
    "y = Add (x, c)": ({"c": drawn(1, 1, 5, 6)}, "nv_full has one constant for each channel"),
    "y = Sub (x, c)": ({"c": drawn(2, 20, 5, 6)}, "nv_full has one constant for each channel"),
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_no_operand_has_is_refused(body: str) -> None:
    weights, reason = REFUSED[body]
    (told,) = can_run(model(body, SHAPE, **weights), target=FULL, precision="fp16")
    assert not told.runs
    assert any(reason in each for each in told.refusals), told.refusals
