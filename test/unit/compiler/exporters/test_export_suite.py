"""The suite of PNNX models: what they become in other formats computes what torch recorded."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from torch_runner import run_by_torch
from trivium.compiler.exporters.onnx import export_onnx
from trivium.compiler.exporters.pnnx import export_pnnx
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array
from trivium.passes.decompose import Decompose
from trivium.passes.default import WHOLE

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "frontends" / "pnnx"))
from pnnx_suite import CASES, needs_suite

UNORDERED = {"torch_topk"}
"""Of what is not sorted, torch recorded an order that nobody may rely on."""

NOT_BY_TORCH = UNORDERED | {
    *("F_local_response_norm", "Tensor_index", "Tensor_index_put", "torch_diag"),  # refused
    *("torch_fft_ifft", "torch_fft_ifft2", "torch_fft_ifftn"),  # inverse of real numbers: refused
    *("torch_fft_irfft2", "torch_fft_irfftn"),
    "torch_fft_fftn",  # sums of so many elements that digits get lost
}
NOT_BY_ONNX = UNORDERED | {
    *("nn_LSTM", "pnnx_expression", "torch_atan2", "torch_expm1", "torch_lgamma"),  # refused
    *("torch_log1p", "torch_logaddexp"),
    *("F_local_response_norm", "torch_bitwise_left_shift", "torch_bitwise_right_shift"),  # not run
}
"""Besides Fourier transforms, which ONNX Runtime computes to few digits."""


def by_torch(module: Module, inputs: Sequence[Array]) -> list[Array]:
    return run_by_torch(export_pnnx(module), inputs)


def by_onnx_runtime(module: Module, inputs: Sequence[Array]) -> list[Array]:
    Decompose(ops=WHOLE).run(module)
    data = export_onnx(module).SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    return list(session.run(None, dict(zip(names, inputs, strict=True))))


@needs_suite
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(
    ("run", "excluded"),
    [
        pytest.param(by_torch, NOT_BY_TORCH, id="pnnx"),
        pytest.param(by_onnx_runtime, NOT_BY_ONNX, id="onnx"),
    ],
)
def test_the_suite_goes_out(
    case: Path, run: Callable[[Module, Sequence[Array]], list[Array]], excluded: set[str]
) -> None:
    if case.name in excluded or (run is by_onnx_runtime and "_fft_" in case.name):
        return
    data = np.load(case / "data.npz")
    inputs = [parts(data[f"in{i}"]) for i in range(sum(name[:2] == "in" for name in data))]
    outputs = [parts(data[f"out{i}"]) for i in range(sum(name[:3] == "out" for name in data))]
    with new_context(), ir.Location.unknown():
        try:
            module = import_pnnx(case / "model.pnnx.param")
        except CompileError:
            return  # other tests know which
        for got, expected in zip(run(module, inputs), outputs, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)


def parts(array: Array) -> Array:
    """Write complex numbers as pairs, as modules have them."""
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array
