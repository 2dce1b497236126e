"""Models that `pnnx` made of torch's operators, with what torch computed: ours must be the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from pnnx_suite import CASES, needs_suite
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.compiler.specialize import Specialized
from trivium.dialects.core import interpret
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.tensor import Array, Shape

UNORDERED = {
    "torch_topk": "asks for the greatest elements in no order, torch's own is an accident",
}
"""Cases whose numbers no contract gives, and why."""


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


def in_parts(array: Array) -> Array:
    """Return complex numbers as pairs of real ones, as the IR has them."""
    if array.dtype.kind != "c":
        return array
    return np.ascontiguousarray(array).view(np.float32).reshape(*array.shape, 2)


WAYS = [
    pytest.param(Reference, id="reference"),
    pytest.param(Native, id="cpu", marks=pytest.mark.slow),
]


@needs_suite
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, way: Any) -> None:
    if case.name in UNORDERED:
        pytest.skip(UNORDERED[case.name])
    data = np.load(case / "data.npz")
    inputs = {name: data[name] for name in data.files if name.startswith("in")}
    wanted = [in_parts(data[f"out{i}"]) for i in range(len(data.files) - len(inputs))]
    results = way(case / "model.pnnx.param")(inputs)
    assert [(r.shape, r.dtype) for r in results] == [(w.shape, w.dtype) for w in wanted]
    for result, want in zip(results, wanted, strict=True):
        if want.dtype.kind == "f":
            np.testing.assert_allclose(result, want, rtol=1e-3, atol=1e-4)
        else:
            np.testing.assert_array_equal(result, want)


@needs_suite
def test_the_suite_is_whole() -> None:
    assert len(CASES) == 263
