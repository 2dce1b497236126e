"""Programs that work tile by tile compute what their ops do on whole tensors."""

from collections.abc import Iterator

import numpy as np
import pytest
from dla_programs import built, outputs
from dla_tiling import OPS, network
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("seed", range(12))
def test_an_op_in_tiles_is_the_op(op: str, seed: int) -> None:
    check(seed, op)


@pytest.mark.parametrize("seed", range(100, 140))
def test_a_network_in_tiles_is_the_network(seed: int) -> None:
    check(seed)


def check(seed: int, *names: str) -> None:
    made = network(seed, *names)
    module = built(made.plan)
    module.verify()
    text = str(module)
    parsed = Module.parse(text)
    assert str(parsed) == text
    (y,) = outputs(parsed, made.inputs)
    channels = made.value.shape[3]
    assert y[..., :channels].tolist() == made.value.tolist()
    padding = y[..., channels:]
    zero = made.plan.steps[-1 - stores(made.plan.steps)].attributes.get("destination_zero", 0)
    assert (padding == zero).all() or not padding.size


def stores(steps: list) -> int:
    """Count the stores at the end of a program."""
    names = [step.op.op_name for step in steps]
    return names.count("dla.store")


def test_what_nothing_wrote_shows() -> None:
    """A program that forgets to load computes on bytes that are neither 0 nor the input's."""
    made = network(3, "copy")
    made.plan.steps = [step for step in made.plan.steps if step.op.op_name != "dla.load"]
    (y,) = outputs(built(made.plan), made.inputs)
    assert not np.array_equal(y[..., : made.value.shape[3]], made.value)
