"""Runs at sizes of which nothing is prepared: what they take, what they leave to the slots."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from trivium.runtime import Package, RunError, Session
from trivium.runtime.contents import FIRST_PORT, Buffer, Port, Symbol
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import SYMBOLIC_VERSION
from trivium.runtime.step import FoundSize
from trivium.test.unit.runtime.symbolic import DIALECTS, expected, feeds, symbolic_package


@pytest.fixture
def session() -> Session:
    return Session(symbolic_package(), DIALECTS)


def first(session: Session, given: Any) -> dict[str, Any] | None:
    assert session._plans is not None
    return session._plans._first(given)


def test_arrays_that_fit_are_bound_to_a_new_plan(session: Session):
    for n, t in ((2, 48), (3, 16), (2, 48)):
        results = first(session, feeds(n, t))
        assert results is not None
        for name, wanted in expected(n, t).items():
            np.testing.assert_array_equal(results[name], wanted)
    assert session._plans is not None
    assert list(session._plans._kept) == [((3, 16), (16,)), ((2, 48), (48,))]


X, M = np.ones((3, 32), np.float32), np.ones(32, np.float32)

ODD: dict[str, Any] = {
    "no dictionary": [X, M],
    "too few": {"x": X},
    "another name": {"x": X, "n": M},
    "no array": {"x": X.tolist(), "m": M},
    "another rank": {"x": M, "m": M},
    "another type": {"x": X.astype(np.int32), "m": M},
    "strided": {"x": np.asfortranarray(X), "m": M},
    "sizes that differ": {"x": X, "m": M[:16]},
    "sizes out of range": {"x": np.ones((1, 1024), np.float32), "m": M},
    "a check that fails": {"x": X[:, :0], "m": M[:0]},
}


@pytest.mark.parametrize("given", ODD.values(), ids=ODD)
def test_what_does_not_fit_is_left_to_others(session: Session, given: Any):
    assert first(session, given) is None
    assert not session._busy.locked()
    assert first(session, feeds(2, 48)) is not None


def test_a_session_that_runs_is_not_touched(session: Session):
    with session._busy:
        assert first(session, feeds(2, 48)) is None


HERE, THERE = Port("here", (2, "N"), "float32", 0), Port("there", (2, "N"), "float32", 3)
H, H1 = Port("h", (2,), "float32", 1), Port("h1", (2,), "float32", 4)
SEEN, NEXT = Port("seen", (1, "T"), "float32", 2), Port("next", (1, "N + T"), "float32", 5)


def step(here: Any, h: Any, seen: Any) -> tuple[Any, ...]:
    """Sum up rows, with what was there before, and list the first row."""
    if here[0, 0] < 0:
        raise ValueError("no sizes")
    total = here.sum(axis=1) + h
    return here + h[:, None] + seen.sum(), total, np.concatenate([seen, here[:1]], axis=1)


@pytest.fixture
def listing(scale: Package) -> Session:
    ports = (HERE, H, SEEN, THERE, H1, NEXT)
    manifest = replace(
        scale.manifest,
        version=SYMBOLIC_VERSION,
        symbols=(Symbol("N", 1, 2000, 1), Symbol("T", 0, 1 << 40, 8)),
        inputs=ports[:3],
        outputs=ports[3:],
        buffers=tuple(Buffer("", FIRST_PORT + i, 0, p.shape, p.dtype) for i, p in enumerate(ports)),
        steps=(HostStep(op="toy.list", operands=(0, 1, 2), results=(3, 4, 5), nodes=("list",)),),
        parts=(),
    )
    ops: Any = {"toy": {"toy.list": lambda: SimpleNamespace(reference=step)}}
    return Session(replace(scale, manifest=manifest), ops)


EMPTY = np.zeros((1, 0), np.float32)
PAIRS: dict[str, Any] = {
    "that grows": {"next": "seen"},
    "of one size": {"h1": "h"},
    "of both kinds": {"next": "seen", "h1": "h"},
}


@pytest.mark.parametrize("pairs", PAIRS.values(), ids=PAIRS)
def test_state_goes_on_at_any_sizes(listing: Session, pairs: dict[str, str]):
    """Odd runs are left to the slots: what they leave is what the next ones read."""
    rng, state = np.random.default_rng(0), {"h": np.zeros(2, np.float32), "seen": EMPTY}
    kept = set(pairs.values())
    listing.bind_state(pairs, {"seen": EMPTY} if "seen" in kept else {})
    for i, width in enumerate((3, 3, 1, 1500, 2, 2, 1500, 1)):
        here = rng.integers(0, 9, (2, width)).astype(np.float32)
        there, h1, after = step(here, state["h"], state["seen"])
        rest = {name: value for name, value in state.items() if name not in kept}
        given = {"here": np.asfortranarray(here) if i % 3 == 2 else here, **rest}
        results = listing.run(given) if i % 3 == 2 else first(listing, given)
        assert results is not None
        wanted = {"there": there, "h1": h1, "next": after}
        assert list(results) == [name for name in wanted if name not in pairs]
        for name, array in results.items():
            np.testing.assert_array_equal(array, wanted[name])
        state = {"h": h1, "seen": after}
        for name in kept:
            np.testing.assert_array_equal(listing.state[name], state[name])


def test_a_run_that_fails_leaves_state_and_session(listing: Session):
    listing.bind_state({"next": "seen"}, {"seen": EMPTY})
    h = np.zeros(2, np.float32)
    listing.run({"here": np.ones((2, 3), np.float32), "h": h})
    for width in (3, 1500):
        with pytest.raises(ValueError, match="no sizes"):
            first(listing, {"here": np.full((2, width), -1, np.float32), "h": h})
        assert not listing._busy.locked()
        np.testing.assert_array_equal(listing.state["seen"], np.ones((1, 3)))
    assert first(listing, {"here": np.ones((2, 1), np.float32), "h": h}) is not None
    np.testing.assert_array_equal(listing.state["seen"], np.ones((1, 4)))


def test_a_range_that_state_leaves_is_refused_with_its_reason(listing: Session):
    listing.bind_state({"next": "seen"}, {"seen": EMPTY})
    given = {"here": np.ones((2, 2001), np.float32), "h": np.zeros(2, np.float32)}
    assert first(listing, given) is None
    with pytest.raises(RunError, match="N is 2001, the package was compiled for 1 to 2000"):
        listing.run(given)


def positive(x: np.ndarray) -> np.ndarray:
    if np.isnan(x).any():
        raise ValueError("no order")
    return x[x > 0]


@pytest.fixture
def staged(scale: Package) -> Session:
    """Return a session that sums up numbers, and lists at most 5 that are above 0."""
    ports = (
        Port("x", ("N",), "float32", 0),
        Port("positive", ("U",), "float32", 1),
        Port("total", (1,), "float32", 2),
    )
    manifest = replace(
        scale.manifest,
        version=SYMBOLIC_VERSION,
        symbols=(Symbol("N", 1, None, 8), Symbol("U", 0, 5, 4, stage=1)),
        inputs=ports[:1],
        outputs=ports[1:],
        buffers=tuple(Buffer("", FIRST_PORT + i, 0, p.shape, p.dtype) for i, p in enumerate(ports)),
        steps=(
            HostStep(op="toy.sum", operands=(0,), results=(2,)),
            HostStep(
                op="toy.positive",
                operands=(0,),
                results=(1,),
                nodes=("pick",),
                finds=(FoundSize("U", 0, 0),),
            ),
        ),
        parts=(),
    )
    references: Any = {"toy.sum": lambda x: x.sum(keepdims=True), "toy.positive": positive}
    toy = {n: lambda f=f: SimpleNamespace(reference=f) for n, f in references.items()}
    return Session(replace(scale, manifest=manifest), {"toy": toy})


def test_sizes_are_found_in_the_middle(staged: Session):
    for numbers in ([1, -2, 3], [-4, -5, -6], [1, 2, 3], [7], [1, -2, 3, 4, 5, 6]):
        x = np.array(numbers, np.float32)
        for results in (first(staged, {"x": x}), staged.run({"x": x}), staged.run({"x": x})):
            assert results is not None
            assert list(results) == ["positive", "total"]
            assert results["positive"].tolist() == [n for n in numbers if n > 0]
            assert results["total"].tolist() == [sum(numbers)]


@pytest.mark.parametrize(
    ("numbers", "error", "message"),
    [
        ([1.0] * 6, RunError, "pick: error: finds 6 for size U, must be from 0 to 5"),
        ([np.nan, 1], ValueError, "no order"),
    ],
)
def test_what_fails_in_the_middle_leaves_the_session(
    staged: Session, numbers: list[float], error: type[Exception], message: str
):
    for run in (staged.run, lambda given: first(staged, given)):
        with pytest.raises(error, match=message):
            run({"x": np.array(numbers, np.float32)})
        assert not staged._busy.locked()
    assert staged(np.ones(3, np.float32))[0].tolist() == [1] * 3


def test_state_whose_size_is_found_is_refused(staged: Session):
    staged.bind_state({"positive": "x"}, {"x": np.ones(2, np.float32)})
    assert first(staged, {}) is None
    with pytest.raises(RunError, match="is found when the package runs: it can neither be given"):
        staged.run({})
