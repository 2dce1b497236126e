"""The sizes of symbols from the shapes of arrays."""

import pytest
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.sizes.binding import (
    bind_symbols,
    decided_sizes,
    replaced,
    symbols_in,
)
from trivium.dialects.core.sizes.checks import Check
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.symbols import Range

N = symbol("N")
T = symbol("T", Range(1, 512))
E = symbol("E", Range(8, 64, step=8))


def test_symbols_are_sizes_of_axes_or_parts_of_them() -> None:
    sizes = bind_symbols(["x", "y"], [(N, 3, 2 * T), (T + 1, N)], [(5, 3, 8), (5, 5)])
    assert sizes == {"N": 5, "T": 4}


@pytest.mark.parametrize(
    ("declared", "shape", "message"),
    [
        ((N, 3), (4,), "input 'x' has rank 1, must have 2"),
        ((N, 3), (4, 5), "input 'x' has size 5 along axis 1, must be 3"),
        ((N, N), (4, 5), "input 'x' has size 5 along axis 1, must be N, where N = 4"),
        ((N, N + T), (4, 5), r"axis 1, must be N \+ T, of which no input gives T"),
        ((2 * N,), (5,), r"axis 0, must be 2\*N, of which no input gives N"),
        ((T,), (513,), "has size 513 along axis 0, so T is 513, must be from 1 to 512"),
        ((T,), (0,), "so T is 0, must be from 1 to 512"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    declared: tuple[int, ...], shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        bind_symbols(["x"], [declared], [shape])


def test_inputs_with_one_symbol_must_agree() -> None:
    with pytest.raises(Invalid, match=r"^input 'y' has size 3 along axis 0, must be T"):
        bind_symbols(["x", "y"], [(T,), (T,)], [(2,), (3,)])


def test_a_step_is_that_of_the_size() -> None:
    assert bind_symbols(["x"], [(E,)], [(24,)]) == {"E_8": 3}
    for size in (12, 72, 0):
        with pytest.raises(Invalid, match="input 'x' has size"):
            bind_symbols(["x"], [(E,)], [(size,)])


def test_attributes_are_sizes_or_tuples_of_them() -> None:
    value = ((N, 3), T * N, "text")
    assert set(symbols_in(value)) == {"N", "T"}
    assert replaced(value, {"N": 2, "T": 5}) == ((2, 3), 10, "text")
    assert replaced(value, {"T": 5}) == ((N, 3), 5 * N, "text")


def test_sizes_of_which_checks_leave_no_choice_are_decided() -> None:
    checks = [Check(64 - 2 * N, "==", "must be 64"), Check(T - 5, ">=", "must be 5 or more")]
    assert decided_sizes(checks) == {"N": 32}


def test_checks_that_leave_a_choice_or_none_decide_nothing() -> None:
    checks = [Check(N - T, "==", "must agree"), Check(2 * N - 3, "==", "must be 3")]
    assert decided_sizes([*checks, Check(N * T - 4, "==", "must be 4")]) == {}
