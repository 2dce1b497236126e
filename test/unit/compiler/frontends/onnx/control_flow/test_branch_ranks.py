"""Branches of several ranks, and branches that fit some sizes alone, against ONNX Runtime."""

import numpy as np
import pytest
from trivium.compiler.driver import compile
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.runtime.errors import RunError
from trivium.test.unit.compiler.frontends.onnx.control_flow.found_models import (
    check,
    imported,
    model_of,
    rows,
)


def image(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


BRANCHES = """r = If (c) <
    then_branch = then () => (float[p, 3] o) { o = Neg (x) },
    else_branch = other () => (float[3] o2) { s = ReduceSum (x, a0)  o2 = Squeeze (s, a0) }
>"""


@pytest.mark.parametrize(
    "after",
    [
        "y = Reshape (r, last)",
        "q = Add (r, r)  w = Mul (q, q)  y = Reshape (w, last)",
        # What is used beside it is made before or after the branch.
        "q = Add (r, late)  late = ReduceMax <axes = [0], keepdims = 0> (x)  y = Reshape (q, last)",
        # The sum of both has rank 2 in each branch.
        "q = Add (r, x)  y = Reshape (q, last)",
        "z = Neg (r)  n = Size (z)  y0 = Range (zero, n, one)  y = Cast <to = 1> (y0)",
        # A value of the graph has the name of one in a branch.
        "s = Exp (r)  y = Reshape (s, last)",
        "s = Exp (r)  s_1 = Abs (s)  o2 = Neg (s_1)  y = Reshape (o2, last)",
        # A branch in what is moved.
        """y = If (c) <
            then_branch = then2 () => (float[k] o3) { o3 = Reshape (r, last) },
            else_branch = other2 () => (float[k] o4) { t = Abs (r)  o4 = Reshape (t, last) }
        >""",
    ],
)
def test_what_uses_branches_of_several_ranks_moves_into_them(after: str) -> None:
    text = f"main (float[N, 3] x, bool c) => (float[n] y) {{ {BRANCHES} {after} }}"
    check(text, [{"x": rows(n), "c": c} for n in (4, 1) for c in (True, False)])


def test_a_branch_keeps_the_names_that_its_own_subgraphs_use() -> None:
    text = """main (float[N, 3] x, bool c, bool d) => (float[n] y) {
        r = If (c) <
            then_branch = then () => (float[p, 3] o) { o = Neg (x) },
            else_branch = other () => (float[3] o2) {
                s = ReduceSum (x, a0)
                t = If (d) <
                    then_branch = then0 () => (float[1, 3] v1) { v1 = Exp (s) },
                    else_branch = other0 () => (float[1, 3] v2) { v2 = Neg (s) }
                >
                o2 = Squeeze (t, a0)
            }
        >
        s = Abs (r)  t = Exp (s)  y = Reshape (t, last)
    }"""
    check(text, [{"x": rows(2), "c": c, "d": d} for c in (True, False) for d in (True, False)])


@pytest.mark.parametrize("outer", ["d", "true"])
def test_a_branch_that_returns_what_differs(outer: str) -> None:
    text = f"""main (float[N, 3] x, bool c, bool d) => (float[n] y) {{
        v, w = If ({outer}) <
            then_branch = then0 () => (float[k] v1, float[3] w1) {{
                {BRANCHES}  v1 = Neg (r)  w1 = ReduceMax <axes = [0], keepdims = 0> (x)
            }},
            else_branch = other0 () => (float[k, 3] v2, float[3] w2) {{
                v2 = Abs (x)  w2 = ReduceMin <axes = [0], keepdims = 0> (x)
            }}
        >
        q = Add (v, w)  y = Reshape (q, last)
    }}"""
    check(text, [{"x": rows(4), "c": c, "d": d} for c in (True, False) for d in (True, False)])


def test_no_more_is_moved_than_must_be() -> None:
    text = f"""main (float[N, 3] x, bool c) => (float[n] y, float[n] z) {{
        {BRANCHES} y = Reshape (r, last)  z = Exp (y)
    }}"""
    check(text, [{"x": rows(n), "c": c} for n in (4, 1) for c in (True, False)])
    before, _, after = imported(text).partition("tri.if")
    assert "tri.exp" not in before + after.partition("result_sizes")[0]
    assert "tri.reshape" in after.partition("result_sizes")[0]


def test_an_output_of_one_rank_beside_one_of_several() -> None:
    text = """main (float[N, 3] x, bool c) => (float[n] y, float[k, 3] z) {
        r, m = If (c) <
            then_branch = then () => (float[p, 3] o, float[k, 3] m1) { o = Neg (x) m1 = Abs (x) },
            else_branch = other () => (float[3] o2, float[k, 3] m2) {
                s = ReduceSum (x, a0)  o2 = Squeeze (s, a0)  m2 = Identity (x)
            }
        >
        w = Neg (m)  q = Add (r, w)  y = Reshape (q, last)  z = Exp (m)
    }"""
    check(text, [{"x": rows(n), "c": c} for n in (4, 1) for c in (True, False)])


def test_a_result_that_nothing_uses() -> None:
    text = f"main (float[N, 3] x, bool c) => (float[n, 3] y) {{ {BRANCHES} y = Exp (x) }}"
    check(text, [{"x": rows(2), "c": c} for c in (True, False)])
    assert "tri.if" not in imported(text)


SQUEEZE = """size = Shape (x)  d = Gather (size, one)  c = Equal (d, one)
    r = If (c) <
        then_branch = then () => (float[p, 3] o) { o = Squeeze (x, a1) },
        else_branch = other () => (float[q, k, 3] o2) { o2 = Identity (x) }
    >"""


def test_an_axis_is_dropped_where_its_size_is_1() -> None:
    """So exporters write `x.squeeze(1)` of a tensor whose size is a symbol."""
    text = f"""main (float[N, M, 3] x) => (float[n, 3] y) {{
        {SQUEEZE}  q = Exp (r)  flat = Reshape (q, last)
        shape = Constant <value_ints = [-1, 3]> ()  y = Reshape (flat, shape)
    }}"""
    check(text, [{"x": image(n, m, 3)} for n, m in ((4, 2), (4, 1), (1, 1), (1, 5))])


@pytest.mark.parametrize(
    "after",
    [
        "r = Squeeze (x)  q = Exp (r)  y = Reshape (q, last)",
        "r = Squeeze (x)  m = ReduceMax (x)  q = Add (r, m)  y = Reshape (q, last)",
        """y = If (c) <
            then_branch = then () => (float[k] o) { r = Squeeze (x)  o = Reshape (r, last) },
            else_branch = other () => (float[k] o2) { o2 = Reshape (x, last) }
        >""",
    ],
)
def test_all_axes_are_dropped_whose_size_is_1_in_a_run(after: str) -> None:
    text = f"main (float[N, 1, M, 3] x, bool c) => (float[n] y) {{ {after} }}"
    sizes = ((4, 2), (4, 1), (1, 1), (1, 5))
    check(text, [{"x": image(n, 1, m, 3), "c": m != 5} for n, m in sizes])


def test_dropped_axes_that_one_branch_alone_can_use() -> None:
    text = """main (float[N, 1, 3] x) => (float[n] y) {
        r = Squeeze (x)  s = ReduceSum <keepdims = 0> (r, a1)  y = Reshape (s, last)
    }"""
    session = compile(model_of(text))
    for x in (image(4, 1, 3), image(2, 1, 3)):
        np.testing.assert_allclose(session.run({"x": x})["y"], x.sum((1, 2)), 1e-5)
    with pytest.raises(RunError, match="axis 1 is outside"):
        session.run({"x": image(1, 1, 3)})


def test_an_output_whose_rank_a_run_decides_is_refused() -> None:
    text = "main (float[N, 3] x) => (float[n] y) { [drop] r = Squeeze (x)  y = Exp (r) }"
    message = "drop: error: 'Squeeze' node drops axis 0 where its size N is 1, which is not known"
    with new_context(), pytest.raises(CompileError, match=message):
        import_onnx(model_of(text))


def test_in_a_body_of_a_loop() -> None:
    text = f"""main (float[N, 3] x, int64 m, bool c) => (float[k] y) {{
        y = Loop (m, true) <body = each (int64 i, bool d) => (bool go, float out) {{
            go = Identity (d)  {BRANCHES}  q = Exp (r)  out = ReduceSum <keepdims = 0> (q)
        }}>
    }}"""
    check(text, [{"x": rows(n), "m": m, "c": c} for n, m, c in ((2, 3, 1 == 1), (1, 2, 1 == 0))])


@pytest.mark.parametrize(
    ("after", "types"),
    [
        ("y = Identity (r)", "tensor<.x3xf32, .* and tensor<3xf32>"),
        ("y = Exp (r)", "tensor<.x3xf32, .* and tensor<3xf32>"),
        ("q = Exp (r)  y = Identity (r)", "tensor<.x3xf32, .* and tensor<3xf32>"),
        (
            """v = If (c) <
                then_branch = then0 () => (float[k] v1) { v1 = Exp (r) },
                else_branch = other0 () => (float[k] v2) { v2 = Identity (r) }
            >  y = Neg (v)""",
            "tensor<.x3xf32, .* and tensor<3xf32>",
        ),
    ],
)
def test_a_result_of_several_ranks_is_refused(after: str, types: str) -> None:
    text = f"main (float[N, 3] x, bool c) => (float[n] y) {{ {BRANCHES} {after} }}"
    message = f"'If' node needs the value of input 'cond', as branches return {types}"
    with new_context(), pytest.raises(CompileError, match=message):
        import_onnx(model_of(text))


def test_sizes_need_fit_the_branch_alone_that_a_run_takes() -> None:
    text = """main (float[N, 3] x, float[M, 3] z, bool c) => (float[n, 3] y) {
        y = If (c) <
            then_branch = then () => (float[p, 3] o) { o = Add (x, z) },
            else_branch = other () => (float[q, 3] o2) { o2 = Concat <axis = 0> (x, z) }
        >
    }"""
    x, z = rows(4), rows(2)
    feeds = [{"x": x, "z": z, "c": False}, {"x": x, "z": x, "c": True}]
    check(text, [*feeds, {"x": x, "z": x, "c": False}])
    for target in ("host", "cpu"):
        session = compile(model_of(text), target=target)
        with pytest.raises(RunError, match=r"Add.*4 .*2|Add.*N.*M"):
            session.run({"x": x, "z": z, "c": np.array(True)})
        session.run({"x": x, "z": z, "c": np.array(False)})
