"""Phases: their order, what is added to them, what is tried again, and when that ends."""

from collections.abc import Iterator

import numpy as np
import pytest
from trivium.dialects import tri as tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.passes.core import PASSES, Pass
from trivium.passes.pipeline import Instrumentation, Nest, Stage, Upstream
from trivium.targets.dla.phases import (
    CODE_EMIT,
    IR_OPTIMIZATION,
    MEM_ALLOC,
    NAMES,
    TENSOR_SCHED,
    TENSOR_SEL,
    Phase,
    PhaseInstrumentation,
    Phases,
)
from trivium.targets.dla.retry import ATTEMPTS, Retry, SchedulingAttempt
from trivium.targets.dla.trace import Trace

IR = """
module attributes {test.kept = "as it was"} {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""

TRIED = tuple(map(SchedulingAttempt, (100, 75, 50, 25)))


class TestMark(Pass):
    """Set an attribute of the module: what a pass of an accelerator leaves behind."""

    __test__ = False
    text: str = "a"

    def run(self, module: Module) -> None:
        _set(module, self.text)


class TestFit(Pass):
    """Change the IR, and ask for another attempt when values that stay take too much."""

    __test__ = False
    share: int = 100
    most: int = 50

    def run(self, module: Module) -> None:
        relu = ops(module.operation)[0]
        relu.results[0].replace_all_uses_with(relu.operation.operands[0])
        relu.operation.erase()
        _set(module, f"share {self.share}")
        module.operation.attributes["test.kept"] = ir.StringAttr.get("changed")
        module.weights[f"w{self.share}"] = module.weights["w"]
        if self.share > self.most:
            raise Retry(f"sram overflows by {self.share - self.most} bytes")


class TestCollapse(Pass):
    """Fail."""

    __test__ = False

    def run(self, module: Module) -> None:
        raise CompileError("cannot be compiled at all")


class TestSpoil(Pass):
    """Leave invalid IR behind: a relu that changes the shape."""

    __test__ = False

    def run(self, module: Module) -> None:
        relu = ops(module.operation)[0].operation
        kind = ir.Type.parse("tensor<7xf32>")
        before = ir.InsertionPoint(relu)
        ir.Operation.create("tri.relu", [kind], list(relu.operands), loc=relu.location, ip=before)


class TestBase(Pass):
    """Mark the module with a text that it has in common with what requires it."""

    __test__ = False
    text: str = "base"
    other: int = 1

    def run(self, module: Module) -> None:
        _set(module, f"base {self.text}")


class TestUpon(Pass):
    """Need the mark of another pass."""

    __test__ = False
    requires = (TestBase,)
    text: str = "upon"

    def run(self, module: Module) -> None:
        assert f"test.base_{self.text}" in module.operation.attributes


class TestTop(Pass):
    """Need a pass that needs another one, and that one, too."""

    __test__ = False
    requires = (TestUpon, TestBase)

    def run(self, module: Module) -> None: ...


for made_here in (TestMark, TestFit, TestCollapse, TestSpoil, TestBase, TestUpon, TestTop):
    del PASSES[made_here.name]


def _set(module: Module, text: str) -> None:
    module.operation.attributes[f"test.{text.replace(' ', '_')}"] = ir.UnitAttr.get()


class Heard(PhaseInstrumentation):
    """Note everything that a hook hears of."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def before(self, stage: Stage, module: Module) -> None:
        self.heard.append(f"  {stage.step}")

    def enter(self, phase: Phase, attempt: int, module: Module) -> None:
        self.heard.append(f"{phase.name} {attempt}")

    def leave(self, phase: Phase, attempt: int, module: Module) -> None:
        self.heard.append(f"end of {phase.name}")


@pytest.fixture(autouse=True)
def _context() -> Iterator[None]:
    with new_context():
        yield


def module() -> Module:
    return Module.parse(IR, {"w": np.ones(2, np.float32)})


def fitting(most: int) -> Phases:
    return (
        Phases()
        .add(TENSOR_SEL, TestMark("selected"))
        .add(TENSOR_SCHED, TestMark("scheduled"))
        .add(MEM_ALLOC, lambda p: TestFit(p.share, most))
        .add(CODE_EMIT, TestMark("emitted"))
    )


def test_phases_run_in_order_with_their_passes() -> None:
    phases = Phases()
    for name in reversed(NAMES):
        phases = phases.add(name, TestMark(name.lower()))
    trace, said = Heard(), list[str]()
    made = module()
    log = phases.run(made, said.append, trace)
    assert said == ["TensorSel", "IrOptimization", "TensorSched", "MemAlloc", "CodeEmit"]
    assert trace.heard == [
        line
        for name in NAMES
        for line in (f"{name} 1", f"  test-mark{{text={name.lower()}}}", f"end of {name}")
    ]
    assert all(f"test.{name.lower()}" in made.operation.attributes for name in NAMES)
    assert log.failures == ()
    assert log.parameters == SchedulingAttempt()


def test_an_accelerator_adds_passes_at_the_end_before_a_pass_and_in_place_of_one() -> None:
    cse = Nest("func.func", (Upstream("cse"),))
    phases = Phases().add(TENSOR_SEL, TestMark("1"), TestFit()).add(TENSOR_SEL, cse)
    assert phases[TENSOR_SEL].step_names() == ["test-mark", "test-fit", "cse"]
    phases = phases.add(TENSOR_SEL, TestMark("2"), before="test-fit")
    phases = phases.add(TENSOR_SEL, TestCollapse(), before="cse")
    assert phases.names()[0] == (
        TENSOR_SEL, ["test-mark", "test-mark", "test-fit", "test-collapse", "cse"]
    )  # fmt: skip
    phases = phases.put(TENSOR_SEL, "test-fit").put(TENSOR_SEL, "cse", TestSpoil(), cse)
    assert phases[TENSOR_SEL].step_names() == [
        "test-mark", "test-mark", "test-collapse", "test-spoil", "cse"
    ]  # fmt: skip
    assert [str(step) for step in phases[TENSOR_SEL].steps_for(SchedulingAttempt())[:2]] == [
        "test-mark{text=1}",
        "test-mark{text=2}",
    ]
    assert Phases()[TENSOR_SEL].steps == ()


def test_what_there_is_not_is_refused_with_what_there_is() -> None:
    phases = Phases().add(MEM_ALLOC, TestMark())
    with pytest.raises(CompileError, match="no phase is called 'Sel', there are: TensorSel, Ir"):
        phases.add("Sel", TestMark())
    with pytest.raises(CompileError, match="MemAlloc has no pass 'cse', it has: test-mark"):
        phases.add(MEM_ALLOC, TestMark(), before="cse")
    with pytest.raises(CompileError, match="CodeEmit has no pass 'cse', it has: none"):
        phases.put(CODE_EMIT, "cse")


def test_the_third_attempt_fits_on_the_module_as_it_was() -> None:
    said: list[str] = []
    trace = Heard()
    made = module()
    log = fitting(most=50).run(made, said.append, trace, attempts=TRIED)
    assert said == [
        "TensorSel",
        "IrOptimization",
        "TensorSched",
        "MemAlloc",
        "attempt 1: MemAlloc: sram overflows by 50 bytes",
        "TensorSched: attempt 2",
        "MemAlloc: attempt 2",
        "attempt 2: MemAlloc: sram overflows by 25 bytes",
        "TensorSched: attempt 3",
        "MemAlloc: attempt 3",
        "CodeEmit",
    ]
    assert [line for line in trace.heard if "mark" in line] == [
        "  test-mark{text=selected}",
        *["  test-mark{text=scheduled}"] * 3,
        "  test-mark{text=emitted}",
    ]
    assert trace.heard.count("TensorSel 1") == trace.heard.count("MemAlloc 2") == 1
    assert set(made.operation.attributes) == {
        "test.kept", "test.selected", "test.scheduled", "test.share_50", "test.emitted"
    }  # fmt: skip
    assert set(made.weights) == {"w", "w50"}
    assert log.parameters == TRIED[2]
    assert [(f.attempt, f.phase, f.step) for f in log.failures] == [
        (1, MEM_ALLOC, "test-fit"),
        (2, MEM_ALLOC, "test-fit"),
    ]


def test_the_limit_ends_with_the_whole_log_and_the_module_restored() -> None:
    made = module()
    phases = fitting(most=-1).put(TENSOR_SEL, "test-mark")
    with pytest.raises(CompileError) as caught:
        phases.run(made, lambda _: None)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "no schedule fits the memories after 8 attempts"
    shares = [parameters.share for parameters in ATTEMPTS]
    assert [note.partition(" (")[0] for note in diagnostic.notes] == [
        f"attempt {n}: MemAlloc: sram overflows by {share + 1} bytes"
        for n, share in enumerate(shares, 1)
    ]
    assert diagnostic.notes[7].endswith("(share 0, no prefetch, tiles 50)")
    assert str(made) == str(Module.parse(IR))
    assert set(made.weights) == {"w"}


def test_attempts_differ_and_are_eight() -> None:
    assert len(set(ATTEMPTS)) == len(ATTEMPTS) == 8


def test_a_phase_that_is_not_run_takes_no_attempt() -> None:
    trace = Heard()
    fitting(most=50).run(module(), lambda _: None, trace, only=(CODE_EMIT, TENSOR_SEL))
    assert [line for line in trace.heard if line[0] != " "] == [
        "TensorSel 1", "end of TensorSel", "CodeEmit 1", "end of CodeEmit"
    ]  # fmt: skip


@pytest.mark.parametrize("phase", [TENSOR_SEL, TENSOR_SCHED, MEM_ALLOC])
def test_a_failure_is_not_tried_again(phase: str) -> None:
    trace = Heard()
    with pytest.raises(CompileError, match="cannot be compiled at all"):
        fitting(most=100).add(phase, TestCollapse()).run(module(), lambda _: None, trace)
    assert trace.heard.count("  test-collapse") == 1


@pytest.mark.parametrize("phase", [TENSOR_SEL, IR_OPTIMIZATION, CODE_EMIT])
def test_other_phases_may_not_ask_for_another_attempt(phase: str) -> None:
    phases = Phases().add(phase, TestFit(100, 0))
    with pytest.raises(TypeError, match="only those of TensorSched and MemAlloc may"):
        phases.run(module(), lambda _: None)


@pytest.mark.parametrize("phase", NAMES)
def test_ir_is_verified_after_each_phase(phase: str) -> None:
    phases = Phases().add(phase, TestSpoil(), TestMark())
    with pytest.raises(CompileError) as caught:
        phases.run(module(), lambda _: None)
    assert caught.value.diagnostics[0].notes == (f"after phase {phase}",)
    assert "tri.relu" in str(caught.value)


def test_a_phase_checks_what_it_promises() -> None:
    def has_address(made: Module) -> None:
        if "test.address" not in made.operation.attributes:
            raise CompileError("a buffer has no address")

    phases = Phases().check(MEM_ALLOC, has_address)
    with pytest.raises(CompileError, match="a buffer has no address\n  note: after phase MemAll"):
        phases.run(module(), lambda _: None)
    phases.add(MEM_ALLOC, TestMark("address")).run(module(), lambda _: None)


def test_hooks_hear_of_a_pass_that_asks_for_another_attempt() -> None:
    class Failed(Instrumentation):
        names: list[str] = []  # noqa: RUF012

        def failed(self, stage: Stage, module: Module) -> None:
            self.names.append(stage.name)

    fitting(most=50).run(module(), lambda _: None, hook := Failed(), attempts=TRIED)
    assert hook.names == ["test-fit", "test-fit"]


def test_passes_that_others_require_are_inserted_with_their_options() -> None:
    phases = Phases().add(TENSOR_SCHED, TestMark()).add(MEM_ALLOC, TestUpon("mine"))
    assert dict(phases.names())[MEM_ALLOC] == ["test-base", "test-upon"]
    assert phases[MEM_ALLOC].step_names() == ["test-upon"]
    made = module()
    phases.run(made, lambda _: None)
    assert "test.base_mine" in made.operation.attributes
    made = module()
    phases.run(made, lambda _: None, only=(MEM_ALLOC,))
    assert "test.base_mine" in made.operation.attributes


def test_a_pass_that_is_listed_before_or_required_already_is_not_inserted() -> None:
    listed = Phases().add(TENSOR_SEL, TestBase("upon")).add(MEM_ALLOC, TestUpon(), TestUpon())
    assert [names for _, names in listed.names()] == [
        ["test-base"], [], [], ["test-upon", "test-upon"], []
    ]  # fmt: skip
    top = Phases().add(CODE_EMIT, TestTop())
    assert top.names()[-1] == (CODE_EMIT, ["test-base", "test-upon", "test-top"])


def test_passes_that_require_one_another_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TestBase, "requires", (TestTop,))
    cycle = "test-base, which requires test-top, which requires test-upon, which requires test-base"
    with pytest.raises(CompileError, match=cycle):
        Phases().add(MEM_ALLOC, TestBase()).names()


def test_a_trace_says_what_came_of_each_pass() -> None:
    trace = Trace()
    cse = Nest("func.func", (Upstream("cse"),))
    fitting(most=75).add(TENSOR_SEL, cse).run(module(), lambda _: None, trace, attempts=TRIED)
    assert [str(event) for event in trace.events] == [
        "attempt 1: TensorSel: test-mark{text=selected}: changed",
        "attempt 1: TensorSel: cse: no change",
        "attempt 1: TensorSched: test-mark{text=scheduled}: changed",
        "attempt 1: MemAlloc: test-fit{most=75}: retry",
        "attempt 2: TensorSched: test-mark{text=scheduled}: changed",
        "attempt 2: MemAlloc: test-fit{share=75 most=75}: changed",
        "attempt 2: CodeEmit: test-mark{text=emitted}: changed",
    ]
    trace = Trace()
    with pytest.raises(CompileError):
        Phases().add(TENSOR_SEL, TestCollapse()).run(module(), lambda _: None, trace)
    assert [event.result for event in trace.events] == ["failure"]
