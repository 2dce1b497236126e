"""The code of functions of sizes: what is written where, and that values are those of all lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.runtime.sizes.code import write_function


def called(code: str, *values: int) -> tuple[tuple[int, ...], ...]:
    scope: dict[str, object] = {}
    exec(code, {"__builtins__": {}, "max": max, "min": min}, scope)
    compute = scope["compute"]
    assert callable(compute)
    return compute(*values)


def test_what_one_place_uses_stands_there():
    lines = {"v0": "p0 + 1", "v1": "v0 * p1", "v2": "v1 - 3", "v3": "max(v2, v1)"}
    code = write_function(["p0", "p1"], lines, [["v3", "7"], []])
    assert code.splitlines()[1:] == [
        " v1 = (p0 + 1) * p1",
        " return (((max((v1 - 3), v1)), 7, ), (),)",
    ]
    assert called(code, 2, 5) == ((15, 7), ())


def test_what_nothing_uses_is_left_out_unless_it_may_fail():
    lines = {"v0": "p0 * p0", "v1": "v0 // 4", "v2": "v0 // p0", "v3": "p0 // 0"}
    code = write_function(["p0"], dict(list(lines.items())[:3]), [["p0"]])
    assert "v1" not in code
    assert called(code, 3) == ((3,),)
    with pytest.raises(ZeroDivisionError):
        called(code, 0)
    with pytest.raises(ZeroDivisionError):
        called(write_function(["p0"], lines, [["p0"]]), 3)


def test_long_chains_do_not_nest_deeply():
    lines = {"v0": "p0 + 1"} | {f"v{i}": f"max(v{i - 1}, {i})" for i in range(1, 3000)}
    code = write_function(["p0"], lines, [["v2999"]])
    assert called(code, 5) == ((2999,),)
    assert called(code, 5000) == ((5001,),)


@st.composite
def programs(draw: st.DrawFn) -> dict[str, str]:
    """Return lines of which each uses two of those before, a parameter or a number."""
    lines: dict[str, str] = {}
    for i in range(draw(st.integers(1, 30))):
        known = st.sampled_from(["p0", "p1", "2", *lines])
        a, b = draw(known), draw(known)
        shape = draw(st.sampled_from(["{} + {}", "{} - {}", "{} * {}", "max({}, {})", "{} // 3"]))
        lines[f"v{i}"] = shape.format(a, b)
    return lines


@given(programs(), st.lists(st.integers(0, 29), max_size=6), st.tuples(*[st.integers(-9, 9)] * 2))
def test_values_are_those_of_the_lines(
    lines: dict[str, str], places: list[int], values: tuple[int, int]
):
    results = [f"v{i}" for i in places if i < len(lines)]
    plain = "".join(f" {name} = {code}\n" for name, code in lines.items())
    listed = "".join(f"{name}, " for name in results)
    wanted = called(f"def compute(p0, p1):\n{plain} return (({listed}),)\n", *values)
    assert called(write_function(["p0", "p1"], lines, [results]), *values) == wanted
