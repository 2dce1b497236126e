"""Sessions of packages with symbols: sizes that change and repeat, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trivium.runtime import Package, RunError, Session
from trivium.runtime.contents import ARENA, SizeCheck
from trivium.runtime.plans.plan_cache import MOST_PLANS
from trivium.test.unit.runtime.clones import use_clones
from trivium.test.unit.runtime.symbolic import (
    DIALECTS,
    expected,
    feeds,
    symbolic_manifest,
    symbolic_package,
)

SIZES = [(2, 48), (1, 16), (2, 48), (3, 512), (5, 160), (1, 16), (7, 32)]


@pytest.fixture
def session() -> Session:
    return Session(symbolic_package(), DIALECTS)


def arena(session: Session) -> int:
    return session._bases.arrays[ARENA].size


def assert_runs(session: Session, n: int, t: int) -> None:
    results, wanted = session.run(feeds(n, t)), expected(n, t)
    assert results.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(results[name], array)


def refusal(session: Session, given: Any, outputs: Any = None) -> str:
    with pytest.raises(RunError) as caught:
        session.run(given, outputs)
    return str(caught.value)


def test_sizes_may_change_from_run_to_run(session: Session):
    for n, t in SIZES * 2:
        assert_runs(session, n, t)


def test_a_plan_is_kept_for_the_shapes_last_used(session: Session):
    plans = session._plans
    assert plans is not None
    for n in range(1, 2 * MOST_PLANS):
        assert_runs(session, n, 16)
    last = [((n, 16), (16,)) for n in range(MOST_PLANS, 2 * MOST_PLANS)]
    assert list(plans._kept) == last
    kept = {shapes: plans._kept[shapes] for shapes in last}
    for _ in range(3):
        assert_runs(session, 9, 16)
        assert_runs(session, 1, 16)
    assert list(plans._kept) == [*last[2:], last[1], ((1, 16), (16,))]
    assert plans._kept[last[1]] is kept[last[1]]


def test_a_package_survives_its_file(tmp_path: Path):
    path = tmp_path / "p.trv"
    symbolic_package().save(path)
    assert Package.open(path).manifest == symbolic_package().manifest
    assert_runs(Session(Package.open(path), DIALECTS), 3, 32)


def test_literals_and_odd_layouts_are_converted(session: Session):
    x = np.asfortranarray(feeds(3, 16)["x"])
    y = session.run({"x": x, "m": [float(i % 3) for i in range(16)]})["y"]
    np.testing.assert_array_equal(y, expected(3, 16)["y"])


def test_the_arena_grows_by_powers_of_two_and_is_given_back(session: Session):
    assert arena(session) == 0
    sizes: list[int] = []
    for n, t in [(1, 16), (2, 48), (1, 16), (3, 512)]:
        assert_runs(session, n, t)
        sizes.append(arena(session))
    assert sizes == [128, 1024, 1024, 16384]
    session.trim()
    assert arena(session) == 0
    assert_runs(session, 2, 48)
    assert arena(session) == 1024


def test_clones_run_at_once(session: Session):
    use_clones(
        session, 50, lambda twin, start, i: assert_runs(twin, *SIZES[(start + i) % len(SIZES)])
    )


def test_a_session_shows_its_symbols(session: Session):
    assert [port.shape for port in session.inputs] == [("N", "T"), ("T",)]
    assert session.outputs[0].shape == ("T", "N")
    assert session.symbols["T"].high == 512
    assert session.shapes(N=3, T=32) == {"y": (32, 3), "z": (48,)}
    assert "x f32[N, T], m f32[T] -> y f32[T, N]" in repr(session)


def test_outputs_of_the_caller_must_fit_the_sizes_of_the_run(session: Session):
    given, wanted = feeds(2, 16), expected(2, 16)
    y = np.empty((16, 2), np.float32)
    assert session.run(given, {"y": y})["y"] is y
    np.testing.assert_array_equal(y, wanted["y"])
    message = refusal(session, feeds(2, 32), {"y": y})
    assert message == "output 'y' has shape (16, 2), must be (32, 2)"


ONES = np.ones((3, 32), np.float32)


@pytest.mark.parametrize(
    ("x", "m", "message"),
    [
        (
            ONES,
            ONES[0, :16],
            "input 'm' has 16 for T along axis 0, input 'x' has 32 along axis 1",
        ),
        (
            np.ones((1, 600), np.float32),
            ONES[0],
            "input 'x' has 600 along axis 1: T is 600, the package was compiled for 0 to 512: "
            "compile again with shapes={'T': ...}",
        ),
        (
            ONES[:, :31],
            ONES[0],
            "input 'x' has 31 along axis 1: T is 31, must be a multiple of 16",
        ),
        (
            ONES[:0],
            ONES[0],
            "input 'x' has 0 along axis 0: N is 0, the package was compiled for 1 or more: "
            "compile again with shapes={'N': ...}",
        ),
        (
            ONES[:, :0],
            ONES[0, :0],
            "Slice_3: error: 'toy.halves' op has no elements (N is 3, T is 0)",
        ),
        (ONES[0], ONES[0], "input 'x' has shape (32,), must be (N, T)"),
        (ONES.astype(np.int32), ONES[0], "input 'x' is int32, must be float32: convert it first"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(session: Session, x: Any, m: Any, message: str):
    assert refusal(session, {"x": x, "m": m}) == message
    assert_runs(session, 2, 48)


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ({"N": 1}, "symbol 'T' is missing: give N, T"),
        ({"N": 1, "T": 16, "K": 2}, "there is no symbol 'K', there are N, T"),
        ({"N": 1, "T": 8}, "T is 8, must be a multiple of 16"),
        ({"N": 1, "T": 16.0}, "T is 16.0, must be a whole number"),
        ({"N": 1 << 45, "T": 512}, "must be from 0 to"),
    ],
)
def test_values_that_no_run_has_are_refused(session: Session, symbols: Any, message: str):
    with pytest.raises(RunError, match=r"^[^\n]*$") as caught:
        session.shapes(**symbols)
    assert message in str(caught.value)


def test_axes_whose_sizes_are_expressions_are_compared():
    manifest = symbolic_manifest()
    inputs = (*manifest.inputs[:1], replace(manifest.inputs[1], shape=("16*T_16 + N - N",)))
    buffers = list(manifest.buffers)
    buffers[1] = replace(buffers[1], shape=inputs[1].shape)
    package = Package.create(replace(manifest, inputs=inputs, buffers=tuple(buffers)), {})
    session = Session(package, DIALECTS)
    assert_runs(session, 2, 48)
    message = refusal(session, {"x": ONES, "m": ONES[0, :16]})
    assert message == "input 'm' has 16 for 16*T_16 + N - N along axis 0, must have 32"


def test_a_check_for_equality_refuses_greater_sizes():
    check = SizeCheck("2 - N", "==", "Add_1", "'tri.add' op needs N to be 2")
    session = Session(Package.create(replace(symbolic_manifest(), checks=(check,)), {}), DIALECTS)
    assert_runs(session, 2, 16)
    for n in (1, 3):
        message = refusal(session, feeds(n, 16))
        assert message == f"Add_1: error: 'tri.add' op needs N to be 2 (N is {n}, T is 16)"
