"""What tests of the GPU target share: a cache of their own, and whether Triton is there."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from trivium.targets.cache import VARIABLE

needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder
