"""Sessions whose values are allocated call by call: equal bits, and the events of the plan."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import allocated_networks
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime.allocation.simulate import compare_strategies
from trivium.runtime.observe.calls import CALLS
from trivium.runtime.package import Package
from trivium.test.unit.compiler.drawn_models import drawn_input, drawn_model, drawn_sizes

STRATEGIES = ["plain", "mru", "bestfit", "compact"]

CHAIN = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 16] x) => (float[N, 16] y)
    {
        [one] a = MatMul (x, wide)
        [two] b = Softmax (a)
        [three] c = MatMul (b, narrow)
        [four] d = Softmax (c)
        [five] y = Add (d, c)
    }
""")
"""With N = 4: 512 bytes for a and b each, 256 for c and d."""

CHAIN.graph.initializer.extend(
    onnx.numpy_helper.from_array(
        np.random.default_rng(1).standard_normal(shape).astype(np.float32), name
    )
    for name, shape in (("wide", (16, 32)), ("narrow", (32, 16)))
)


def _chain(rows: int = 4) -> Any:
    return np.random.default_rng(rows).standard_normal((rows, 16)).astype(np.float32)


@pytest.fixture(scope="module")
def chain() -> Package:
    return trivium.build(CHAIN, shapes={"N": 4})


class Recorder:
    """Allocate memory of the user, and note sizes and addresses."""

    def __init__(self) -> None:
        self.events: list[tuple[str, int]] = []
        self.blocks: dict[int, tuple[Any, int]] = {}
        self.peak = 0

    def allocate(self, size: int, alignment: int) -> int:
        block = np.full(size + alignment, 255, np.uint8)
        address = block.ctypes.data + -block.ctypes.data % alignment
        self.blocks[address] = block, size
        self.events.append(("allocate", size))
        self.peak = max(self.peak, sum(size for _, size in self.blocks.values()))
        return address

    def free(self, address: int) -> None:
        block, size = self.blocks.pop(address)
        block[:] = 255  # whoever reads it from now on finds NaN
        self.events.append(("free", size))


@pytest.mark.parametrize(
    ("target", "threads"), [("cpu", 1), ("cpu", 2), ("host", 1)], ids=["cpu", "threads", "host"]
)
@pytest.mark.parametrize("memory", STRATEGIES)
def test_images_have_equal_bits(memory: str, target: str, threads: int) -> None:
    package = _image_package(target)
    x = np.random.default_rng(2).standard_normal((1, 3, 32, 32)).astype(np.float32)
    want = list(trivium.Session(package, threads=threads).run({"x": x}).values())
    session = trivium.Session(package, threads=threads, memory=memory)
    for _ in range(3):
        np.testing.assert_array_equal(list(session.run({"x": x}).values()), want)


_packages: dict[str, Package] = {}


def _image_package(target: str) -> Package:
    if target not in _packages:
        _packages[target] = trivium.build(allocated_networks.image_network(), target=target)
    return _packages[target]


@pytest.fixture(scope="module")
def encoder() -> Package:
    return trivium.build(allocated_networks.encoder())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("memory", STRATEGIES)
def test_an_encoder_has_equal_bits_at_all_sizes(
    memory: str, threads: int, encoder: Package
) -> None:
    static = trivium.Session(encoder, threads=threads)
    session = trivium.Session(encoder, threads=threads, memory=memory)
    for n, t in ((1, 7), (3, 64), (1, 1), (2, 33), (3, 64)):
        x = np.random.default_rng(t).standard_normal((n, t, 32)).astype(np.float32)
        (want,), (got,) = static.run({"x": x}).values(), session.run({"x": x}).values()
        np.testing.assert_array_equal(got, want)
    assert session.trim() is None
    assert session.memory_use.reserved_bytes == 0
    np.testing.assert_array_equal(session(x), want)


@pytest.mark.parametrize("seed", range(4))
def test_drawn_models_have_equal_bits(seed: int) -> None:
    model = drawn_model(seed)
    package = trivium.build(model)
    static = trivium.Session(package)
    for memory in ("plain", "compact"):
        session = trivium.Session(package, memory=memory)
        for sizes in drawn_sizes(seed, 2):
            x = drawn_input(seed, model, sizes)
            (want,), (got,) = static.run({"x": x}).values(), session.run({"x": x}).values()
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("memory", STRATEGIES)
@pytest.mark.parametrize("target", ["cpu", "host"])
def test_bodies_of_loops_and_branches_stay_in_the_plan(target: str, memory: str) -> None:
    package = trivium.build(allocated_networks.LOOP, target=target)
    assert all(found.stays_in_arena for found in compare_strategies(package))
    static, session = trivium.Session(package), trivium.Session(package, memory=memory)
    x = np.random.default_rng(3).standard_normal(64).astype(np.float32)
    for count in (0, 3):
        for choice in (True, False):
            feeds = {"x": x, "count": np.array(count), "choice": np.array(choice)}
            np.testing.assert_array_equal(session.run(feeds)["y"], static.run(feeds)["y"])


def test_programs_for_exact_sizes_have_equal_bits() -> None:
    package = trivium.build(CHAIN, exact=[{"N": 4}])
    recorder = Recorder()
    static = trivium.Session(package)
    session = trivium.Session(package, threads=1, allocator=recorder)
    for rows in (4, 5, 4):
        recorder.events.clear()
        np.testing.assert_array_equal(session(_chain(rows)), static(_chain(rows)))
        assert ("allocate", rows * 128) in recorder.events


STATE = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    sums (float[16] x, float[16] past) => (float[16] y, float[16] kept)
    {
        [soften] a = Softmax (past)
        [sum] kept = Add (a, x)
        [order] b = CumSum (kept, zero)
        [last] y = Softmax (b)
    }
""")
STATE.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0), "zero"))


def test_state_has_equal_bits() -> None:
    package = trivium.build(STATE, states={"kept": "past"})
    static, session = trivium.Session(package), trivium.Session(package, memory="plain")
    for step in range(5):
        x = np.random.default_rng(step).standard_normal(16).astype(np.float32)
        np.testing.assert_array_equal(session(x), static(x))


def test_p43_events_are_those_of_the_plan(chain: Package) -> None:
    recorder = Recorder()
    session = trivium.Session(chain, threads=1, allocator=recorder)
    np.testing.assert_array_equal(session(_chain()), trivium.Session(chain)(_chain()))
    # The calls: one; two; three; four with five. Each frees what nobody reads later.
    a, b, c = (("allocate", size) for size in (512, 512, 256))
    assert [event for event in recorder.events if event[1] >= 256] == [
        a,
        b,
        ("free", 512),
        c,
        ("free", 512),
        ("free", 256),
    ]
    assert not recorder.blocks
    predicted = next(u for u in compare_strategies(chain)[0].uses if u.strategy == "plain")
    # Beside a and b, the call of two has a row of 32 numbers. The planner computes the same bound.
    assert predicted.peak_bytes == session.memory_use.peak_bytes == recorder.peak == 1024 + 128
    assert recorder.peak == chain.manifest.memory.arena_lower_bound


@pytest.mark.parametrize("memory", STRATEGIES)
def test_p43_the_peak_is_the_predicted_one(memory: str, chain: Package) -> None:
    for package, x in (
        (chain, _chain()),
        (_image_package("cpu"), np.ones((1, 3, 32, 32), np.float32)),
    ):
        session = trivium.Session(package, memory=memory)
        session(x)
        (predicted,) = (u for u in compare_strategies(package)[0].uses if u.strategy == memory)
        assert session.memory_use == predicted


@pytest.mark.parametrize("name", ["image", "encoder"])
def test_p39_compact_takes_no_more_than_the_pools(name: str, encoder: Package) -> None:
    (found,) = compare_strategies(_image_package("cpu") if name == "image" else encoder)
    most = {use.strategy: use.most_reserved_bytes for use in found.uses}
    assert found.lower_bound_bytes == most["plain"] <= most["compact"]
    assert most["compact"] <= min(most["mru"], most["bestfit"])
    counts = {use.strategy: use.system_allocations for use in found.uses}
    assert counts["compact"] == 1 < counts["mru"] < counts["plain"]


RESIDENT = """
import sys
import numpy as np
import trivium

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

session = trivium.load(sys.argv[1], memory=sys.argv[2], threads=1)
small, large = (np.ones((rows, 16), np.float32) for rows in (64, 200_000))
session(small)
before = resident()
session(large)
after = resident()
session(small)
print(before, after, resident(), session.memory_use.reserved_bytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("memory", STRATEGIES)
def test_p40_memory_returns_after_a_large_shape(memory: str, tmp_path: Path) -> None:
    path = str(tmp_path / "chain.trv")
    trivium.build(CHAIN).save(path)
    made = subprocess.run(
        [sys.executable, "-c", RESIDENT, path, memory], capture_output=True, check=True, text=True
    )
    before, after, end, reserved = map(int, made.stdout.split())
    if memory != "plain":  # a pool holds what it has until a small run
        assert after - before > 30 << 20
    assert end - before < 8 << 20
    assert reserved <= 2 * 3 * 64 * 32 * 4


def test_clones_allocate_apart(chain: Package) -> None:
    session = trivium.Session(chain, memory="mru", threads=1)
    want = {rows: trivium.Session(chain)(_chain() * rows) for rows in range(4)}
    wrong: list[int] = []

    def run(rows: int) -> None:
        clone = session.clone()
        for _ in range(50):
            if (clone(_chain() * rows) != want[rows]).any():
                wrong.append(rows)
        clone.close()

    threads = [threading.Thread(target=run, args=(rows,)) for rows in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_p41_reserved_values_hold_and_others_are_refused() -> None:
    package = trivium.build(CHAIN, shapes={"N": 4}, keep=["b"])
    static, session = trivium.Session(package), trivium.Session(package, memory="mru")
    for x in (_chain(), 2 * _chain()):
        static(x)
        session(x)
        np.testing.assert_array_equal(session.value("b"), static.value("b"))
    with pytest.raises(trivium.RunError, match="does not keep 'a', whose memory is used again"):
        session.value("a")


def test_p44_a_strategy_pools_the_memory_of_an_allocator(chain: Package) -> None:
    recorder = Recorder()
    session = trivium.Session(chain, memory="bestfit", allocator=recorder)
    want = trivium.Session(chain)(_chain())
    for _ in range(3):
        np.testing.assert_array_equal(session(_chain()), want)
    assert all(what == "allocate" for what, _ in recorder.events)
    session.close()
    assert not recorder.blocks


class Derived(Recorder):
    """Keep to the protocol by its base, with a limit."""

    def allocate(self, size: int, alignment: int) -> int:
        if size > 300:
            raise MemoryError("300 bytes are enough")
        return super().allocate(size, alignment)


def test_p44_errors_of_an_allocator_are_those_of_the_run(chain: Package) -> None:
    derived = Derived()
    session = trivium.Session(chain, allocator=derived)
    with pytest.raises(MemoryError, match="300 bytes are enough"):
        session(_chain())
    assert not derived.blocks
    with pytest.raises(MemoryError):  # and the session may run again
        session(_chain())


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda: None, "returned None for [0-9]+ bytes, must return the address as a positive int"),
        (lambda: 0, "returned 0 for"),
        (lambda: 1.5, "must return the address as a positive int"),
        (lambda: 4097, "returned 4097 for [0-9]+ bytes, must return a multiple of 64"),
    ],
)
def test_p44_nonsense_is_an_error(
    returned: Callable[[], Any], message: str, chain: Package
) -> None:
    recorder = Recorder()
    monkey: Any = recorder
    monkey.allocate = lambda size, alignment: returned()
    with pytest.raises(trivium.RunError, match=message):
        trivium.Session(chain, allocator=recorder)(_chain())


def test_p44_memory_in_use_is_refused(chain: Package) -> None:
    recorder = Recorder()
    first = recorder.allocate(1 << 16, 64)
    twice: Any = recorder
    twice.allocate = lambda size, alignment: first
    with pytest.raises(trivium.RunError, match="must return memory that is not in use"):
        trivium.Session(chain, allocator=recorder)(_chain())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": "best"}, "memory is 'best', must be one of static, plain, mru, bestfit, comp"),
        ({"memory": None}, "memory is None, must be one of"),
        ({"allocator": object()}, "allocator is of type object, must have a method 'allocate'"),
        (
            {"allocator": Recorder(), "memory": "compact"},
            "memory is 'compact', with an allocator it must be one of plain, mru, bestfit",
        ),
    ],
    ids=["name", "none", "object", "compact"],
)
def test_wrong_options(options: Any, message: str, chain: Package) -> None:
    with pytest.raises(trivium.RunError, match=message):
        trivium.Session(chain, **options)


def test_what_needs_the_plan_says_so(chain: Package) -> None:
    session = trivium.Session(chain, memory="mru")
    for work in (lambda: session.profile({"x": _chain()}), lambda: session.part(["x"], ["y"])):
        with pytest.raises(trivium.RunError, match="needs the static plan of memory"):
            work()
    assert trivium.Session(chain).memory_use is None


def test_a_package_that_lists_no_calls_is_refused(chain: Package) -> None:
    entries = {name: data for name, data in chain.entries.items() if name != CALLS}
    package = Package.create(chain.manifest, entries)
    with pytest.raises(trivium.RunError, match="compile the model again"):
        trivium.Session(package, memory="mru")


def test_a_run_that_finds_sizes_is_refused() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[8] x) => (int64[1, K] y) { [find] y = NonZero (x) }
    """)
    package = trivium.build(model)
    with pytest.raises(trivium.RunError, match="find: the run finds sizes here, so that memory"):
        trivium.Session(package, memory="mru")
