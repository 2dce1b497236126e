"""PNNX graphs keep the sizes that vary, `?`: sizes computed of them, checks, what is refused.

A symbolic import whose symbols are bound must equal the import with those sizes.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from pnnx_suite import CASES, needs_suite
from texts import text, unary
from trivium.compiler.frontends.pnnx import Graph, read_pnnx
from trivium.compiler.frontends.pnnx.importer import import_pnnx
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import checks_of, symbols_of_function
from trivium.dialects.core.tensor import Array, Bindings
from trivium.passes.bind_sizes import bind_sizes
from trivium.test.unit.compiler.frontends.canonical import canonical

ROWS = "pnnx.Input a 0 1 0 #0=(%N,%T,12)f32"
IMAGE = "pnnx.Input a 0 1 0 #0=(%N,4,%H,%W)f32"
OUT = "pnnx.Output out 1 0 9"

MODELS = {
    "split heads": text(
        ROWS,
        "pnnx.Expression sizes 1 1 0 1 expr=[size(@0,0),size(@0,1),3,-1]",
        "Tensor.reshape split 2 1 0 1 9 $input=0 $shape=1",
        OUT,
    ),
    "size by size": text(
        ROWS,
        "Tensor.size batch 1 1 0 1 dim=0",
        "pnnx.Expression rows 2 1 1 0 2 expr=[mul(@0,size(@1,1)),12]",
        "Tensor.view flat 2 1 0 2 9 $input=0 $shape=2",
        OUT,
    ),
    "positions": text(
        ROWS,
        "pnnx.Expression length 1 1 0 1 expr=size(@0,1)",
        "torch.arange places 1 1 1 2 dtype=torch.float $end=1",
        "torch.unsqueeze column 1 1 2 3 dim=1 $input=2",
        "pnnx.Expression sum 2 1 0 3 9 expr=add(@0,mul(@1,0.5))",
        OUT,
    ),
    "causal mask": text(
        ROWS,
        "pnnx.Expression sizes 1 1 0 1 expr=[size(@0,1),size(@0,1)]",
        "torch.full wide 1 1 1 2 dtype=torch.float fill_value=-1.0 $size=1",
        "torch.triu mask 1 1 2 3 diagonal=1 $input=2",
        "torch.matmul seen 2 1 3 0 9 $input=3 $other=0",
        OUT,
    ),
    "halves and the last row": text(
        ROWS,
        "pnnx.Expression half 1 1 0 1 expr=floor_divide(size(@0,1),2)",
        "Tensor.slice rest 2 1 0 1 2 dim=1 end=2147483647 step=1 $input=0 $start=1",
        "Tensor.slice first 1 1 0 3 dim=1 start=None end=-1 step=2 $input=0",
        "Tensor.select last 1 1 2 4 dim=1 index=-1 $input=2",
        "torch.sum total 1 1 3 5 dim=(1) keepdim=False $input=3",
        "pnnx.Expression sum 2 1 4 5 9 expr=add(@0,@1)",
        OUT,
    ),
    "as wide as another": text(
        ROWS,
        "torch.mean mean 1 1 0 1 dim=(1) keepdim=True $input=0",
        "pnnx.Expression sizes 1 1 0 2 expr=[-1,size(@0,1),-1]",
        "Tensor.expand wide 2 1 1 2 3 $input=1 $sizes=2",
        "torch.cat all 2 1 0 3 4 dim=1 $input=0 $other=3",
        "Tensor.repeat twice 1 1 4 9 sizes=(1,2,1) $input=4",
        OUT,
    ),
    "parts": text(
        ROWS,
        "torch.chunk two 1 2 0 1 2 chunks=2 dim=1 $input=0",
        "torch.tensor_split three 1 3 0 3 4 5 sections=3 dim=1 $input=0",
        "torch.cat all 5 1 1 2 3 4 5 9 dim=1",
        OUT,
    ),
    "variance": text(ROWS, "torch.var var 1 1 0 9 dim=(1) keepdim=False unbiased=True", OUT),
    "image": text(
        IMAGE,
        "nn.MaxPool2d pool 1 1 0 1 ceil_mode=True dilation=(1,1) kernel_size=(3,3) padding=(1,1)"
        " return_indices=False stride=(2,2)",
        "nn.Upsample up 1 1 1 2 mode=bilinear align_corners=False scale_factor=(2.0,3.0) size=None",
        "F.glu half 1 1 2 9 dim=1 $input=2",
        OUT,
    ),
    "pooled image": text(
        IMAGE,
        "nn.AdaptiveAvgPool2d mean 1 1 0 1 output_size=(1,1)",
        "nn.AdaptiveMaxPool2d most 1 1 0 2 output_size=(1,1) return_indices=False",
        "pnnx.Expression sum 2 1 1 2 3 expr=add(@0,@1)",
        "torch.flatten flat 1 1 3 9 start_dim=1 end_dim=-1 $input=3",
        OUT,
    ),
}
SIZES = {"N": 2, "T": 6, "H": 16, "W": 20}
OTHERS = {"N": 1, "T": 7, "H": 33, "W": 5}
DIFFERENT = ("pooled image", "variance")
"""Models of which the static form has other ops: a window, a number."""


@pytest.fixture
def graph(tmp_path: Path) -> "Reader":
    return Reader(tmp_path)


class Reader:
    """Read texts as files, which messages name."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "net.pnnx.param"

    def __call__(self, written: str) -> Graph:
        self.path.write_text(written)
        return read_pnnx(self.path)


def named(written: str, sizes: Mapping[str, int]) -> Bindings:
    return {name: size for name, size in sizes.items() if re.search(rf"%{name}\b", written)}


def bound(net: Graph, sizes: Bindings) -> str:
    with new_context():
        module = import_pnnx(net)
        bind_sizes(module, sizes)
        module.verify()
        return canonical(module)


def static(net: Graph, sizes: Bindings) -> str:
    with new_context():
        return canonical(import_pnnx(net, shapes=sizes))


@pytest.mark.parametrize("name", [name for name in MODELS if name not in DIFFERENT])
def test_bound_symbols_give_the_static_import(graph: Reader, name: str) -> None:
    net = graph(MODELS[name])
    for sizes in (SIZES, OTHERS):
        wanted = named(MODELS[name], sizes)
        assert bound(net, wanted) == static(net, wanted)


@pytest.mark.parametrize("name", MODELS)
def test_symbolic_modules_compute_what_static_ones_do(graph: Reader, name: str) -> None:
    net, random = graph(MODELS[name]), np.random.default_rng(0)
    for sizes in (SIZES, OTHERS):
        wanted = named(MODELS[name], sizes)
        shape = [wanted.get(str(size), size) for size in net.operand("0").shape or ()]
        x = random.standard_normal(shape).astype(np.float32)
        with new_context():
            (want,) = interpret.run(import_pnnx(net, shapes=wanted), [x])
        with new_context():
            (got,) = interpret.run(import_pnnx(net), [x])
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


# -- names, checks and refusals -------------------------------------------------------------------


def checks(net: Graph, **shapes: int | Range) -> list[str]:
    with new_context():
        found = checks_of(import_pnnx(net, shapes=shapes).main)
    return [f"{c.node}: {c.expression} {c.relation} 0: {c.message}" for c in found]


def refusal(net: Graph, **shapes: int | Range) -> str:
    with new_context(), pytest.raises(CompileError) as caught:
        import_pnnx(net, shapes=shapes)
    return str(caught.value)


RELU = unary("F.relu $input=0", "(1,?,%n)f32", "(1,?,?)f32")


def test_sizes_are_named_by_the_file_or_by_the_input_and_axis(graph: Reader) -> None:
    net = graph(RELU)
    with new_context():
        module = import_pnnx(net)
        assert list(symbols_of_function(module.main)) == ["in0_1", "n"]
    with new_context():
        shapes: Bindings = {"in0": (1, "T", None), "T": Range(1, 64, step=4), "n": 3}
        module = import_pnnx(net, shapes=shapes)
        ranges = {name: str(each) for name, each in symbols_of_function(module.main).items()}
    assert ranges == {"T": "1..64/4"}


TABLE = text(
    "pnnx.Input ids 0 1 0 #0=(1,?)i64",
    "pnnx.Input rows 0 1 1 #1=(64,8)f32",
    "pnnx.Expression length 1 1 0 2 expr=size(@0,1)",
    "Tensor.slice some 2 1 1 2 3 dim=0 start=0 step=1 $input=1 $end=2",
    "F.embedding own 2 1 0 1 4 $input=0 $weight=1",
    "pnnx.Expression sum 2 1 3 4 5 expr=add(@0,@1)",
    "pnnx.Output out 1 0 5",
)


def test_what_depends_on_a_run_is_checked_by_operator(graph: Reader) -> None:
    net = graph(TABLE)
    (check,) = checks(net)
    assert check.startswith("sum: ")
    assert "'pnnx.Expression' operator has sizes" in check
    assert checks(net, **{"in0.1": Range(1, 64)}) == []
    with new_context():
        module = import_pnnx(net)
        arrays: list[Array] = [np.zeros((1, 65), np.int64), np.zeros((64, 8), np.float32)]
        with pytest.raises(Invalid, match=r"sum: 'pnnx\.Expression' operator has sizes"):
            interpret.run(module, arrays)


BAKED = text(
    "pnnx.Input x 0 1 0 #0=(1,?)f32",
    "torch.arange places 0 1 1 start=0 end=8 step=1 dtype=torch.float #1=(8)f32",
    "pnnx.Expression sum 2 1 0 1 2 expr=add(@0,@1) #2=(1,?)f32",
    "pnnx.Output out 1 0 2",
)


def test_constants_that_fix_a_free_size_are_refused(graph: Reader) -> None:
    net = graph(BAKED)
    fault = "5: error: 'pnnx.Expression' operator 'sum' has sizes in0_1 and 8 along axis -1"
    assert f"{fault}, which fixes in0_1: bind it" in refusal(net)
    assert checks(net, **{"in0.1": 8}) == []


def test_a_file_that_says_a_size_which_varies_is_refused(graph: Reader) -> None:
    net = graph(unary("Tensor.permute dims=(1,0)", "(?,3)f32", "(3,8)f32"))
    fault = "'Tensor.permute' operator 'op' makes (3,in0_0)f32, the file says (3,8)f32"
    assert f"{fault}, which fixes in0_0" in refusal(net)


def test_a_slice_as_long_as_the_file_says_is_checked(graph: Reader) -> None:
    line = "Tensor.slice dim=0 start=0 end=4 step=1 $input=0"
    net = graph(unary(line, "(?,3)f32", "(4,3)f32"))
    (check,) = checks(net)
    assert check.startswith("op: min(4, in0_0) - 4 == 0: 'Tensor.slice' operator makes")
    assert checks(net, **{"in0.0": Range(4)}) == []


COUNTED = text(
    "pnnx.Input x 0 1 0 #0=(1,?)f32",
    "pnnx.Expression length 1 1 0 1 expr=size(@0,1)",
    "torch.arange op 1 1 1 2 step=0.5 dtype=None $end=1",
    "pnnx.Output out 1 0 2",
)
CROSSED = text(
    "pnnx.Input x 0 1 0 #0=(1,?)f32",
    "torch.cross op 2 1 0 0 1 dim=None $input=0 $other=0",
    "pnnx.Output out 1 0 1",
)


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (unary("torch.squeeze $input=0", "(1,?)f32"), "depends on whether in0_1 - 1 == 0"),
        (unary("torch.unbind dim=1", "(1,?)f32"), "size of axis 1, which is taken apart, is in0_1"),
        (unary("nn.LayerNorm normalized_shape=(4)", "(1,?)f32"), "which fixes in0_1"),
        (unary("torch.std dim=(1) correction=0.5", "(1,?)f32"), "divides by in0_1 less 0.5, must"),
        (COUNTED, "counts from 0 to in0_1 in steps of 0.5, must be integers"),
        (CROSSED, "depends on whether in0_1 - 3 == 0"),
    ],
)
def test_questions_that_sizes_do_not_decide_are_refused(
    graph: Reader, written: str, fault: str
) -> None:
    assert re.search(rf"operator 'op' .*{re.escape(fault)}", refusal(graph(written)))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Tensor.select dim=1 index=4", "in0_1 - 5 >= 0: 'Tensor.select' operator has index 4 for"),
        ("torch.split dim=1 split_size_or_sections=2", "'torch.split' operator splits in0_1 elem"),
        ("torch.chunk dim=1 chunks=3", "operator splits in0_1 elements into fewer than 3 chunks"),
        ("torch.narrow dim=1 start=1 length=4", "operator takes 4 elements from 1 on of axis 1"),
    ],
)
def test_what_operators_need_of_sizes_is_checked(graph: Reader, line: str, expected: str) -> None:
    assert expected in checks(graph(unary(line, "(1,?)f32")))[0]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("mul(@0,div(size(@0,1),2))", 2.5),
        ("add(@0,floor_divide(size(@0,1),2))", 3.0),
        ("div(@0,sqrt(size(@0,1)))", 1 / np.sqrt(np.float32(5))),
        ("mul(@0,pow(size(@0,1),-0.5))", 1 / np.sqrt(np.float32(5))),
        ("add(@0,sub(size(@0,0),size(@0,0)))", 1.0),
    ],
)
def test_expressions_compute_with_sizes(graph: Reader, expression: str, wanted: float) -> None:
    net = graph(unary(f"pnnx.Expression expr={expression}", "(?,?)f32"))
    with new_context():
        (y,) = interpret.run(import_pnnx(net), [np.ones((2, 5), np.float32)])
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, np.full((2, 5), wanted), rtol=1e-6)


# -- models that pnnx made ------------------------------------------------------------------------

NO_ORDER = "torch_topk"


@needs_suite
def test_operators_of_free_sizes_compute_what_torch_does_or_are_refused() -> None:
    """Free all axes but the channels of the suite's models, and forget what the file infers."""
    agree = 0
    for case in CASES[::9]:
        net = read_pnnx(case / "model.pnnx.param")
        for operand in net.operands.values():
            assert operand.producer is not None
            shape, kind = operand.shape, operand.producer.type
            if kind == "pnnx.Input" and shape is not None:
                kept = {1} if len(shape) > 2 else {*range(1, len(shape))}
                operand.shape = tuple(d if i in kept else None for i, d in enumerate(shape))
            elif kind != "pnnx.Attribute":
                operand.shape = None
        data = np.load(case / "data.npz")
        inputs = [data[name] for name in data.files if re.match(r"in\d", name)]
        if case.name == NO_ORDER or any(array.dtype.kind == "c" for array in inputs):
            continue
        with new_context():
            try:
                results = list(interpret.run(import_pnnx(net), inputs))
            except (CompileError, Invalid):
                continue
        for index, result in enumerate(results):
            if (want := data[f"out{index}"]).dtype.kind != "c":
                np.testing.assert_allclose(result, want, rtol=1e-3, atol=1e-4, err_msg=case.name)
        agree += 1
    assert agree > len(CASES[::9]) / 2


# -- sizes that must be equal ---------------------------------------------------------------------

SUMS = text(
    "pnnx.Input a 0 1 0 #0=(?,?)f32",
    "pnnx.Input b 0 1 1 #1=(?,?)f32",
    "pnnx.Input c 0 1 2 #2=(?,%C)f32",
    "pnnx.Expression first 2 1 0 1 3 expr=add(@0,@1)",
    "torch.cat second 2 1 3 2 4 dim=0 $input=3 $other=2",
    "pnnx.Output out 1 0 4",
)


def input_shapes(net: Graph, **shapes: object) -> list[str]:
    with new_context():
        module = import_pnnx(net, shapes=shapes)  # pyright: ignore
        return [str(argument.type)[7:-1] for argument in module.main_block.arguments]


def test_axes_that_must_be_equal_have_one_symbol(graph: Reader) -> None:
    net = graph(SUMS)
    assert checks(net) == []
    shape = 'x?xf32, ["in0_0", "C"]'
    assert input_shapes(net) == [f"?{shape}", f"?{shape}", '?x?xf32, ["in2_0", "C"]']
    bound = input_shapes(net, C=4, in0_0=2)
    assert bound == ["2x4xf32", "2x4xf32", '?x4xf32, ["in2_0", ""]']
    named = {"in0": ("N", None), "N": Range(1, 8)}
    assert input_shapes(net, **named)[1] == '?x?xf32, ["N", "C"]'


def test_axes_with_ranges_of_their_own_stay_apart(graph: Reader) -> None:
    net = graph(SUMS)
    ranges = {"in0.0": Range(1, 8), "in1.0": Range(2, 16)}
    assert [c.split(":")[0] for c in checks(net, **ranges)] == ["first"]
