"""Gradients against differences of ONNX's reference evaluator, and optimisers against torch."""

import numpy as np
import onnx
import onnx.parser
import pytest
import torch
import trivium
from onnx.reference import ReferenceEvaluator
from trivium.dialects.core.errors import CompileError

HEAD = '<ir_version: 10, opset_import: ["" : 18, "ai.onnx.preview.training" : 1]>'

BODIES = {
    "elementwise": "p = Mul (a, b) q = Sub (p, a) r = Div (q, b) y = Tanh (r)",
    "broadcast": "s = ReduceMean <keepdims = 0> (b) p = Mul (a, s) y = Sigmoid (p)",
    "unary": "p = Exp (a) q = Log (b) r = Sqrt (p) t = Sin (q) u = Cos (r) y = Mul (u, t)",
    "product": "t = Transpose <perm = [1, 0]> (b) p = MatMul (a, t) y = Softplus (p)",
    "softmax": "p = Softmax <axis = 1> (a) q = LogSoftmax <axis = 0> (b) y = Mul (p, q)",
    "choice": """p = Max (a, b) q = Min (a, b) r = Relu (a) s = Abs (r) t = Add (p, s)
        y = Mul (q, t)""",
    "power": "two = Constant <value = double {2.5}> () p = Pow (b, two) y = Pow (p, a)",
    "shapes": """n = Constant <value = int64[1] {6}> () p = Reshape (a, n) q = Reshape (b, n)
        c = Concat <axis = 0> (p, q) w = Neg (p) d = Concat <axis = 0> (w, p) y = Mul (c, d)""",
    "sums": """i = Constant <value = int64[1] {1}> () s = ReduceSum <keepdims = 0> (a, i)
        y = Mul (s, s)""",
    "by one alone": "y = Mul (a, a)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_gradients_are_differences(body: str) -> None:
    ends = "da, db = ai.onnx.preview.training.Gradient <xs = ['a', 'b'], y = 'y'> (a, b)"
    ends = ends.replace("'", '"')
    ports = "(double[2, 3] a, double[2, 3] b)"
    made = onnx.parser.parse_model(
        f"{HEAD} g {ports} => (double[m, n] da, double[m, n] db) {{ {body} {ends} }}"
    )
    forward = onnx.parser.parse_model(f"{HEAD} g {ports} => (double y) {{ {body} }}")
    reference = ReferenceEvaluator(forward)
    generator = np.random.default_rng(0)
    feeds = {name: generator.uniform(0.5, 2, (2, 3)) for name in "ab"}
    got = trivium.compile(made).run(feeds)
    for name in "ab":
        expected = np.zeros((2, 3))
        for place in np.ndindex(2, 3):
            sums = []
            for step in (1e-6, -1e-6):
                moved = {**feeds, name: feeds[name].copy()}
                moved[name][place] += step
                sums.append(reference.run(None, moved)[0].sum())
            expected[place] = (sums[0] - sums[1]) / 2e-6
        np.testing.assert_allclose(got[f"d{name}"], expected, rtol=1e-5, atol=1e-6)


def test_the_gradient_of_erf_is_that_of_torch() -> None:
    made = onnx.parser.parse_model(
        f"""{HEAD} g (float[5] a) => (float[5] d) {{
            y = Erf (a)
            d = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
        }}"""
    )
    x = torch.linspace(-2, 2, 5, requires_grad=True)
    torch.erf(x).sum().backward()
    got = trivium.compile(made).run({"a": x.detach().numpy()})["d"]
    assert x.grad is not None
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=1e-5)


def test_a_gradient_is_taken_at_the_values_that_are_given() -> None:
    made = onnx.parser.parse_model(
        f"""{HEAD} g (float[3] a, float[3] c) => (float[3] d) {{
            y = Mul (a, a)
            d = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (c)
        }}"""
    )
    a, c = np.float32([1, 2, 3]), np.float32([5, 6, 7])
    np.testing.assert_array_equal(trivium.compile(made).run({"a": a, "c": c})["d"], 2 * c)


def test_an_op_without_a_gradient_is_named() -> None:
    made = onnx.parser.parse_model(
        f"""{HEAD} g (float[3] a) => (float[3] d) {{
            y = CumSum (a, zero)
            d = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
        }}""".replace("=> (float[3] d)", "=> (float[3] d) <int64 zero = {0}>")
    )
    with pytest.raises(CompileError, match=r"needs the gradient of 'tri\.cum_sum'"):
        trivium.compile(made)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_is_that_of_torch(nesterov: bool) -> None:
    mode = "nesterov" if nesterov else "standard"
    made = onnx.parser.parse_model(
        f"""{HEAD} g (float r, int64 t, float[4] x, float[4] g, float[4] v)
            => (float[4] xn, float[4] vn) {{
            xn, vn = ai.onnx.preview.training.Momentum <alpha = 0.9, beta = 1.0, mode = "{mode}",
                norm_coefficient = 0.01> (r, t, x, g, v)
        }}"""
    )
    x = torch.nn.Parameter(torch.linspace(-1, 2, 4))
    _steps(made, x, torch.optim.SGD([x], 0.1, 0.9, weight_decay=0.01, nesterov=nesterov), ["v"])


def test_adam_is_that_of_torch() -> None:
    made = onnx.parser.parse_model(
        f"""{HEAD} g (float r, int64 t, float[4] x, float[4] g, float[4] v, float[4] h)
            => (float[4] xn, float[4] vn, float[4] hn) {{
            xn, vn, hn = ai.onnx.preview.training.Adam <alpha = 0.9, beta = 0.99, epsilon = 1.0e-12,
                norm_coefficient = 0.01> (r, t, x, g, v, h)
        }}"""
    )
    x = torch.nn.Parameter(torch.linspace(-1, 2, 4))
    optimizer = torch.optim.Adam([x], 0.1, (0.9, 0.99), 1e-12, weight_decay=0.01)
    _steps(made, x, optimizer, ["v", "h"], first=1)


def test_adagrad_is_that_of_torch() -> None:
    made = onnx.parser.parse_model(
        f"""{HEAD} g (float r, int64 t, float[4] x, float[4] g, float[4] h)
            => (float[4] xn, float[4] hn) {{
            xn, hn = ai.onnx.preview.training.Adagrad <decay_factor = 0.1, epsilon = 1.0e-8,
                norm_coefficient = 0.01> (r, t, x, g, h)
        }}"""
    )
    x = torch.nn.Parameter(torch.linspace(-1, 2, 4))
    optimizer = torch.optim.Adagrad([x], 0.1, lr_decay=0.1, weight_decay=0.01, eps=1e-8)
    _steps(made, x, optimizer, ["h"])


def _steps(
    made: onnx.ModelProto,
    x: torch.nn.Parameter,
    optimizer: torch.optim.Optimizer,
    kept: list[str],
    first: int = 0,
) -> None:
    """Take four steps with torch and with the model, whose state is bound."""
    session = trivium.compile(made)
    session.bind_state(
        {"xn": "x", **{f"{name}n": name for name in kept}}, {"x": x.detach().numpy().copy()}
    )
    for step in range(4):
        gradient = torch.sin(x.detach() * (step + 1))
        session.run({"r": np.float32(0.1), "t": np.array(step + first), "g": gradient.numpy()})
        x.grad = gradient
        optimizer.step()
        np.testing.assert_allclose(session.state["x"], x.detach().numpy(), rtol=2e-6, atol=1e-7)
