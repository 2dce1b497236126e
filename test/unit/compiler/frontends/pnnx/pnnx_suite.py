"""Find the suite of PNNX models that lies beside the checkout, if it does."""

from pathlib import Path

import pytest

_PLACES = (parent / "shared" / "suites" / "pnnx" for parent in Path(__file__).resolve().parents)
SUITE = next((place for place in _PLACES if place.is_dir()), None)
CASES = sorted(path.parent for path in SUITE.glob("*/model.pnnx.param")) if SUITE else []

needs_suite = pytest.mark.skipif(not CASES, reason="no suite of PNNX models beside the checkout")
