"""Toggles round the values that they are for, and no others."""

from collections.abc import Iterable

import numpy as np
import onnx
import onnx.parser
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.quantize.fake_quant_toggles import add_toggles
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.quantized import QuantizedType
from trivium.passes.quantize.quantize import quantize_by
from trivium.passes.quantize.scale_table import Scale, ScaleTable
from trivium.test.unit.compiler.quantize.quantized_networks import VALUES, many


def table_of(values: Iterable[str]) -> ScaleTable:
    scales = {name: 0.04 + 0.005 * number for number, name in enumerate(VALUES)}
    kinds = {name: QuantizedType.of("i8", [scales[name]], [3]) for name in values}
    return ScaleTable({name: Scale(kind) for name, kind in kinds.items()})


@settings(max_examples=25, deadline=None)
@given(st.sets(st.sampled_from(VALUES)), st.booleans())
def test_toggles_round_just_what_they_are_for(on: set[str], per_tensor: bool) -> None:
    random = np.random.default_rng(5)
    feeds = [random.normal(size=s).astype(np.float32) for s in ((1, 4, 6, 6), (1, 4, 3, 3))]
    with new_context():
        module = import_onnx(many())
        toggled = add_toggles(module, table_of(VALUES), per_tensor)
        made, names = toggled.module, toggled.inputs
        made.verify()
        assert tuple(names) == VALUES
        toggles = [np.array(name in on) for name in names]
        got = run(made, [*feeds, *toggles])
        quantize_by(module, table_of(name for name in VALUES if name in on), per_tensor)
        want = run(module, feeds)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_toggles_are_not_called_as_inputs_are() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[2] x, float[2] other) => (float[2] y) { y = Add (x, other) }
    """)
    model.graph.input[1].name = model.graph.node[0].input[1] = "round x"
    with new_context():
        scale = Scale(QuantizedType.of("i8", [0.5]))
        table = ScaleTable({"x": scale, "y": scale})
        names = add_toggles(import_onnx(model), table, False).inputs
    assert len({"x", "y", "round x", *names.values()}) == 5
