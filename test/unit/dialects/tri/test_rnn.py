import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")

LENGTH, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6
LENS = np.array([5, 2, 4], np.int32)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


X = normal(LENGTH, BATCH, INPUTS)


def weights(module, order, suffixes, layer=0):
    """Take a torch module's weights, with the gates in ONNX's order."""
    state = {name: value.detach().numpy() for name, value in module.state_dict().items()}

    def sorted_gates(name):
        parts = np.split(state[name], len(order))
        return np.concatenate([parts[i] for i in order])

    w = np.stack([sorted_gates(f"weight_ih_l{layer}{s}") for s in suffixes])
    r = np.stack([sorted_gates(f"weight_hh_l{layer}{s}") for s in suffixes])
    names = [(f"bias_ih_l{layer}{s}", f"bias_hh_l{layer}{s}") for s in suffixes]
    b = np.stack([np.concatenate([sorted_gates(n) for n in pair]) for pair in names])
    return w, r, b


def torch_run(module, lens, states):
    sequence = torch.tensor(X)
    if lens is not None:
        sequence = torch.nn.utils.rnn.pack_padded_sequence(
            sequence, torch.tensor(lens).long(), enforce_sorted=False
        )
    y, last = module(sequence, states)
    if lens is not None:
        y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, total_length=LENGTH)
    return y.detach(), last


def close(got, want):
    np.testing.assert_allclose(got, want.detach(), 1e-5, 1e-6)


def joined(y):
    """Put directions side by side, as torch does."""
    return y.transpose(0, 2, 1, 3).reshape(*y.shape[::2], -1)


@pytest.mark.parametrize("lens", [None, LENS])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(
    ("op", "make", "order", "extra"),
    [
        (tri.Rnn, torch.nn.RNN, [0], {}),
        (tri.Gru, torch.nn.GRU, [1, 0, 2], {"linear_before_reset": True}),
        (tri.Lstm, torch.nn.LSTM, [0, 3, 1, 2], {}),
    ],
)
def test_recurrence_is_what_torch_computes(op, make, order, extra, bidirectional, lens):
    torch.manual_seed(0)
    module = make(INPUTS, HIDDEN, bidirectional=bidirectional)
    suffixes = ["", "_reverse"] if bidirectional else [""]
    given = {
        "hidden_size": HIDDEN,
        "direction": "bidirectional" if bidirectional else "forward",
        **extra,
    }
    count = 2 if op is tri.Lstm else 1
    states = [normal(len(suffixes), BATCH, HIDDEN, seed=i) for i in range(count)]
    tensors = tuple(map(torch.tensor, states))
    want, last = torch_run(module, lens, tensors if count == 2 else tensors[0])
    operands = [X, *weights(module, order, suffixes), lens, *states]
    y, *lasts = op(**given).reference(*operands)
    close(joined(y), want)
    for got, expected in zip(lasts, last if count == 2 else [last], strict=True):
        close(got, expected)
    types = [None if a is None else Tensor.of(a) for a in operands]
    assert op(**given).infer(*types) == tuple(map(Tensor.of, (y, *lasts)))


def test_the_other_layout_has_the_batch_first():
    w, r = normal(2, HIDDEN, INPUTS), normal(2, HIDDEN, HIDDEN, seed=1)
    initial = normal(2, BATCH, HIDDEN, seed=2)
    given = {"hidden_size": HIDDEN, "direction": "bidirectional"}
    y, y_h = tri.Rnn(**given).reference(X, w, r, None, LENS, initial)
    batch_first = (X.swapaxes(0, 1), w, r, None, LENS, initial.swapaxes(0, 1))
    swapped, swapped_h = tri.Rnn(**given, layout=1).reference(*batch_first)
    np.testing.assert_array_equal(swapped, y.transpose(2, 0, 1, 3))
    np.testing.assert_array_equal(swapped_h, y_h.swapaxes(0, 1))


def test_the_reverse_direction_begins_at_the_last_element():
    w, r = normal(1, HIDDEN, INPUTS), normal(1, HIDDEN, HIDDEN, seed=1)
    backward, _ = tri.Rnn(hidden_size=HIDDEN, direction="reverse").reference(X, w, r)
    forward, _ = tri.Rnn(hidden_size=HIDDEN).reference(X[::-1], w, r)
    np.testing.assert_array_equal(backward, forward[::-1])


ONE = np.ones((1, 1, 1), np.float32)


def one_step(op, gates, *states, result=-1, **attributes):
    """Run one step of one unit on a 1, with weights for the input and zeros for the state."""
    w = np.array(gates, np.float32).reshape(1, -1, 1)
    operands = [ONE, w, np.zeros_like(w), None, None, *(ONE * state for state in states)]
    return op(hidden_size=1, **attributes).reference(*operands)[result].item()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("name", "alpha", "beta", "want"),
    [
        ("Relu", None, None, 0.0),
        ("Tanh", None, None, np.tanh(-0.4)),
        ("Sigmoid", None, None, sigmoid(-0.4)),
        ("Affine", 2.0, 0.5, -0.3),
        ("LeakyRelu", 0.5, None, -0.2),
        ("LeakyRelu", None, None, -0.004),
        ("ThresholdedRelu", -1.0, None, -0.4),
        ("ScaledTanh", 2.0, 0.5, 2 * np.tanh(-0.2)),
        ("HardSigmoid", None, None, 0.42),
        ("Elu", None, None, np.expm1(-0.4)),
        ("Softsign", None, None, -0.4 / 1.4),
        ("Softplus", None, None, np.log1p(np.exp(-0.4))),
    ],
)
def test_activations_are_those_that_onnx_defines(name, alpha, beta, want):
    given = {"alphas": (alpha,), "betas": (beta,)}
    given = {key: value for key, value in given.items() if value != (None,)}
    got = one_step(tri.Rnn, [-0.4], activations=(name,), **given)
    assert got == pytest.approx(want, rel=1e-5)


def test_alphas_and_betas_go_to_the_activations_that_take_them():
    names = ("Affine", "Tanh", "LeakyRelu")  # gates are 0 * x + 1
    given = {"activations": names, "alphas": (0.0, 0.5), "betas": (1.0,)}
    got = one_step(tri.Lstm, [9, 9, 9, -0.3], result=1, **given)
    assert got == pytest.approx(0.5 * np.tanh(-0.3), rel=1e-5)


def test_clip_limits_what_activations_see():
    assert one_step(tri.Rnn, [3.0], clip=0.5) == pytest.approx(np.tanh(0.5), rel=1e-6)


def test_with_input_forget_the_forget_gate_is_one_minus_the_input_gate():
    got = one_step(tri.Lstm, [0.7, 9, 9, 0.2], 0.0, 2.0, input_forget=True)
    taken = sigmoid(0.7)
    assert got == pytest.approx((1 - taken) * 2 + taken * np.tanh(0.2), rel=1e-5)


def test_peepholes_let_gates_see_the_memory():
    y, y_h, y_c = tri.Lstm(hidden_size=1).reference(
        ONE,
        np.array([0.1, 0.2, 0.3, 0.4], np.float32).reshape(1, 4, 1),
        np.zeros((1, 4, 1), np.float32),
        None,
        None,
        ONE * 0,
        ONE * 2,
        np.array([[0.5, 0.6, 0.7]], np.float32),
    )
    memory = sigmoid(0.3 + 0.7 * 2) * 2 + sigmoid(0.1 + 0.5 * 2) * np.tanh(0.4)
    assert y_c.item() == pytest.approx(memory, rel=1e-5)
    want = sigmoid(0.2 + 0.6 * memory) * np.tanh(memory)
    assert y_h.item() == y.item() == pytest.approx(want, rel=1e-5)


def test_gru_resets_the_state_before_its_product_by_default():
    w = np.array([0, 0.5, 0.25], np.float32).reshape(1, 3, 1)
    r, b = np.zeros((1, 3, 1), np.float32), np.zeros((1, 6), np.float32)
    r[0, 2], b[0, 5] = 0.5, 0.75
    h = ONE * 2
    reset = sigmoid(0.5)
    before = np.tanh(0.25 + reset * 2 * 0.5 + 0.75)
    after = np.tanh(0.25 + reset * (2 * 0.5 + 0.75))
    for linear, new in ((False, before), (True, after)):
        _, y_h = tri.Gru(hidden_size=1, linear_before_reset=linear).reference(ONE, w, r, b, None, h)
        assert y_h.item() == pytest.approx(0.5 * new + 0.5 * 2, rel=1e-5)


def f32(*shape):
    return Tensor(shape, "f32")


GOOD = [f32(5, 3, 4), f32(1, 6, 4), f32(1, 6, 6), f32(1, 12), Tensor((3,), "i32"), f32(1, 3, 6)]


@pytest.mark.parametrize(
    ("index", "operand", "attributes", "message"),
    [
        (0, f32(5, 3), {}, "input has rank 2, must have 3"),
        (1, f32(1, 5, 4), {}, "w is tensor<1x5x4xf32>, must have shape 1x6x4"),
        (2, f32(1, 6, 5), {}, "r is tensor<1x6x5xf32>, must have shape 1x6x6"),
        (3, f32(1, 6), {}, "b is tensor<1x6xf32>, must have shape 1x12"),
        (4, Tensor((5,), "i32"), {}, "sequence_lens is tensor<5xi32>, must have shape 3"),
        (4, f32(3), {}, "sequence_lens has element type f32, must be i32 or i64"),
        (5, f32(3, 1, 6), {}, "initial state is tensor<3x1x6xf32>, must have shape 1x3x6"),
        (0, GOOD[0], {"direction": "up"}, "direction is 'up', must be one of forward"),
        (0, GOOD[0], {"layout": 2}, "layout is 2, must be 0 or 1"),
        (0, GOOD[0], {"clip": -1.0}, "clip is -1.0, must be at least 0"),
        (0, GOOD[0], {"activations": ("Tanh",) * 2}, "has 2 activations, must have 1"),
        (0, GOOD[0], {"activations": ("tanh",)}, "activation is 'tanh', must be one of Affine"),
    ],
)
def test_recurrence_refuses_what_does_not_fit(index, operand, attributes, message):
    operands = [*GOOD[:index], operand, *GOOD[index + 1 :]]
    with pytest.raises(Invalid, match=message):
        tri.Rnn(hidden_size=6, **attributes).infer(*operands)


def test_peepholes_of_another_shape_are_refused():
    operands = [f32(5, 3, 4), f32(1, 24, 4), f32(1, 24, 6), *[None] * 4, f32(1, 6)]
    with pytest.raises(Invalid, match="p is tensor<1x6xf32>, must have shape 1x18"):
        tri.Lstm(hidden_size=6).infer(*operands)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize(
    ("cell", "make", "order", "options"),
    [
        ("lstm", torch.nn.LSTM, (0, 3, 1, 2), {"bidirectional": True}),
        ("lstm", torch.nn.LSTM, (0, 3, 1, 2), {"proj_size": 2}),
        ("gru", torch.nn.GRU, (1, 0, 2), {"bidirectional": True}),
        ("relu", torch.nn.RNN, (0,), {"nonlinearity": "relu"}),
    ],
)
def test_stack_equals_torch(cell, make, order, options, batch_first):
    torch.manual_seed(0)
    module = make(INPUTS, HIDDEN, 3, batch_first=batch_first, **options)
    both = options.get("bidirectional", False)
    suffixes = ["", "_reverse"][: 1 + both]
    layers = [weights(module, order, suffixes, layer) for layer in range(3)]
    w, r, b = (list(part) for part in zip(*layers, strict=True))
    projections = [f"weight_hr_l{layer}" for layer in range(3) if "proj_size" in options]
    projection = [module.state_dict()[name].numpy()[None] for name in projections]
    x = X.swapaxes(0, 1) if batch_first else X
    sizes = [module.proj_size or HIDDEN, HIDDEN][: 1 + (cell == "lstm")]
    states = [torch.randn(3 * (1 + both), BATCH, size) for size in sizes]
    want, last = module(torch.tensor(x), tuple(states) if cell == "lstm" else states[0])
    attributes = {"cell": cell, "hidden_size": HIDDEN, "bidirectional": both}
    got = tri.RecurrentStack(**attributes, batch_first=batch_first).reference(
        x, w, r, b, projection, [s.numpy() for s in states]
    )
    for y, expected in zip(got, (want, *last) if cell == "lstm" else (want, last), strict=True):
        close(y, expected)
