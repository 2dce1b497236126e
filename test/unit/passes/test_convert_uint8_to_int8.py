"""Bytes with a sign: the same numbers, and no others inside of a model."""

import pytest
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.passes.eliminate import Eliminate
from trivium.passes.quantize.convert_uint8_to_int8 import ConvertUint8ToInt8
from trivium.passes.quantize.expose_storage import ExposeStorage
from trivium.test.unit.targets.dla.drawn_ops import RULES, Drawn


@pytest.mark.parametrize("rule", RULES)
def test_numbers_stay_what_they_are(rule: str) -> None:
    for seed in range(5):
        drawn = Drawn(seed, "uint8")
        with new_context():
            module = import_onnx(drawn.model(RULES[rule]))
            feeds = drawn.feeds()
            (before,) = run(module, feeds)
            ConvertUint8ToInt8().run(module)
            for step in (ExposeStorage(), Eliminate()):
                step.run(module)
            module.verify()
            (after,) = run(module, feeds)
            kinds = [op.of for op in ops(module.operation) if isinstance(op, tri.Dequantize)]
            kinds += [op.to for op in ops(module.operation) if isinstance(op, tri.Quantize)]
        assert kinds
        assert not any("<u8" in kind for kind in kinds)
        assert after.dtype == before.dtype
        assert (after == before).all()
