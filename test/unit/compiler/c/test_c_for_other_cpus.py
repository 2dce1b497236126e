"""Code in C for ARM and RISC-V: its inner loops, and its results under emulation."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from c_programs import build, run, run_client
from onnx.reference import ReferenceEvaluator
from trivium.compiler.c.emit import emit_c
from trivium.dialects.core.machine import find_machine
from trivium.dialects.core.tensor import Array

NETWORK = """
    <ir_version: 10, opset_import: ["" : 21]>
    network (float[1, 3, 34, 34] image) => (float[1, 24] y)
    {
        a = Conv <pads = [0, 0, 1, 1], strides = [2, 2]> (image, first, bias)
        b = Clip (a, zero, six)
        c = Conv <pads = [1, 1, 1, 1], group = 32> (b, depthwise)
        d = Conv (c, narrow)
        e = Conv (d, wide)
        f = Relu (e)
        g = Conv <pads = [1, 1, 1, 1]> (f, square)
        h = Add (e, g)
        i = Conv <strides = [2, 2]> (h, large)
        j = Relu (i)
        k = Reshape (j, rows)
        l = MatMul (k, dense)
        m = Relu (l)
        n = MatMul (m, more)
        means = ReduceMean <keepdims = 0> (n, axis)
        y = Reshape (means, flat)
    }
"""
SHAPES = {
    "first": (32, 3, 3, 3),
    "bias": (32,),
    "depthwise": (32, 1, 3, 3),
    "narrow": (20, 32, 1, 1),
    "wide": (96, 20, 1, 1),
    "square": (96, 96, 3, 3),
    "large": (60, 96, 3, 3),
    "dense": (64, 72),
    "more": (72, 24),
}
NUMBERS = {
    "zero": np.float32(0),
    "six": np.float32(6),
    "rows": np.array([60, 64]),
    "axis": np.array([0]),
    "flat": np.array([1, 24]),
}


def network() -> onnx.ModelProto:
    model = onnx.parser.parse_model(NETWORK)
    random = np.random.default_rng(3)
    for name, shape in SHAPES.items():
        scale = max(1, np.prod(shape[1:])) ** 0.5
        array = (random.normal(size=shape) / scale).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    for name, array in NUMBERS.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))
    return model


def needs(*tools: str) -> None:
    if lacking := [tool for tool in tools if not shutil.which(tool)]:
        pytest.skip(f"there is no {' and no '.join(lacking)}")


# -- inner loops ----------------------------------------------------------------------------------

JUMP = re.compile(r"(?:b[.a-z]*|t?cbn?z|tbn?z)\s.*?(\.L\w+)$")


def inner_loops(assembly: str) -> Iterator[list[str]]:
    """Yield the instructions of loops that hold no other, of assembly for ARM of 64 bits."""
    lines = [line.split("//")[0].strip() for line in assembly.splitlines()]
    labels = {line[:-1]: number for number, line in enumerate(lines) if line.endswith(":")}
    jumps = ((found[1], number) for number, line in enumerate(lines) if (found := JUMP.match(line)))
    ends = [(labels[to], number) for to, number in jumps if labels.get(to, number) < number]
    for start, end in ends:
        if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in ends):
            body = lines[start : end + 1]
            yield [line for line in body if line and not line.endswith(":") and line[0] != "."]


def loops_of(model: onnx.ModelProto, name: str, folder: Path) -> list[list[str]]:
    """Return the inner loops of a model in assembly for an ARM of 64 bits."""
    machine = find_machine(name)
    compiler = f"{machine.cross}gcc"
    needs(compiler)
    # Transforms of 4x4 tiles have 36 values, which no registers hold: those of 2x2 have 16.
    emit_c(model, folder, machine=name, winograd_error=2e-6)
    flags = ["-std=c99", "-O2", "-fno-math-errno", *machine.flags]
    done = run([compiler, *flags, "-S", "model.c", "-o", "model.s"], folder)
    assert not done.returncode, done.stderr
    return [*inner_loops((folder / "model.s").read_text())]


def assert_spills_nothing(loop: list[str]) -> None:
    spilt = [line for line in loop if re.search(r"\[(sp|x29)", line)]
    assert not spilt, f"{len(spilt)} of {len(loop)} instructions spill"


def test_products_fill_the_registers_of_arm_and_spill_nothing(tmp_path: Path) -> None:
    loops = loops_of(network(), "armv8-a", tmp_path)
    hot = [loop for loop in loops if sum("fml" in line for line in loop) >= 12]
    assert len(hot) >= 8, "every product and convolution has a loop"
    for loop in hot:
        sums = [line for line in loop if line.startswith(("fm", "fnm"))]
        assert all(re.match(r"fml[as]\s+v\d+\.4s", line) for line in sums)
        assert len(sums) >= 0.45 * len(loop)
        assert_spills_nothing(loop)


def test_dot_products_take_words_from_lanes_and_spill_nothing(tmp_path: Path) -> None:
    loops = loops_of(products_of_bytes(np.int8, 5)[0], "armv8.2-a", tmp_path)
    hot = [loop for loop in loops if sum("sdot" in line for line in loop) >= 8]
    assert len(hot) >= 2, "the product and the convolution have a loop each"
    for loop in hot:
        sums = [line for line in loop if line.startswith("sdot")]
        assert all(re.match(r"sdot\s+v\d+\.4s, v\d+\.16b, v\d+\.4b\[0\]", line) for line in sums)
        assert len(sums) >= 0.4 * len(loop)
        assert_spills_nothing(loop)


# -- results --------------------------------------------------------------------------------------

LAUNCHERS = {
    "armv8-a": "qemu-aarch64",
    "armv8.2-a": "qemu-aarch64 -cpu max",
    "sve-256": "qemu-aarch64 -cpu max,sve256=on",
    "armv7-neon": "qemu-arm",
    "rv64gcv": "qemu-riscv64 -cpu rv64,v=true,vlen=128",
}


def emulated(model: onnx.ModelProto, x: Array, machine: str, folder: Path, *flags: str) -> Array:
    """Return the output of a model of one input, in C for a machine."""
    prefix, launcher = find_machine(machine).cross, LAUNCHERS[machine].split()
    needs(f"{prefix}gcc", launcher[0])
    written = emit_c(model, folder, machine=machine)
    build(folder, *flags, CROSS=prefix, LDFLAGS="-static")
    (y,) = run_client(written, [x], launcher)
    return y


@pytest.mark.parametrize("machine", [name for name in LAUNCHERS if name != "armv8.2-a"])
def test_code_for_other_cpus_computes_what_onnx_says(machine: str, tmp_path: Path) -> None:
    x = np.random.default_rng(5).normal(size=(1, 3, 34, 34)).astype(np.float32)
    made = emulated(network(), x, machine, tmp_path)
    # Vectors of other lengths sum up in other orders: exact sums are as near to both.
    (exact,) = ReferenceEvaluator(network()).run(None, {"image": x})
    np.testing.assert_allclose(made, exact, rtol=1e-5, atol=1e-6 * np.abs(exact).max())


def products_of_bytes(dtype: type, zero: int) -> tuple[onnx.ModelProto, Array, Array]:
    """Return a matrix product and a convolution of bytes, an input, and what they make of it."""
    name = np.dtype(dtype).name
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        bytes ({name}[2, 5, 9, 10] image) => (int32[150, 18] y)
        <{name} zero = {{{zero}}}, int64[2] cut = {{90, 10}}, int64[2] rows = {{60, 18}}>
        {{
            flat = Reshape (image, cut)
            a = MatMulInteger (flat, dense, zero)
            b = ConvInteger <pads = [1, 1, 1, 1]> (image, kernels, zero)
            c = Reshape (b, rows)
            y = Concat <axis = 0> (a, c)
        }}
    """)
    random, info = np.random.default_rng(7), np.iinfo(dtype)
    x = random.integers(info.min, info.max + 1, (2, 5, 9, 10)).astype(dtype)
    x[0, 0, 0, :2] = info.min, info.max
    dense, kernels = (
        random.integers(-128, 128, size).astype(np.int8) for size in ((10, 18), (6, 5, 3, 3))
    )
    for title, array in (("dense", dense), ("kernels", kernels)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, title))
    wide = x.astype(np.int64) - zero
    padded = np.pad(wide, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    convolved = np.einsum("nchwij,ocij->nohw", windows, kernels.astype(np.int64))
    rows = wide.reshape(90, 10) @ dense.astype(np.int64)
    return model, x, np.concatenate([rows, convolved.reshape(60, 18)])


@pytest.mark.parametrize(("dtype", "zero"), [(np.uint8, 200), (np.int8, -3)])
@pytest.mark.parametrize("machine", [*LAUNCHERS])
def test_products_of_bytes_are_exact(machine: str, dtype: type, zero: int, tmp_path: Path) -> None:
    model, x, exact = products_of_bytes(dtype, zero)
    np.testing.assert_array_equal(emulated(model, x, machine, tmp_path), exact)


@pytest.mark.parametrize("bits", [4, 8])
def test_products_of_unsigned_numbers_are_those_of_a_session(bits: int, tmp_path: Path) -> None:
    """Numbers of four bits are signed bytes as well; those of eight are not."""
    random, depth, columns, block = np.random.default_rng(9), 96, 24, 32
    shape = (columns, depth // block, block * bits // 8)
    stored = {
        "w": random.integers(0, 256, shape).astype(np.uint8),
        "scales": random.uniform(0.5, 2, columns * depth // block).astype(np.float32),
    }
    given = {"K": depth, "N": columns, "bits": bits, "block_size": block, "accuracy_level": 4}
    node = onnx.helper.make_node(
        "MatMulNBits", ["x", *stored], ["y"], domain="com.microsoft", **given
    )
    ports = [
        [onnx.helper.make_tensor_value_info(name, 1, size)]
        for name, size in (("x", (3, depth)), ("y", (3, columns)))
    ]
    initializers = [onnx.numpy_helper.from_array(a, n) for n, a in stored.items()]
    graph = onnx.helper.make_graph([node], "g", *ports, initializers)
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    x = random.normal(size=(3, depth)).astype(np.float32)
    made = emulated(model, x, "armv8.2-a", tmp_path)
    assert "sdot" in (tmp_path / "model.c").read_text()
    want = trivium.compile(model).run({"x": x})["y"]
    np.testing.assert_allclose(made, want, rtol=0, atol=1e-6 * np.abs(want).max())


def test_dot_products_in_plain_c_are_exact(tmp_path: Path) -> None:
    model, x, exact = products_of_bytes(np.int8, 5)
    made = emulated(model, x, "armv8.2-a", tmp_path, "-DTRIVIUM_PORTABLE")
    np.testing.assert_array_equal(made, exact)


def test_bytes_are_multiplied_by_an_instruction_where_a_machine_has_one(tmp_path: Path) -> None:
    for machine in (*LAUNCHERS, "generic"):
        emit_c(products_of_bytes(np.uint8, 3)[0], tmp_path, machine=machine)
        kernels = (tmp_path / "model.c").read_text()
        assert (" = sdotword_v" in kernels) == (machine in ("armv8.2-a", "sve-256"))


def test_a_compiler_without_dot_products_is_stopped(tmp_path: Path) -> None:
    machine = find_machine("armv8.2-a")
    needs(f"{machine.cross}gcc")
    emit_c(products_of_bytes(np.uint8, 3)[0], tmp_path, machine=machine.name)
    done = run([f"{machine.cross}gcc", "-march=armv8-a", "-fsyntax-only", "model.c"], tmp_path)
    assert "this code is for armv8.2-a: give -march=armv8.2-a+dotprod" in done.stderr
