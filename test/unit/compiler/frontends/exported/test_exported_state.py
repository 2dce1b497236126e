"""What programs of torch write to: buffers are state of a session, inputs have new values."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import Dim, export  # noqa: E402


class Averaged(nn.Module):
    """A counter that does not begin at 0, a moving average, statistics of batches."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("count", torch.tensor(5))
        self.register_buffer("mean", torch.arange(4.0))

    def forward(self, x: Any) -> Any:
        self.count += 1
        self.mean.mul_(0.9).add_(x.mean(0) * 0.1)
        return self.norm(x) + self.mean + self.count


class Cached(nn.Module):
    """Keys of earlier steps, written at a position that is state as well."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(3, 3)
        self.register_buffer("keys", torch.zeros(8, 3))
        self.register_buffer("position", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        self.keys.index_copy_(0, self.position[None], self.project(x)[None])
        self.position += 1
        return torch.softmax(self.keys @ x, 0)


class Delayed(nn.Module):
    """Return what came before; the buffer has the name of the argument."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("x", torch.ones(3, dtype=torch.complex64))

    def forward(self, x: Any) -> Any:
        before = self.x.clone()
        self.x.copy_(x)
        return before


class Changing(nn.Module):
    """Write to arguments."""

    def forward(self, x: Any, more: list[Any]) -> Any:
        x.add_(more[0])
        more[0][:, 0] = 7
        return x * 2


def _agrees(session: trivium.Session, net: nn.Module, inputs: Any) -> None:
    for x in inputs:
        with torch.no_grad():
            want = net(x).numpy()
        np.testing.assert_allclose(session(x.numpy()), want, atol=1e-5)
    for name, value in net.state_dict().items():
        if name in session.state:
            np.testing.assert_allclose(session.state[name], value.numpy(), atol=1e-5)


@pytest.mark.parametrize("target", ["cpu", "host"])
def test_buffers_are_state_that_begins_as_in_the_module(target: str) -> None:
    torch.manual_seed(0)
    net, inputs = Averaged().train(), [torch.randn(6, 4) for _ in range(3)]
    session = trivium.compile(export(net, (inputs[0],), strict=False), target=target)
    first = {name: value.numpy().copy() for name, value in net.state_dict().items()}
    _agrees(session, copy.deepcopy(net), inputs)
    assert session.state["count"] == 8
    assert session.state["norm.num_batches_tracked"] == 3
    session.reset_state()
    for name, value in session.state.items():
        np.testing.assert_array_equal(value, first[name])
    _agrees(session.clone(), copy.deepcopy(net), inputs)


def test_packages_have_what_state_begins_with(tmp_path: Path) -> None:
    net, x = Averaged().train(), torch.randn(6, 4)
    trivium.build(export(net, (x,), strict=False)).save(tmp_path / "net.trv")
    for session in (trivium.load(tmp_path / "net.trv"), trivium.compile(tmp_path / "net.trv")):
        _agrees(session, copy.deepcopy(net), [x, x + 1])


def test_a_module_in_inference_keeps_a_cache() -> None:
    torch.manual_seed(0)
    net = Cached()
    session = trivium.compile(net, torch.randn(3))
    assert [port.name for port in session.inputs] == ["x", "keys", "position"]
    assert net.position == 0
    _agrees(session, net, [torch.randn(3) for _ in range(5)])


def test_complex_state_of_the_name_of_an_input() -> None:
    session = trivium.compile(Delayed(), torch.ones(3, dtype=torch.complex64), target="host")
    assert list(session.state) == ["b_x"]
    np.testing.assert_array_equal(session(np.full(3, 2 - 1j, np.complex64)), np.ones(3))
    np.testing.assert_array_equal(session(np.zeros(3, np.complex64)), np.full(3, 2 - 1j))


def test_state_of_a_program_with_symbols_and_exact_sizes() -> None:
    net, x = Averaged().eval(), torch.randn(6, 4)
    program = export(net, (x,), dynamic_shapes=({0: Dim("N", min=2)},), strict=False)
    for exact in ((), ({"N": 6},)):
        session = trivium.compile(program, exact=exact)
        _agrees(session, copy.deepcopy(net), [x, x[:3], x + 1])


def test_inputs_have_new_values() -> None:
    x, more = torch.ones(2, 3), [torch.full((2, 3), 2.0)]
    session = trivium.compile(export(Changing(), (x, more), strict=False), target="host")
    feeds = {"x": x.numpy().copy(), "more_0": more[0].numpy().copy()}
    made = session.run(feeds)
    want = Changing()(x, more).numpy()
    assert list(made) == ["out0", "x.next", "more_0.next"]
    np.testing.assert_array_equal(made["out0"], want)
    np.testing.assert_array_equal(made["x.next"], x.numpy())
    np.testing.assert_array_equal(made["more_0.next"], more[0].numpy())
    assert feeds["x"][0, 0] == 1


def test_a_session_binds_the_inputs_that_a_model_changes() -> None:
    x = torch.ones(2, 3)
    session = trivium.compile(export(Changing(), (x, [x.clone()]), strict=False), target="host")
    session.bind_state(initial={"x": np.ones((2, 3), "f"), "more_0": np.ones((2, 3), "f")})
    given, more = torch.ones(2, 3), [torch.ones(2, 3)]
    for _ in range(3):
        np.testing.assert_array_equal(session.run({})["out0"], Changing()(given, more).numpy())
    np.testing.assert_array_equal(session.state["x"], given.numpy())


def test_a_model_that_changes_nothing_has_nothing_to_bind() -> None:
    session = trivium.compile(nn.ReLU(), torch.ones(2), target="host")
    with pytest.raises(trivium.RunError, match="the model changes no inputs"):
        session.bind_state()


def test_constants_in_place_of_inputs_that_change() -> None:
    x = torch.ones(2, 3)
    program = export(Changing(), (x, [x.clone()]), strict=False)
    session = trivium.compile(program, constants={"x": np.ones((2, 3), "f")}, target="host")
    made = session.run({"more_0": np.ones((2, 3), "f")})
    assert (made["x.next"] == 2).all()
    assert [pair.input for pair in session.manifest.carried] == ["more_0"]
