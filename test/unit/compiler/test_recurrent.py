"""Recurrent layers on packed weights, beside ONNX Runtime."""

import numpy as np
import onnx
import pytest
import trivium
from onnx import TensorProto, helper, numpy_helper
from trivium.runtime.cpu.part import CpuPart

onnxruntime = pytest.importorskip("onnxruntime")

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LENGTH, INPUTS = 7, 5


def model_of(
    kind: str,
    hidden: int,
    batch: int,
    states: bool,
    *,
    peepholes: bool = False,
    lengths: bool = False,
    **attributes: object,
):
    random = np.random.default_rng(0)
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    width = GATES[kind] * hidden
    shapes = {
        "w": (directions, width, INPUTS),
        "r": (directions, width, hidden),
        "b": (directions, 2 * width),
        "p": (directions, 3 * hidden),
    }
    if not peepholes:
        del shapes["p"]
    weights = {
        name: (random.standard_normal(shape) / max(3, hidden**0.5)).astype(np.float32)
        for name, shape in shapes.items()
    }
    state = [directions, batch, hidden]
    given = ["h", "c"][: len(ENDS[kind])] if states else []
    more = ["", "", "p"][len(given) :] if peepholes else []
    node = helper.make_node(
        kind,
        ["x", "w", "r", "b", "n" if lengths else "", *given, *more],
        ["y", *ENDS[kind]],
        hidden_size=hidden,
        **attributes,
    )
    graph = helper.make_graph(
        [node],
        "layer",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [LENGTH, batch, INPUTS]),
            *(helper.make_tensor_value_info(name, TensorProto.FLOAT, state) for name in given),
            *([helper.make_tensor_value_info("n", TensorProto.INT32, [batch])] if lengths else []),
        ],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [LENGTH, *state]),
            *(helper.make_tensor_value_info(end, TensorProto.FLOAT, state) for end in ENDS[kind]),
        ],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    inputs = {
        value.name: random.standard_normal(
            [d.dim_value for d in value.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for value in graph.input
        if value.name != "n"
    }
    counts = random.integers(1, LENGTH, batch, np.int32, endpoint=True)
    return model, inputs | ({"n": counts} if lengths else {})


ENDS = {"RNN": ["y_h"], "GRU": ["y_h"], "LSTM": ["y_h", "y_c"]}


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("RNN", {}),
        ("RNN", {"direction": "bidirectional", "activations": ["Relu", "Tanh"]}),
        ("GRU", {"linear_before_reset": 1}),
        ("GRU", {"linear_before_reset": 0, "direction": "reverse"}),
        ("GRU", {"linear_before_reset": 1, "direction": "bidirectional"}),
        ("LSTM", {"direction": "bidirectional"}),
        ("LSTM", {"direction": "reverse"}),
        ("RNN", {"clip": 0.25}),
        ("GRU", {"linear_before_reset": 0, "direction": "bidirectional", "clip": 0.25}),
        ("LSTM", {"peepholes": True, "direction": "bidirectional"}),
        ("LSTM", {"peepholes": True, "clip": 0.5, "input_forget": 1}),
        *[
            ("RNN", {"activations": [name], "activation_alpha": [0.3], "activation_beta": [0.7]})
            for name in ("Affine", "Elu", "HardSigmoid", "LeakyRelu", "ScaledTanh")
        ],
        *[("RNN", {"activations": [name]}) for name in ("Softplus", "Softsign")],
        ("RNN", {"activations": ["ThresholdedRelu"], "activation_alpha": [0.1]}),
        ("GRU", {"linear_before_reset": 1, "activations": ["HardSigmoid", "Tanh"]}),
        (
            "LSTM",
            {
                "direction": "bidirectional",
                "activations": ["HardSigmoid", "Tanh", "Elu", "Sigmoid", "Affine", "LeakyRelu"],
                "activation_alpha": [0.2, 0.5, 0.9, 0.1],
                "activation_beta": [0.5, 0.1],
            },
        ),
        ("RNN", {"lengths": True, "direction": "reverse"}),
        ("GRU", {"lengths": True, "linear_before_reset": 0, "direction": "bidirectional"}),
        ("LSTM", {"lengths": True, "direction": "bidirectional"}),
        ("LSTM", {"lengths": True, "peepholes": True}),
    ],
)
@pytest.mark.parametrize(
    ("hidden", "batch", "states"), [(3, 1, True), (20, 1, False), (33, 3, True)]
)
def test_agrees(
    kind: str, attributes: dict[str, object], hidden: int, batch: int, states: bool
) -> None:
    model, inputs = model_of(kind, hidden, batch, states, **attributes)
    session = trivium.compile(model, threads=2)
    names = {op for kernel in session.manifest.part(CpuPart).kernels for op in kernel.ops}
    assert f"cpu.packed_{kind.lower()}" in names
    peer = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    wanted = peer.run(None, inputs)
    made = session.run(inputs)
    for name, want in zip(["y", *ENDS[kind]], wanted, strict=True):
        np.testing.assert_allclose(made[name], want, rtol=1e-5, atol=1e-5)
    alone = trivium.compile(model, threads=1).run(inputs)
    assert all(np.array_equal(alone[name], made[name]) for name in made)


@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("RNN", {}),
        ("GRU", {"linear_before_reset": 1, "direction": "reverse"}),
        ("LSTM", {"peepholes": True}),
    ],
)
def test_threads_share_the_steps_of_wide_layers(
    kind: str, attributes: dict[str, object], batch: int, lengths: bool
) -> None:
    """Of so many units, each thread does some in each step; the lengths may be those of a run."""
    model, inputs = model_of(kind, 330, batch, True, lengths=lengths, **attributes)
    dim = model.graph.input[0].type.tensor_type.shape.dim[0]
    for free in (False, True):
        if free:
            dim.dim_param = model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "T"
        alone = trivium.compile(model, threads=1).run(inputs)
        session = trivium.compile(model, threads=3)
        for _ in range(20):
            made = session.run(inputs)
            assert all(np.array_equal(alone[name], made[name]) for name in made)
        wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
        for name, want in zip(["y", *ENDS[kind]], wanted, strict=True):
            np.testing.assert_allclose(made[name], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", GATES)
def test_one_session_runs_any_batch_and_lengths_on_packed_weights(kind: str) -> None:
    most = 11
    model, inputs = model_of(kind, 20, most, True, lengths=True, direction="bidirectional")
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value == most:
                dim.dim_param = "N"
    session = trivium.compile(model, threads=2)
    names = {op for kernel in session.manifest.part(CpuPart).kernels for op in kernel.ops}
    assert f"cpu.packed_{kind.lower()}" in names
    peer = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for batch in (1, 4, most):
        feeds = {
            name: array[:batch] if name == "n" else array[:, :batch].copy()
            for name, array in inputs.items()
        }
        made = session.run(feeds)
        for name, want in zip(["y", *ENDS[kind]], peer.run(None, feeds), strict=True):
            np.testing.assert_allclose(made[name], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("kind", list(GATES))
def test_layers_with_the_batch_in_front(kind: str, direction: str, opt_level: int) -> None:
    """ONNX Runtime lacks layout 1: it runs the layer of layout 0, and numpy swaps the axes."""
    model, inputs = model_of(kind, 6, 3, True, lengths=True, direction=direction)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    (node,) = model.graph.node
    node.attribute.append(helper.make_attribute("layout", 1))
    for value in (*model.graph.input, *model.graph.output):
        shape = value.type.tensor_type.shape.dim
        sizes = [dim.dim_value for dim in shape]
        order = [2, 0, 1, 3] if value.name == "y" else [1, 0, 2][: len(sizes)]
        for dim, axis in zip(shape, order if len(sizes) > 1 else [0], strict=True):
            dim.dim_value = sizes[axis]
    session = trivium.compile(model, opt_level=opt_level)
    assert {step.kind for step in session.manifest.steps} == {"cpu"}
    swapped = {n: a if a.ndim == 1 else a.swapaxes(0, 1).copy() for n, a in inputs.items()}
    y, *lasts = session.run(swapped).values()
    np.testing.assert_allclose(y, expected[0].transpose(2, 0, 1, 3), 1e-4, 1e-5)
    for last, wanted in zip(lasts, expected[1:], strict=True):
        np.testing.assert_allclose(last, wanted.swapaxes(0, 1), 1e-4, 1e-5)
