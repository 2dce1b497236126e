"""What the interpreter of kernels does not run, and how it says so."""

from collections.abc import Callable

import numpy as np
import pytest
from tile_kernels import Value, add, full, load, loop, memory, run, store
from trivium.dialects import tile
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.mlir import ir


def where() -> Value:
    return tile.ProgramId.build(axis=0).y


FAULTS: dict[str, tuple[Callable[..., object], str]] = {
    "load behind the end": (
        lambda x: load(x, where(), low=(0,)),
        "program (4,) of 'kernel': 'tile.load' op is at 4 of dimension 0, which has size 4",
    ),
    "load before the beginning": (
        lambda x: load(x, add(where(), -1), high=(0,)),
        "program (0,) of 'kernel': 'tile.load' op is at -1 of dimension 0, which has size 4",
    ),
    "store behind the end": (
        lambda x: store(full(1, "f32"), x, add(where(), 3)),
        "program (1,) of 'kernel': 'tile.store' op is at 4 of dimension 0, which has size 4",
    ),
    "one element of many": (
        lambda x: load(x, add(where(), tile.Arange.build(block="4").y)),
        "program (1,) of 'kernel': 'tile.load' op is at 4 of dimension 0, which has size 4",
    ),
    "a loop that stands": (
        lambda x: loop(0, 4, add(where(), -1), [], lambda i: []),
        "program (0,) of 'kernel': 'tile.for' op has a step of -1, must be positive",
    ),
    "in a loop": (
        lambda x: loop(0, 9, 3, [], lambda i: (load(x, i), [])[1]),
        "program (0,) of 'kernel': 'tile.load' op is at 6 of dimension 0, which has size 4",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_name_the_program_and_the_op(name: str) -> None:
    body, message = FAULTS[name]
    with pytest.raises(Invalid) as caught:
        run(body, [memory(4)], [np.zeros(4, np.float32)], ["5"])
    assert str(caught.value) == message


def test_faults_name_the_place_in_the_source() -> None:
    def body(x: Value) -> None:
        with ir.Location.name("rows"):
            load(x, full(7))

    with pytest.raises(Invalid, match=r"rows: 'tile.load' op is at 7 of dimension 0"):
        run(body, [memory(4)], [np.zeros(4, np.float32)])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 2), np.float32), "argument 0 must be a flat array of float32"),
        (np.zeros(8, np.float32)[::2], "argument 0 must be a flat array of float32"),
        (np.zeros(4), "argument 0 must be a flat array of float32"),
        (np.zeros(3, np.float32), "argument 0 has 3 elements, must have 4"),
    ],
)
def test_arrays_that_are_no_memory(array: np.ndarray, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        run(lambda x: None, [memory(4)], [array])


def test_padding_is_read_without_touching_memory() -> None:
    """Indices out of bounds may be as far out as their type goes."""
    x = np.ones(4, np.float32)

    def body(target: Value) -> None:
        for far in (-(2**31), 2**31 - 1):
            store(load(target, full(far), low=(0,), high=(0,), pad=2.0), target, full(0))

    run(body, [memory(4)], [x])
    assert x.tolist() == [2, 1, 1, 1]
