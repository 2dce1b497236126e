"""Steps of several targets at once: they overlap, and never where memory forbids it."""

import random
import threading
import time
from typing import Any

import numpy as np
import onnx.parser
import pytest
import toy
import trivium
from toy import COUNT, KINDS, LeftStep, RightStep, X, Y, package, step
from trivium.runtime.errors import RunError
from trivium.runtime.host.step import HostStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session

INPUT = np.arange(COUNT, dtype=np.float32)


def test_steps_of_two_targets_overlap() -> None:
    """Each waits until the other runs, too: in order, the first one would wait in vain."""
    both = threading.Barrier(2)

    def meet(x: Any) -> Any:
        both.wait(30)
        return x + 1

    steps = [
        step(LeftStep, "meet", (X,), (2,)),
        step(RightStep, "meet", (X,), (3,)),
        step(HostStep, "add", (2, 3), (Y,)),
    ]
    made = package(steps, [(0, 16), (16, 16)])
    session = Session(made, toy.ops(meet=meet, add=np.add), scheduler="parallel")
    np.testing.assert_array_equal(session(INPUT), 2 * INPUT + 2)
    profile = session.profile({"x": INPUT}, runs=1)
    first, second, _ = profile.runs[0].events
    assert first.begin < second.end
    assert second.begin < first.end


def test_steps_of_one_target_stay_in_order() -> None:
    seen: list[str] = []

    def note(x: Any, *, name: str) -> Any:
        seen.append(name)
        assert threading.current_thread() is threading.main_thread()
        return x

    steps = [step(LeftStep, "note", (X,), (2 + i,), name=str(i)) for i in range(5)]
    places = [(16 * i, 16) for i in range(5)]
    ends = step(LeftStep, "note", (6,), (Y,), name="end")
    Session(package([*steps, ends], places), toy.ops(note=note), scheduler="parallel")(INPUT)
    assert seen == ["0", "1", "2", "3", "4", "end"]


def test_memory_is_not_used_again_too_early() -> None:
    """The second step writes where the first one reads, and waits although it needs no result."""
    reading, written = threading.Event(), list[bool]()

    def slow(x: Any) -> Any:
        reading.set()
        time.sleep(0.05)
        return x.copy()

    def overwrite(x: Any) -> Any:
        written.append(reading.is_set())
        return x - 100

    steps = [
        step(LeftStep, "double", (X,), (2,)),
        step(LeftStep, "slow", (2,), (3,)),
        step(RightStep, "overwrite", (X,), (4,)),
        step(HostStep, "add", (3, 4), (Y,)),
    ]
    made = package(steps, [(0, 16), (32, 16), (8, 16)])
    made_ops = toy.ops(double=lambda x: 2 * x, slow=slow, overwrite=overwrite, add=np.add)
    session = Session(made, made_ops, scheduler="parallel")
    np.testing.assert_array_equal(_in_order(made, made_ops), session(INPUT))
    assert written == [True, True]


def _in_order(made: Any, dialect: Any) -> Any:
    return Session(made, dialect)(INPUT)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_programs(seed: int) -> None:
    """Buffers of the arena overlap as they like; what is right is what steps in order compute."""
    draw = random.Random(seed)
    places = [(draw.randrange(40), draw.randrange(1, 12)) for _ in range(8)]
    sizes = {X: COUNT, Y: COUNT} | {2 + i: n for i, (_, n) in enumerate(places)}
    arena, y = np.zeros(64, np.float32), np.zeros(COUNT, np.float32)

    def at(index: int) -> Any:
        if index == X:
            return INPUT
        if index == Y:
            return y
        begin, count = places[index - 2]
        return arena[begin : begin + count]

    steps = []
    for number in range(24):
        source, target = draw.choice(list(sizes)), draw.choice(list(sizes)[1:])
        attributes = {"count": sizes[target], "shift": number}
        steps.append(step(draw.choice(KINDS), "mix", (source,), (target,), **attributes))
    first = step(LeftStep, "mix", (X,), (Y,), count=COUNT, shift=0)

    def mix(x: Any, *, count: int, shift: int) -> Any:
        return (np.resize(x, count) * np.float32(0.5) + np.float32(shift)).astype(np.float32)

    def sleepy(x: Any, **attributes: int) -> Any:
        made = mix(x, **attributes)
        time.sleep(random.random() * 1e-3)
        return made

    for each in (first, *steps):
        (source,), (target,) = each.operands, each.results
        at(target)[:] = mix(at(source).copy(), **each.attributes)  # type: ignore[arg-type]
    made = package([first, *steps], places)
    session = Session(made, toy.ops(mix=sleepy), scheduler="parallel")
    np.testing.assert_array_equal(session(INPUT), y)


@pytest.mark.parametrize("fails", ["left", "right"])
def test_a_step_that_fails_ends_the_run(fails: str) -> None:
    broken, ended = [True], list[str]()

    def work(x: Any, *, name: str) -> Any:
        if name == fails and broken[0]:
            raise ValueError("broken")
        time.sleep(0.01)
        ended.append(name)
        return x

    steps = [
        step(LeftStep, "work", (X,), (2,), name="left"),
        step(RightStep, "work", (X,), (3,), name="right"),
        step(HostStep, "work", (2,), (Y,), name="end"),
    ]
    session = Session(package(steps, [(0, 16), (16, 16)]), toy.ops(work=work), scheduler="parallel")
    with pytest.raises(ValueError, match="broken"):
        session(INPUT)
    assert "end" not in ended
    assert len(ended) <= 1
    broken[0] = False
    np.testing.assert_array_equal(session(INPUT), INPUT)


def test_a_thread_that_cannot_be_started_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [
        step(LeftStep, "add", (X, X), (2,)),
        step(RightStep, "add", (X, X), (3,)),
        step(RightStep, "add", (2, 3), (Y,)),
    ]
    made = package(steps, [(0, 16), (16, 16)])
    session = Session(made, toy.ops(add=np.add), scheduler="parallel")

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr("concurrent.futures.ThreadPoolExecutor.submit", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            session(INPUT)
    np.testing.assert_array_equal(session(INPUT), 4 * INPUT)


MIXED = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (string[N] left, string[N] right, float[N, 3, 12, 12] x)
        => (string[N] both, float[N, 4, 12, 12] y, bool[N] same, float[N, 1] z) {
        [join] both = StringConcat (left, right)
        [convolve] a = Conv <pads = [1, 1, 1, 1]> (x, w)
        [compare] same = Equal (left, right)
        [spread] y = Softmax <axis = 1> (a)
        [lengths] b = ReduceMean <keepdims = 0> (a, last)
        [together] z = Unsqueeze (b, one)
    }
""")
MIXED.graph.initializer.extend(
    [
        onnx.numpy_helper.from_array(np.full((4, 3, 3, 3), 0.25, np.float32), "w"),
        onnx.numpy_helper.from_array(np.array([1, 2, 3]), "last"),
        onnx.numpy_helper.from_array(np.array([1]), "one"),
    ]
)


@pytest.mark.parametrize("shapes", [{}, {"N": 3}], ids=["free", "bound"])
def test_the_cpu_and_the_host_at_once(shapes: dict[str, int]) -> None:
    made = trivium.build(MIXED, shapes=shapes)
    assert {each.kind for each in made.manifest.steps} == {"cpu", "host"}
    alone = Session(made, threads=2)
    session = Session(made, threads=2, scheduler="parallel")
    for n in (3,) if shapes else (1, 3, 2, 3):
        draw = np.random.default_rng(n)
        feeds = {
            "left": draw.choice(["a", "b"], n).astype(object),
            "right": draw.choice(["a", "b"], n).astype(object),
            "x": draw.standard_normal((n, 3, 12, 12)).astype(np.float32),
        }
        expected, got = alone.run(feeds), session.run(feeds)
        np.testing.assert_array_equal(got["both"], feeds["left"] + feeds["right"])
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name], array)


def test_clones_run_at_once() -> None:
    """They share the threads of targets, and none waits for another for ever."""
    steps = [
        step(KINDS[i % 3], "add", (X if i < 3 else i - 1, X if i < 2 else i), (2 + i,))
        for i in range(9)
    ]
    made = package([*steps, step(LeftStep, "add", (2, 9), (Y,))], [(16 * i, 16) for i in range(9)])
    session = Session(made, toy.ops(add=np.add), scheduler="parallel")
    expected = Session(made, toy.ops(add=np.add))(INPUT)
    wrong: list[int] = []

    def work(number: int) -> None:
        twin = session.clone()
        for _ in range(50):
            first = twin(INPUT)
            if not np.array_equal(first, expected):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
        assert not each.is_alive()
    assert not wrong


def test_a_package_that_lists_no_calls_is_refused() -> None:
    made = trivium.build(MIXED)
    entries = {name: data for name, data in made.entries.items() if name != "calls.json"}
    manifest = made.manifest.changed(
        entries=tuple(e for e in made.manifest.entries if e.name in entries)
    )
    with pytest.raises(RunError, match=r"the package has no 'calls.json', which lists its calls"):
        Session(Package.create(manifest, entries), scheduler="parallel")
