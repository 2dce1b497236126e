"""Marks for tests of what older versions of torch do not do."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")


def before(version: str) -> bool:
    """Return whether torch is older than a version."""
    installed: Any = torch.__version__  # compares as a version does
    return installed < version


def needs_torch(version: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test in torch before a version, which does something else: the reason says what."""
    return pytest.mark.skipif(before(version), reason=f"torch before {version} {reason}")
