"""`trivium-opt`: exit codes, streams, and places."""

import dataclasses
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
import trivium
from onnx.numpy_helper import from_array
from trivium.dialects.core.module import ops
from trivium.passes.core import PASSES
from trivium.targets.emitter import Emitter
from trivium.targets.registry import find_target, load_passes
from trivium.tools import opt

GOOD = """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant 1 : i32
  %0 = "tri.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
BAD = GOOD.replace("tri.relu", "tri.rleu")
FAULT = "'tri.rleu' op is of no dialect, did you mean 'tri.relu'"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f.mlir"


def test_writes_the_ir(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD)
    assert opt.main([str(file), "--canonicalize"]) == opt.OK
    out, err = capsys.readouterr()
    assert err == ""
    assert "tri.relu" in out
    assert "arith.constant" not in out
    file.write_text(out)
    assert opt.main([str(file)]) == opt.OK
    assert capsys.readouterr().out == out


def test_reports_where_and_what(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(BAD)
    assert opt.main([str(file)]) == opt.REPORTED
    line = BAD.splitlines()[2]
    expected = f"{file}:3:8: error: {FAULT}\n{line}\n       ^\n"
    assert capsys.readouterr() == ("", expected)


def test_reports_the_true_line_of_a_piece(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(f"{GOOD}// -----\n\n{BAD}// -----\n%%%\n")
    assert opt.main([str(file), "-split-input-file"]) == opt.REPORTED
    out, err = capsys.readouterr()
    assert out.count("func.func") == 1
    heads = [line for line in err.splitlines() if line.startswith(str(file))]
    assert heads == [f"{file}:10:8: error: {FAULT}", f"{file}:14:1: error: invalid SSA name"]


def test_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert opt.main([]) == opt.REPORTED
    assert capsys.readouterr().err.startswith(f"-:3:8: error: {FAULT}\n")


def test_reads_bytecode(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from trivium.dialects.core.mlir import ir, new_context

    with new_context(), file.open("wb") as stream:
        ir.Module.parse(GOOD).operation.write_bytecode(stream)
    assert opt.main([str(file), "--split-input-file"]) == opt.OK
    assert "tri.relu" in capsys.readouterr().out


def test_output_file_stays_when_something_failed(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("kept")
    file.write_text(BAD)
    assert opt.main([str(file), "-o", str(output)]) == opt.REPORTED
    assert output.read_text() == "kept"
    file.write_text(GOOD)
    assert opt.main([str(file), "-o", str(output)]) == opt.OK
    assert "tri.relu" in output.read_text()


def test_output_file_cannot_be_written(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD)
    assert opt.main([str(file), "-o", "/nowhere/out.mlir"]) == opt.REPORTED
    message = "error: cannot write '/nowhere/out.mlir': No such file or directory\n"
    assert capsys.readouterr().err == message


def test_reader_of_the_output_may_leave(file: Path) -> None:
    file.write_text("".join(GOOD.replace("@f", f"@f{i}") for i in range(1000)))
    command = f"{sys.executable} -m trivium.tools.opt {file} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("module {\n", "")


def test_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(["/nowhere/f.mlir"]) == opt.REPORTED
    message = "error: cannot open '/nowhere/f.mlir': No such file or directory\n"
    assert capsys.readouterr() == ("", message)


def test_binary_rubbish(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    assert opt.main([str(file)]) == opt.REPORTED
    message = (
        "is neither text nor MLIR bytecode, and ends in none of .gguf, .onnx, .param, .pt2, .trv"
    )
    assert capsys.readouterr().err == f"error: '{file}' {message}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--verify-diagnotics"], "did you mean '--verify-diagnostics'"),
        (["--cannonicalize"], "no pass is called 'cannonicalize', did you mean 'canonicalize'"),
        (["--canonicalize=foo=1"], "pass 'canonicalize': no such option foo"),
        (["-p", "cse("], "brackets in pipeline 'cse(' do not match"),
        (["-p", "cse", "--canonicalize"], "a pass flag and --pass-pipeline exclude one another"),
        (["-p", "cse", "--stop-after=x"], "pipeline has no pass 'x', it has: cse"),
        (["-p", "cse", "--debug=x"], "pipeline has no pass 'x', it has: cse"),
        (["--cse", "--mlir-print-ir-after=cse,x"], "pipeline has no pass 'x', it has: cse"),
        (["--mlir-print-ir-before=x"], "pipeline has no pass 'x', it has: none"),
        (["--target=tpu"], "no target is called 'tpu', there are: "),
        (["--mlir-elide-elementsattrs-if-larger=x"], "invalid int value: 'x'"),
        (["--verify-each=maybe"], "invalid choice: 'maybe'"),
        (["a.mlir", "b.mlir"], "'b.mlir' is neither a flag nor a pass"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opt.main(arguments) == opt.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_help_lists_passes_by_their_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(["--help"]) == opt.OK
    text = capsys.readouterr().out
    assert opt.main(["--list-passes"]) == opt.OK
    listed = capsys.readouterr().out
    assert listed in text
    load_passes()
    for name, cls in PASSES.items():
        if cls.__module__.startswith("trivium."):
            options = [field.name.replace("_", "-") for field in dataclasses.fields(cls)]
            flag = f"--{name}" + (f"={' '.join(f'{o}=…' for o in options)}" if options else "")
            (line,) = [line for line in listed.splitlines() if line.startswith(f"  {flag}  ")]
            assert line.removeprefix(f"  {flag}").strip() == cls.summary()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(["--version"]) == opt.OK
    assert capsys.readouterr().out == f"trivium-opt {trivium.__version__}\n"


def test_lists_targets(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(["--list-targets"]) == opt.OK
    assert "cpu" in capsys.readouterr().out.split()


def test_lists_phases(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    phases = [("TensorSel", ["a", "b"]), ("CodeEmit", [])]
    monkeypatch.setattr("trivium.targets.core.Target.phases", lambda self: phases)
    assert opt.main(["--list-phases=cpu"]) == opt.OK
    assert capsys.readouterr().out == "  TensorSel  a, b\n  CodeEmit\n"


def test_a_target_without_phases_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(["--list-phases=cpu"]) == opt.USAGE
    assert "target 'cpu' has no phases" in capsys.readouterr().err
    assert opt.main(["--list-phases=cup"]) == opt.USAGE
    assert "no target is called 'cup'" in capsys.readouterr().err


def test_runs_what_the_compiler_would_run(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD)
    assert opt.main([str(file), "--target=cpu"]) == opt.OK
    assert '{target = "cpu"}' in capsys.readouterr().out


def test_needs_no_source_framework(file: Path) -> None:
    file.write_text(GOOD)
    script = (
        "import sys; sys.modules |= dict.fromkeys(['ml_dtypes', 'onnx', 'torch', 'triton']);"
        f"from trivium.tools import opt; sys.exit(opt.main([{str(file)!r}, '--target=cpu']))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_printed_locations(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD)
    assert opt.main([str(file), "--mlir-print-debuginfo"]) == opt.OK
    assert f'loc("{file}":3:8)' in capsys.readouterr().out


def test_elided_constants(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(
        '"tri.constant"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>'
    )
    assert opt.main([str(file), "--mlir-elide-elementsattrs-if-larger=2"]) == opt.OK
    assert "dense_resource<__elided__>" in capsys.readouterr().out


@pytest.fixture
def model(tmp_path: Path) -> Path:
    made = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
    layer (float[N, 300] x) => (float[N, 300] y) <float[1] w = {0}> { [sum] y = Add (x, w) }""")
    made.graph.initializer[0].CopyFrom(from_array(np.ones(300, np.float32), "w"))
    onnx.save(made, str(tmp_path / "m.onnx"))
    return tmp_path / "m.onnx"


def test_reads_a_model(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main([str(model), "--shape", "N=2", "--mlir-print-debuginfo"]) == opt.OK
    text = capsys.readouterr().out
    assert '"tri.add"' in text
    assert 'loc("sum"' in text


def test_a_size_that_no_flag_gives_is_a_symbol(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opt.main([str(model), "--shape", "N=2..8:4/2"]) == opt.OK
    text = capsys.readouterr().out
    assert 'trivium.symbols = {N = "2..8:4/2"}' in text
    assert '"tri.add"' in text


def test_reads_a_package(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = model.with_suffix(".trv")
    trivium.compile(model, shapes={"N": 2}).save(package)
    assert opt.main([str(package)]) == opt.OK
    assert '{target = "cpu"}' in capsys.readouterr().out
    assert opt.main([str(package), "--shape", "N=2"]) == opt.REPORTED
    assert "shapes are given for a package" in capsys.readouterr().err
    package.write_bytes(b"nothing")
    assert opt.main([str(package)]) == opt.REPORTED
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_output_file_has_its_weights_beside_it(model: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.mlir", tmp_path / "second.mlir"
    assert opt.main([str(model), "--shape", "N=2", "-o", str(first)]) == opt.OK
    assert opt.main([str(first), "--fuse-elementwise", "-o", str(second)]) == opt.OK
    y = trivium.compile(second).run({"x": np.ones((2, 300), np.float32)})["y"]
    assert np.array_equal(y, np.full((2, 300), 2, np.float32))


def test_sizes_for_ir_are_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD)
    assert opt.main([str(file), "--shape", "N=2"]) == opt.REPORTED
    assert "is IR: its shapes are static, leave --shape away" in capsys.readouterr().err


def test_emitters_are_what_targets_offer(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = Emitter("sizes", lambda module: [f"{len(ops(module.main))} ops\n"], "no sizes")
    monkeypatch.setattr(type(find_target("host")), "emitters", (sizes,))
    file.write_text(GOOD)
    assert opt.main([str(file), "--emit=sizes"]) == opt.OK
    assert capsys.readouterr().out == "1 ops\n"
    assert opt.main([str(file), "--emit=size"]) == opt.USAGE
    offered = "no emitter is called 'size', targets offer: kernels, llvm, triton, sizes"
    assert offered in capsys.readouterr().err


def test_an_emitter_of_two_targets_is_an_error(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Emitter("triton", lambda module: [], "no kernels")
    monkeypatch.setattr(type(find_target("host")), "emitters", (other,))
    file.write_text(GOOD)
    assert opt.main([str(file), "--emit=triton"]) == opt.USAGE
    assert "two targets offer an emitter called 'triton'" in capsys.readouterr().err


def test_triton_source_of_ir_without_kernels_is_an_error(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(GOOD)
    assert opt.main([str(file), "--lower-to-tile", "--emit=triton"]) == opt.REPORTED
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: the IR has no kernels for a GPU: --emit=triton prints those")
