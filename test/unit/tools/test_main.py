"""`trivium`: exit codes and streams, and what its commands do not import."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.tools import main as tool

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[2, 3] x, int64[2] i, bool[2] b) => (float[2, 3] y, int64[2] j, bool[2] c) {
        y = Exp (x)
        j = Neg (i)
        c = Not (b)
    }"""
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("package") / "m.trv"
    trivium.compile(MODEL).save(path)
    return path


def call(*arguments: str | Path) -> int:
    return tool.main([str(a) for a in arguments])


def test_run_writes_what_it_computes(package: Path, tmp_path: Path) -> None:
    x = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    given = ("--input", f"x={tmp_path}/x.npy", "--random")
    assert call("run", package, *given, "--output", f"y={tmp_path}/y.npy") == tool.OK
    assert np.allclose(np.load(tmp_path / "y.npy"), np.exp(x), rtol=1e-5)
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "y.npy"]


def test_random_inputs_are_those_of_the_seed(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed: list[str] = []
    for seed in ("--random=1", "--random=1", "--random=2"):
        assert call("run", package, seed) == tool.OK
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != printed[2]
    assert [line.split()[:3] for line in printed[0].splitlines()] == [
        ["y", "float32", "2x3"],
        ["j", "int64", "2"],
        ["c", "bool", "2"],
    ]


def test_messages_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none.trv"
    assert call("info", missing) == tool.REPORTED
    message = f"{missing}: cannot be read: No such file or directory\n"
    assert capsys.readouterr() == ("", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["bake"], "invalid choice: 'bake'"),
        (["compile", "m.onnx"], "the following arguments are required: -o/--output"),
        (["compile", "m.onnx", "-o", "m.bin"], "'m.bin' must end in .trv"),
        (
            ["check", "m.onnx", "--shape", "N=a"],
            "'N=a' must be like N=1, T=1..512 or x=1x3x224x224",
        ),
        (["check", "m.onnx", "--shape", "N=9..3"], "'N=9..3' is refused: range 9..3 is empty"),
        (["check", "m.onnx", "--shape", "N=1..9:10"], "range 1..9:10 has a likely size outside"),
        (["check", "m.onnx", "--shape", "N=1..3/8"], "range 1..3/8 has no multiple of 8"),
        (["check", "m.onnx", "--shape", "N=1", "--shape", "N=2"], "'N' is given twice"),
        (["check", "m.onnx", "--opt-level", "3"], "invalid choice: 3"),
        (["run", "m.trv", "--input", "x"], "'x' must be like x=x.npy"),
        (["run", "m.trv", "--repeat", "0"], "'0' must be a number from 1 on"),
        (["run", "m.trv", "--target", "host"], "--target: 'm.trv' is compiled already"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*arguments) == tool.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


@pytest.mark.parametrize("command", ["bench", "can-run", "check", "compile", "quantize", "run"])
def test_help_names_all_kinds_of_models(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(command, "--help") == tool.OK
    text = " ".join(capsys.readouterr().out.split())
    assert "(.onnx)" in text
    assert "(.param)" in text
    assert ("such as vanilla" in text) == (command != "quantize")


def test_compile_shows_the_ir_between_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(MODEL, str(tmp_path / "m.onnx"))
    printing = (
        "--print-ir-before=place",
        "--print-ir-after=cse,place",
        "--ir-dir",
        tmp_path / "ir",
    )
    assert call("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.trv", *printing) == tool.OK
    heads = [line for line in capsys.readouterr().err.splitlines() if "IR Dump" in line]
    assert "// -----// IR Dump After cse //----- //" in heads
    names = [head.split("IR Dump ")[1].partition("{")[0].split()[:2] for head in heads[-2:]]
    assert names == [["Before", "place"], ["After", "place"]]
    files = sorted(path.name for path in (tmp_path / "ir").iterdir())
    assert files[0] == "000-start.mlir"
    assert [file for file in files if file.endswith("-inline-parts.mlir")]
    assert files[-1].endswith("-set-target-features.mlir")
    assert call("compile", tmp_path / "m.trv", "-o", tmp_path / "n.trv", *printing) == tool.USAGE
    assert "--print-ir-before, --print-ir-after, --ir-dir: " in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_fault(package: Path) -> None:
    command = f"{sys.executable} -m trivium.tools.main info {package} | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""


def test_what_runs_packages_needs_no_compiler(package: Path) -> None:
    program = (
        "import sys; from trivium.tools.main import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "loaded = {'onnx', 'torch', 'torch_mlir', 'triton'} & set(sys.modules)\n"
        "assert not loaded, loaded"
    )
    for arguments in (["run", package, "--random"], ["info", package]):
        subprocess.run([sys.executable, "-c", program, *arguments], check=True)


@pytest.mark.parametrize("missing", ["onnx", "torch_mlir"])
def test_a_missing_package_is_said_in_a_line(missing: str) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        "from trivium.tools.main import main; sys.exit(main(['check', 'm.onnx']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == tool.REPORTED
    (line,) = done.stderr.splitlines()
    assert missing.replace("_", "-") in line
