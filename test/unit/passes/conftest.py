"""A context for each test, and the examples of ops that the tests of dialects have."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from trivium.dialects import tri as tri
from trivium.dialects.core.mlir import ir, new_context

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dialects"))


@pytest.fixture
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context
