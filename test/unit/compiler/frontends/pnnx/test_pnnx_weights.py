import subprocess
import sys
import textwrap
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from pnnx_files import linear, one_operator, write_pair
from trivium.compiler.frontends.pnnx import Attribute, Graph, read_pnnx, write_pnnx
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.tensor import numpy_dtype

HALVES = [0.5, -2.0, 65504.0, 6e-8]
ARRAYS = {
    "f32": np.array([[1.5, -0.0], [np.inf, 1e-40]], np.float32),
    "f64": np.array([1e300, -1e-300]),
    "f16": np.array(HALVES, np.float16),
    "bf16": np.array([1.0, -3.140625], ml_dtypes.bfloat16),
    "i8": np.array([-128, 127], np.int8),
    "i16": np.array([-32768, 32767], np.int16),
    "i32": np.array([-(2**31), 2**31 - 1], np.int32),
    "i64": np.array([-(2**63), 2**63 - 1], np.int64),
    "u8": np.array([0, 255], np.uint8),
    "bool": np.array([True, False]),
    "c64": np.array([1 + 2j], np.complex64),
    "c128": np.array([1e200 - 1j], np.complex128),
}


@pytest.mark.parametrize("dtype", ARRAYS)
def test_every_type_comes_back(dtype: str, tmp_path: Path):
    graph = Graph()
    weight = graph.add_operator("pnnx.Attribute", "weight")
    weight.add_output(graph.add_operand("0"))
    weight.attributes["data"] = Attribute.of(ARRAYS[dtype])
    write_pnnx(graph, tmp_path / "net.param", tmp_path / "net.bin")
    data = read_pnnx(tmp_path / "net.param").operator("weight").attributes["data"]
    assert (data.dtype, data.shape) == (dtype, ARRAYS[dtype].shape)
    assert data.nbytes == ARRAYS[dtype].nbytes
    assert bytes(data.raw()) == ARRAYS[dtype].tobytes()
    assert data.get(dtype).dtype == ARRAYS[dtype].dtype
    assert data.array().tobytes() == ARRAYS[dtype].tobytes()


def test_complex_halves_become_complex_floats(tmp_path: Path):
    raw = np.array(HALVES, np.float16).tobytes()
    text = one_operator("pnnx.Attribute a 0 1 1 @data=(1,2)c32")
    data = read_pnnx(write_pair(tmp_path, text, {"a.data": raw})).operator("a").attributes["data"]
    assert data.nbytes == 8
    assert data.array().dtype == np.complex64
    assert data.array().tolist() == [[0.5 - 2j, complex(65504, np.float16(6e-8))]]


def test_bytes_that_are_not_0_or_1_are_true(tmp_path: Path):
    text = one_operator("pnnx.Attribute a 0 1 1 @data=(3)bool")
    param = write_pair(tmp_path, text, {"a.data": b"\0\1\2"})
    assert read_pnnx(param).operator("a").attributes["data"].array().tolist() == [False, True, True]


@pytest.mark.parametrize(("shape", "count"), [("()", 1), ("(0,3)", 0), ("(1)", 1), ("(2,1,2)", 4)])
def test_shapes_of_any_rank(shape: str, count: int, tmp_path: Path):
    text = one_operator(f"pnnx.Attribute a 0 1 1 @data={shape}f32")
    raw = np.arange(count, dtype=np.float32).tobytes()
    array = read_pnnx(write_pair(tmp_path, text, {"a.data": raw})).operator("a").attributes["data"]
    assert array.array().shape == array.shape
    assert array.array().reshape(-1).tolist() == list(range(count))


def test_a_weight_without_a_type_has_no_data(tmp_path: Path):
    text = one_operator("pnnx.Attribute a 0 1 1 @data=()null")
    graph = read_pnnx(write_pair(tmp_path, text, {}))
    data = graph.operator("a").attributes["data"]
    assert (data.dtype, data.nbytes, bytes(data.raw())) == (None, 0, b"")
    with pytest.raises(CompileError, match=r"the weight of \(\)null has no data"):
        data.array()


def test_an_array_in_another_order_of_bytes_or_axes():
    array = np.arange(6, dtype=">i4").reshape(2, 3).T
    attribute = Attribute.of(array)
    assert attribute.dtype == "i32"
    assert attribute.array().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert bytes(attribute.raw()) == np.array([0, 3, 1, 4, 2, 5], "<i4").tobytes()


def test_an_array_is_not_copied():
    array = np.zeros(4, np.float32)
    assert np.shares_memory(Attribute.of(array).array(), array)


def test_a_type_that_pnnx_lacks():
    with pytest.raises(Invalid, match="weights are uint32, must be one of f32, f64"):
        Attribute.of(np.zeros(2, np.uint32))


def test_asking_for_the_wrong_type(tmp_path: Path):
    weight = read_pnnx(linear(tmp_path)).operator("fc").attributes["weight"]
    with pytest.raises(CompileError, match=r"the weight is \(4,3\)f32, not f16"):
        weight.get("f16")


def test_a_cleared_weight_is_gone(tmp_path: Path):
    graph = read_pnnx(linear(tmp_path))
    weight = graph.operator("fc").attributes["weight"]
    weight.clear()
    weight.clear()
    assert (weight.dtype, weight.shape, weight.nbytes) == ("f32", (4, 3), 48)
    for ask in (weight.raw, weight.array, lambda: weight.get("f32")):
        with pytest.raises(CompileError, match=r"the weight of \(4,3\)f32 was cleared"):
            ask()
    before = sorted(path.read_bytes() for path in tmp_path.iterdir())
    with pytest.raises(CompileError, match="was cleared"):
        write_pnnx(graph, tmp_path / "net.pnnx.param", tmp_path / "net.pnnx.bin")
    assert sorted(path.read_bytes() for path in tmp_path.iterdir()) == before


def test_what_comes_from_a_file_cannot_be_written_to(tmp_path: Path):
    array = read_pnnx(linear(tmp_path)).operator("fc").attributes["weight"].array()
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_data_outlives_the_graph(tmp_path: Path):
    array = read_pnnx(linear(tmp_path)).operator("fc").attributes["weight"].array()
    (tmp_path / "net.pnnx.bin").unlink()
    assert array.sum() == 66


def test_bf16_without_its_package(monkeypatch: pytest.MonkeyPatch):
    attribute = Attribute.of(ARRAYS["bf16"])
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    numpy_dtype.cache_clear()
    with pytest.raises(CompileError, match=r"bf16 needs ml_dtypes, which is not installed"):
        attribute.array()
    assert attribute.raw().nbytes == 4


MEMORY = """
    import sys
    from trivium.compiler.frontends.pnnx import read_pnnx

    def resident():
        pages = int(open("/proc/self/statm").read().split()[1])
        return pages * 4096 / 2**20

    start = resident()
    graph = read_pnnx(sys.argv[1])
    opened = resident()
    weights = [o.attributes["data"] for o in graph.operators if o.attributes]
    total = sum(float(w.array().sum()) for w in weights)
    used = resident()
    for weight in weights:
        weight.clear()
    print(opened - start, used - start, resident() - start, total)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's view of memory")
def test_weights_take_memory_while_they_are_used(tmp_path: Path):
    ones = np.ones((16 << 20) // 4, np.float32).tobytes()
    lines = [f"pnnx.Attribute a{i} 0 1 {i} @data=({len(ones) // 4})f32" for i in range(4)]
    text = "\n".join(["7767517", "4 4", *lines, ""])
    param = write_pair(tmp_path, text, {f"a{i}.data": ones for i in range(4)})
    command = [sys.executable, "-c", textwrap.dedent(MEMORY), param]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    opened, used, cleared, total = map(float, printed.split())
    assert total == 16 << 20
    assert opened < 8
    assert used > 60
    assert cleared < 8
