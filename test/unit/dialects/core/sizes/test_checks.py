"""Requirements on sizes: decided where the ranges of symbols do, else left for a run to check."""

import pickle

import pytest
from trivium.dialects.core.errors import Invalid, Undecided
from trivium.dialects.core.sizes.binding import verify_checks
from trivium.dialects.core.sizes.checks import (
    Check,
    collected_checks,
    need,
    need_divides,
    need_if_any,
    need_same,
    need_same_shape,
    need_static,
)
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.symbols import Range

T = symbol("T", Range(4, 9))
N = symbol("N")
EMPTY = symbol("Z", Range(low=0))


def test_what_holds_for_all_sizes_needs_no_check() -> None:
    with collected_checks() as checks:
        need(T, 4, "too few")
        need_same(T + N, N + T, "differ")
        need_divides(6 * N, 3, "does not divide")
        need_divides(T * N, N, "does not divide")
        need_same_shape((T, 3), (T, 3), "differ")
        need_if_any(0, -1, 0, "not there")
        need_if_any(T, N, 1, "not there")
    assert not checks


def test_what_holds_for_no_size_is_invalid() -> None:
    for fault in (
        lambda: need(T, 10, "wrong"),
        lambda: need_same(T, 10, "wrong"),
        lambda: need_same(2 * N, 3, "wrong"),
        lambda: need_divides(2 * N + 1, 2, "wrong"),
        lambda: need_divides(N, 0, "wrong"),
        lambda: need_same_shape((T,), (T, T), "wrong"),
        lambda: need_if_any(T, -N, 0, "wrong"),
    ):
        with pytest.raises(Invalid, match=r"^wrong$"):
            fault()


def test_what_depends_on_a_run_is_collected_once_and_in_order() -> None:
    with collected_checks() as checks:
        need(N, T, "too few")
        need_same(N, T, "differ")
        need(N, T, "too few")
        need_divides(N, 4, "is no multiple")
    assert list(checks) == [
        Check(N - T, ">=", "too few"),
        Check(N - T, "==", "differ"),
        Check(N - N // 4 * 4, "==", "is no multiple"),
    ]


def test_without_somebody_who_collects_checks_nothing_is_kept() -> None:
    need(N, T, "too few")
    with collected_checks() as outer:
        with collected_checks() as inner:
            need(N, T, "too few")
        assert len(inner) == 1
    assert not outer


@pytest.mark.parametrize(("count", "place", "holds"), [(0, 7, True), (1, 7, False), (2, 3, True)])
def test_what_is_needed_of_elements_holds_without_any(count: int, place: int, holds: bool) -> None:
    with collected_checks() as checks:
        need_if_any(EMPTY, 5, N, "is not there")
    sizes = {"Z": count, "N": place}
    if holds:
        verify_checks(checks, sizes)
        return
    with pytest.raises(Invalid, match=r"^is not there, where N = 7, Z = 1$"):
        verify_checks(checks, sizes)


def test_a_divisor_that_may_be_zero_must_not_be() -> None:
    with collected_checks() as checks:
        need_divides(N, EMPTY, "does not divide")
    verify_checks(checks, {"N": 6, "Z": 3})
    for divisor in (0, 4):
        with pytest.raises(Invalid, match="does not divide"):
            verify_checks(checks, {"N": 6, "Z": divisor})


def test_a_static_size_is_itself_and_another_one_names_its_symbols() -> None:
    assert need_static(3, "size") == 3
    with pytest.raises(Undecided, match=r"^depth is N \+ T, must be known .*: bind N, T$"):
        need_static(T + N, "depth")


def test_checks_have_one_of_two_relations_and_are_values() -> None:
    with pytest.raises(ValueError, match="relation '<' must be == or >="):
        Check(N, "<", "wrong")
    check = Check(N - T, ">=", "wrong", "conv_1")
    assert pickle.loads(pickle.dumps(check)) == check
    with pytest.raises(Invalid, match=r"^conv_1: wrong, where N = 3, T = 4$"):
        verify_checks([check], {"N": 3, "T": 4})
