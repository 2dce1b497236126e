"""Kernels of recurrent layers: small and large states, both layouts, lengths, and any sizes."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from closeness import assert_close
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from interpreted import interpreted
from onnx import TensorProto, helper, numpy_helper
from ordered import build_ordered, drawn
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.runtime.session import Session
from trivium.targets.gpu import TARGET
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture
from trivium.test.unit.runtime.gpu.stand_in import StandIn

LAYERS: dict[Any, tuple[int, int]] = {tri.Rnn: (1, 1), tri.Gru: (3, 1), tri.Lstm: (4, 2)}
"""Gates and states of each op."""


def layer(
    cls: Any, time: int, batch: int, inputs: int, hidden: int, dtype: str = "float32", **more: Any
) -> Case:
    """Return a layer of both directions, with bias and initial states."""
    gates, states = LAYERS[cls]
    lengths: Any = more.pop("lengths", None)
    direction = more.get("direction", "bidirectional")
    count = 2 if direction == "bidirectional" else 1
    scale = np.float32(hidden**-0.5)
    outer = (batch, count) if more.get("layout") else (count, batch)
    x = (batch, time, inputs) if more.get("layout") else (time, batch, inputs)
    operands = [
        drawn(x, dtype),
        (drawn((count, gates * hidden, inputs)) * scale).astype(dtype),
        (drawn((count, gates * hidden, hidden)) * scale).astype(dtype),
        drawn((count, 2 * gates * hidden), dtype),
        None if lengths is None else np.array(lengths, np.int32),
        *(drawn((*outer, hidden), dtype) for _ in range(states)),
    ]
    if cls is tri.Lstm:
        operands += [drawn((count, 3 * hidden), dtype) if more.pop("peeps", False) else None, None]
    return Case(
        "layer", cls, tuple(operands), {"hidden_size": hidden} | {"direction": direction} | more
    )


def agree(case: Case, printed: bool = False) -> None:
    execute = {"execute": run_printed} if printed else {}
    passes = kernel_passes(HOPPER)
    made = run_group(lambda: build_ordered(case, [], ()), case.inputs, passes, **execute)
    for got, want in zip(made, case.reference(), strict=True):
        assert_close(case, got, want, case.inputs)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("cls", LAYERS)
def test_layers_of_several_blocks_of_rows(cls: Any, dtype: str) -> None:
    agree(layer(cls, 5, 19, 7, 33, dtype))
    agree(layer(cls, 3, 2, 40, 128, dtype, direction="reverse"))


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("cls", LAYERS)
def test_sequences_of_their_own_lengths(cls: Any, layout: int) -> None:
    for direction in ("forward", "reverse", "bidirectional"):
        more = {"direction": direction, "layout": layout, "lengths": [4, 0, 1, 6, 3]}
        agree(layer(cls, 6, 5, 3, 20, **more))


def test_variants_of_cells() -> None:
    agree(layer(tri.Gru, 4, 3, 5, 17, linear_before_reset=True, clip=0.5))
    agree(layer(tri.Lstm, 4, 3, 5, 17, input_forget=True, peeps=True, clip=0.25))
    names = ("Relu", "Tanh", "Sigmoid", "Sigmoid", "Relu", "Tanh")
    agree(layer(tri.Lstm, 4, 3, 5, 17, activations=names))
    agree(layer(tri.Rnn, 4, 3, 5, 17, activations=("Relu", "Sigmoid")))


@needs_triton
@pytest.mark.parametrize("cls", LAYERS)
def test_printed_kernels_walk_along_time(cls: Any) -> None:
    agree(layer(cls, 4, 3, 6, 24, lengths=[4, 0, 2]), printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_kernels_compile(architecture: Architecture) -> None:
    assert assemblies(layer(tri.Lstm, 50, 64, 80, 128), architecture)
    assert assemblies(layer(tri.Gru, 50, 64, 80, 48, "float16"), architecture)


@pytest.mark.parametrize(
    ("case", "refusal"),
    [
        (
            layer(tri.Gru, 2, 1, 3, 129),
            "gpu runs recurrent layers only with states of up to 128 elements",
        ),
        (
            layer(tri.Rnn, 2, 1, 3, 4, activations=("Softsign", "Tanh")),
            "gpu runs recurrent layers only with the activations Relu, Sigmoid and Tanh",
        ),
        (layer(tri.Rnn, 2, 1, 3, 128), None),
    ],
)
def test_what_is_refused(case: Case, refusal: str | None) -> None:
    with new_context(), ir.Location.unknown():
        group = build_ordered(case, [])
        (op,) = (each for each in group.members if not isinstance(each, tri.Constant))
        assert TARGET.refusal(op) == refusal


def reader() -> onnx.ModelProto:
    """Return a model of x[T, N, 6]: an LSTM of both directions, then a GRU on its sums."""
    random = np.random.default_rng(0)
    shapes = {
        "w": (2, 80, 6),
        "r": (2, 80, 20),
        "b": (2, 160),
        "v": (1, 27, 20),
        "s": (1, 27, 9),
    }
    nodes = [
        helper.make_node(
            "LSTM", ["x", "w", "r", "b", "lengths"], ["both"], "lstm",
            hidden_size=20, direction="bidirectional",
        ),
        helper.make_node("ReduceSum", ["both", "axis"], ["sums"], "sum", keepdims=0),
        helper.make_node("GRU", ["sums", "v", "s"], ["y", "last"], "gru", hidden_size=9),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "reader",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", "N", 6]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["N"]),
        ],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, ["T", 1, "N", 9]),
            helper.make_tensor_value_info("last", TensorProto.FLOAT, [1, "N", 9]),
        ],
        [
            *(
                numpy_helper.from_array(random.normal(0, 0.3, shape).astype(np.float32), name)
                for name, shape in shapes.items()
            ),
            numpy_helper.from_array(np.array([1], np.int64), "axis"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@needs_triton
def test_a_package_runs_all_lengths_on_the_gpu(stand_in: StandIn) -> None:
    ranges = {"T": trivium.Range(1, 64, likely=16), "N": trivium.Range(1, 64, likely=8)}
    package = trivium.build(reader(), target="gpu:sm_90", shapes=ranges)
    assert {step.kind for step in package.manifest.steps} == {"copy", "gpu"}
    other = onnxruntime.InferenceSession(reader().SerializeToString())
    stand_in.execute(package, lambda run: interpreted(package, run))
    random = np.random.default_rng(1)
    with Session(package, device=stand_in.device()) as session:
        for time, batch in ((3, 2), (1, 1), (4, 3), (3, 2)):
            stand_in.sizes = {"T": time, "N": batch}
            lengths = random.integers(1, time + 1, batch).astype(np.int32)
            lengths[0] = time
            feeds = {"x": random.standard_normal((time, batch, 6), np.float32), "lengths": lengths}
            results = session.run(feeds)
            assert not stand_in.errors
            for got, want in zip(results.values(), other.run(None, feeds), strict=True):
                np.testing.assert_allclose(got, want, 1e-4, 1e-5)
