"""Functions that rearrange arrays are found again as slices, pads, reshapes and transposes."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.dialects import cpu
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.cpu.packing import pack_columns
from trivium.targets.cpu.layout.moves import Moves, find_moves, numbered

Array = np.ndarray
Function = Callable[[Array], Array]


def _found(shape: tuple[int, ...], function: Function) -> Moves:
    made = find_moves(shape, function(numbered(shape)))
    assert made is not None
    return made


def _check(shape: tuple[int, ...], function: Function) -> None:
    """Compare what is found with the function itself, on other numbers."""
    array = np.random.default_rng(0).standard_normal(shape)
    assert np.array_equal(_found(shape, function).apply(array), function(array))


PACKINGS: dict[str, tuple[tuple[int, ...], Function]] = {
    "columns": ((64, 48), lambda w: pack_columns(w, 16)),
    "columns with a rest": ((33, 50), lambda w: pack_columns(w, 16)),
    "fewer columns than a panel": ((64, 5), lambda w: pack_columns(w, 16)),
    "one column": ((64, 1), lambda w: pack_columns(w, 16)),
    "one column of kernels": ((1, 4, 3, 3), lambda w: cpu.pack_kernel_columns(w, 16)),
    "columns of a transpose": ((50, 64), lambda w: pack_columns(w.T, 8)),
    "kernels": ((17, 5, 3, 3), lambda w: cpu.pack_kernel_columns(w, 16)),
    "kernels of one tap": ((40, 24, 1, 1), lambda w: cpu.pack_kernel_columns(w, 16)),
    "groups": ((32, 8, 3, 3), lambda w: cpu.pack_group_columns(w, 2, 16)),
    "taps": ((32, 16, 3, 3), lambda w: cpu.tap_columns(w, 16)),
    "lanes": ((64, 1, 3, 3), lambda w: cpu.pack_lanes(w, 8)),
    "large blocks": ((20, 3, 2, 2), lambda w: cpu.split_kernels(w, 1, 6)[0]),
    "gates": ((2, 32, 8), lambda w: cpu.pack_recurrent(w, (4,), 6)),
    "rows of groups": ((20, 3, 2, 2), lambda w: cpu.split_kernels(w, 2, 4)[0]),
    "other rows of groups": ((22, 3, 2, 2), lambda w: cpu.split_kernels(w, 2, 4)[1]),
    "every other one": ((4, 6), lambda w: w[:, 1::2]),
    "packed again": ((3, 33, 16), lambda w: pack_columns(cpu.unpack_columns(w, 48), 8)),
}


@pytest.mark.parametrize("name", PACKINGS)
def test_packings_are_moves(name: str) -> None:
    _check(*PACKINGS[name])


@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    order=st.randoms(use_true_random=False),
    block=st.integers(1, 4),
)
def test_moves_in_any_order_are_found(shape: list[int], order: object, block: int) -> None:
    axes = list(range(len(shape)))
    order.shuffle(axes)  # type: ignore[attr-defined]
    after = -shape[-1] % block

    def move(w: Array) -> Array:
        padded = np.pad(w, [*[(0, 0)] * (w.ndim - 1), (0, after)])
        parts = padded.reshape(*shape[:-1], -1, block)
        return np.moveaxis(parts, -2, 0).transpose(0, *[1 + a for a in axes])

    _check(tuple(shape), move)


NOT_MOVES: dict[str, tuple[tuple[int, ...], Function]] = {
    "reversed": ((4, 6), lambda w: w[:, ::-1]),
    "every fourth of six": ((4, 6), lambda w: w[:, ::4]),
    "repeated": ((4, 6), lambda w: w.repeat(2, axis=0)),
    "zeros between": ((4, 6), lambda w: np.insert(w, [1, 2], 0, axis=1)),
    "zeros before": ((4, 6), lambda w: np.pad(w, [(0, 0), (1, 0)])),
    "exchanged": ((4, 6), lambda w: w[[1, 0, 2, 3]]),
    "a diagonal": ((4, 4), lambda w: np.diag(np.diag(w))),
    "parts of other widths": ((1, 30, 8), lambda w: cpu.pack_recurrent(w, (2, 1), 4)),
    "zeros inside": ((3, 33, 16), lambda w: pack_columns(cpu.unpack_columns(w, 41), 8)),
    "nothing": ((4, 6), lambda w: w[:0]),
}


@pytest.mark.parametrize("name", NOT_MOVES)
def test_what_is_no_move_is_not_found(name: str) -> None:
    shape, function = NOT_MOVES[name]
    assert find_moves(shape, function(numbered(shape))) is None


def test_a_slice_is_a_move() -> None:
    _check((4, 6, 2), lambda w: w[1:3, :, 1].T)


@pytest.mark.parametrize("name", ["columns with a rest", "one column", "kernels", "packed again"])
def test_ops_compute_what_the_function_does(name: str) -> None:
    shape, function = PACKINGS[name]
    moves = _found(shape, function)
    array = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    want = function(array)
    taken, given = ("x".join(map(str, s)) for s in (shape, want.shape))
    with new_context():
        module = Module.parse(f"""
            func.func @main(%x: tensor<{taken}xf32>) -> tensor<{taken}xf32>
                attributes {{trivium.inputs = ["x"], trivium.outputs = ["y"]}} {{
              return %x : tensor<{taken}xf32>
            }}""")
        block = module.main_block
        end = block.operations[len(block.operations) - 1]
        with ir.InsertionPoint(end), ir.Location.unknown(module.ir.context):
            made = moves.build(block.arguments[0])
        assert str(made.type) == f"tensor<{given}xf32>"
        end.operands[0] = made
        (got,) = run(module, [array])
    assert np.array_equal(got, want)
