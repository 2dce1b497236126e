"""What tests of several folders need: a GPU and a target that are not there."""

import gc
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from trivium.test.unit.runtime.gpu.stand_in import StandIn, build


@pytest.fixture(scope="session")
def stand_in_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the driver that stands in for that of a GPU."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    return build(tmp_path_factory.mktemp("stand_in"))


@pytest.fixture
def own_garbage() -> Iterator[None]:
    """Let the collector look only at what a test makes: all else in the process takes it long."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def stand_in(stand_in_library: Path, tmp_path: Path, own_garbage: None) -> Iterator[StandIn]:
    """Return such a driver; in the end everything must be freed, and nothing misused."""
    driver = StandIn(tmp_path, stand_in_library)
    yield driver
    gc.collect()
    assert not driver.errors
    assert driver.misuses == []
    assert driver.live == 0


@pytest.fixture
def npu(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a target that takes nothing but `tri.exp` and leaves the rest to the cpu.

    What it takes, numpy computes.
    """
    from trivium.dialects import tri
    from trivium.targets import installed, registry
    from trivium.targets.host.target import HostTarget
    from trivium.targets.memory import values

    class Npu(HostTarget):
        fallbacks = ("cpu", "host")

        def refusal(self, op):
            return None if isinstance(op, tri.Exp) else f"npu has no kernel for {op.op_name}"

    module = ModuleType("npu_of_tests")
    module.TARGET = Npu("npu")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    origin = installed.Origin("npu", "tests", module.__name__)
    for module in (values, registry):
        monkeypatch.setattr(module, "targets", lambda: (*installed.targets(), origin))
    return "npu"
