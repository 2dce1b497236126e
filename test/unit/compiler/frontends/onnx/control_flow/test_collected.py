"""Loops that collect: what only grows at its end is put out, and not copied each time."""

import numpy as np
import pytest
from trivium.compiler.driver import compile
from trivium.test.unit.compiler.frontends.onnx.control_flow.found_models import (
    check,
    imported,
    model_of,
    rows,
)


def grown(added: str = "row", axis: int = 0, *, more: str = "", out: str = "row") -> str:
    shape = "float[a, 3] h" if axis == 0 else "float[3, a] h"
    return f"""main (float[N, 3] x, int64 m) => (float[n, 3] y, float[k, 1, 3] z) {{
        start = {"Identity" if axis == 0 else "Transpose <perm = [1, 0]>"} (x)
        w, z = Loop (m, , start) <body = each (int64 i, bool c, {shape})
                => (bool go, float[e, f] h2, float[1, 3] out) {{
            go = Identity (c)  f = Cast <to = 1> (i)  first = Slice (x, a0, a1)
            row = Add (first, f)  column = Transpose (row)  {more}
            h2 = Concat <axis = {axis}> (h, {added})  out = Identity ({out})
        }}>
        y = {"Identity" if axis == 0 else "Transpose <perm = [1, 0]>"} (w)
    }}"""


def carries_only(text: str) -> bool:
    """Return whether all that loops carry keeps its size."""
    return imported(text).count("carried_sizes") == imported(text).count(
        "carried_sizes = array<i64>"
    )


FEEDS = [{"x": rows(n), "m": m} for n in (1, 4) for m in (0, 1, 5)]


@pytest.mark.parametrize(
    ("added", "axis"), [("row", 0), ("row, row", 0), ("column", 1), ("column, column", 1)]
)
def test_what_only_grows_is_not_carried(added: str, axis: int) -> None:
    text = grown(added, axis)
    check(text, FEEDS)
    assert carries_only(text)
    (step,) = (s for s in compile(model_of(text)).manifest.steps if s.kind == "loop")
    assert not step.carried  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("more", "added", "out"),
    [
        ("s = ReduceMax <axes = [0], keepdims = 1> (h)", "row", "s"),  # read
        ("s = Shape (h) t = Gather (s, zero) u = Cast <to = 1> (t) v = Add (row, u)", "v", "row"),
        ("t = Identity (h)", "t", "row"),  # doubled
    ],
)
def test_what_is_read_as_well_is_carried(more: str, added: str, out: str) -> None:
    text = grown(added, more=more, out=out)
    check(text, FEEDS)
    assert not carries_only(text)


def test_what_grows_at_its_front_is_carried() -> None:
    text = grown().replace("(h, row)", "(row, h)")
    check(text, FEEDS)
    assert not carries_only(text)


@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_any_size_are_joined(axis: int) -> None:
    other = "Transpose <perm = [1, 0]>" if axis else "Identity"
    shape = "float[3, a]" if axis else "float[a, 3]"
    text = f"""main (float[N, 3] x, int64 m) => (float[n, 3] y, float[k] z) {{
        start = {other} (x)
        w, z = Loop (m, , start) <body = each (int64 i, bool c, {shape} h)
                => (bool go, float[e, f] h2, float out) {{
            go = Identity (c)  end = Reshape (i, a1)  some = Slice (x, a0, end, a0)
            part = {other} (some)  h2 = Concat <axis = {axis}> (h, part)
            out = ReduceSum <keepdims = 0> (part)
        }}>
        y = {other} (w)
    }}"""
    check(text, FEEDS)
    assert "joined = 1" in imported(text)
    assert carries_only(text)


def test_a_scan_collects() -> None:
    text = """main (float[N, 3] x) => (float[n, 3] y, float[N, 3] z) {
        y, z = Scan <num_scan_inputs = 1, body = each (float[a, 3] h, float[3] row)
                => (float[e, 3] h2, float[3] out) {
            one_row = Unsqueeze (row, a0)  less = Neg (one_row)
            h2 = Concat <axis = 0> (h, less, one_row)  out = Relu (row)
        }> (x, x)
    }"""
    session = compile(model_of(text))  # ONNX Runtime refuses scans whose states grow
    for n in (1, 4, 2):
        y, z = session.run({"x": rows(n)}).values()
        pairs = np.stack([-rows(n), rows(n)], 1).reshape(-1, 3)
        np.testing.assert_array_equal(y, np.concatenate([rows(n), pairs]))
        np.testing.assert_array_equal(z, np.maximum(rows(n), 0))
    assert carries_only(text)


def test_two_collections_change_places() -> None:
    text = """main (float[1, 3] x, float[2, 3] z, int64 m) => (float[n, 3] y, float[k, 3] t) {
        y, t = Loop (m, , x, z) <body = each (int64 i, bool c, float[a, 3] h, float[d, 3] g)
                => (bool go, float[e, 3] h2, float[f, 3] g2) {
            go = Identity (c)  h2 = Concat <axis = 0> (g, x)  g2 = Concat <axis = 0> (h, x)
        }>
    }"""
    check(text, [{"x": rows(1), "z": rows(2), "m": m} for m in (0, 1, 2, 5)])


def test_the_largest_is_not_copied_in_each_iteration() -> None:
    """Bound the memory: 3000 iterations would copy 1.2 GB."""
    text = grown()
    session = compile(model_of(text))
    made = session.run({"x": rows(1), "m": np.array(3000)})
    assert made["y"].shape == (3001, 3)
    np.testing.assert_array_equal(made["y"][1:, 0], np.arange(3000) - 2)
