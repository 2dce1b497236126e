"""The sensitivity of values to rounding is the same when tasks of Ray find it."""

from typing import Any

import numpy as np
import onnx.parser
import trivium
import trivium.ray
from trivium.compiler.quantize import Report


def test_tasks_find_what_one_process_finds(ray: Any) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[4, 3] x) => (float[4, 2] y)
        <float[3, 3] spread = {1, 0, 40, -1, 1, 30, 0, 1, -20},
         float[3, 2] w = {1, -1, 2, 1, 0, 0}> {
            parts = MatMul (x, spread)
            sums = MatMul (parts, w)
            y = Relu (sums)
        }
    """)
    samples = {"x": np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)}
    found: list[Report] = []
    tables = [
        trivium.quantize(model, samples, cosine=0.999, report=found.append, **given)
        for given in ({}, {"spread": trivium.ray.spread})
    ]
    assert found[0].floats == ("parts",)
    assert found[1] == found[0]
    assert tables[1] == tables[0]


def test_results_are_in_the_order_of_names(ray: Any) -> None:
    assert trivium.ray.spread(str.upper, ["a", "b", "c", "d", "e"]) == ["A", "B", "C", "D", "E"]
    assert trivium.ray.spread(str.upper, []) == []
