"""Texts of sizes: their values are Python's own, and texts that are no sizes are refused."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.runtime.contents import ARENA, Buffer, NamedSize, Region, SizeCheck, Symbol
from trivium.runtime.errors import PackageError
from trivium.runtime.sizes.evaluation import Evaluation
from trivium.runtime.sizes.formulas import Formulas
from trivium.runtime.sizes.size_expressions import DEEPEST, LONGEST, is_symbol_name
from trivium.runtime.sizes.values import SizeArray, SizeFault
from trivium.test.unit.runtime.symbolic import symbolic_manifest

NAMES = ("N", "T", "_u0")


@st.composite
def texts(draw: st.DrawFn, depth: int = 4) -> str:
    kind = draw(st.sampled_from(["name", "number", "+", "-", "*", "//", "max", "min", "minus"]))
    if kind == "name" or not depth:
        return draw(st.sampled_from(NAMES))
    if kind == "number":
        return str(draw(st.integers(0, 1 << 40)))
    a, b = draw(texts(depth - 1)), draw(texts(depth - 1))
    if kind == "minus":
        return f"-({a})"
    return f"{kind}({a}, {b})" if kind in ("max", "min") else f"({a}) {kind} ({b})"


@given(st.lists(texts(), min_size=1, max_size=5), st.tuples(*[st.integers(-9, 999)] * 3))
def test_values_are_those_of_python(sizes: list[str], values: tuple[int, ...]):
    formulas = Formulas(NAMES)
    function = formulas.function([formulas.read(text) for text in sizes])
    known = dict(zip(NAMES, values, strict=True))
    try:
        wanted = tuple(eval(text, {"max": max, "min": min}, known) for text in sizes)
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            function(*values)
        return
    assert function(*values) == (wanted,)


@given(st.text("NT_u0123456789+-*/(), maxin", max_size=30))
def test_a_text_has_the_value_of_python_or_is_refused(text: str):
    formulas = Formulas(NAMES)
    try:
        formula = formulas.read(text, "place")
    except PackageError:
        return
    function = formulas.function([formula])
    try:
        wanted = eval(text, {"max": max, "min": min}, {"N": 3, "T": 5, "_u0": 7})
    except ZeroDivisionError:
        return
    assert function(3, 5, 7) == ((wanted,),)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "N T",
            "N +",
            "2.5",
            "N / 2",
            "N ** 2",
            "N % 2",
            "1e3",
            "0x10",
            "1_0",
            "1j",
            "007",
        ),
        *("True", "N if T else N", "N or T", "N < T", "[N]", "(N, T)", "N,", "lambda: 1", "N.real"),
        *(
            "max(N)",
            "max()",
            "max(*N)",
            "max(N, T, key=N)",
            "abs(N)",
            "max",
            "N(1, 2)",
            "__import__('os')",
        ),
        *("\u039d", "N\nT", "N#", "~N", "+N", "N @ T", "N & T", "(" * 500, "K", str(1 << 63)),
        *("-" * (DEEPEST + 1) + "N", "-" * LONGEST + "N", "1+" * LONGEST + "1", "(N)" * 100),
    ],
)
def test_what_is_no_size_is_refused_in_one_line(text: str):
    with pytest.raises(PackageError) as caught:
        Formulas(NAMES).read(text, "buffers[3].offset")
    message = str(caught.value)
    assert message.startswith("'buffers[3].offset' is the size '")
    assert "\n" not in message
    assert len(message) < 300


def test_names_of_symbols():
    assert all(map(is_symbol_name, ("N", "batch_size", "_0", "T_16")))
    assert not any(map(is_symbol_name, ("", "max", "min", "2", "N-1", "x.0", "\u039d", "N ")))


def test_equal_parts_are_computed_once():
    formulas = Formulas(NAMES)
    texts = ("4*N*T", "4*(N*T + 16)", "max(4*T*N, 64)", "64 + 2*N*(T + T)", "-4*N*T - 64")
    function = formulas.function(list(map(formulas.read, texts)))
    assert function(3, 5, 0) == ((60, 124, 60 + 4, 124, -124),)
    assert len(formulas.lines) == 6  # N*T, 4*N*T, max, N*T + 16, 4*, -4*


def evaluation(**change: Any) -> Evaluation:
    manifest = replace(symbolic_manifest(), **change)
    return Evaluation(manifest, [(step, f"steps[{i}]") for i, step in enumerate(manifest.steps)])


def test_numbers_and_arrays_of_them():
    found = evaluation()
    values = found.at({"N": 3, "T": 32})
    assert [values("16*T_16"), values("at_1"), values(7)] == [32, 384, 7]
    assert values.arenas == {ARENA: 768}
    array = SizeArray(cast("Any", [5, "8*N*T_16", "at_1", -1])).at(values)
    assert array.dtype == np.int64
    assert array.tolist() == [5, 48, 384, -1]


BUFFERS = symbolic_manifest().buffers


def power(times: int) -> str:
    """Return N multiplied by itself, and that by itself, some times."""
    return f"({power(times - 1)})*({power(times - 1)})" if times else "N"


def with_buffer(**change: Any) -> dict[str, Any]:
    return {"buffers": (*BUFFERS[:5], replace(BUFFERS[5], **change))}


@pytest.mark.parametrize(
    ("change", "sizes", "message"),
    [
        (with_buffer(offset="at_1 + 4*T"), (2, 16), "the rest of base 0 behind its buffers is -64"),
        (with_buffer(offset="at_1 - T//8"), (2, 16), "a multiple of 4 below an offset is"),
        (with_buffer(offset="0 - at_1"), (2, 16), "'buffers[5].offset' is -128"),
        (with_buffer(shape=("N - 3", "T")), (2, 16), "'buffers[5].shape[0]' is -1"),
        (with_buffer(shape=("N*N*N*N", "N*N", 0)), (1 << 9, 16), "the bytes of 'buffers[5]' is"),
        (
            with_buffer(shape=("N*N*N*N", "N*N", "N - 512")),
            (1 << 9, 16),
            "the bytes of 'buffers[5]'",
        ),
        (with_buffer(offset=power(9)), (1 << 30, 16), "'buffers[5].offset' is 2^15360 or so"),
        (with_buffer(shape=("T//(N - 2)",)), (2, 16), "a size is divided by 0"),
        ({"regions": (Region(ARENA, "64 - N", ()),) * 2}, (65, 16), "'regions[0].size' is -1"),
        (
            {"checks": (SizeCheck("1//(N - 2)", ">=", "a", "b"),)},
            (2, 16),
            "a size is divided by 0",
        ),
    ],
)
def test_what_does_not_fit_at_some_sizes_is_refused(
    change: dict[str, Any], sizes: tuple[int, int], message: str
):
    found = evaluation(**change)
    with pytest.raises(SizeFault) as caught:
        found.at({"N": sizes[0], "T": sizes[1]})
    assert str(caught.value).startswith(message)


def test_numbers_of_steps_may_be_negative_but_not_beyond_64_bits():
    step = replace(
        symbolic_manifest().steps[3], sizes={"start": "N - T", "sizes": ("N*N*N*N*N*N*N",)}
    )
    found = Evaluation(symbolic_manifest(), [(step, "steps[0]")])
    assert found.at({"N": 2, "T": 48})("N - T") == -46
    with pytest.raises(SizeFault, match="more than 64 bits"):
        found.at({"N": 1 << 10, "T": 48})


def test_offsets_are_not_known_to_shapes():
    with pytest.raises(
        PackageError, match=r"'buffers\[5\].shape\[0\]' is the size 'at_0', there is"
    ):
        Evaluation(
            replace(symbolic_manifest(), inputs=(), regions=(), **with_buffer(shape=("at_0",)))
        )


def test_a_buffer_may_be_static_beside_others():
    plain = Buffer("c", ARENA, 0, (4,), "float32")
    found = evaluation(buffers=(*BUFFERS, plain))
    assert found.at({"N": 1, "T": 16}).arenas == {ARENA: 128}
    with pytest.raises(SizeFault, match="the rest of base 0 behind its buffers is -16"):
        found.unchecked({"N": 1, "T": 0})


def test_the_unit_of_a_step_is_a_quotient():
    found = evaluation(symbols=(Symbol("N", 1, None, 2), Symbol("T", 0, 512, 48, 16)))
    assert found.at({"N": 1, "T": 48})("16*T_16") == 48


def test_named_sizes_may_use_earlier_ones():
    names = (NamedSize("half", "N//2"), NamedSize("more", "max(half, T) + half"))
    found = evaluation(named_sizes=names, **with_buffer(offset="at_1 + 0*more"))
    assert found.at({"N": 9, "T": 16})("at_1 + 0*more") == 9 * 16 * 4
    with pytest.raises(PackageError, match=r"'named_sizes\[0\].expression' is .* no symbol 'half'"):
        evaluation(named_sizes=names[::-1])
    with pytest.raises(PackageError, match=r"'named_sizes\[0\].expression' is .* no symbol 'at_0'"):
        evaluation(named_sizes=(NamedSize("place", "at_0"),))


@pytest.mark.parametrize("step", ["{0}*{0}", "max({0}*{0}, T)", "({0}*{0} + 1)//2"])
@pytest.mark.parametrize("first", ["N", "3"])
def test_names_of_products_of_names_have_limited_values(step: str, first: str):
    names = [NamedSize("a0", first)]
    names += [NamedSize(f"a{i + 1}", step.format(f"a{i}")) for i in range(1000)]
    with pytest.raises(PackageError, match="may have more than 32768 bits"):
        evaluation(named_sizes=tuple(names))
