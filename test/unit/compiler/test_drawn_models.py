"""One compile of a drawn model with symbols equals, at all sizes, the model bound to them."""

import numpy as np
import pytest
import trivium
from drawn_models import drawn_input, drawn_model, drawn_sizes
from onnx.reference import ReferenceEvaluator


@pytest.mark.parametrize("seed", range(12))
def test_a_model_compiled_once_equals_the_model_compiled_for_each_size(seed: int) -> None:
    model = drawn_model(seed)
    session = trivium.compile(model, threads=2)
    for sizes in drawn_sizes(seed, 3):
        x = drawn_input(seed, model, sizes)
        known = {name: size for name, size in sizes.items() if name in session.symbols}
        static = trivium.compile(model, shapes=known)
        (want,) = static.run({"x": x}).values()
        (got,) = session.run({"x": x}).values()
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(12, 40))
def test_a_model_with_symbols_equals_the_reference_on_the_host(seed: int) -> None:
    model = drawn_model(seed)
    session = trivium.compile(model, target="host")
    evaluator = ReferenceEvaluator(model)
    for sizes in drawn_sizes(seed, 4):
        x = drawn_input(seed, model, sizes)
        (want,) = evaluator.run(None, {"x": x})
        (got,) = session.run({"x": x}).values()
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-4)
        assert session.shapes(**{n: sizes[n] for n in session.symbols})["y"] == want.shape
