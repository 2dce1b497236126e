"""`trivium bench` from end to end on a tiny model, and its ways to say what is wrong."""

import json
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from trivium.dialects.core.machine import find_machine
from trivium.dialects.core.tensor import Tensor
from trivium.runtime.observe.peaks import Peaks
from trivium.targets.costs.work import Work
from trivium.targets.options import CompileOptions
from trivium.tools import main as tool
from trivium.tools.bench import contenders, peaks
from trivium.tools.bench.kernel_report import describe_kernels, describe_peaks
from trivium.tools.bench.kernels import KernelTime, time_kernels
from trivium.tools.bench.prepare import prepare

MODEL = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[N, 8] x, int64[N, 1] ids, int64[N] mask) => (float[N, 4] y)
    <float[8, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1,
                      1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1},
     float[50, 4] words = {WORDS}, int64[1] axis = {1}> {
        p = MatMul (x, w)
        flat = Squeeze (ids, axis)
        v = Gather (words, flat)
        m = Cast <to=1> (mask)
        k = Unsqueeze (m, axis)
        kept = Mul (v, k)
        y = Add (p, kept)
    }""".replace("WORDS", ", ".join(str(number % 7) for number in range(200)))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return path


def call(*arguments: str | Path) -> int:
    return tool.main(["bench", *map(str, arguments)])


def test_compares_with_the_peers_that_are_there(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(model, model, "--rounds=3", "--shape", "N=3") == tool.OK
    out = capsys.readouterr().out
    there = [name for name in contenders.PEERS if find_spec(name)]
    for name in contenders.PEERS:
        assert out.count(f"note: {name} is not installed") == (0 if name in there else 2)
        assert len(re.findall(rf"^  {name} +\d", out, re.MULTILINE)) == 2 * (name in there)
    assert out.startswith(f"{model}: 1 thread, 3 rounds\n")
    assert bool(there) == ("geometric mean over 2 models" in out)


def test_without_peers_there_is_nothing_to_compare_with(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contenders, "find_spec", lambda name: None)
    assert call(model, "--rounds=3", "--shape", "N=3") == tool.OK
    out = capsys.readouterr().out
    assert "note: onnxruntime is not installed" in out
    assert "no peer to compare with" in out


def join(monkeypatch: pytest.MonkeyPatch, result: np.ndarray | Exception) -> list[str]:
    """Put a peer in the place of OpenVINO that gives a result or raises; list its types."""
    types: list[str] = []

    def load(path: str, feeds: object, threads: int, dtype: str):
        types.append(dtype)

        def run(feeds: object) -> list[np.ndarray]:
            if isinstance(result, Exception):
                raise result
            return [result]

        return run

    monkeypatch.setattr(contenders, "find_spec", lambda name: name)
    monkeypatch.setitem(contenders.PEERS, "openvino", load)
    return types


def test_a_difference_is_an_error_after_all_is_measured(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    join(monkeypatch, np.full((3, 4), 1e6, np.float32))
    arguments = ("--rounds=3", "--shape=N=3", "--against=openvino")
    assert call(model, *arguments) == tool.REPORTED
    out, err = capsys.readouterr()
    assert "as fast as the best peer, openvino" in out
    message = "trivium differs from openvino by 1.0e+00 of the largest output, allowed is 1e-03\n"
    assert err == f"{model}: error: {message}"
    assert call(model, *arguments, "--tolerance=2") == tool.OK


@pytest.mark.parametrize(
    ("given", "dtype"), [([], "f32"), (["--precision=bf16"], "bf16"), (["--precision=fp16"], "f16")]
)
def test_peers_are_told_the_precision(
    given: list[str], dtype: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    types = join(monkeypatch, np.zeros((3, 4), np.float32))
    call(model, "--rounds=1", "--shape=N=3", "--against=openvino", "--tolerance=1e9", *given)
    assert types == [dtype]


def test_a_peer_that_fails_is_left_out(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    join(monkeypatch, ValueError("\nno kernel for this\nat line 3"))
    assert call(model, "--rounds=3", "--shape=N=3", "--against=openvino") == tool.OK
    assert "note: openvino does not run this: no kernel for this\n" in capsys.readouterr().out


def test_a_broken_model_does_not_keep_others_from_their_turn(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none.onnx"
    assert call(missing, model, "--rounds=3", "--shape=N=3") == tool.REPORTED
    out, err = capsys.readouterr()
    assert out.startswith(f"{model}: 1 thread")
    assert str(missing) in err


def test_all_contenders_have_as_many_threads(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(model, "--rounds=3", "--shape=N=3", "--threads=2") == tool.OK
    assert capsys.readouterr().out.startswith(f"{model}: 2 threads, 3 rounds")


@pytest.mark.parametrize(
    ("arguments", "rest"), [([], 0), (["--threads=2"], 3), (["--threads=2", "--rest=1.5"], 1.5)]
)
def test_turns_rest_before_they_begin(
    model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], rest: float
) -> None:
    assert call(model, "--rounds=2", "--shape=N=3", "--json", *arguments) == tool.OK
    (report,) = json.loads(capsys.readouterr().out)["models"]
    assert report["rest_ms"] == rest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: MODEL"),
        (["m.trv"], "'m.trv' is compiled already, the peers need the ONNX model"),
        (["m.onnx", "--rounds", "0"], "'0' must be a number from 1 on"),
        (["m.onnx", "--threads", "x"], "'x' must be a number from 1 on"),
        (["m.onnx", "--rest", "-1"], "'-1' must be a number from 0 on"),
        (["m.onnx", "--rest", "inf"], "'inf' must be a number from 0 on"),
        (["m.onnx", "--tolerance", "-1"], "'-1' must be a number from 0 on"),
        (["m.onnx", "--tolerance", "nan"], "'nan' must be a number from 0 on"),
        (["m.onnx", "--against", "tvm"], "'tvm' must be one of onnxruntime, openvino"),
        (
            ["m.onnx", "--kernels", "--rounds", "3", "--against", "openvino"],
            "--against, --rounds: --kernels times kernels alone, on one thread",
        ),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*arguments) == tool.USAGE
    assert message in capsys.readouterr().err


def test_indices_are_spread_over_what_they_index(model: Path) -> None:
    prepared = prepare(str(model), CompileOptions(shapes={"N": 1000}))
    assert prepared.index_bounds == {"ids": 50}
    feeds = prepared.inputs(1, {})
    assert set(feeds["ids"].reshape(-1).tolist()) == set(range(50))
    assert set(feeds["mask"].tolist()) == {0, 1}
    again, other = prepared.inputs(1, {}), prepared.inputs(2, {})
    assert all(np.array_equal(feeds[name], again[name]) for name in feeds)
    assert not np.array_equal(feeds["ids"], other["ids"])


def test_kernels(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(model, "--kernels", "--shape", "N=3") == tool.OK
    out = capsys.readouterr().out
    assert re.match(r"one core: \d+\.\d GFLOP/s of f32.*; copies \d+\.\d GB/s in 32.0 KiB", out)
    assert "mat_mul" in out
    assert re.search(r"\d calls of \d kernels take \d+\.\d\d ms, .* of the peak\n", out)


def test_kernels_say_what_they_read_and_write(model: Path) -> None:
    kernels, others = time_kernels(str(model), CompileOptions(shapes={"N": 3}))
    assert others == 0
    assert sum(kernel.work.flops * kernel.calls for kernel in kernels) == 2 * 3 * 8 * 4
    (gather,) = (kernel for kernel in kernels if "tri.gather" in kernel.work.ops)
    words = 3 * 4 * 4  # three of the 50 that the table has
    assert gather.work.moved_bytes < 200 * 4
    assert gather.work.moved_bytes >= words + 3 * 8 + words
    assert all(kernel.seconds > 0 for kernel in kernels)


def test_the_peak_needs_no_vector_extensions() -> None:
    text = peaks.peak_text(find_machine("x86-64"), "f32")
    assert "vector.fma" not in text
    assert "vector<4xf32>" in text
    assert "vector.fma" in peaks.peak_text(find_machine("x86-64-v3"), "f32")


def test_bytes_have_a_peak_where_there_is_an_instruction_for_them() -> None:
    plain = find_machine("x86-64-v3")
    assert peaks.peak_text(plain, "i8") is None
    text = peaks.peak_text(replace(plain, features=(*plain.features, "avx_vnni")), "i8")
    assert "(vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>" in text


def test_products_are_held_against_the_peak_of_their_type() -> None:
    measured = Peaks({"f32": 1e9, "i8": 4e9}, {1 << 10: 1e9})
    tensors = (Tensor((2, 2), "ui8"),)
    byte = KernelTime("k", Work(("cpu.dot_mat_mul",), 1000, 8, "i8"), tensors, 1e-6)
    single = KernelTime("l", Work(("cpu.packed_mat_mul",), 1000, 8), tensors, 1e-6)
    _, first, second, last = describe_kernels([byte, single], measured)
    assert "1.0      25%" in first
    assert "1.0     100%" in second
    assert "1.0 GOP/s, 62% of the peak" in last
    assert describe_peaks(measured).startswith("one core: 1.0 GFLOP/s of f32, 4.0 GOP/s of i8;")


def test_a_copy_is_held_against_one_of_its_size() -> None:
    measured = Peaks({"f32": 1.0}, {1 << 10: 3.0, 1 << 20: 2.0})
    assert measured.bandwidth(0) == measured.bandwidth(2 << 10) == 3.0
    assert measured.bandwidth(1 << 18) == measured.bandwidth(1 << 30) == 2.0
