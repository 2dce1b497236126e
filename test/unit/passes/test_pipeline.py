"""Pipelines: their text, what they refuse, how they run."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects import tile as tile
from trivium.dialects import tri as tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.verification import Verify
from trivium.passes.core import PASSES, Pass
from trivium.passes.fuse.fuse_elementwise import FuseElementwise
from trivium.passes.pipeline import Instrumentation, Nest, Pipeline, Stage, Step, Upstream
from trivium.passes.quantize.expose_storage import ExposeStorage
from trivium.targets.registry import load_passes

IR = """
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant 1 : i32
  %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
TILE = """
func.func @f(%x: tensor<?xf16, ["BM"]>) {
  %0 = "tile.unary"(%x) {function = "exp"} : (tensor<?xf16, ["BM"]>) -> tensor<?xf16, ["BM"]>
  return
}
"""
CONSTANT = "arith.constant"


class TestDropRelu(Pass):
    """Replace every relu by its operand: wrong, and easy to see."""

    __test__ = False
    most: int = 1
    names: tuple[str, ...] = ("a",)
    strict: bool = False

    def run(self, module: Module) -> None:
        for op in ops(module.operation)[: self.most]:
            op.results[0].replace_all_uses_with(op.operation.operands[0])
            op.operation.erase()


class TestBreak(Pass):
    """Leave invalid IR behind: a relu that changes the shape."""

    __test__ = False

    def run(self, module: Module) -> None:
        relu = ops(module.operation)[0].operation
        kind = ir.Type.parse("tensor<7xf32>")
        before = ir.InsertionPoint(relu)
        ir.Operation.create("tri.relu", [kind], list(relu.operands), loc=relu.location, ip=before)


class TestRaise(Pass):
    """Fail with an error of its own."""

    __test__ = False

    def run(self, module: Module) -> None:
        raise ZeroDivisionError("mine")


class SymbolDce(Pass):
    """Stand where MLIR's pass of the same name would, and do nothing."""

    def run(self, module: Module) -> None: ...


MADE_HERE = [PASSES.pop(c.name) for c in (TestDropRelu, TestBreak, TestRaise, SymbolDce)]


@pytest.fixture(autouse=True)
def _surroundings() -> Iterator[None]:
    """Know the passes made here and no others of ours, whatever they come to be."""
    load_passes()
    others = dict(PASSES)
    PASSES.clear()
    PASSES.update({cls.name: cls for cls in MADE_HERE[:3]})
    with new_context():
        yield
    PASSES.clear()
    PASSES.update(others)


@dataclass
class Recorder(Instrumentation):
    events: list[str] = field(default_factory=list)

    def before(self, stage: Stage, module: Module) -> None:
        self.events.append(f"before {stage}")

    def after(self, stage: Stage, module: Module) -> None:
        self.events.append(f"after {stage}")

    def failed(self, stage: Stage, module: Module) -> None:
        self.events.append(f"failed {stage}")


@pytest.mark.parametrize(
    "text",
    [
        "builtin.module()",
        "builtin.module(cse)",
        "builtin.module(func.func(canonicalize,test-drop-relu{most=64},cse),symbol-dce)",
        "builtin.module(test-drop-relu{most=2 names=x,y strict=true})",
        "builtin.module(canonicalize{max-iterations=3 top-down=false})",
        "builtin.module(any(cse),gpu.module(func.func(cse)))",
    ],
)
def test_prints_as_it_was_written(text: str) -> None:
    assert str(Pipeline.parse(text)) == text
    assert Pipeline.parse(str(Pipeline.parse(text))) == Pipeline.parse(text)


LEAVES = st.one_of(
    st.sampled_from([Upstream("canonicalize"), Upstream("canonicalize", "max-iterations=3")]),
    st.builds(
        TestDropRelu,
        most=st.integers(),
        names=st.lists(st.from_regex(r"[a-z]\w*", fullmatch=True), min_size=1).map(tuple),
        strict=st.booleans(),
    ),
)
NESTS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        Nest, st.sampled_from(["func.func", "any"]), st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=8,
)


@given(st.lists(NESTS, max_size=4).map(tuple))
def test_what_is_printed_parses_to_the_same(steps: tuple[Step, ...]) -> None:
    assert Pipeline.parse(str(Pipeline(steps))) == Pipeline(steps)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", "builtin.module()"),
        (" cse , func.func ( cse ) ", "builtin.module(cse,func.func(cse))"),
        ("test-drop-relu{ most=1 }", "builtin.module(test-drop-relu)"),
        ("test-drop-relu{most=3\n strict}", "builtin.module(test-drop-relu{most=3 strict=true})"),
    ],
)
def test_prints_in_one_form(text: str, printed: str) -> None:
    assert str(Pipeline.parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cannonicalize", "no pass is called 'cannonicalize', did you mean 'canonicalize'"),
        ("drop-relu", "no pass is called 'drop-relu', did you mean 'test-drop-relu'"),
        ("func.func(cse,xyzzy)", "no pass is called 'xyzzy'"),
        ("canonicalize{foo=1}", "pass 'canonicalize': no such option foo"),
        ("test-drop-relu{foo=1}", "pass 'test-drop-relu' has no option 'foo', it has: most, names"),
        ("test-drop-relu{most=x}", "option 'most' is 'x', must be of type int"),
        ("func.func(symbol-dce,convert-func-to-llvm)", "restricted to 'builtin.module'"),
        ("func.func(cse", "brackets in pipeline 'func.func(cse' do not match"),
        ("cse)", "brackets in pipeline 'cse)' do not match"),
        ("cse,,cse", "a pass is missing between commas in pipeline 'cse,,cse'"),
        ("cse cse", "'cse cse' is not a pass in pipeline 'cse cse'"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        Pipeline.parse(text)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_parses_outside_of_a_context() -> None:
    context = ir.Context.current
    assert context
    context.__exit__(None, None, None)
    try:
        assert str(Pipeline.parse("cse")) == "builtin.module(cse)"
    finally:
        context.__enter__()


def test_runs_passes_of_both_kinds_in_order() -> None:
    module = Module.parse(IR)
    Pipeline.parse("func.func(canonicalize,test-drop-relu,cse)").run(module)
    assert CONSTANT not in str(module)
    assert "tri.relu" not in str(module)


def test_anchors_limit_passes_of_mlir() -> None:
    module = Module.parse(IR)
    Pipeline.parse("gpu.module(canonicalize)").run(module)
    assert CONSTANT in str(module)


def test_our_pass_inside_an_anchor_sees_the_whole_module() -> None:
    module = Module.parse(IR + IR.replace("@f", "@g"))
    Pipeline.parse("func.func(test-drop-relu{most=2})").run(module)
    assert "tri.relu" not in str(module)


def test_our_pass_wins_over_one_of_mlir(monkeypatch: pytest.MonkeyPatch) -> None:
    unused = "func.func private @unused()"
    module = Module.parse(IR + unused)
    monkeypatch.setitem(PASSES, "symbol-dce", SymbolDce)
    ours = Pipeline.parse("symbol-dce")
    monkeypatch.delitem(PASSES, "symbol-dce")
    ours.run(module)
    assert unused in str(module)
    Pipeline.parse("symbol-dce").run(module)
    assert unused not in str(module)


def test_hooks_nest_around_each_pass() -> None:
    outer, inner = Recorder(), Recorder()
    inner.events = outer.events
    Pipeline.parse("func.func(canonicalize,cse),test-drop-relu").run(Module.parse(IR), outer, inner)
    stages = ["func.func(canonicalize)", "func.func(cse)", "test-drop-relu"]
    assert outer.events == [f"{w} {s}" for s in stages for w in ("before",) * 2 + ("after",) * 2]


def test_invalid_ir_names_the_pass_that_left_it() -> None:
    hook = Recorder()
    with pytest.raises(CompileError) as caught:
        Pipeline.parse("cse,test-break,cse").run(Module.parse(IR), hook)
    message = "'tri.relu' op result is tensor<7xf32>, inferred tensor<2xf32>"
    assert str(caught.value) == f"-:4:8: error: {message}\n  note: after test-break"
    assert hook.events[-1] == "failed test-break"


def test_verification_can_be_left_out() -> None:
    Pipeline.parse("test-break,cse").run(Module.parse(IR), verify=Verify.NONE)


def test_unregistered_ops_pass_when_allowed() -> None:
    module = Module(ir.Module.parse('"foo.bar"() : () -> ()'))
    Pipeline.parse("cse").run(module, allow_unregistered=True)
    with pytest.raises(CompileError, match=r"'foo\.bar' op is of no dialect"):
        Pipeline.parse("cse").run(module)


def test_errors_of_our_passes_come_through() -> None:
    hook = Recorder()
    with pytest.raises(ZeroDivisionError, match="mine"):
        Pipeline.parse("test-raise").run(Module.parse(IR), hook)
    assert hook.events == ["before test-raise", "failed test-raise"]


@pytest.mark.parametrize("hooks", [(), (Recorder(),)])
def test_errors_of_mlir_become_compile_errors(hooks: tuple[Instrumentation, ...]) -> None:
    with pytest.raises(CompileError) as caught:
        Pipeline.parse("cse,one-shot-bufferize,cse").run(Module.parse(IR), *hooks)
    first = caught.value.diagnostics[0]
    assert (first.where, first.message) == ("-:4:8", "op was not bufferized")
    assert first.notes[0].startswith("-:4:8: see current operation: ")


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("symbol-dce", "builtin.module(symbol-dce)"),
        ("cse", "builtin.module(symbol-dce,func.func(canonicalize,cse))"),
        ("test-drop-relu", "builtin.module(symbol-dce,func.func(canonicalize,cse),test-drop-relu)"),
    ],
)
def test_until(name: str, cut: str) -> None:
    text = "symbol-dce,func.func(canonicalize,cse),test-drop-relu,cse"
    assert str(Pipeline.parse(text).until(name)) == cut


def test_until_needs_the_pass() -> None:
    with pytest.raises(CompileError, match="pipeline has no pass 'x', it has: cse, canonicalize"):
        Pipeline.parse("cse,canonicalize").until("x")


def test_steps_can_be_written_in_python() -> None:
    pipeline = Pipeline((TestDropRelu(most=2), Upstream("cse")))
    assert str(pipeline) == "builtin.module(test-drop-relu{most=2},cse)"


@pytest.mark.parametrize("step", [ExposeStorage(), FuseElementwise()], ids=str)
def test_ir_of_another_level_is_an_error_of_the_pass(step: Pass) -> None:
    with new_context():
        module = Module.parse(TILE)
        with pytest.raises(CompileError, match=f"pass {step}: error: does not accept the IR"):
            Pipeline((step,)).run(module)
