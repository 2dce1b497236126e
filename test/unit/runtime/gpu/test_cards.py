"""Sessions on one card share context and weights, on two nothing; queues are their own."""

import numpy as np
from trivium.runtime.gpu.workspace import Workspace
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import SHAPE, expected
from trivium.test.unit.runtime.gpu.stand_in import StandIn

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(SHAPE)


def workspace(session: Session) -> Workspace:
    found = session._memory.spaces["gpu"]
    assert isinstance(found, Workspace)
    return found


def test_sessions_have_memory_and_queues_of_their_own(stand_in: StandIn, layer: Package) -> None:
    stand_in.configure("devices=2")
    cards = (0, 0, 1)
    sessions = [Session(layer, device=stand_in.device(card)) for card in cards]
    try:
        for factor in (1, -2):
            for session in sessions:
                np.testing.assert_array_equal(session(factor * x), expected(factor * x))
        spaces = [workspace(session) for session in sessions]
        assert [space.device.ordinal for space in spaces] == [*cards]
        assert spaces[0].device is spaces[1].device
        assert spaces[2].device is not spaces[0].device
        assert len({id(space) for space in spaces}) == 3
        assert len({space.stream.value.value for space in spaces}) == 3
        arenas, weights = zip(*(space.addresses.values() for space in spaces), strict=True)
        assert len({*arenas}) == 3
        assert weights[0] == weights[1] != weights[2]
    finally:
        for session in sessions:
            session.close()
    assert stand_in.misuses == []


def test_values_go_from_one_card_to_another_by_way_of_the_host(
    stand_in: StandIn, layer: Package
) -> None:
    """What one card returns is what the other takes: relu(relu(x + w) + w)."""
    stand_in.configure("devices=2")
    with (
        Session(layer, device=stand_in.device(0)) as first,
        Session(layer, device=stand_in.device(1)) as second,
    ):
        np.testing.assert_array_equal(second(first(x)), expected(expected(x)))
        devices = {workspace(first).device, workspace(second).device}
        assert len(devices) == 2
    assert stand_in.misuses == []
