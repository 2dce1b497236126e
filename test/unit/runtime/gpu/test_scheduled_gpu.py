"""Steps of a GPU, which is a stand-in here, under a scheduler: the host runs beside, and waits."""

import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from trivium.runtime.contents import Port
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.host.step import HostStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    ADD,
    BUFFERS,
    COMPUTE,
    DEVICE_X,
    DEVICE_Y,
    DOWNLOAD,
    KERNELS,
    RELU,
    SHAPE,
    UPLOAD,
    X,
    Y,
    buffer,
    expected,
    package,
    refusal,
)
from trivium.test.unit.runtime.gpu.stand_in import StandIn

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(SHAPE)
T, Z = 6, 7


def beside() -> Package:
    """Return the package of y = layer(2 layer(x)), with z = 3 x on the host meanwhile."""
    on_device = [replace(each, base=each.base + 1) for each in BUFFERS[2:]]
    buffers = (*BUFFERS[:2], *on_device, buffer("t", 0), replace(buffer("z", 5), shape=SHAPE))
    steps = (
        UPLOAD,
        COMPUTE,
        HostStep(op="toy.triple", operands=(X,), results=(Z,), nodes=("Triple_1",)),
        CopyStep(operands=(DEVICE_Y,), results=(T,)),
        HostStep(op="toy.double", operands=(T,), results=(T,), nodes=("Double_2",)),
        CopyStep(operands=(T,), results=(DEVICE_X,)),
        replace(COMPUTE, launches=(ADD, RELU)),
        DOWNLOAD,
    )
    outputs = (Port("y", SHAPE, "float32", Y), Port("z", SHAPE, "float32", Z))
    return package(steps, buffers=buffers, outputs=outputs)


@pytest.mark.parametrize("scheduler", [None, "parallel"])
def test_the_host_beside_a_gpu(stand_in: StandIn, scheduler: str | None) -> None:
    made = beside()
    stand_in.execute(made, KERNELS)
    threads: list[Any] = []

    def double(t: Any) -> Any:
        assert stand_in.records()[-1]["call"] == "cuStreamSynchronize" or scheduler is None
        return 2 * t

    def triple(t: Any) -> Any:
        threads.append(threading.current_thread())
        return 3 * t

    references = {"double": double, "triple": triple}
    dialect = {f"toy.{n}": lambda f=f: SimpleNamespace(reference=f) for n, f in references.items()}
    options = {"device": stand_in.device(), "scheduler": scheduler}
    with Session(made, {"toy": dialect}, **options) as session:
        for k in (1, 2, 3):
            results = session.run({"x": k * x})
            np.testing.assert_array_equal(results["y"], expected(2 * expected(k * x)))
            np.testing.assert_array_equal(results["z"], 3 * (k * x))
    elsewhere = scheduler is not None
    assert [each is not threading.current_thread() for each in threads] == [elsewhere] * 3


def test_a_replay_has_no_scheduler(stand_in: StandIn, layer: Package) -> None:
    with Session(layer, device=stand_in.device(), scheduler="parallel") as session:
        np.testing.assert_array_equal(session(x), expected(x))
        assert refusal(session.replay) == (
            "a replay has an order of its own: make the session without a scheduler"
        )
