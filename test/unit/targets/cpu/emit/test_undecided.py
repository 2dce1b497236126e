"""Ops whose kernels depend on the sizes of a run: refused with the reason, placed elsewhere."""

import pytest
from trivium.compiler.build import build_module
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError, Undecided
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.targets import forks
from trivium.targets.cache import VARIABLE
from trivium.targets.cpu.emit.compile import compile_kernels
from trivium.targets.cpu.emit.undecided import TRIAL, lowered_once
from trivium.targets.cpu.registry import TABLE
from trivium.targets.kernels.kernel_table import Lowering
from trivium.targets.options import CompileOptions
from trivium.targets.placement.place import Place, placed_groups, refusals_in
from trivium.targets.registry import find_target

TEXT = """
func.func @main(%x: TYPE) -> TYPE attributes {SYMBOLS} {
  %0 = "tri.relu"(%x) : (TYPE) -> TYPE loc("r")
  %1 = "tri.softmax"(%0) {axis = 1 : i64} : (TYPE) -> TYPE loc("s")
  %2 = "tri.exp"(%1) : (TYPE) -> TYPE loc("e")
  return %2 : TYPE
}
"""
SYMBOLIC = TEXT.replace("TYPE", 'tensor<?x16xf32, ["T", ""]>').replace(
    "SYMBOLS", 'trivium.symbols = {T = "1..64"}'
)
STATIC = TEXT.replace("TYPE", "tensor<8x16xf32>").replace("SYMBOLS", "")


@pytest.fixture
def undecided_exp(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Let the lowering of tri.exp ask for what is known for static sizes alone; count its calls."""
    calls: list[object] = []

    def lower(op: tri.Exp, x: object) -> object:
        calls.append(op)
        raise Undecided("depends on whether T >= 3, which is not known at compile time")

    monkeypatch.setitem(TABLE.lowerings, tri.Exp, Lowering("elementwise", lower))
    return calls


REASON = (
    "cpu has no kernel for all sizes of tri.exp, which depends on whether T >= 3, which is not "
    "known at compile time"
)


def test_an_op_without_a_kernel_for_all_sizes_is_refused(undecided_exp: list[object]) -> None:
    with new_context():
        module = Module.parse(SYMBOLIC)
        relu, softmax, exp = ops(module.main)
        cpu = find_target("cpu")
        assert cpu.size_refusal([relu]) is cpu.size_refusal([softmax]) is None
        assert cpu.size_refusal([exp]) == cpu.size_refusal([exp]) == REASON
        assert len(undecided_exp) == 1  # what was found is remembered


def test_an_op_without_symbols_is_not_tried(undecided_exp: list[object]) -> None:
    with new_context():
        module = Module.parse(STATIC)
        assert TRIAL.undecided_by(ops(module.main)) is None
        assert not undecided_exp


def test_ops_that_one_kernel_cannot_have_are_tried_together(undecided_exp: list[object]) -> None:
    with new_context():
        module = Module.parse(SYMBOLIC)
        _, softmax, exp = ops(module.main)
        assert TRIAL.undecided_by([softmax]) is None
        assert "T >= 3" in (TRIAL.undecided_by([softmax, exp]) or "")


def test_the_host_takes_what_the_cpu_has_no_kernel_for(undecided_exp: list[object]) -> None:
    with new_context():
        module = Module.parse(SYMBOLIC)
        Place(("cpu", "host")).run(module)
        groups = placed_groups(module)
        assert [group.target for group in groups] == ["cpu", "cpu", "host"]
        ((_, reason),) = refusals_in(groups[-1], find_target("cpu"), module)
        assert reason == REASON


def test_accelerators_want_exact_sizes() -> None:
    with new_context():
        module = Module.parse(SYMBOLIC)
        options = CompileOptions(target="vanilla")
        with pytest.raises(CompileError) as error:
            build_module(module, pipeline_for("vanilla", 2, options), options)
        assert "target 'vanilla' compiles models of exact sizes" in str(error.value)


@pytest.fixture
def lowerings_of_exp(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Keep nothing on disk and work in this process; count the lowerings of tri.exp."""
    monkeypatch.setenv(VARIABLE, "off")
    monkeypatch.setattr(forks, "_processes", lambda: 1)
    known, calls = TABLE.lowerings[tri.Exp], list[object]()

    def lower(op: tri.Exp, x: object) -> object:
        calls.append(op)
        return known.function(op, x)

    monkeypatch.setitem(TABLE.lowerings, tri.Exp, Lowering(known.kind, lower))
    return calls


@pytest.mark.parametrize("machines", ["x86-64-v3", "x86-64-v2,x86-64-v4"])
def test_a_kernel_that_was_tried_is_not_lowered_again(
    machines: str, lowerings_of_exp: list[object]
) -> None:
    options = CompileOptions(machine=tuple(machines.split(",")))
    counts: list[int] = []
    for text in STATIC, SYMBOLIC:
        lowerings_of_exp.clear()
        with new_context():
            build_module(Module.parse(text), pipeline_for("cpu", 2, options), options)
        counts.append(len(lowerings_of_exp))
    assert counts[0] == counts[1] > 0


def test_kept_kernels_are_those_that_would_be_lowered() -> None:
    options = CompileOptions(machine="x86-64-v3")
    with new_context():
        module = Module.parse(SYMBOLIC)
        with lowered_once(options):
            Place(("cpu",)).run(module)
            kept = compile_kernels(placed_groups(module), options.machines[0], options)
        lowered = compile_kernels(placed_groups(module), options.machines[0], options)
    assert kept == lowered
    assert len(kept.objects) == 3
