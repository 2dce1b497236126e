"""Models on an accelerator, from ONNX to a session: the bits that integers give elsewhere."""

import numpy as np
import onnx
import pytest
from drawn_ops import RULES, Drawn
from trivium.compiler.driver import build
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array
from trivium.passes.pipeline import Pipeline
from trivium.passes.verify_values import VerifyValues
from trivium.runtime.dla.part import DlaPart
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.targets.choices import INTEGERS
from trivium.targets.dla.phases import (
    CODE_EMIT,
    IR_OPTIMIZATION,
    MEM_ALLOC,
    TENSOR_SCHED,
    TENSOR_SEL,
    Phase,
    PhaseInstrumentation,
)
from trivium.targets.options import CompileOptions
from trivium.targets.registry import choose_target

PHASES = (TENSOR_SCHED, MEM_ALLOC)


class Interpreted(PhaseInstrumentation):
    """Execute the module after each phase, and require the same bits."""

    def __init__(self, feeds: list[Array], expected: Array) -> None:
        self.feeds, self.expected = feeds, expected
        self.seen: list[str] = []

    def leave(self, phase: Phase, attempt: int, module: Module) -> None:
        VerifyValues().run(module)
        (found,) = run(module, self.feeds)
        np.testing.assert_array_equal(found, self.expected)
        self.seen.append(phase.name)


def reference(model: onnx.ModelProto, feeds: list[Array]) -> Array:
    """Return what the graph of integers computes, before anything is selected."""
    with new_context():
        module = import_onnx(model)
        Pipeline.parse("eliminate,lower-quantized,expose-storage,eliminate").run(module)
        (expected,) = run(module, feeds)
    return expected


def computed(package: Package, feeds: list[Array]) -> Array:
    session = Session(package, threads=1)
    names = [port.name for port in package.manifest.inputs]
    return next(iter(session.run(dict(zip(names, feeds, strict=True))).values()))


@pytest.mark.parametrize("rule", RULES)
def test_a_drawn_op_gives_the_bits_of_integers_after_each_phase_and_in_a_session(rule: str) -> None:
    for seed in range(3):
        drawn = Drawn(seed)
        model = drawn.model(RULES[rule])
        feeds = drawn.feeds()
        expected = reference(model, feeds)
        with new_context():
            module = import_onnx(model)
            pipeline_for("vanilla", 2).run(module)
            VerifyValues().run(module)
            (placed,) = run(module, feeds)
            np.testing.assert_array_equal(placed, expected)
            hook = Interpreted(feeds, expected)
            choose_target("vanilla").pipeline().run(module, print, hook, only=PHASES)
            assert hook.seen == [*PHASES]
        package = build(model, target="vanilla")
        assert package.manifest.part(DlaPart).programs, seed
        np.testing.assert_array_equal(computed(package, feeds), expected)


@pytest.mark.parametrize(
    ("phase", "name", "message"),
    [
        (TENSOR_SCHED, "lower-to-buffers", "'tri.group' op on 'vanilla' is no dla.program"),
        (MEM_ALLOC, "insert-tokens", "'dla.program' op 'vanilla_0' has 4 ops without an engine"),
    ],
)
def test_a_phase_without_a_pass_breaks_its_promise(phase: str, name: str, message: str) -> None:
    with new_context():
        module = import_onnx(Drawn(0).model(RULES["conv"]))
        pipeline_for("vanilla", 2).run(module)
        phases = choose_target("vanilla").pipeline().put(phase, name)
        with pytest.raises(CompileError) as error:
            phases.run(module, print, only=(*PHASES, CODE_EMIT))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.message.startswith(message)
    assert diagnostic.notes == (f"after phase {phase}",)


def test_ops_that_no_pass_groups_break_the_promise_of_their_phase() -> None:
    with new_context():
        module = import_onnx(Drawn(0).model(RULES["conv"]))
        phases = choose_target("vanilla").pipeline().put(IR_OPTIMIZATION, "segment-dla")
        with pytest.raises(CompileError, match=r"'dla.conv' op is in no tri.group, must be in one"):
            phases.run(module, print, only=(TENSOR_SEL, IR_OPTIMIZATION))


@pytest.mark.parametrize("rule", ["conv", "elements", "table"])
def test_the_cpu_gives_the_same_bits_when_it_computes_in_integers(rule: str) -> None:
    drawn = Drawn(7)
    model = drawn.model(RULES[rule])
    feeds = drawn.feeds()
    with new_context():
        module = import_onnx(model)
        pipeline_for("cpu", 2, CompileOptions(quantized=INTEGERS)).run(module)
    alone = build(model, target="cpu", quantized=INTEGERS)
    np.testing.assert_array_equal(
        computed(alone, feeds), computed(build(model, target="vanilla"), feeds)
    )


@pytest.mark.parametrize("level", [0, 1])
def test_lower_levels_of_optimisation_give_the_same_bits(level: int) -> None:
    drawn = Drawn(3)
    model = drawn.model(RULES["conv"])
    feeds = drawn.feeds()
    package = build(model, target="vanilla", opt_level=level)
    assert package.manifest.part(DlaPart).programs
    np.testing.assert_array_equal(computed(package, feeds), reference(model, feeds))
