"""Expressions as text and trees: what is read, printed and refused, and how they are evaluated."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from examples import Pick
from examples_expressions import expressions
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from trivium.dialects import expression
from trivium.dialects.core.errors import Invalid, Undecided, Unsupported
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.expression import Formula, Literal, Reference

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=300, database=None, phases=PHASES)
DEEP = 5000
X = Tensor((2, 3), "f32")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("add(mul(@0,2),@1)", "add(mul(@0,2),@1)"),
        ("expm1,sub(@0,0.5)", "expm1(sub(@0,0.5))"),
        ("log1p,@0", "log1p(@0)"),
        ("add(@0,,mul(@1,2))", "add(@0,mul(@1,2))"),
        ("add mul @0 2 @1", "add(mul(@0,2),@1)"),
        ("sub(@0,-1)", "sub(@0,-1)"),
        ("mul(@0,1.000000e-05)", "mul(@0,1e-05)"),
        ("mul(@0,2.)", "mul(@0,2.0)"),
        ("maximum(@0,-inf)", "maximum(@0,-inf)"),
        ("sub(@0,0.000000e+00+4.000000e+00j)", "sub(@0,4j)"),
        ("mul(@0,1.200000e+00-9.000000e-01j)", "mul(@0,1.2-0.9j)"),
        ("torch.float(@12)", "torch.float(@12)"),
        ("[@0,add(@1,1),-1]", "[@0,add(@1,1),-1]"),
        ("[size(@0),True,None]", "[size(@0),True,None]"),
        ("[]", "[]"),
        ("add(size(@0,1),2)", "add(size(@0,1),2)"),
        ("sub(1,size(@0))", "sub(1,size(@0))"),
        ("size(@0,-1)", "size(@0,-1)"),
        ("size @0 1", "size(@0,1)"),
        ("size(@0,size(@1,0))", "size(@0,size(@1,0))"),
    ],
)
def test_brackets_and_commas_only_separate(text: str, canonical: str) -> None:
    formula = expression.parse(text)
    assert str(formula) == canonical
    assert str(expression.parse(canonical)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expression is empty"),
        ("()", "expression is empty"),
        ("add(@0,foo(@1))", "has 'foo' at column 8, which is no function, did you mean 'floor'"),
        ("sqr(@0)", "has 'sqr' at column 1, which is no function, did you mean 'sqrt'"),
        ("add(@0", "ends at column 7, where 'add' at column 1 has 1 of 2 arguments"),
        ("add(@0,mul(@1))", "ends at column 16, where 'mul' at column 8 has 1 of 2 arguments"),
        ("add(@0,mul(@1,2)", r"has '\(' at column 4 without its '\)'"),
        ("add(@0,@1))", r"has '\)' at column 11 without its '\('"),
        ("add)@0,@1(", r"has '\)' at column 4 without its '\('"),
        ("[size(@0,0,-1]", r"has '\(' at column 6 without its '\)'"),
        ("add(@0,@1,@2)", "has '@2' at column 11, behind its end"),
        ("@0 @1", "has '@1' at column 4, behind its end"),
        ("[@0,@1", r"has '\[' at column 1 without its ']' at the end"),
        ("[@0],@1", r"has '\[' at column 1 without its ']' at the end"),
        ("add([@0],1)", r"has '\[' at column 5, lists must be around all of it"),
        ("[[@0]]", r"has '\[' at column 2, lists must be around all of it"),
        ("@0]", "has ']' at column 3, lists must be around all of it"),
        ("add(@0,$)", r"has '\$' at column 8, which is no token"),
        ("add(@0,1.2.3)", "has '1.2.3' at column 8, which is no token"),
        ("add(@0,12ab)", "has '12ab' at column 8, which is no token"),
        ("add(@0,\u0663)", "has '\u0663' at column 8, which is no token"),
        ("add(@,1)", "has '@' at column 5, which is no token"),
        ("@99999999999", "has '@99999999999' at column 1, which is no token"),
        (f"add(@0,{2**63})", "has an integer at column 8 over 64 bits"),
        ("7" * 10_000, "has an integer at column 1 over 64 bits"),
        ("size", "ends at column 5, where 'size' at column 1 has 0 of 1 arguments"),
    ],
)
def test_errors_point_at_a_column(text: str, message: str) -> None:
    with pytest.raises(Invalid, match=f"^(expression )?{message}$"):
        expression.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@1", "expression names @1, there are 1 operands"),
        ("add(@0,None)", "'add' takes None, must be a tensor or a number"),
        ("add(@0,size(@0))", r"'add' takes \(2, 3\), must be a tensor or a number"),
        ("None", "expression is or lists None, must be a tensor or a number"),
        ("[1,None]", "expression is or lists None, must be a tensor or a number"),
        ("[@0]", "expression lists tensor<2x3xf32>, must be numbers or tensors of no axes"),
        ("size(1,0)", "'size' takes 1, must be a tensor"),
        ("size(@0,0.5)", "'size' takes axis 0.5, must be an integer"),
        ("size(@0,2)", r"axis 2 is outside \[-2, 2\) of a rank-2 tensor"),
        ("neg(torch.bool(@0))", "'neg' takes bools, must be integers or floats"),
        ("sub(@0,True)", "'sub' takes bools, must be integers or floats"),
        ("and(@0,1)", "'and' takes floats, must be bools or integers"),
        ("pow(torch.long(@0),-2)", "'pow' raises integers to the power -2, must not be negative"),
        ("remainder(torch.long(@0),0)", "'remainder' divides integers by zero"),
        ("floor_divide(1,0)", "'floor_divide' divides integers by zero"),
    ],
)
def test_what_functions_do_not_take(text: str, message: str) -> None:
    with pytest.raises(Invalid, match=f"^{message}$"):
        expression.tensor_of(expression.parse(text), [X])


@pytest.mark.parametrize("text", ["mul(@0,4j)", "add(@0,sub(1+2j,@0))", "4j", "[1,2j]"])
def test_complex_numbers_are_refused(text: str) -> None:
    with pytest.raises(Unsupported, match=r"tri has no complex element types$"):
        expression.tensor_of(expression.parse(text), [X])


def test_unsigned_types_beyond_bytes_are_refused() -> None:
    for text in ("neg(@0)", "@0"):
        with pytest.raises(Invalid, match="tensor<2xui32>, must have one of f64, f32"):
            expression.tensor_of(expression.parse(text), [Tensor((2,), "ui32")])


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("size(@0,1)", Tensor((), "i64")),
        ("div(size(@0,1),2)", Tensor((), "f32")),
        ("True", Tensor((), "i1")),
        ("size(@0)", Tensor((2,), "i64")),
        ("[]", Tensor((0,), "i64")),
        ("[1,size(@0,1)]", Tensor((2,), "i64")),
        ("[1,0.5]", Tensor((2,), "f32")),
        ("[1,@1]", Tensor((2,), "i32")),
        ("add(@0,@1)", X),
    ],
)
def test_numbers_and_lists_become_tensors(text: str, made: Tensor) -> None:
    formula = expression.parse(text)
    assert expression.tensor_of(formula, [X, Tensor((), "i32")]) == made
    arrays = [np.ones((2, 3), np.float32), np.array(7, np.int32)]
    assert Tensor.of(expression.array_of(formula, arrays)) == made


def test_values_of_a_list() -> None:
    arrays = [np.ones((2, 3), np.float32), np.array(7, np.int32)]
    formula = expression.parse("[1,@1,size(@0,1),floor_divide(size(@0,1),2)]")
    assert expression.array_of(formula, arrays).tolist() == [1, 7, 3, 1]


def test_operands_are_named_in_order() -> None:
    assert expression.parse("add(@7,mul(@2,@7))").references == [2, 7]


def test_operands_are_renamed_or_become_literals() -> None:
    formula = expression.parse("[add(@0,mul(@1,@2)),@1]")
    renamed = expression.renamed(formula, [Reference(5), Literal(3), Reference(0)])
    assert str(renamed) == "[add(@5,mul(3,@0)),3]"


@LAW
@given(data=st.data())
def test_both_evaluations_agree(data: st.DataObject) -> None:
    example = expressions(Pick(data.draw))
    text = example.attributes["expr"]
    formula = expression.parse(text)
    leaf = expression.given(example.operands[0])
    by_stack = expression.evaluate(formula, leaf, expression.compute)
    tokens = expression.tokenize(text)
    from_the_right = expression.evaluate_tokens(tokens, leaf, expression.compute)
    assert list(map(bits, by_stack)) == list(map(bits, from_the_right))


@LAW
@given(data=st.data())
def test_the_canonical_text_reads_back(data: st.DataObject) -> None:
    text = expressions(Pick(data.draw)).attributes["expr"]
    formula = expression.parse(text)
    canonical = str(formula)
    assert str(expression.parse(canonical)) == canonical
    assert symbols(expression.parse(canonical)) == symbols(formula)


def symbols(formula: Formula) -> list[str]:
    return [repr(node.symbol) for root in formula.roots for node in root.postfix()]


def bits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return type(value), repr(value)


@LAW
@given(st.text(alphabet="@0123456789.,()[] -+ejaddsizemul_", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        formula = expression.parse(text)
    except Invalid:
        return
    assert str(expression.parse(str(formula))) == str(formula)


@pytest.mark.parametrize("text", ["neg(" * DEEP + "@0" + ")" * DEEP, "add @0 " * DEEP + "1"])
def test_nesting_has_no_limit(text: str) -> None:
    formula = expression.parse(text)
    assert expression.parse(str(formula)) is not None
    x = np.array([0.5, 2], np.float32)
    leaf = expression.given([x])
    (one,) = expression.evaluate(formula, leaf, expression.compute)
    (other,) = expression.evaluate_tokens(expression.tokenize(text), leaf, expression.compute)
    assert one.tobytes() == other.tobytes()
    assert expression.tensor_of(formula, [Tensor((2,), "f32")]) == Tensor((2,), "f32")
    renamed = expression.renamed(formula, [Reference(1)])
    assert renamed.references == [1]


def test_chains_to_the_left_have_no_limit() -> None:
    text = "add(" * DEEP + "@0" + ",1)" * DEEP
    made = expression.array_of(expression.parse(text), [np.zeros(1, np.float64)])
    assert made.tolist() == [DEEP]


def test_expressions_need_no_mlir() -> None:
    code = "import sys, trivium.dialects.expression; sys.exit('torch_mlir' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("[size(@0,0),-1]", (2,)),
        ("add(@0,floor_divide(size(@0,0),2))", (2, 3)),
        ("mul(@0,div(1,size(@0,1)))", (2, 3)),
        ("max(size(@0,0),3)", ()),
    ],
)
def test_sizes_that_change_make_the_types_of_their_numbers(
    text: str, shape: tuple[int, ...]
) -> None:
    rows = symbol("N")
    made = expression.tensor_of(expression.parse(text), [Tensor((rows, 3), "f32")])
    static = expression.tensor_of(expression.parse(text), [X])
    assert Tensor(tuple(evaluate(size, {"N": 2}) for size in made.shape), made.dtype) == static
    assert static.shape == shape


def test_a_number_of_sizes_that_is_none_must_be_known() -> None:
    formula = expression.parse("mul(@0,sqrt(size(@0,0)))")
    with pytest.raises(Undecided, match=r"'sqrt' takes N, .*: bind N$"):
        expression.tensor_of(formula, [Tensor((symbol("N"), 3), "f32")])
