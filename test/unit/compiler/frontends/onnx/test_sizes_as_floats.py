"""Sizes on their way through floats, as exporters write a maximum: known where nothing is rounded.

The batch of a detector is as large as its largest image: Max of the sizes, as float, as integer.
"""

import numpy as np
import onnx
import onnx.parser
import pytest
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.sizes.symbols import Range

ort = pytest.importorskip("onnxruntime")

BATCH = """batch (float[3, H, W] x, float[4, 3, 3, 3] w) => (float[n, 4, h, v] y)
    <int64 zero = {0}, int64[1] front = {0}, int64[3] nothing = {0, 0, 0}, int64[2] more = {1, 2}> {
        shape = Shape (x)
        channels = Gather (shape, zero)
        one = Unsqueeze (channels, front)
        float = Cast <to = 1> (one)
        greatest = ReduceMax <keepdims = 0> (float)
        most = Cast <to = 7> (greatest)
        lacks = Sub (most, channels)
        behind = Unsqueeze (lacks, front)
        pads = Concat <axis = 0> (nothing, behind, more)
        padded = Pad (x, pads)
        images = Unsqueeze (padded, front)
        y = Conv <pads = [1, 1, 1, 1]> (images, w)
    }"""


def model_of(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]>\n{text}')


def test_channels_of_a_batch_are_known() -> None:
    model = model_of(BATCH)
    session = compile(model)
    assert [step.kind for step in session.manifest.steps] == ["cpu"]
    assert session.outputs[0].shape == (1, 4, "H + 1", "W + 2")
    reference = ort.InferenceSession(model.SerializeToString())
    rng = np.random.default_rng(0)
    for pixels in ((5, 7), (1, 1), (16, 9)):
        feeds = {
            "x": rng.random((3, *pixels), np.float32),
            "w": rng.random((4, 3, 3, 3), np.float32),
        }
        (expected,) = reference.run(None, feeds)
        np.testing.assert_allclose(session.run(feeds)["y"], expected, 1e-5, 1e-5)


def resized(nodes: str) -> str:
    """Return the type of a tensor of a size that a graph computes."""
    text = f"""sizes (float[A, B] x) => (float[n] y) {{
        shape = Shape (x)
        float = Cast <to = 1> (shape)
        {nodes}
        size = Cast <to = 7> (made)
        y = ConstantOfShape (size)
    }}"""
    with new_context():
        module = import_onnx(model_of(text), shapes={"A": Range(1, 512), "B": Range(1, 1 << 30)})
        *_, end = module.main_block.operations
        return str(end.operands[0].type)


FIRST = "zero = Constant <value_ints = [0]> ()  a = Gather (float, zero)"
SECOND = "one = Constant <value_ints = [1]> ()  a = Gather (float, one)"
NONE = "zero = Constant <value_ints = [0]> ()  floats = Slice (float, zero, zero)"
FOUR = "four = Constant <value_floats = [4.0]> ()"


@pytest.mark.parametrize(
    ("nodes", "size"),
    [
        (f"{FIRST}  made = ReduceMax (a)", "A"),
        (f"{FIRST}  made = ReduceMin (a)", "A"),
        (f"{FIRST}  {FOUR}  made = Max (a, four)", "max(4, A)"),
        (f"{FIRST}  {FOUR}  made = Div (a, four)", "u0"),
        (f"{FIRST}  half = Constant <value_floats = [0.5]> ()  made = Max (a, half)", "u0"),
        (f"{FIRST}  short = Cast <to = 10> (a)  made = Cast <to = 1> (short)", "u0"),
        (f"{SECOND}  made = ReduceMax (a)", "u0"),
        (f"{NONE}  made = ReduceMax (floats)", "u0"),
    ],
)
def test_what_floats_do_not_round_is_known(nodes: str, size: str) -> None:
    assert resized(nodes) == f'tensor<?xf32, ["{size}"]>'
