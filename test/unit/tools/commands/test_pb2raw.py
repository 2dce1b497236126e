"""Tensors of ONNX in files: read as inputs, written as outputs, and as raw bytes."""

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
from trivium.tools.main import main


def save(array: np.ndarray, path: Path) -> str:
    onnx.save_tensor(onnx.numpy_helper.from_array(array, "x"), path)
    return str(path)


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i8", "u1", "i2", "?", ml_dtypes.bfloat16])
def test_raw_bytes_are_the_elements_in_order(dtype, tmp_path: Path) -> None:
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    file = save(array, tmp_path / "x.pb")
    assert main(["pb2raw", file, "-o", str(tmp_path / "x.raw")]) == 0
    assert (tmp_path / "x.raw").read_bytes() == array.tobytes()


def test_an_array_of_columns_is_written_by_rows(tmp_path: Path) -> None:
    array = np.arange(6, dtype=">i4").reshape(2, 3).T
    np.save(tmp_path / "x.npy", array)
    assert main(["pb2raw", str(tmp_path / "x.npy"), "-o", str(tmp_path / "x.raw")]) == 0
    made = np.fromfile(tmp_path / "x.raw", "<i4").reshape(3, 2)
    np.testing.assert_array_equal(made, [[0, 3], [1, 4], [2, 5]])


def test_a_run_reads_and_writes_tensors_of_onnx(tmp_path: Path) -> None:
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[2, 3] x) => (float[2, 3] y) '
    onnx.save(onnx.parser.parse_model(text + "{ y = Neg (x) }"), tmp_path / "m.onnx")
    array = np.array([[1, -2, 3], [0.5, np.inf, -0.0]], np.float32)
    x, y = save(array, tmp_path / "x.pb"), tmp_path / "y.pb"
    model = str(tmp_path / "m.onnx")
    assert main(["run", model, "--input", f"x={x}", "--output", f"y={y}"]) == 0
    made = onnx.numpy_helper.to_array(onnx.load_tensor(y))
    assert made.tobytes() == (-array).tobytes()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xff\xff", "is not a tensor of ONNX"),
        (b"", "without an element type"),
        (onnx.TensorProto(data_type=1, dims=[4], raw_data=b"123").SerializeToString(), "decode"),
        (None, "cannot be read"),
    ],
)
def test_other_files_are_refused(data, message, tmp_path: Path, capsys) -> None:
    if data is not None:
        (tmp_path / "x.pb").write_bytes(data)
    out = tmp_path / "x.raw"
    assert main(["pb2raw", str(tmp_path / "x.pb"), "-o", str(out)]) == 1
    assert message in capsys.readouterr().err
    assert not out.exists()
