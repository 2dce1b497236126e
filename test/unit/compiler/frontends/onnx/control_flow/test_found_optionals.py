"""Optionals of which a run finds whether they have an element."""

from typing import Any

import numpy as np
import pytest
import trivium
from trivium.compiler.onnx_backend import TriviumBackend
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import RunError
from trivium.test.unit.compiler.frontends.onnx.control_flow.joined_models import X, model

TENSOR = """o = If (c) <
    then_branch = t () => (optional(float[n, 3]) some) { d = Add (x, x)  some = Optional (d) },
    else_branch = e () => (optional(float[n, 3]) none) { none = Optional <type = float[n, 3]> () }
>"""


def run(text: str, *inputs: Any) -> tuple[Any, ...]:
    """Run a model that compiles without the values of its inputs."""
    proto = model(text)
    trivium.compile(proto)
    return TriviumBackend.prepare(proto).run(inputs)


@pytest.mark.parametrize("count", [2, 7])
def test_an_output_is_there_or_not(count: int) -> None:
    text = f"(float[N, 3] x, bool c) => (optional(float[n, 3]) o) {{ {TENSOR} }}"
    (some,) = run(text, X[:count], np.array(True))
    np.testing.assert_array_equal(some, 2 * X[:count])
    assert run(text, X[:count], np.array(False)) == (None,)
    ports = [port.name for port in trivium.compile(model(text)).outputs]
    assert ports == ["o.has_element", "o"]


def test_a_sequence_is_there_or_not() -> None:
    text = """(float[N, 3] x, bool c) => (optional(seq(float[n, 3])) o) {
        o = If (c) <
            then_branch = t () => (optional(seq(float[n, 3])) some) {
                d = Neg (x)  both = SequenceConstruct (x, d)  some = Optional (both)
            },
            else_branch = e () => (optional(seq(float[n, 3])) none) {
                none = Optional <type = seq(float[n, 3])> ()
            }
        >
    }"""
    (some,) = run(text, X, np.array(True))
    np.testing.assert_array_equal(some, [X, -X])
    assert run(text, X, np.array(False)) == (None,)


def test_a_branch_takes_the_element_where_there_is_one() -> None:
    text = f"""(float[N, 3] x, bool c) => (float[n, 3] y, bool has) {{
        {TENSOR}
        has = OptionalHasElement (o)
        y = If (has) <
            then_branch = t2 () => (float[n, 3] a) {{ a = OptionalGetElement (o) }},
            else_branch = e2 () => (float[n, 3] b) {{ b = Neg (x) }}
        >
    }}"""
    for c, factor in ((True, 2), (False, -1)):
        y, has = run(text, X, np.array(c))
        np.testing.assert_array_equal(y, factor * X)
        assert has == c


def test_the_element_of_none_is_an_error_of_the_run() -> None:
    text = f"(float[N, 3] x, bool c) => (float[n, 3] y) {{ {TENSOR}  y = OptionalGetElement (o) }}"
    np.testing.assert_array_equal(run(text, X, np.array(True))[0], 2 * X)
    with pytest.raises(RunError, match="takes the element of an optional that has none"):
        run(text, X, np.array(False))


@pytest.mark.parametrize("inner", [True, False])
def test_branches_in_branches(inner: bool) -> None:
    nothing = "no = Optional <type = float[n, 3]> ()"
    text = f"""(float[N, 3] x, bool c, bool d) => (optional(float[n, 3]) z) {{
        z = If (d) <
            then_branch = t3 () => (optional(float[n, 3]) o) {{ {TENSOR} }},
            else_branch = e3 () => (optional(float[n, 3]) no) {{ {nothing} }}
        >
    }}"""
    assert run(text, X, np.array(inner), np.array(False)) == (None,)
    (found,) = run(text, X, np.array(inner), np.array(True))
    if inner:
        np.testing.assert_array_equal(found, 2 * X)
    else:
        assert found is None


def test_an_optional_is_no_tensor() -> None:
    text = f"(float[N, 3] x, bool c) => (float[n, 3] y) {{ {TENSOR}  y = Neg (o) }}"
    with pytest.raises(CompileError, match="is an optional that may be empty, must be a tensor"):
        trivium.compile(model(text))
