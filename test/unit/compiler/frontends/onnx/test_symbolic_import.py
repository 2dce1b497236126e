"""Models keep the symbols of their inputs: what is computed with sizes, and what is checked.

A symbolic import whose symbols are bound must equal the import of the same model with those sizes.
"""

from collections.abc import Mapping

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx.reference import ReferenceEvaluator
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.data_dependent import DataDependentOp
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import checks_of, symbols_of_function
from trivium.passes.bind_sizes import bind_sizes
from trivium.test.unit.compiler.frontends.canonical import canonical

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'

MODELS = {
    "split heads": """heads (float[N, T, 12] x) => (float[a, b, c, d] y)
        <int64 zero = {0}, int64 one = {1}, int64[1] front = {0}, int64[2] heads = {3, -1}> {
            shape = Shape (x)
            batch = Gather (shape, zero)
            length = Gather (shape, one)
            batches = Unsqueeze (batch, front)
            lengths = Unsqueeze (length, front)
            target = Concat <axis = 0> (batches, lengths, heads)
            split = Reshape (x, target)
            y = Transpose <perm = [0, 2, 1, 3]> (split)
        }""",
    "positions": """positions (int64[N, T] ids, float[512, 8] table) => (float[a, b, c] y)
        <int64 zero = {0}, int64 step = {1}, int64[1] front = {0}> {
            shape = Shape <start = 1> (ids)
            length = Squeeze (shape, front)
            places = Range (zero, length, step)
            rows = Gather <axis = 0> (table, places)
            own = Gather <axis = 0> (table, ids)
            y = Add (own, rows)
        }""",
    "rows of a table": """rows (float[N, T, 8] x, float[1, 512, 8] table) => (float[a, b, c] y)
        <int64[1] front = {0}, int64[1] one = {1}> {
            length = Shape <start = 1, end = 2> (x)
            rows = Slice (table, front, length, one)
            y = Add (x, rows)
        }""",
    "divide by the last of halved rows": """last (float[1, 3, H, W] x) => (float[a, b, c, d] y)
        <int64[1] minus = {-1}, int64[1] end = {2147483647}, int64[1] rows = {2}> {
            halved = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
            last = Slice (halved, minus, end, rows)
            y = Div (halved, last)
        }""",
    "causal mask": """mask (float[T, S] x) => (float[a, b] y)
        <int64 zero = {0}, int64 one = {1}, int64[1] front = {0}, float low = {-1000}> {
            shape = Shape (x)
            rows = Gather (shape, zero)
            columns = Gather (shape, one)
            more = Sub (columns, rows)
            ones = ConstantOfShape <value = float[1] {1}> (shape)
            seen = Trilu <upper = 0> (ones, more)
            hidden = Equal (seen, seen)
            some = Cast <to = 9> (seen)
            y = Where (some, x, low)
        }""",
    "expand where it is not -1": """expand (float[1, T, 1] x, float[N, M] z) => (float[a, b, c] y)
        <int64[3] wanted = {-1, 1, 4}, int64[3] ones = {1, 1, 1}, int64 minus = {-1}> {
            n = Shape <end = 1> (z)
            rest = Constant <value_ints = [-1, 4]> ()
            asked = Concat <axis = 0> (n, rest)
            free = Equal (asked, minus)
            shape = Where (free, ones, asked)
            y = Expand (x, shape)
        }""",
    "pooled image": """image (float[N, 3, H, W] x, float[4, 3, 3, 3] k) => (float[a, b, c, d] y)
        <float[4] scales = {1, 1, 2, 2}> {
            c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, k)
            p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (c)
            y = Resize <mode = "nearest"> (p, , scales)
        }""",
    "flat image": """flat (float[N, 3, H, W] x) => (float[a, b] y)
        <int64[2] shape = {0, -1}> { y = Reshape (x, shape) }""",
    "parts": """parts (float[N, T] x) => (float[a, b] u, float[a, c] v, float[a, d] w,
                                         float[a, e] r)
        <int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1}, int64[1] end = {2147483647},
         int64[1] start = {-9223372036854775807}> {
            u, v = Split <axis = 1, num_outputs = 2> (x)
            w = Slice (x, one, end, one, two)
            r = Slice (x, minus, start, one, minus)
        }""",
    "counts": """counts (float[N, T] x) => (float[a] y, int64 n, int64[1] p)
        <int64[1] axis = {0}, int64 four = {4}, float zero = {0}> {
            shape = Shape (x)
            p = ReduceProd (shape, axis)
            n = Size (x)
            half = Div (n, four)
            total = Cast <to = 1> (half)
            last = Constant <value_ints = [1]> ()
            s = ReduceSum <keepdims = 0> (x, last)
            y = Add (s, total)
        }""",
    "eye": """eye (float[T, S] x) => (float[a, b] y) { e = EyeLike <k = 1> (x)  y = Add (x, e) }""",
}
SIZES = {"N": 2, "T": 6, "S": 9, "M": 3, "H": 16, "W": 20}


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + text)


def bound(model: onnx.ModelProto, sizes: Mapping[str, int]) -> str:
    with new_context():
        module = import_onnx(model)
        names = symbols_of_function(module.main)
        assert names
        bind_sizes(module, {name: sizes[name] for name in names})
        module.verify()
        return canonical(module)


def static(model: onnx.ModelProto, sizes: Mapping[str, int]) -> str:
    declared = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim}
    with new_context():
        named = {name: size for name, size in sizes.items() if name in declared}
        return canonical(import_onnx(model, shapes=named))


@pytest.mark.parametrize("name", MODELS)
def test_bound_symbols_give_the_static_import(name: str) -> None:
    model = parsed(MODELS[name])
    for sizes in (SIZES, {**SIZES, "N": 1, "T": 7, "S": 7, "H": 33, "W": 35}):
        assert bound(model, sizes) == static(model, sizes)


@pytest.mark.parametrize("name", MODELS)
def test_symbolic_modules_compute_what_the_model_does(name: str) -> None:
    model = parsed(MODELS[name])
    random = np.random.default_rng(0)
    inputs = {
        each.name: random.integers(0, 9, [d.dim_value or SIZES[d.dim_param] for d in dims]).astype(
            np.int64 if each.type.tensor_type.elem_type == onnx.TensorProto.INT64 else np.float32
        )
        for each in model.graph.input
        for dims in [each.type.tensor_type.shape.dim]
    }
    with new_context():
        made = run(import_onnx(model), list(inputs.values()))
    wanted = ReferenceEvaluator(model).run(None, inputs)
    for a, b in zip(made, wanted, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


# -- what is checked, and what is refused ---------------------------------------------------------


def checks(text: str, **shapes: int | Range) -> list[str]:
    with new_context():
        module = import_onnx(parsed(text), shapes=shapes)
        found = checks_of(module.main)
    return [f"{c.node}: {c.expression} {c.relation} 0: {c.message}" for c in found]


def found_sizes(text: str) -> list[str]:
    """Return the symbols of a model that ops define when they run."""
    with new_context():
        module = import_onnx(parsed(text))
        finders = (op for op in ops(module.operation) if isinstance(op, DataDependentOp))
        return [symbol.name for op in finders for symbol in op.defined]


def refusal(text: str, **shapes: int | Range) -> str:
    with new_context(), pytest.raises(CompileError) as caught:
        import_onnx(parsed(text), shapes=shapes)
    return str(caught.value)


SUM = """sums (float[N, T] a, float[N, S] b) => (float[N, T] y) {
    [first] s = Add (a, b)
    [second] t = Add (b, a)
    [third] y = Mul (s, t)
}"""


def test_sizes_that_must_be_equal_are_checked_once() -> None:
    expected = "first: S - T == 0: 'Add' node has sizes S and T along axis -1"
    assert checks(SUM) == [expected]
    assert checks(SUM, S=3, T=3) == []
    assert "first: error: 'Add' node has sizes 3 and 4 along axis -1" in refusal(SUM, S=3, T=4)


def test_a_failed_check_names_the_node() -> None:
    with new_context():
        module = import_onnx(parsed(SUM))
        arrays = [np.zeros((2, n), np.float32) for n in (3, 4)]
        with pytest.raises(Invalid, match="first: 'Add' node has sizes S and T along axis -1, whe"):
            run(module, arrays)
        with pytest.raises(CompileError, match="first: error: 'Add' node has sizes S and T along"):
            bind_sizes(module, {"T": 3, "S": 4})


CUT = """cut (float[T] x) => (float[a] y) <int64[1] first = {4}, int64[1] end = {2147483647}> {
    y = Slice (x, first, end)
}"""


def test_numbers_that_mean_the_end_are_checked_unless_the_range_is_known() -> None:
    assert checks(CUT, T=Range(5, 512)) == []
    (check,) = checks(CUT, T=Range(5))
    assert "-T + 2147483647 >= 0: 'Slice' node has size T along an axis that is cut" in check


DIVIDED = """divided (float[T, 6] x) => (float[a, b] y) <int64[2] shape = {-1, 4}> {
    [rows] y = Reshape (x, shape)
}"""


def test_a_quotient_that_must_be_exact_is_checked() -> None:
    (check,) = checks(DIVIDED)
    assert check.startswith("rows: ")
    assert "== 0: 'Reshape' node shape [-1, 4] does not fit the 6*T elements" in check
    assert checks(DIVIDED, T=Range(2, 64, step=2)) == []


CHOSEN = """chosen (float[T, 1] x, float[S] z) => (float[a, b] y)
    <int64[1] ones = {1}, int64[1] five = {5}> {
        size = Shape (z)
        is_five = Equal (size, five)
        width = Where (is_five, ones, size)
        target = Concat <axis = 0> (ones, width)
        [wide] y = Expand (x, target)
}"""


def test_a_comparison_that_sizes_do_not_decide_is_never_guessed() -> None:
    assert found_sizes(CHOSEN) == ["u0"]
    assert checks(CHOSEN, S=Range(6)) == []
    assert checks(CHOSEN, S=5) == []


SQUEEZED = """squeezed (float[T, 4] x) => (y) { [drop] y = Squeeze (x) }"""


def test_an_axis_that_may_have_one_element_is_not_dropped() -> None:
    text = SQUEEZED.replace("(y)", "(float[4] y)", 1)
    assert "drop: error: 'Squeeze' node drops axis 0 where its size T is 1" in refusal(text)


COMPUTED = """computed (float[T] x, int64[1] n) => (float[a] y) { [tiled] y = Tile (x, n) }"""


def test_sizes_that_data_decides_are_found_when_the_model_runs() -> None:
    assert found_sizes(COMPUTED) == ["u0"]


HALVED = """halved (float[4, T] x, float[S] z) => (float[a, b, c] y)
    <int64[1] two = {2}, int64[1] rest = {-1}> {
        size = Shape (z)
        half = Div (size, two)
        target = Concat <axis = 0> (two, half, rest)
        [view] y = Reshape (x, target)
}"""


def test_a_computed_size_of_a_shape_must_not_be_0() -> None:
    (least, *_) = checks(HALVED)
    assert least.startswith("view: S//2 - 1 >= 0: 'Reshape' node computes size S//2 for axis 1")
    assert not any("S//2 - 1" in check for check in checks(HALVED, S=Range(2)))
