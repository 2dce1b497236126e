"""A thousand ops drawn at random, in models of many: each gives its bits on an accelerator."""

import numpy as np
import onnx
import pytest
from drawn_ops import RULES, Drawn
from onnx import compose
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array
from trivium.passes.pipeline import Pipeline
from trivium.runtime.session import Session

MODELS, EACH = 20, 50


def joined(models: list[onnx.ModelProto]) -> onnx.ModelProto:
    """Return one model of all, side by side."""
    whole, *others = (compose.add_prefix(m, f"m{number}_") for number, m in enumerate(models))
    for other in others:
        whole = compose.merge_models(whole, other, io_map=[])
    return whole


def reference(model: onnx.ModelProto, feeds: list[Array]) -> tuple[Array, ...]:
    """Return what the graph of integers computes, before anything is selected."""
    with new_context():
        module = import_onnx(model)
        Pipeline.parse("eliminate,lower-quantized,expose-storage,eliminate").run(module)
        return run(module, feeds)


@pytest.mark.parametrize("number", range(MODELS))
def test_drawn_ops_give_the_bits_of_integers(number: int) -> None:
    names = list(RULES)
    drawn = [Drawn(1000 + number * EACH + each) for each in range(EACH)]
    model = joined([d.model(RULES[names[d.seed % len(names)]]) for d in drawn])
    feeds = [feed for d in drawn for feed in d.feeds()]
    package = build(model, target="vanilla")
    given = dict(zip((port.name for port in package.manifest.inputs), feeds, strict=True))
    found = Session(package, threads=1).run(given).values()
    expected = reference(model, feeds)
    assert len(expected) == EACH
    for d, a, b in zip(drawn, found, expected, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=f"{names[d.seed % len(names)]} {d.seed}")
