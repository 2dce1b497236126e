"""The edge between a tool and its terminal: Ctrl-C, output that cannot be written, wrong usage."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import onnx.parser
import pytest
import trivium
from trivium.tools import main as tool
from trivium.tools import terminal

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Exp (x) }'
)
IR = "func.func @f() {\n  return\n}\n"
TRIVIUM = [sys.executable, "-m", "trivium.tools.main"]
OPT = [sys.executable, "-m", "trivium.tools.opt"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("terminal")
    onnx.save(MODEL, str(made / "m.onnx"))
    trivium.compile(MODEL).save(made / "m.trv")
    (made / "m.mlir").write_text(IR)
    return made


PRINTING = [
    [*TRIVIUM, "--help"],
    [*TRIVIUM, "info", "m.trv"],
    [*OPT, "m.mlir"],
]


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("command", PRINTING, ids=lambda command: " ".join(command[2:]))
def test_output_to_a_full_device_is_reported_in_one_line(
    command: list[str], buffered: bool, folder: Path
) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, cwd=folder, env=environment, text=True
        )
    message = "error: cannot write to standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (terminal.REPORTED, message)


@pytest.mark.parametrize("command", PRINTING, ids=lambda command: " ".join(command[2:]))
def test_a_pipe_whose_reader_has_ended_stops_the_tool_quietly(
    command: list[str], folder: Path
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=folder, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (terminal.READER_LEFT, "")


@pytest.mark.parametrize("command", PRINTING, ids=lambda command: " ".join(command[2:]))
def test_closed_standard_output_is_reported_in_one_line(command: list[str], folder: Path) -> None:
    line = f"{' '.join(command)} >&-"
    done = subprocess.run(line, shell=True, capture_output=True, cwd=folder, text=True)
    message = "error: cannot write to standard output: Bad file descriptor\n"
    assert (done.returncode, done.stderr) == (terminal.REPORTED, message)


def test_what_prints_nothing_needs_no_standard_output(folder: Path, tmp_path: Path) -> None:
    line = f"{' '.join(OPT)} m.mlir -o {tmp_path}/out.mlir >&- 2>&- <&-"
    assert subprocess.run(line, shell=True, cwd=folder).returncode == terminal.OK
    assert "func.func @f" in (tmp_path / "out.mlir").read_text()


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
def test_messages_that_are_lost_make_the_exit_code_non_zero(closed: str, folder: Path) -> None:
    line = f"{' '.join(OPT)} --cse --mlir-print-ir-after-all m.mlir {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, cwd=folder, text=True)
    assert (done.returncode, done.stderr) == (terminal.REPORTED, "")


def test_standard_input_that_is_closed_is_an_error_in_one_line(folder: Path) -> None:
    line = f"{' '.join(OPT)} - <&-"
    done = subprocess.run(line, shell=True, capture_output=True, cwd=folder, text=True)
    assert done.returncode == terminal.REPORTED
    assert done.stderr == "error: cannot open '-': Bad file descriptor\n"


INTERRUPTED_SAVE = """
import os, signal, sys
from trivium.runtime import package
from trivium.tools.main import main

write = package.archive.write
def interrupted(file, entries):
    write(file, entries)
    os.kill(os.getpid(), signal.SIGINT)

package.archive.write = interrupted
sys.exit(main(sys.argv[1:]))
"""


def test_ctrl_c_while_a_package_is_written_leaves_no_files(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED_SAVE, "compile", folder / "m.onnx"]
    done = subprocess.run(
        [*map(str, command), "-o", str(tmp_path / "m.trv")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (terminal.INTERRUPTED, "", "")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_a_tool_without_a_traceback() -> None:
    script = (
        "import sys, time; from trivium.tools.terminal import run_tool\n"
        "def body():\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "sys.exit(run_tool(body))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")


USAGES = [
    [],
    ["bake"],
    ["compile", "m.onnx"],
    ["check", "m.onnx", "--shape", "N=a"],
    ["bench", "m.onnx", "--kernels", "--rounds", "5"],
    ["run", "m.trv", "--target", "host"],
]


@pytest.mark.parametrize("arguments", USAGES, ids=" ".join)
def test_wrong_usage_is_one_line_and_a_hint(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tool.main(arguments) == terminal.USAGE
    error, hint = capsys.readouterr().err.splitlines()
    name = " ".join(["trivium", *arguments[:1]]) if arguments not in ([], ["bake"]) else "trivium"
    assert error.startswith(f"{name}: error: ")
    assert hint == f"try '{name} --help'"
