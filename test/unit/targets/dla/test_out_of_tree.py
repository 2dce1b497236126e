"""An accelerator of another distribution: own ops, packets, rules and passes, in two files."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from drawn_ops import RULES, Drawn
from test_target import reference
from trivium.targets.dla.vanilla.packets import FILE

SEED = 4  # of images with rows and columns
SOURCES = Path(__file__).with_name("npu")

PACKET = """
# Take values without their sign.
[packets.absolute]
opcode = 77
engine = "vec"
fields = [
    { name = "source", unit = 1, bit = 0, bits = 24, kind = "address:sram" },
    { name = "source_row", unit = 1, bit = 24, bits = 24, kind = "uint" },
    { name = "source_pixel", unit = 1, bit = 48, bits = 16, kind = "uint" },
    { name = "rows", unit = 1, bit = 64, bits = 16, kind = "uint" },
    { name = "columns", unit = 1, bit = 80, bits = 16, kind = "uint" },
    { name = "channels", unit = 1, bit = 96, bits = 16, kind = "uint" },
    { name = "destination", unit = 2, bit = 0, bits = 24, kind = "address:sram" },
    { name = "destination_row", unit = 2, bit = 24, bits = 24, kind = "uint" },
    { name = "destination_pixel", unit = 2, bit = 48, bits = 16, kind = "uint" },
    { name = "destination_zero", unit = 2, bit = 88, bits = 8, kind = "int" },
]
"""

COMPILE = """
import sys
import trivium
session = trivium.compile("model.onnx", target="npu", progress=print)
session.save("model.trv")
"""

RUN = """
import sys
sys.modules["torch_mlir"] = None  # importing it fails
import numpy as np
import trivium
np.save("y.npy", trivium.load("model.trv")(np.load("x.npy")))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Install the distribution in a folder."""
    shutil.copytree(SOURCES, tmp_path / "my_npu", ignore=shutil.ignore_patterns("__pycache__"))
    text = FILE.read_text().replace('"vanilla"', '"npu"', 1)
    (tmp_path / "my_npu" / "npu.toml").write_text(text + PACKET)
    info = tmp_path / "npu_compiler-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: npu-compiler\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[trivium.targets]\nnpu = my_npu.target\n")
    return tmp_path


def python(site: Path, script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=site, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_ops_run_among_those_of_all_accelerators(site: Path) -> None:
    drawn = Drawn(SEED)
    model = drawn.model(RULES["conv"])
    (last,) = model.graph.output
    model.graph.node.append(onnx.helper.make_node("Abs", [last.name], ["sizes"], "sizes"))
    last.name = "sizes"
    (x,) = drawn.feeds()
    onnx.save(model, site / "model.onnx")
    np.save(site / "x.npy", x)
    heard = python(site, COMPILE)
    assert heard.split().index("TensorSched") < heard.split().index("MemAlloc")
    python(site, RUN)
    np.testing.assert_array_equal(np.load(site / "y.npy"), reference(model, [x]))
    streams = subprocess.run(
        [sys.executable, "-m", "trivium.tools.main", "disasm", "model.trv"],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "\nconv " in streams.stdout
    assert "\nabsolute " in streams.stdout
