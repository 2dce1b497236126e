"""Loadables of the compiler as a reader sees them that has only the notes on the format."""

from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import onnx
import onnx.parser
import pytest
from small_networks import NETWORKS, Net
from trivium.compiler.driver import build
from trivium.runtime.dla.part import DlaPart
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.test.unit.targets.dla.nvdla.independent_reader import SDP, Task, read

CONV_ENGINE, SDP_ENGINE = 1, 2
OFF = {name: 0 for name in SDP if name.split(".")[0] in ("x1_op", "x2_op", "y_op")}


def compiled(net: Net, network: Callable[[Net], str], target: str, folder: Path) -> list[bytes]:
    net.quantized(network(net), folder / "q.onnx", 4)
    package = build(onnx.load(folder / "q.onnx"), target=target)
    return [bytes(package.entries[p.entry]) for p in package.manifest.part(DlaPart).loadables]


def relu(net: Net) -> str:
    return net.op("Relu", net.conv("x", 5, 9))


@pytest.mark.parametrize(
    ("name", "target"),
    [("residual", "nv_small"), ("branches", "nv_full"), ("separable", "nv_large")],
)
def test_tables_and_notifications_are_as_read(name: str, target: str, tmp_path: Path) -> None:
    for data in compiled(Net(), NETWORKS[name], f"nvdla:{target}", tmp_path):
        assert read(data) == astuple(Loadable.read(data))
        task = Task(data)
        assert task.arrivals() == [entry[4] for entry in task.graph]
        assert [int.from_bytes(entry[:2], "little") for entry in task.graph] == list(
            range(task.count)
        )


def test_the_fields_of_a_convolution_with_relu(tmp_path: Path) -> None:
    """Those of the stages X are the bias, and the factor of each channel with ReLU behind it."""
    (data,) = compiled(Net((1, 5, 4, 6)), relu, "nvdla:nv_full", tmp_path)
    task = Task(data)
    assert [task.engine(0), task.engine(1)] == [CONV_ENGINE, SDP_ENGINE]
    found = task.fields(1, SDP)
    shift, truncate = found["x1_op.shift"], found["x2_op.truncate"]
    assert found == {
        **OFF,
        **{"src_precision": 0, "dst_precision": 0, "lut_index": -1, "conv_mode": 0},
        **{"out_cvt.scale": 1, "out_cvt.truncate": 0, "out_cvt.enable": 1, "out_cvt.offset": 128},
        **{"batch_num": 1, "batch_stride": 0},
        **{"x1_op.enable": 1, "x1_op.alu_type": 2, "x1_op.type": 2, "x1_op.mode": 1},
        **{"x1_op.precision": 1, "x1_op.shift": shift},
        **{"x2_op.enable": 1, "x2_op.alu_type": 2, "x2_op.type": 3 if shift else 1},
        **{"x2_op.mode": 1, "x2_op.act": 1, "x2_op.precision": 1, "x2_op.truncate": truncate},
        "y_op.alu_type": 2,
    }
    assert shift in (0, 16)
    assert 0 < truncate < 32
    # Nine kernels are stored in atoms of 32 bytes, of the 4x6 pixels that the input has, too.
    destination = task.cube(1, 128)
    assert (destination["width"], destination["height"]) == (6, 4)
    assert (destination["line"], destination["surf"], destination["plane"]) == (192, 768, 0)
    on_the_fly = task.cube(1, 0)
    assert (on_the_fly["type"], on_the_fly["address"]) == (2, -1)


@pytest.mark.parametrize(("target", "atom"), [("nv_small", 8), ("nv_full", 32)])
def test_strides_of_cubes_follow_from_the_atom(target: str, atom: int, tmp_path: Path) -> None:
    for channels, rows, columns in ((1, 1, 1), (8, 3, 5), (33, 2, 7), (64, 5, 1)):
        net = Net((1, channels, rows, columns))

        def pool(net: Net) -> str:
            return net.op(
                "MaxPool", net.op("MaxPool", "x", kernel_shape=[1, 1]), kernel_shape=[1] * 2
            )

        (data,) = compiled(net, pool, f"nvdla:{target}", tmp_path)
        for at in (0, 32):
            cube = Task(data).cube(0, at)
            assert (cube["channel"], cube["height"], cube["width"]) == (channels, rows, columns)
            assert (cube["line"], cube["surf"]) == (columns * atom, rows * columns * atom)
            assert cube["size"] == -(-channels // atom) * rows * columns * atom


def test_the_fields_of_a_relu_alone() -> None:
    """In fp16, the activation of stage X1 behind no operation; nothing is converted."""
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) { y = Relu (x) }
    """)
    package = build(model, target="nvdla:nv_full", precision="fp16")
    (loadable,) = package.manifest.part(DlaPart).loadables
    task = Task(bytes(package.entries[loadable.entry]))
    assert [task.engine(n) for n in range(task.count)] == [SDP_ENGINE]
    assert task.fields(0, SDP) == {
        **OFF,
        **{"src_precision": 2, "dst_precision": 2, "lut_index": -1, "conv_mode": 0},
        **{"out_cvt.scale": 1, "out_cvt.truncate": 0, "out_cvt.enable": 1, "out_cvt.offset": 0},
        **{"batch_num": 1, "batch_stride": 0},
        **{"x1_op.enable": 1, "x1_op.act": 1},
        **{f"{stage}_op.alu_type": 2 for stage in ("x1", "x2", "y")},
    }
