"""Models with sequences whose tensors are joined, against onnx's reference."""

from typing import Any

import numpy as np
import onnx
import onnx.parser
import trivium
from onnx.reference import ReferenceEvaluator

X = np.arange(21, dtype=np.float32).reshape(7, 3)


def model(text: str) -> onnx.ModelProto:
    head = '<ir_version: 10, opset_import: ["" : 21]>'
    return onnx.parser.parse_model(f"{head} g {text}")


def check(text: str, *feeds: dict[str, Any]) -> None:
    """Compile once, and compare all outputs at each of the feeds."""
    proto = model(text)
    session = trivium.compile(proto)
    reference = ReferenceEvaluator(proto)
    for each in feeds:
        got = session.run(each)
        for name, expected in zip(got, reference.run(None, each), strict=True):
            np.testing.assert_array_equal(got[name], expected)
