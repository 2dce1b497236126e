"""What loops carry with sizes that change: without copies where it may be, against ONNX Runtime."""

from dataclasses import replace
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from trivium.compiler.driver import build, compile
from trivium.runtime.checks import check as check_manifest
from trivium.runtime.contents import ARENA, Buffer
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.loop.changing import CarriedMemory
from trivium.runtime.loop.step import LoopStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.step import Step, all_steps
from trivium.test.unit.compiler.frontends.onnx.control_flow.found_models import (
    check,
    compare,
    model_of,
    rows,
)

CACHE = """main (float[1, 2, 1, 3] x, int64 m) => (float[1, 2, n, 3] y, float[k] t) {
    y, t = Loop (m, , x) <body = each (int64 i, bool c, float[1, 2, a, 3] h)
            => (bool go, float[1, 2, b, 3] h2, float s) {
        go = Identity (c)  most = ReduceMax <keepdims = 1> (h)  new = Add (x, most)
        h2 = Concat <axis = 2> (h, new)  s = ReduceSum <keepdims = 0> (h2)
    }>
}"""

NESTED = """main (float[1, 3] x, int64 m) => (float[n, 3] y) {
    y = Loop (m, , x) <body = each (int64 i, bool c, float[a, 3] h) => (bool go, float[b, 3] h2) {
        go = Identity (c)  times = Add (i, one)
        h2 = Loop (times, , h) <body = inner (int64 j, bool d, float[e, 3] g)
                => (bool on, float[f, 3] g2) {
            on = Identity (d)  sum = ReduceSum <keepdims = 1> (g, a0)
            half = Div (sum, two)  g2 = Concat <axis = 0> (half, g)
        }>
    }>
}""".replace("{", "{ two = Constant <value_float = 2.0> ()", 1)


def manifest_of(text: str, target: str = "cpu") -> Manifest:
    return build(model_of(text), target=target).manifest


def loops(manifest: Manifest) -> list[LoopStep]:
    return [step for step in all_steps(manifest.steps) if isinstance(step, LoopStep)]


def carried_memory(step: LoopStep, manifest: Manifest) -> CarriedMemory:
    return CarriedMemory(step.carried, step.carried_sizes, manifest)


def memory_of(text: str) -> CarriedMemory:
    manifest = manifest_of(text)
    return carried_memory(loops(manifest)[0], manifest)


def test_a_cache_that_grows_inside_and_is_read_is_exchanged() -> None:
    memory = memory_of(CACHE)
    assert len(memory.exchanged) == 1
    assert not memory.copied
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 1, 3) / 8
    check(CACHE, [{"x": x, "m": m} for m in (0, 1, 2, 9)])


def test_what_loops_in_loops_carry_is_exchanged() -> None:
    manifest = manifest_of(NESTED)
    outer, inner = (carried_memory(step, manifest) for step in loops(manifest))
    assert outer.exchanged
    assert inner.exchanged
    check(NESTED, [{"x": rows(1), "m": m} for m in (0, 1, 2, 4)])


def test_what_is_carried_twice_is_copied_once_each() -> None:
    text = """main (float[1, 3] x, int64 m) => (float[n, 3] y, float[k, 3] t) {
        y, t = Loop (m, , x, x) <body = each (int64 i, bool c, float[a, 3] h, float[d, 3] g)
                => (bool go, float[e, 3] h2, float[e, 3] g2) {
            go = Identity (c)  both = Concat <axis = 0> (g, x)  h2 = Neg (both)  g2 = Identity (h2)
        }>
    }"""
    memory = memory_of(text)
    assert not memory.exchanged
    assert len(memory.copied) == 2
    check(text, [{"x": rows(1), "m": m} for m in (0, 1, 2, 5)])


def test_one_value_is_computed_and_another_one_kept() -> None:
    text = """main (float[1, 3] x, int64 m) => (float[n, 3] y, float[k, 3] t) {
        y, t = Loop (m, , x, x) <body = each (int64 i, bool c, float[a, 3] h, float[d, 3] g)
                => (bool go, float[e, 3] h2, float[f, 3] g2) {
            go = Identity (c)  sum = ReduceSum <keepdims = 1> (g, a0)
            h2 = Concat <axis = 0> (sum, g)  g2 = Identity (h)
        }>
    }"""
    memory = memory_of(text)
    assert len(memory.exchanged) == len(memory.copied) == 1
    check(text, [{"x": rows(1), "m": m} for m in (0, 1, 2, 5)])


def test_sizes_that_a_body_finds_are_exchanged() -> None:
    text = """main (float[N, 3] x, int64 m) => (float[n, 3] y) {
        y = Loop (m, , x) <body = each (int64 i, bool c, float[a, 3] h) => (bool go, float[b, 3] h2)
        {
            go = Identity (c)  found = NonZero (h)  row = Slice (found, a0, a1)
            places = Squeeze (row, a0)  chosen = Gather (h, places)  h2 = Neg (chosen)
        }>
    }"""
    assert memory_of(text).exchanged
    check(text, [{"x": rows(n), "m": m} for n in (1, 3) for m in (0, 1, 3)])


def test_rows_that_are_appended_and_read_stay_in_place() -> None:
    text = """main (float[1, 1, 3] x, int64 m) => (float[1, n, 3] y, float[k] t, float[p] u) {
        y, t, u = Loop (m, , x) <body = each (int64 i, bool c, float[1, a, 3] h)
                => (bool go, float[1, b, 3] h2, float s, float s2) {
            go = Identity (c)  most = ReduceMax <axes = [1]> (h)  new = Add (x, most)
            h2 = Concat <axis = 1> (h, new, x)  s = ReduceSum <keepdims = 0> (h2)
            s2 = ReduceSum <keepdims = 0> (h)
        }>
    }"""
    assert is_in_place(text)
    x = np.arange(3, dtype=np.float32).reshape(1, 1, 3) / 8
    check(text, [{"x": x, "m": m} for m in (0, 1, 2, 9, 100)])


def test_rows_that_are_appended_are_copied_to_what_else_carries_them() -> None:
    text = """main (float[1, 3] x, int64 m) => (float[n, 3] y, float[k, 3] t, float[p] u) {
        flat = Squeeze (x, a0)
        y, t, u = Loop (m, , x, x, flat) <body = each
                (int64 i, bool c, float[a, 3] h, float[d, 3] g, float[q] f)
                => (bool go, float[b, 3] h2, float[e, 3] g2, float[r] f2) {
            go = Identity (c)  new = ReduceMax <axes = [0]> (g)  h2 = Concat <axis = 0> (h, new)
            g2 = Identity (h2)  f2 = Reshape (h2, last)
        }>
    }"""
    memory = memory_of(text)
    assert not memory.exchanged
    assert len(memory.copied) == 2
    check(text, [{"x": rows(1), "m": m} for m in (0, 1, 2, 9)])


def test_rows_that_are_doubled_stay_in_place() -> None:
    text = """main (float[N, 3] x, int64 m) => (float[n, 3] y) {
        y = Loop (m, , x) <body = each (int64 i, bool c, float[a, 3] h) => (bool go, float[b, 3] h2)
        { go = Identity (c)  h2 = Concat <axis = 0> (h, h) }>
    }"""
    assert is_in_place(text)
    check(text, [{"x": rows(n), "m": m} for n in (1, 3) for m in (0, 1, 7)])


@pytest.mark.parametrize(
    "joined",
    [
        "h2 = Concat <axis = 0> (x, h)",
        "n = Neg (h)  h2 = Concat <axis = 0> (n, x)",
        "j = Concat <axis = 0> (h, x)  h2 = Neg (j)",
        "f = NonZero (h)  s = Gather (f, zero)  g = Gather (h, s)  h2 = Concat <axis = 0> (h, g)",
    ],
)
def test_what_is_not_behind_all_that_was_there_is_exchanged(joined: str) -> None:
    text = f"""main (float[1, 3] x, int64 m) => (float[n, 3] y) {{
        y = Loop (m, , x) <body = each (int64 i, bool c, float[a, 3] h) => (bool go, float[b, 3] h2)
        {{ go = Identity (c)  {joined} }}>
    }}"""
    assert memory_of(text).exchanged
    check(text, [{"x": rows(1), "m": m} for m in (0, 1, 2, 4)])


@pytest.mark.parametrize("threads", [1, 2])
def test_bodies_whose_work_grows_are_bound_to_more_threads(threads: int) -> None:
    text = """main (float[64, 64] x, int64 m) => (float[n, 64] y, float[k, 64] t) {
        y, t = Loop (m, , x) <body = each (int64 i, bool c, float[a, 64] h)
                => (bool go, float[b, 64] h2, float[64] s) {
            go = Identity (c)  turned = MatMul (h, x)  waves = Sin (turned)
            s = ReduceMean <axes = [0], keepdims = 0> (waves)  h2 = Concat <axis = 0> (h, x)
        }>
    }"""
    model = model_of(text)
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32) / 8
    reference = ort.InferenceSession(model.SerializeToString())
    session = compile(model, threads=threads)
    for count in (40, 3):
        feeds = {"x": x, "m": np.array(count)}
        compare(list(session.run(feeds).values()), reference.run(None, feeds))


def test_what_a_body_returns_has_the_sizes_that_it_took() -> None:
    text = """main (float[1, 3] x, float[N, 3] z, int64 m) => (float[n, 3] y, float[k, 3] t) {
        y, t = Loop (m, , x, z) <body = each (int64 i, bool c, float[a, 3] h, float[d, 3] g)
                => (bool go, float[e, 3] h2, float[f, 3] g2) {
            go = Identity (c)  h2 = Concat <axis = 0> (h, g)  g2 = Identity (g)
        }>
    }"""
    check(text, [{"x": rows(1), "z": rows(n), "m": m} for n in (1, 2) for m in (0, 3)])


def is_in_place(text: str) -> bool:
    """Return whether what a loop carries is stored where it is for the next iteration."""
    memory = memory_of(text)
    return not memory.exchanged and not memory.copied


def refusal(manifest: Manifest, **changes: Any) -> str:
    with pytest.raises(PackageError) as caught:
        check_manifest(replace(manifest, **changes))
    return str(caught.value)


def test_arenas_of_what_is_carried_are_checked() -> None:
    manifest = manifest_of(CACHE, "host")
    (loop,) = loops(manifest)
    (carried,) = loop.carried
    argument = manifest.buffers[carried.argument]
    assert manifest.is_carried(argument.base)
    assert manifest.is_carried(manifest.buffers[carried.next].base)

    def with_argument(**changes: Any) -> tuple[Buffer, ...]:
        changed = replace(argument, **changes)
        return tuple(changed if each is argument else each for each in manifest.buffers)

    def with_loop(**changes: Any) -> tuple[Step, ...]:
        return tuple(replace(each, **changes) if each is loop else each for each in manifest.steps)

    stages = manifest.carried_arenas
    own = "must begin a carried arena of stage 1 of its own"
    for changes, fault in (
        ({"buffers": with_argument(offset=64)}, own),
        ({"buffers": with_argument(base=ARENA)}, own),
        ({"buffers": with_argument(base=manifest.first_stage)}, "an arena of no regions"),
        ({"steps": with_loop(carried=(carried, carried))}, own),
        ({"steps": with_loop(carried_sizes=())}, "'u0' that is found by no step"),
        ({"carried_arenas": (9, *stages[1:])}, "is 9, must be a stage from 1 to 2"),
        ({"carried_arenas": (0, *stages[1:])}, "is 0, must be a stage from 1 to 2"),
        ({"carried_arenas": (2, *stages[1:])}, "which is not known yet"),
        ({"symbols": ()}, "must be left out without symbols"),
    ):
        assert fault in refusal(manifest, **changes)


def test_names_of_no_size_are_refused_where_all_sizes_are_found() -> None:
    manifest = manifest_of(CACHE, "host")
    output = manifest.buffers[manifest.outputs[0].buffer]
    moved = replace(output, offset="q")
    buffers = tuple(moved if each is output else each for each in manifest.buffers)
    assert "there is no symbol 'q'" in refusal(manifest, buffers=buffers)


def test_sizes_that_a_manifest_does_not_carry_fail_a_run() -> None:
    package = build(model_of(CACHE), target="cpu")
    (loop,) = loops(package.manifest)
    end = package.manifest.buffers[loop.carried[0].next]
    fewer = replace(end, shape=(1, 1, *end.shape[2:]))
    buffers = tuple(fewer if each is end else each for each in package.manifest.buffers)
    changed = replace(package.manifest, buffers=buffers, entries=())
    session = Session(Package.create(changed, package.entries))
    x = np.ones((1, 2, 1, 3), np.float32)
    with pytest.raises(RunError, match="with 1 along an axis is carried to one with 2"):
        session.run({"x": x, "m": np.array(2)})


def test_steps_that_find_sizes_need_symbols() -> None:
    manifest = manifest_of(CACHE, "host")
    none = {"symbols": (), "checks": (), "regions": (), "carried_arenas": ()}
    assert "'loop' finds sizes, but there are no symbols" in refusal(manifest, **none)
