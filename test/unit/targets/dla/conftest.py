"""What tests of an accelerator share: a context to build IR in."""

from collections.abc import Iterator

import pytest
from trivium.dialects.core.mlir import ir, new_context


@pytest.fixture
def context() -> Iterator[ir.Context]:
    """Enter a context, and a location for what is built."""
    with new_context() as context, ir.Location.unknown():
        yield context
