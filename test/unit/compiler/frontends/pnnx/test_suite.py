"""Models that `pnnx` made of torch's operators, with what torch computed: ours must be the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trivium
from pnnx_suite import CASES, needs_suite
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.compiler.specialize import Specialized
from trivium.dialects.core import interpret
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array, Shape
from trivium.tools.conformance.expectations import Expectations
from trivium.tools.conformance.results import PASSED
from trivium.tools.conformance.suites.pnnx import PnnxCase, in_parts

EXPECTED = Expectations.of_suite("pnnx")


class Reference:
    """Run a model by the reference of each op."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, inputs: Mapping[str, Array]) -> list[Array]:
        def make(shapes: Mapping[str, Shape], constants: Mapping[str, Array]) -> Any:
            return import_pnnx(self.path, constants=constants)

        with new_context():
            module, free = Specialized(make).get(inputs)
            return list(interpret.run(module, [in_parts(array) for array in free.values()]))


class Native:
    """Compile a model for the CPU and run it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, inputs: Mapping[str, Array]) -> list[Array]:
        def make(shapes: Mapping[str, Shape], constants: Mapping[str, Array]) -> Any:
            return trivium.compile(self.path, constants=constants)

        session, free = Specialized(make).get(inputs)
        return [in_parts(array) for array in session.run(free).values()]


WAYS = [
    pytest.param(Reference, id="reference"),
    pytest.param(Native, id="cpu", marks=pytest.mark.slow),
]


@needs_suite
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, way: Any) -> None:
    known = PnnxCase(case)
    inputs, wanted = known.data()
    results = way(case / "model.pnnx.param")(inputs)
    if EXPECTED.of(case.name, "cpu").result == PASSED:
        return known.compare(results, wanted)
    with pytest.raises(AssertionError):
        known.compare(results, wanted)
    return None


@needs_suite
def test_the_suite_is_whole() -> None:
    assert len(CASES) == 263
