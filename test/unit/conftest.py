"""What tests of several folders need: a GPU that is not there."""

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from trivium.test.unit.runtime.gpu.stand_in import StandIn, build


@pytest.fixture(scope="session")
def stand_in_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the driver that stands in for that of a GPU."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    return build(tmp_path_factory.mktemp("stand_in"))


@pytest.fixture
def stand_in(stand_in_library: Path, tmp_path: Path) -> Iterator[StandIn]:
    """Return such a driver; in the end everything must be freed, and nothing misused."""
    driver = StandIn(tmp_path, stand_in_library)
    yield driver
    gc.collect()
    assert not driver.errors
    assert driver.misuses == []
    assert driver.live == 0
