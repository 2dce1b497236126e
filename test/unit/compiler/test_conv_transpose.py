"""Transposed convolutions, however they run, beside ONNX Runtime."""

from collections.abc import Iterable, Sequence

import numpy as np
import onnx
import pytest
import trivium
from onnx import TensorProto, helper, numpy_helper
from trivium.runtime.cpu.part import CpuPart

onnxruntime = pytest.importorskip("onnxruntime")

CHANNELS, OUTPUTS, SIZES = 8, 6, (5, 7)


def model_of(group: int, w: np.ndarray, **attributes: object):
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], group=group, **attributes)
    b = np.arange(OUTPUTS, dtype=np.float32)
    graph = helper.make_graph(
        [node],
        "up",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, CHANNELS, *SIZES])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, OUTPUTS, "h", "w"])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "extra", "group", "split"),
    [
        ((2, 2), 2, 0, 0, 1, True),
        ((4, 4), 2, 1, 0, 1, True),
        ((3, 3), 2, 1, 1, 1, True),
        ((3, 3), 1, 1, 0, 1, True),
        ((3, 3), 1, 0, 0, 2, True),
        ((3, 2), 3, 0, 2, 1, True),
        ((4, 4), 4, 0, 0, 2, True),
        ((5, 5), 2, 2, 1, 1, True),
        ((4, 4), 2, 3, 0, 1, True),
        ((2, 2), 2, 0, 1, 1, True),
        ((4, 4), 3, 1, 2, 2, False),
        ((1, 1), 2, 0, 0, 1, False),
        ((3, 3), 1, 3, 0, 1, False),
    ],
)
def test_agrees(
    kernel: tuple[int, int], stride: int, pad: int, extra: int, group: int, split: bool
) -> None:
    random = np.random.default_rng(0)
    w = random.standard_normal((CHANNELS, OUTPUTS // group, *kernel)).astype(np.float32)
    model = model_of(
        group,
        w,
        strides=[stride] * 2,
        pads=[pad] * 4,
        output_padding=[extra] * 2,
    )
    x = random.standard_normal((2, CHANNELS, *SIZES)).astype(np.float32)
    peer = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    session = trivium.compile(model)
    np.testing.assert_allclose(
        session.run({"x": x})["y"], peer.run(None, {"x": x})[0], rtol=1e-5, atol=2e-5
    )
    ops = [op for step in session.manifest.part(CpuPart).kernels for op in step.ops]
    assert ("tri.conv_transpose" not in ops) == split


BLOCKED = "cpu.blocked_conv_transpose"
CASES = [
    (32, 48, (8,), 4, 2, 0, 1, BLOCKED),
    (32, 16, (3,), 2, 1, 1, 1, BLOCKED),
    (16, 32, (2,), 2, 0, 0, 1, BLOCKED),
    (16, 32, (4, 4), 2, 1, 0, 1, BLOCKED),
    (32, 16, (3, 3), 3, 0, 0, 1, BLOCKED),
    (32, 16, (3,), 2, 0, 0, 1, "tri.transpose"),
    (10, 6, (8,), 4, 2, 0, 1, "tri.transpose"),
    (10, 6, (7,), 3, 2, 1, 2, "tri.transpose"),
    (6, 4, (3,), 1, 1, 0, 1, "cpu.panel_conv"),
    (6, 4, (1,), 3, 0, 0, 1, "tri.conv_transpose"),
    (6, 4, (4,), 2, 5, 0, 1, "tri.conv_transpose"),
]
"""Channels, outputs, kernel, stride, padding, output padding, groups, and an op that is run."""


def spread(
    shape: Sequence[int | str],
    outputs: int,
    kernel: tuple[int, ...],
    stride: int,
    pad: int,
    extra: int,
    group: int,
) -> onnx.ModelProto:
    """Return a transposed convolution of images of one shape, and an activation."""
    rank, random = len(kernel), np.random.default_rng(0)
    attributes = {"strides": [stride] * rank, "pads": [pad] * 2 * rank, "group": group}
    node = helper.make_node(
        "ConvTranspose", ["x", "w", "b"], ["z"], output_padding=[extra] * rank, **attributes
    )
    w = random.standard_normal((shape[1], outputs // group, *kernel)).astype(np.float32)
    graph = helper.make_graph(
        [node, helper.make_node("Relu", ["z"], ["y"])],
        "up",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", outputs, *"hw"[:rank]])],
        [
            numpy_helper.from_array(w, "w"),
            numpy_helper.from_array(np.arange(outputs, dtype=np.float32) - 3, "b"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def need_agreement(
    model: onnx.ModelProto, session: trivium.Session, shapes: Iterable[Sequence[int]]
) -> None:
    peer = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for shape in shapes:
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        wanted = peer.run(None, {"x": x})[0]
        np.testing.assert_allclose(session.run({"x": x})["y"], wanted, rtol=1e-5, atol=5e-5)


@pytest.mark.parametrize(("channels", "outputs", "kernel", *"spegk"), CASES)
def test_agrees_in_one_and_two_dimensions(
    channels: int,
    outputs: int,
    kernel: tuple[int, ...],
    s: int,
    p: int,
    e: int,
    g: int,
    k: str,
) -> None:
    shape = (2, channels, *(19, 8)[: len(kernel)])
    model = spread(shape, outputs, kernel, s, p, e, g)
    session = trivium.compile(model, machine="x86-64-v3")
    assert k in {op for kernel in session.manifest.part(CpuPart).kernels for op in kernel.ops}
    need_agreement(model, session, [shape])


@pytest.mark.parametrize(("channels", "outputs", "kernel", *"spegk"), CASES)
def test_any_size(
    channels: int,
    outputs: int,
    kernel: tuple[int, ...],
    s: int,
    p: int,
    e: int,
    g: int,
    k: str,
) -> None:
    rank = len(kernel)
    model = spread(("N", channels, *"HW"[:rank]), outputs, kernel, s, p, e, g)
    session = trivium.compile(model, machine="x86-64-v3")
    ops = {op for kernel in session.manifest.part(CpuPart).kernels for op in kernel.ops}
    assert (BLOCKED in ops) == (k == BLOCKED)
    sizes = [(1, 6, 7), (2, 19, 8), (3, 33, 6)]
    need_agreement(model, session, [(n, channels, *image[:rank]) for n, *image in sizes])
