"""Make small pairs of PNNX files."""

import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

LINEAR = """7767517
4 3
pnnx.Input               in                       0 1 0 #0=(2,3)f32
nn.Linear                fc                       1 1 0 1 bias=True in_features=3 out_features=4 \
@bias=(4)f32 @weight=(4,3)f32 $input=0 #0=(2,3)f32 #1=(2,4)f32
pnnx.Expression          add                      1 1 1 2 expr=mul(@0,@0) #1=(2,4)f32 #2=(2,4)f32
pnnx.Output              out                      1 0 2 #2=(2,4)f32
"""
WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)
BIAS = np.array([0.5, -1, 2, 1e-3], np.float32)


def linear(folder: Path) -> Path:
    """Write a layer with weights; the zip is the standard library's, not Trivium's."""
    return write_pair(folder, LINEAR, {"fc.bias": BIAS.tobytes(), "fc.weight": WEIGHT.tobytes()})


def write_pair(folder: Path, text: str, weights: Mapping[str, bytes]) -> Path:
    param = folder / "net.pnnx.param"
    param.write_text(text)
    with zipfile.ZipFile(folder / "net.pnnx.bin", "w") as archive:
        for name, data in weights.items():
            archive.writestr(name, data)
    return param


def one_operator(rest: str, operands: int = 2) -> str:
    """Return the text of a graph whose second line of operators is given."""
    head = f"7767517\n2 {operands}\npnnx.Input x 0 1 0\n"
    return f"{head}{rest}\n"


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)
