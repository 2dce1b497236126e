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
from c_programs import run
from trivium.compiler.c.emit import emit_c
from trivium.dialects.core.machine import find_machine

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


def test_products_fill_the_registers_of_arm_and_spill_nothing(tmp_path: Path) -> None:
    machine = find_machine("armv8-a")
    compiler = f"{machine.cross}gcc"
    needs(compiler)
    emit_c(network(), tmp_path, machine=machine.name)
    flags = ["-std=c99", "-O2", "-fno-math-errno", *machine.flags]
    done = run([compiler, *flags, "-S", "model.c", "-o", "model.s"], tmp_path)
    assert not done.returncode, done.stderr
    loops = [*inner_loops((tmp_path / "model.s").read_text())]
    hot = [loop for loop in loops if sum("fml" in line for line in loop) >= 12]
    assert len(hot) >= 8, "every product and convolution has a loop"
    for loop in hot:
        sums = [line for line in loop if line.startswith(("fm", "fnm"))]
        assert all(re.match(r"fml[as]\s+v\d+\.4s", line) for line in sums)
        assert len(sums) >= 0.45 * len(loop)
        spilt = [line for line in loop if re.search(r"\[(sp|x29)", line)]
        assert not spilt, f"{len(spilt)} of {len(loop)} instructions spill"
