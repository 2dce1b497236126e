"""What hooks print: IR around passes, times, reasons of patterns."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.passes.core import PASSES, Pass
from trivium.passes.instrumentation import EVERY, Explain, PrintIr, Timing, WriteIr
from trivium.passes.pipeline import Pipeline
from trivium.passes.rewriting import LOGS, NoMatch, Pattern, Rewriter, rewrite
from trivium.targets.registry import load_passes

IR = """
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant 1 : i32
  %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tri.relu"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @g() { return }
"""


class ReluOfRelu(Pattern):
    root = tri.Relu

    def rewrite(self, op: tri.Relu, rewriter: Rewriter) -> None:
        inner = rewriter.producer(op.x, tri.Relu)
        rewriter.replace(op, [inner.y])


class FoldRelu(Pass):
    """Fold relu(relu(x))."""

    def run(self, module: Module) -> None:
        rewrite(module, ReluOfRelu())


class GiveUp(Pass):
    """Fail."""

    def run(self, module: Module) -> None:
        raise NoMatch


MADE_HERE = [PASSES.pop(c.name) for c in (FoldRelu, GiveUp)]


@pytest.fixture(autouse=True)
def _surroundings() -> Iterator[None]:
    """Know the passes made here and no others of ours, whatever they come to be."""
    load_passes()
    others = dict(PASSES)
    PASSES.clear()
    PASSES.update({cls.name: cls for cls in MADE_HERE})
    with new_context():
        yield
    PASSES.clear()
    PASSES.update(others)


def printed(pipeline: str, **options: object) -> list[str]:
    """Run a pipeline and return what `PrintIr` printed, one item for each dump."""
    texts: list[str] = []
    hook = PrintIr(write=texts.append, **options)  # pyright: ignore[reportArgumentType]
    Pipeline.parse(pipeline).run(Module.parse(IR), hook)
    return texts


def headers(texts: list[str]) -> list[str]:
    return [t.splitlines()[0].removeprefix("// -----// IR Dump ") for t in texts]


def test_prints_before_and_after_named_passes() -> None:
    texts = printed("cse,fold-relu,canonicalize", before_passes=["cse"], after_passes=["fold-relu"])
    assert headers(texts) == ["Before cse //----- //", "After fold-relu //----- //"]
    assert texts[0].count("tri.relu") == 2
    assert texts[1].count("tri.relu") == 1


def test_prints_functions_alone() -> None:
    texts = printed("func.func(canonicalize)", after_passes=[EVERY])
    assert headers(texts) == [
        "After canonicalize ('func.func' operation: @f) //----- //",
        "After canonicalize ('func.func' operation: @g) //----- //",
    ]
    assert "module" not in texts[0]
    assert texts[1].endswith("func.func @g() {\n  return\n}\n\n")


def test_prints_whole_modules() -> None:
    texts = printed("func.func(canonicalize)", after_passes=[EVERY], module_scope=True)
    assert headers(texts) == ["After canonicalize //----- //"]
    assert texts[0].splitlines()[1] == "module {"


def test_prints_only_what_changed() -> None:
    passes = "symbol-dce,func.func(canonicalize),func.func(canonicalize),fold-relu,fold-relu"
    texts = printed(passes, after_passes=[EVERY], only_changed=True)
    assert headers(texts) == [
        "After canonicalize ('func.func' operation: @f) //----- //",
        "After fold-relu //----- //",
    ]


def test_prints_after_failure() -> None:
    texts: list[str] = []
    with pytest.raises(NoMatch):
        Pipeline.parse("cse,give-up").run(
            Module.parse(IR), PrintIr(on_failure=True, write=texts.append)
        )
    assert headers(texts) == ["After give-up Failed //----- //"]


def test_times_each_pass() -> None:
    timing = Timing()
    Pipeline.parse("func.func(cse),fold-relu").run(Module.parse(IR), timing)
    assert [name for name, _ in timing.seconds] == ["func.func(cse)", "fold-relu"]
    rows = [line.split() for line in timing.report().splitlines()[4:]]
    assert [row[-1] for row in rows] == ["func.func(cse)", "fold-relu", "Rest", "Total"]
    seconds = [float(row[0]) for row in rows]
    assert sum(seconds[:-1]) == pytest.approx(seconds[-1], abs=2e-4)


def test_explains_unmatched_patterns_once() -> None:
    lines: list[str] = []
    Pipeline.parse("fold-relu").run(Module.parse(IR), Explain("fold-relu", lines.append))
    reason = "ReluOfRelu: tri.relu: operand is made by an input, not tri.relu"
    assert lines == [f"-:4:8: remark: {reason}\n"]
    assert LOGS == []


def test_explains_no_other_pass() -> None:
    lines: list[str] = []
    Pipeline.parse("fold-relu").run(Module.parse(IR), Explain("cse", lines.append))
    assert lines == []


def test_a_name_that_no_pass_has_is_refused_before_any_pass_runs() -> None:
    module = Module.parse(IR)
    before = str(module)
    with pytest.raises(CompileError, match="pipeline has no pass 'fold-rleu', it has: fold-relu"):
        Pipeline.parse("fold-relu").run(module, PrintIr(after_passes=["fold-rleu"]))
    assert str(module) == before


def test_writes_a_numbered_file_for_each_pass(tmp_path: Path) -> None:
    Pipeline.parse("cse,fold-relu").run(Module.parse(IR), WriteIr(tmp_path / "a" / "b"))
    files = sorted((tmp_path / "a" / "b").iterdir())
    assert [file.name for file in files] == [
        "000-start.mlir",
        "001-cse.mlir",
        "002-fold-relu.mlir",
    ]
    assert [file.read_text().count("tri.relu") for file in files] == [2, 2, 1]
    assert str(Module.parse(files[2].read_text())) == files[2].read_text()


def test_writes_what_a_failed_pass_leaves(tmp_path: Path) -> None:
    with pytest.raises(NoMatch):
        Pipeline.parse("fold-relu,give-up").run(Module.parse(IR), WriteIr(tmp_path))
    assert (tmp_path / "002-give-up-failed.mlir").read_text().count("tri.relu") == 1


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match=r"cannot make '.*file/ir': Not a directory"):
        Pipeline.parse("cse").run(Module.parse(IR), WriteIr(tmp_path / "file" / "ir"))
