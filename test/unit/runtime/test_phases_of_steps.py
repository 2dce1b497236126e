"""When the methods of a step are called: for a package, for a session, for sizes, for each run."""

import gc
import weakref
from collections import Counter
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from trivium.runtime.contents import ARENA, Contents
from trivium.runtime.host.step import HostStep
from trivium.runtime.loader import Loader
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.state import SessionState
from trivium.runtime.step import Bind, Run
from trivium.test.unit.runtime.symbolic import DIALECTS, expected, feeds, symbolic_package

calls: Counter[str] = Counter()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Counted(HostStep):
    """Do what a step on the host does, and count the calls."""

    kind: ClassVar[str] = "counted_in_tests"

    def check(self, contents: Contents, where: str) -> None:
        calls["check"] += 1
        super().check(contents, where)

    def load(self, loader: Loader) -> Bind:
        calls["load"] += 1
        bind = super().load(loader)

        def counted(state: SessionState) -> Run:
            calls["bind"] += 1
            run = bind(state)

            def once() -> None:
                calls["run"] += 1
                run()

            return once

        return counted


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    calls.clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of a package whose first step counts its calls."""
    package = symbolic_package()
    first, *others = package.manifest.steps
    known = {each.name: getattr(first, each.name) for each in fields(first)}
    manifest = replace(package.manifest, steps=(Counted(**known), *others))
    Package.create(manifest, {}).save(tmp_path / "counted.trv")
    return tmp_path / "counted.trv"


def assert_runs(session: Session, n: int, t: int) -> None:
    results, wanted = session.run(feeds(n, t)), expected(n, t)
    for name, array in wanted.items():
        np.testing.assert_array_equal(results[name], array)


def test_a_step_is_checked_and_loaded_once_and_bound_for_each_shape(file: Path) -> None:
    calls.clear()
    package = Package.open(file)
    session = Session(package, DIALECTS)
    assert calls == {"check": 1, "load": 1}
    for _ in range(10):
        assert_runs(session, 2, 48)
    assert calls == {"check": 1, "load": 1, "bind": 1, "run": 10}
    assert_runs(session, 3, 16)
    assert calls == {"check": 1, "load": 1, "bind": 2, "run": 11}
    assert_runs(session, 2, 48)  # its plan is kept
    assert calls == {"check": 1, "load": 1, "bind": 2, "run": 12}


def test_clones_bind_what_was_loaded_once(file: Path) -> None:
    session = Session(Package.open(file), DIALECTS)
    calls.clear()
    for n, clone in enumerate([session.clone() for _ in range(3)], 1):
        assert_runs(clone, n, 16)
    assert calls == {"bind": 3, "run": 3}


def test_nothing_of_a_step_changes_when_it_runs(file: Path) -> None:
    session = Session(Package.open(file), DIALECTS)
    step = session.manifest.steps[0]
    before = {each.name: getattr(step, each.name) for each in fields(step)}
    assert_runs(session, 2, 48)
    assert {each.name: getattr(step, each.name) for each in fields(step)} == before
    with pytest.raises(FrozenInstanceError):
        step.nodes = ()  # type: ignore[misc]


def test_the_memory_of_a_session_is_freed_with_it(file: Path) -> None:
    origin = Session(Package.open(file), DIALECTS)
    clones = [origin.clone() for _ in range(3)]
    for clone in clones:
        assert_runs(clone, 2, 48)
    arenas = [weakref.ref(clone._bases.arrays[ARENA]) for clone in clones]
    addresses = {clone._bases.arrays[ARENA].ctypes.data for clone in clones}
    assert len(addresses) == 3
    del clone
    clones.pop()
    gc.collect()
    assert [each() is not None for each in arenas] == [True, True, False]
    clones.clear()
    gc.collect()
    assert [each() for each in arenas] == [None] * 3
    assert_runs(origin, 2, 48)
