"""Calls that threads make at the same time: which these are, their memory, their results."""

import itertools
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx
import pytest
import trivium
from onnx import TensorProto, helper, numpy_helper
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.mlir import code_context, ir
from trivium.runtime.cpu.elf import load_objects
from trivium.runtime.cpu.thread_pool import CODE, ParallelProgram, pool_of
from trivium.runtime.memory import Bases
from trivium.runtime.observe.calls import CallTable
from trivium.runtime.session import Session
from trivium.targets.cpu.emit.call_table import KernelCall
from trivium.targets.cpu.emit.compile import CpuCode, compile_segment
from trivium.targets.cpu.emit.form import compile_threads
from trivium.targets.cpu.emit.to_llvm import to_object
from trivium.targets.cpu.kernels.kernel_module import Phase
from trivium.targets.program.program import Place

LENGTH, WIDTH = 24, 64

MEETING = """
llvm.func @meet(%phase: i64, %begin: i64, %end: i64, %mine: !llvm.ptr, %other: !llvm.ptr,
                %met: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %patience = llvm.mlir.constant(4000000000 : i64) : i64
  llvm.store %one, %mine atomic release {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.br ^wait(%zero : i64)
^wait(%spun: i64):
  %there = llvm.load %other atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
  %yes = llvm.icmp "ne" %there, %zero : i64
  llvm.cond_br %yes, ^end, ^more
^more:
  %next = llvm.add %spun, %one : i64
  %over = llvm.icmp "sgt" %next, PATIENCE : i64
  llvm.cond_br %over, ^alone, ^wait(%next : i64)
^end:
  llvm.store %one, %met : i64, !llvm.ptr
  llvm.return
^alone:
  llvm.return
}
"""
"""Tell the other call that this one has begun, wait for that one, and note that both were there."""


def meeting(concurrent: int, patience: str) -> list[int]:
    """Let two calls wait for each other; return which of them met the other."""
    seats = [Place(0, 64 * i) for i in range(4)]
    phase = (Phase(1, 1),)
    calls = [
        KernelCall("meet", (seats[0], seats[1], seats[2]), phase, (), concurrent),
        KernelCall("meet", (seats[1], seats[0], seats[3]), phase),
    ]
    code = CpuCode(host_machine())
    program = compile_segment(code, calls)
    with code_context():
        text = MEETING.replace("PATIENCE", patience)
        kernel = to_object(ir.Module.parse(text), host_machine())
    objects = {"meet": kernel, CODE: compile_threads(), **code.objects}
    library = load_objects({name: memoryview(data) for name, data in objects.items()})
    memory = np.zeros(32, np.int64)
    pointers = np.array([memory.ctypes.data])
    bases: Any = {"address": pointers.ctypes.data, "memory_of_threads": np.zeros}
    phases = max(program.phases, 2)
    ParallelProgram(
        library,
        cast("Bases", SimpleNamespace(**bases, kept=(pointers, memory))),
        pool_of(memoryview(objects[CODE])),
        library.address(program.symbol),
        phases,
        0,
        2,
    ).run()
    return memory[16:32:8].tolist()


def test_concurrent_calls_are_made_at_the_same_time() -> None:
    assert meeting(2, "%patience") == [1, 1]


def test_other_calls_wait_for_the_one_before() -> None:
    assert meeting(1, "%zero") == [0, 1]


def lstm(x: str, y: str, seed: int) -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """Return an LSTM from [LENGTH, 1, WIDTH] to the same, and its weights."""
    random = np.random.default_rng(seed)
    shapes = {"w": (1, 4 * WIDTH, WIDTH), "r": (1, 4 * WIDTH, WIDTH), "b": (1, 8 * WIDTH)}
    weights = [
        numpy_helper.from_array((random.normal(size=s) / 8).astype(np.float32), f"{y}_{n}")
        for n, s in shapes.items()
    ]
    names = [f"{y}_{n}" for n in shapes]
    node = helper.make_node("LSTM", [x, *names], [f"{y}_all"], hidden_size=WIDTH, name=y)
    return [node, helper.make_node("Squeeze", [f"{y}_all", "axis"], [y])], weights


def network(
    layers: Mapping[str, tuple[str, ...]], outputs: tuple[str, ...], length: int | str = LENGTH
) -> onnx.ModelProto:
    """Return LSTMs by their names, each on the sum of others, or of the input `x`."""
    nodes: list[onnx.NodeProto] = []
    weights = [numpy_helper.from_array(np.array([1], np.int64), "axis")]
    for seed, (name, operands) in enumerate(layers.items()):
        taken = operands[0]
        if len(operands) > 1:
            taken = f"{name}_sum"
            nodes.append(helper.make_node("Sum", list(operands), [taken]))
        made, more = lstm(taken, name, seed)
        nodes += made
        weights += more
    shape = [length, 1, WIDTH]
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x", *outputs)]
    graph = helper.make_graph(nodes, "layers", ports[:1], ports[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


TWO = {"a": ("x",), "b": ("x",)}
STACKS = {"a": ("x",), "c": ("a",), "b": ("x",), "d": ("b",)}
CHAIN = {"a": ("x",), "b": ("a",), "c": ("b",)}
DIAMOND = {"a": ("x",), "b": ("a",), "c": ("a",), "d": ("b", "c")}


def feeds(length: int = LENGTH) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(7).normal(size=(length, 1, WIDTH)).astype(np.float32)}


@pytest.fixture
def sets(monkeypatch: pytest.MonkeyPatch) -> list[dict[Any, int]]:
    """Note the sets of concurrent calls of all models that a test compiles."""
    from trivium.targets.cpu.emit import code

    found: list[dict[Any, int]] = []
    order: Callable[..., dict[Any, int]] = code.order_concurrent

    def noted(*arguments: Any) -> dict[Any, int]:
        found.append(order(*arguments))
        return found[-1]

    monkeypatch.setattr(code, "order_concurrent", noted)
    return found


def sizes_of(sets: list[dict[Any, int]]) -> list[int]:
    numbers = list(sets[-1].values())
    return sorted(numbers.count(number) for number in {*numbers})


@pytest.mark.parametrize(
    ("layers", "sizes"),
    [
        (TWO, [2]),
        (STACKS, [2, 2]),
        (DIAMOND, [2]),
        (CHAIN, []),
        ({"a": ("x",)}, []),
        ({name: ("x",) for name in "abcde"}, [5]),
    ],
    ids=["two", "stacks", "diamond", "chain", "one", "five"],
)
def test_layers_that_do_not_depend_on_one_another_are_concurrent(
    sets: list[dict[Any, int]], layers: dict[str, tuple[str, ...]], sizes: list[int]
) -> None:
    outputs = tuple(layers)
    model = network(layers, outputs)
    package = trivium.build(model)
    assert sizes_of(sets) == sizes
    alone = trivium.compile(model, threads=1)
    wanted = alone.run(feeds())
    for threads in (1, 2, 3):
        session = Session(package, threads=threads)
        for _ in range(20):
            found = session.run(feeds())
            for name in outputs:
                np.testing.assert_array_equal(found[name], wanted[name])


def test_values_of_concurrent_calls_share_no_memory(sets: list[dict[Any, int]]) -> None:
    """Each call writes where no other one of its set reads or writes, scratch memory included."""
    package = trivium.build(network(STACKS, ("c", "d")))
    overlapping, checked = 0, 0
    buffers = package.manifest.buffers
    for step in package.manifest.steps:
        calls = CallTable(package).of(step)

        def spans(call: Any, which: tuple[int, ...], scratch: bool) -> list[tuple[int, int, int]]:
            places = [(buffers[n].base, buffers[n].offset, buffers[n].size_bytes) for n in which]
            places += [(s.base, s.offset, s.size) for s in call.scratch if scratch]
            return [(base, at, at + n) for base, at, n in places]

        layers = [c for c in calls if "cpu.packed_lstm" in c.ops]
        for one, other in itertools.permutations(layers, 2):
            written = spans(one, one.writes, scratch=True)
            used = spans(other, (*other.reads, *other.writes), scratch=True)
            hits = [
                (w, u)
                for w in written
                for u in used
                if w[0] == u[0] and w[1] < u[2] and u[1] < w[2]
            ]
            together = {one.nodes[0], other.nodes[0]} in ({"a", "b"}, {"c", "d"})
            checked += together
            overlapping += bool(hits) and not together
            assert not (together and hits), (one.nodes, other.nodes, hits)
    assert checked == 4
    assert overlapping, "calls that follow one another have memory in turn"


def test_a_chain_has_the_memory_of_one_thread() -> None:
    model = network(CHAIN, ("c",))
    both, one = (trivium.build(model, threads=threads).manifest.memory for threads in (2, 1))
    assert both == one
    assert one.arena_bytes == one.arena_lower_bound


def test_a_package_for_one_thread_has_none(sets: list[dict[Any, int]]) -> None:
    model = network(TWO, ("a", "b"))
    small = trivium.build(model, threads=1).manifest.memory.arena_bytes
    assert not sets
    assert trivium.build(model).manifest.memory.arena_bytes > small
    assert sizes_of(sets) == [2]


@pytest.mark.parametrize("length", [1, 3, 24, 40])
def test_sizes_may_change_from_run_to_run(sets: list[dict[Any, int]], length: int) -> None:
    model = network(STACKS, ("c", "d"), "N")
    shapes = {"N": trivium.Range(1, 64, likely=LENGTH)}
    session = Session(trivium.build(model, shapes=shapes), threads=2)
    assert sizes_of(sets) == [2, 2]
    wanted = trivium.compile(model, threads=1, shapes={"N": length}).run(feeds(length))
    for _ in range(2):
        found = session.run(feeds(length))
        for name in ("c", "d"):
            np.testing.assert_array_equal(found[name], wanted[name])


def test_each_call_is_seen_where_a_run_is_observed() -> None:
    session = trivium.compile(network(STACKS, ("c", "d")), threads=2)
    (run, *_) = session.profile(feeds(), runs=2).runs
    layers = [event.nodes[0] for event in run.events if "cpu.packed_lstm" in event.ops]
    assert sorted(layers) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("memory", ["plain", "bestfit"])
def test_strategies_make_the_calls_one_by_one(memory: str) -> None:
    model = network(DIAMOND, ("d",))
    wanted = trivium.compile(model, threads=1).run(feeds())["d"]
    session = Session(trivium.build(model), threads=2, memory=memory)
    np.testing.assert_array_equal(session.run(feeds())["d"], wanted)


def test_a_part_of_a_run_makes_some_of_them() -> None:
    session = trivium.compile(network(STACKS, ("c", "d")), threads=2)
    whole = session.run(feeds())
    part = session.part(inputs=["x"], outputs=["d"])
    np.testing.assert_array_equal(part.run(feeds())["d"], whole["d"])


LOOP = """
    <ir_version: 10, opset_import: ["" : 21]>
    net (int64 count, float[24, 1, 64] x) => (float[24, 1, 64] y)
    <bool yes = {1}> {
        y = Loop (count, yes, x) <body = body (int64 i, bool go, float[24, 1, 64] v)
            => (bool on, float[24, 1, 64] next) {
                on = Identity (go)
                next = Identity (v)
        }>
    }
"""


def test_bodies_of_loops_have_sets_of_their_own(sets: list[dict[Any, int]]) -> None:
    inner = network(DIAMOND, ("d",))
    alone = trivium.compile(inner, threads=1)
    model = onnx.parser.parse_model(LOOP)
    (loop,) = model.graph.node
    body = loop.attribute[0].g
    last = body.node.pop()
    taken = {"x": last.input[0], "d": last.output[0]}
    for node in inner.graph.node:
        for names in (node.input, node.output):
            names[:] = [taken.get(name, name) for name in names]
    body.node.extend(inner.graph.node)
    model.graph.initializer.extend(inner.graph.initializer)
    session = trivium.compile(model, threads=2)
    assert sizes_of(sets) == [2]
    wanted = feeds()["x"]
    for _ in range(3):
        wanted = alone.run({"x": wanted})["d"]
    found = session.run({"count": np.int64(3), **feeds()})["y"]
    np.testing.assert_array_equal(found, wanted)


def test_drawn_graphs_compute_what_one_thread_computes(sets: list[dict[Any, int]]) -> None:
    random = np.random.default_rng(3)
    concurrent = 0
    for _ in range(6):
        known, layers = ["x"], dict[str, tuple[str, ...]]()
        for number in range(7):
            operands = random.choice(known, size=min(len(known), 2), replace=False)
            layers[f"l{number}"] = tuple(map(str, operands))[: 1 + number % 2]
            known.append(f"l{number}")
        used = {name for operands in layers.values() for name in operands}
        outputs = tuple(name for name in layers if name not in used)
        model = network(layers, outputs)
        session = trivium.compile(model, threads=2)
        concurrent += len(sizes_of(sets))
        wanted = trivium.compile(model, threads=1).run(feeds())
        for _ in range(5):
            found = session.run(feeds())
            for name in outputs:
                np.testing.assert_array_equal(found[name], wanted[name])
    assert concurrent > 6
