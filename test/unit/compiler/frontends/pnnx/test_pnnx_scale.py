"""Large PNNX models: what importing them takes of memory, and how work grows with operators."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from trivium.compiler.frontends.pnnx import read_pnnx
from trivium.compiler.frontends.pnnx.format.archive import write_archive
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.dialects.core.mlir import new_context

MEGABYTE = 1 << 20
LAYERS = 20
WIDTH = 2560  # a layer has 25 MB

IMPORT = """
import sys
from pathlib import Path
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.dialects.core.mlir import new_context

with new_context():
    module = import_pnnx(sys.argv[1])
    assert sum(weight.nbytes for weight in module.weights.values()) == int(sys.argv[2])
# Not getrusage: that has the peak of the process which started this one, too.
(peak,) = [line for line in Path("/proc/self/status").open() if line.startswith("VmHWM")]
print(int(peak.split()[1]))
"""


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Path]:
    """Write a model with 500 MB of weights."""
    weight = np.random.default_rng(0).standard_normal((WIDTH, WIDTH), np.float32)
    path = tmp_path / "large.pnnx.param"
    path.write_text(chain("nn.Linear", LAYERS, WIDTH, f"bias=False @weight=({WIDTH},{WIDTH})f32"))
    data = memoryview(weight.reshape(-1).view(np.uint8))
    write_archive(path.with_suffix(".bin"), {f"op{i}.weight": data for i in range(LAYERS)})
    yield path
    path.with_suffix(".bin").unlink()


def chain(type_: str, length: int, width: int, rest: str = "") -> str:
    """Return the text of operators one after another."""
    shape = f"(1,{width})f32"
    lines = [f"pnnx.Input in 0 1 0 #0={shape}"]
    for i in range(length):
        types = f"#{i}={shape} #{i + 1}={shape}"
        lines.append(f"{type_} op{i} 1 1 {i} {i + 1} {rest} {types}")
    lines.append(f"pnnx.Output out 1 0 {length} #{length}={shape}")
    return "\n".join(["7767517", f"{length + 2} {length + 1}", *lines, ""])


def test_weights_are_in_memory_once(large: Path) -> None:
    size = LAYERS * WIDTH * WIDTH * 4
    assert size >= 500 * MEGABYTE
    command = [sys.executable, "-c", IMPORT, str(large), str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) * 1024 < size + 200 * MEGABYTE


@pytest.mark.parametrize(
    ("type_", "rest"), [("F.relu", ""), ("pnnx.Expression", "expr=add(mul(@0,2),1.5)")]
)
def test_work_is_linear(type_: str, rest: str) -> None:
    """Four times the operators take at most four times the calls of functions."""
    calls: list[int] = []
    for length in (10, 100, 400):  # the first one imports modules and fills caches
        text = chain(type_, length, 8, rest)
        with new_context():
            calls.append(counted(lambda text=text: import_pnnx(read_pnnx(text))))
    _, once, four_times = calls
    assert once > 100 * 50
    assert four_times <= 4 * once


def counted(function: Any) -> int:
    """Count the calls of Python and C functions that a function makes."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls
