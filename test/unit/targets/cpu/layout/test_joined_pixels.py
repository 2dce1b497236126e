"""Convolutions of few channels read words that go on from one pixel to the next."""

import ml_dtypes
import numpy as np
import onnx
import onnx.helper as helper
import onnx.numpy_helper as numpy_helper
import pytest
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import cpu
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.tensor import Array
from trivium.passes.default import default_pipeline
from trivium.targets.cpu.layout import blocked_dots
from trivium.targets.cpu.layout.choose_layouts import ChooseLayouts
from trivium.targets.cpu.schedule.choose_dot_products import ChooseDotProducts

MACHINE = "x86-64-v4"
OUTPUTS = 32

# channels, sizes, kernel, strides, pads; whether words are joined
WINDOWS = [
    (3, (40, 40), (7, 7), (2, 2), (3, 3, 3, 3), True),
    (3, (41, 39), (7, 7), (2, 2), (3, 3, 3, 3), True),
    (3, (33, 64), (5, 4), (1, 2), (0, 0, 2, 0), True),
    (3, (33, 64), (5, 4), (1, 2), (0, 1, 2, 0), False),  # no window sees the last pixels
    (1, (24, 64), (9, 9), (1, 2), (4, 4, 4, 4), True),
    (5, (24, 66), (7, 5), (3, 4), (2, 2, 2, 2), True),
    (3, (40, 40), (7, 7), (1, 1), (3, 3, 3, 3), False),  # a word would begin between two numbers
    (4, (40, 40), (7, 7), (2, 2), (3, 3, 3, 3), False),  # no filling
]


def model(window: tuple[object, ...]) -> tuple[onnx.ModelProto, Array, Array]:
    channels, sizes, kernel, strides, pads, _ = window
    random = np.random.default_rng(3)
    w = random.standard_normal((OUTPUTS, channels, *kernel)).astype(ml_dtypes.bfloat16)
    b = random.standard_normal(OUTPUTS).astype(ml_dtypes.bfloat16)
    given = {"strides": strides, "pads": pads, "kernel_shape": kernel}
    kind = onnx.TensorProto.BFLOAT16
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w", "b"], ["y"], **given)],
        "conv",
        [helper.make_tensor_value_info("x", kind, (2, channels, *sizes))],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return made, w.astype(np.float64), b.astype(np.float64)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_lines_of_words_convolve(
    window: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocked_dots, "JOINING", 0.0)
    channels, sizes, kernel, strides, pads, joins = window
    made, w, b = model(window)
    x = np.random.default_rng(4).standard_normal((2, channels, *sizes)).astype(ml_dtypes.bfloat16)
    around = [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])]
    padded = np.pad(x.astype(np.float64), around)
    views = np.lib.stride_tricks.sliding_window_view(padded, kernel, (2, 3))
    views = views[:, :, :: strides[0], :: strides[1]]
    want = np.einsum("nchwij,ocij->nohw", views, w) + b.reshape(-1, 1, 1)
    with new_context():
        module = import_onnx(made)
        with module.operation.context:
            ChooseDotProducts(machine="native").run(module)
            if not any(op.op_name.startswith("cpu.dot") for op in ops(module.operation)):
                pytest.skip("this machine lacks dot products of bf16")
            ChooseLayouts(always=True, machine=MACHINE).run(module)
            (conv,) = [op for op in ops(module.operation) if isinstance(op, cpu.BlockedDotConv)]
            assert (tensor_of(conv.x.type).shape[-1] == 2) == joins
            (got,) = run(module, [x])
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=2.0**-8, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_lines_of_bytes_convolve(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four strides of three bytes are whole words; around the image is its zero point."""
    monkeypatch.setattr(blocked_dots, "JOINING", 0.0)
    random, zero = np.random.default_rng(5), 7
    x = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, (1, 3, 27, 43)).astype(dtype)
    w = random.integers(-128, 128, (OUTPUTS, 3, 11, 11)).astype(np.int8)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    given = {"strides": (4, 4), "pads": (2, 2, 2, 2), "kernel_shape": (11, 11)}
    graph = helper.make_graph(
        [helper.make_node("ConvInteger", ["x", "w", "zero"], ["y"], **given)],
        "conv",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(dtype(zero), "zero")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    padded = np.pad(x.astype(np.int64) - zero, [(0, 0), (0, 0), (2, 2), (2, 2)])
    views = np.lib.stride_tricks.sliding_window_view(padded, (11, 11), (2, 3))[:, :, ::4, ::4]
    want = np.einsum("nchwij,ocij->nohw", views, w.astype(np.int64))
    with new_context():
        module = import_onnx(made)
        with module.operation.context:
            for step in default_pipeline(1):
                step.run(module)
            ChooseDotProducts(machine=MACHINE).run(module)
            ChooseLayouts(always=True, machine=MACHINE).run(module)
            (conv,) = [op for op in ops(module.operation) if isinstance(op, cpu.BlockedDotConv)]
            assert tensor_of(conv.x.type).shape[-1] == 4
            (got,) = run(module, [x])
    np.testing.assert_array_equal(got, want)
