import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trivium.compiler.frontends.pnnx import Parameter
from trivium.compiler.frontends.pnnx.format.parameters import Value, parse
from trivium.dialects.core.errors import Invalid

# What PNNX's own reader says of each spelling, and of complex numbers, which it only writes.
SPELLINGS: dict[str, Value] = {
    "None": None,
    "()": None,
    "[]": None,
    "True": True,
    "False": False,
    "7": 7,
    "-3": -3,
    "2147483647": 2147483647,
    "9223372036854775807": 9223372036854775807,
    "0.0": 0.0,
    "1.000000e-05": 1e-05,
    "1.000000e-5": 1e-05,
    "-2.5": -2.5,
    "1e3": 1000.0,
    "3.": 3.0,
    "inf": math.inf,
    "-inf": -math.inf,
    "1.000000e+00+2.000000e+00j": 1 + 2j,
    "1.000000e+00+-2.000000e+00j": 1 - 2j,
    "1.5-2j": 1.5 - 2j,
    "12j": 12j,
    "1e-5j": 1e-5j,
    "(1,2)": (1, 2),
    "[1,2]": (1, 2),
    "(4)": (4,),
    "(1.0,2)": (1.0, 2.0),
    "(1,2.5e1)": (1.0, 25.0),
    "(1,1.0+2.0j)": (1 + 0j, 1 + 2j),
    "(a,b)": ("a", "b"),
    "(a,1)": ("a", "1"),
    "(True,False)": (True, False),
    "(True,2)": ("True", "2"),
    "(None,2)": (None, 2),
    "(1,,2)": ("1", "", "2"),
    "bilinear": "bilinear",
    "torch.float": "torch.float",
    "ij,jk->ik": "ij,jk->ik",
    "": "",
    "-": "-",
    "-a": "-a",
    ".5": ".5",
    "+5": "+5",
    "2d": "2d",
    "1_000": "1_000",
    "٣": "٣",
    "%5": "%5",
    "(1,%n)": "(1,%n)",
    "[[2,1],[0,1]]": "[[2,1],[0,1]]",
    "add(@0,1)": "add(@0,1)",
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_the_spelling_says_the_type(text: str):
    parameter = parse(text)
    assert repr(parameter.value) == repr(SPELLINGS[text])
    assert parameter.text == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(1,2", "is '(1,2', a list that does not close"),
        ("(", "is '(', a list that does not close"),
        ("[1,2)", "is '[1,2)', a list that does not close"),
        ("9223372036854775808", "is 9223372036854775808, more than 64 bits hold"),
        ("1" * 5000, f"is {'1' * 24}, more than 64 bits hold"),
        ("(1,-9223372036854775809)", "is -9223372036854775809, more than 64 bits hold"),
    ],
)
def test_what_is_refused(text: str, words: str):
    with pytest.raises(Invalid) as error:
        parse(text)
    assert str(error.value) == words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (5, "5"),
        (1.0, "1.0"),
        (1e-05, "1e-05"),
        (1e16, "1e+16"),
        (math.inf, "inf"),
        (1 - 2j, "1.0+-2.0j"),
        ("same", "same"),
        ((1, 2), "(1,2)"),
        ((0.5, 1.0), "(0.5,1.0)"),
        (("a", "b"), "(a,b)"),
        ((1j, 2 + 0j), "(0.0+1.0j,2.0+0.0j)"),
    ],
)
def test_a_value_has_a_spelling(value: Value, text: str):
    assert Parameter.of(value) == Parameter(value, text)


@pytest.mark.parametrize(
    "value",
    ["1", "None", "a b", "()", "(1)", (), ("1", "2"), (1, 2.5), ("a,b",), (True, 1), 1 << 70],
)
def test_a_value_without_a_spelling_is_refused(value: Value):
    with pytest.raises(Invalid):
        Parameter.of(value)


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.complex_numbers()
)
numbers = st.integers(-(2**63), 2**63 - 1), st.floats(), st.complex_numbers(), st.booleans()
lists = st.one_of(*(st.lists(n, min_size=1).map(tuple) for n in numbers))


@given(scalars | lists)
def test_a_spelled_value_is_read_as_the_same_value(value: Value):
    text = Parameter.of(value).text
    assert repr(parse(text).value) == repr(value)


@given(st.text())
def test_any_text_is_read_or_refused(text: str):
    try:
        parameter = parse(text)
    except Invalid:
        return
    assert parameter.text == text
