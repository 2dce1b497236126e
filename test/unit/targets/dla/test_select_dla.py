"""Selection: the same bits before and after, for drawn ops; what is refused says why."""

import pytest
from drawn_ops import RULES, Drawn
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.dla.dialect import TensorOp
from trivium.passes.eliminate import Eliminate
from trivium.passes.expose_storage import ExposeStorage
from trivium.passes.lower_quantized import LowerQuantized
from trivium.targets.dla.select_dla import REFUSAL, SelectDla

COMPUTING = (tri.Requantize, tri.MaxPool, tri.Gather, tri.Concat, tri.Resize)


def lowered(module: Module) -> None:
    for step in (Eliminate(), LowerQuantized(), ExposeStorage(), Eliminate()):
        step.run(module)


def refusals(module: Module) -> list[str]:
    """Return what each op of integers that was left says."""
    left = [op for op in ops(module.operation) if isinstance(op, COMPUTING)]
    return [str(op.operation.attributes[REFUSAL].value) for op in left]


@pytest.mark.parametrize("rule", RULES)
def test_selected_ops_give_the_same_bits(rule: str) -> None:
    for seed in range(60):
        drawn = Drawn(seed)
        with new_context():
            module = import_onnx(drawn.model(RULES[rule]))
            lowered(module)
            feeds = drawn.feeds()
            (before,) = run(module, feeds)
            SelectDla().run(module)
            Eliminate().run(module)
            module.verify()
            assert refusals(module) == [], seed
            assert any(isinstance(op, TensorOp) for op in ops(module.operation)), seed
            (after,) = run(module, feeds)
        assert after.dtype == before.dtype
        assert (after == before).all(), seed
