"""Sessions of one step for tests of state."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from trivium.runtime import Package, Session
from trivium.runtime.contents import FIRST_PORT, Buffer, Port
from trivium.runtime.host.step import HostStep
from trivium.test.unit.runtime.carried.toy import H1, H, Toy, X, Y, cell


@pytest.fixture(scope="session")
def toy(scale: Package) -> Toy:
    """Return a function that makes a session whose only step is a function of all inputs."""

    def make(
        reference: Callable[..., Any] = cell,
        inputs: Sequence[Port] = (X, H),
        outputs: Sequence[Port] = (Y, H1),
        **change: Any,
    ) -> Session:
        ports = [*inputs, *outputs]
        count = len(inputs)
        manifest = replace(
            scale.manifest,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            buffers=tuple(
                Buffer("", FIRST_PORT + i, 0, port.shape, port.dtype)
                for i, port in enumerate(ports)
            ),
            steps=(
                HostStep(
                    op="toy.step",
                    operands=tuple(range(count)),
                    results=tuple(range(count, len(ports))),
                    nodes=("step",),
                ),
            ),
            parts=(),
        )
        manifest = replace(manifest, **change)
        ops: Any = {"toy": {"toy.step": lambda: SimpleNamespace(reference=reference)}}
        return Session(replace(scale, manifest=manifest), ops)

    return make


@pytest.fixture
def bound(toy: Toy) -> Session:
    session = toy()
    session.bind_state({"h1": "h"})
    return session
