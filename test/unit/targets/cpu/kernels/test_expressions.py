"""Expressions compiled: every function against torch, and one kernel for each expression."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import torch
from torch_functions import BINARY, DIVIDING, KINDS, OURS, TORCH, UNARY, array, theirs, values
from trivium.compiler.build import build_module
from trivium.compiler.stages import pipeline_for
from trivium.dialects import expression, tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array, Tensor
from trivium.runtime import Session

# Ours are polynomials of up to 6 units in the last place; those of f64 are the C library's.
TOLERANCE = {"f64": 1e-14, "f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}
PAIRS = [("i32", "i8"), ("f32", "i64"), ("f16", "f32"), ("i1", "f32"), ("ui8", "i8")]
PAIRS += [(dtype, dtype) for dtype in TORCH]


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context:
        yield context


def module_of(texts: Sequence[str], operands: Sequence[Tensor]) -> Module:
    """Make a module that computes expressions of the same operands."""
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(operands))
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    types = ", ".join(map(str, operands))
    made = [str(expression.tensor_of(expression.parse(text), operands)) for text in texts]
    lines = [f"func.func @main({arguments}) -> ({', '.join(made)}) {{"]
    for i, (text, result) in enumerate(zip(texts, made, strict=True)):
        op = f'"tri.expression"({names}) {{expr = "{text}"}} : ({types}) -> {result}'
        lines.append(f"%y{i} = {op}")
    results = ", ".join(f"%y{i}" for i in range(len(texts)))
    return Module.parse("\n".join([*lines, f"return {results} : {', '.join(made)}", "}"]))


def run(texts: Sequence[str], inputs: Sequence[Array], opt_level: int = 2) -> list[Array]:
    module = module_of(texts, [Tensor.of(x) for x in inputs])
    package = build_module(module, pipeline_for("cpu", opt_level))
    assert {group.target for group in groups_of(module)} <= {"cpu"}
    made = Session(package).run({f"i{n}": x for n, x in enumerate(inputs)})
    return list(made.values())


def compare(made: Array, want: torch.Tensor, name: str) -> None:
    dtype = OURS[want.dtype]
    assert Tensor.of(made) == Tensor(tuple(want.shape), dtype)
    wide = [x.astype(np.float64) for x in (made, array(want))]
    if KINDS.get(dtype) != "float":
        np.testing.assert_array_equal(made, array(want), name)
        return
    limit = TOLERANCE[dtype]
    np.testing.assert_allclose(*wide, rtol=limit, atol=limit / 8, err_msg=name)


def finite(x: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(x, 1, 2, -2) if x.is_floating_point() else x


@pytest.mark.parametrize("dtype", TORCH)
def test_functions_of_one_tensor(dtype: str) -> None:
    x = values(dtype, 1)
    # No integer is infinite.
    given = {n: finite(x) if n == "torch.long" else x for n in UNARY}
    wanted = {name: theirs(UNARY[name], [given[name]]) for name in UNARY}
    names = [name for name, want in wanted.items() if want is not None and name != "torch.long"]
    for name, made in zip(names, run([f"{n}(@0)" for n in names], [array(x)]), strict=True):
        compare(made, wanted[name], name)
    (made,) = run(["torch.long(@0)"], [array(given["torch.long"])])
    compare(made, wanted["torch.long"], "torch.long")


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_functions_of_two_tensors(left: str, right: str) -> None:
    a, b = values(left, 1), values(right, 2)
    if right == "i1":
        b = torch.ones_like(b)
    wanted = {name: theirs(BINARY[name], [a, b]) for name in BINARY}
    if "bf16" in (left, right) or "f16" in (left, right):
        del wanted["floor_divide"]  # see HALVES
    names = [name for name, want in wanted.items() if want is not None]
    texts = [f"{name}(@0,@1)" for name in names]
    for name, made in zip(names, run(texts, [array(a), array(b)]), strict=True):
        compare(made, wanted[name], name)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "i64", "i8", "ui8", "i1"])
@pytest.mark.parametrize("number", [3, -2.5, True])
def test_functions_of_a_tensor_and_a_number(dtype: str, number: float) -> None:
    x = values(dtype, 1)
    cases = {(name, True): [x, number] for name in BINARY}
    cases |= {(name, False): [number, x] for name in BINARY if name not in DIVIDING}
    wanted = {case: theirs(BINARY[case[0]], arguments) for case, arguments in cases.items()}
    if dtype == "f16":
        del wanted["floor_divide", True]
    if dtype == "i1":
        wanted["pow", True] = wanted["pow", False] = None
    kept = [case for case, want in wanted.items() if want is not None]
    texts = [f"{n}(@0,{number})" if first else f"{n}({number},@0)" for n, first in kept]
    for case, made in zip(kept, run(texts, [array(x)]), strict=True):
        compare(made, wanted[case], case[0])


@pytest.mark.parametrize(
    ("name", "number"), [("mul", 70000.0), ("mul", 1e-6), ("div", 1e-9), ("sub", 1e6)]
)
def test_numbers_that_halves_do_not_hold(name: str, number: float) -> None:
    x = finite(values("f16", 1)) / 1024
    (made,) = run([f"{name}(@0,{number})"], [array(x)])
    compare(made, BINARY[name](x, number), name)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_functions_are_accurate_near_zero_and_far_from_it(dtype: str) -> None:
    sizes = np.logspace(-18, 1.5, 300)
    x = np.concatenate([sizes, -sizes]).astype(TORCH_TO_NUMPY[dtype])
    names = ["expm1", "log1p", "sinh", "tanh", "asinh", "atanh", "tan", "erf", "log10"]
    limit = TOLERANCE[dtype]
    for name, made in zip(names, run([f"{n}(@0)" for n in names], [x]), strict=True):
        want = UNARY[name](torch.from_numpy(x.astype(np.float64))).numpy()
        np.testing.assert_allclose(made, want, rtol=limit, err_msg=name)


TORCH_TO_NUMPY = {"f32": np.float32, "f64": np.float64}


def test_logaddexp_of_large_and_infinite_numbers() -> None:
    numbers = [1e30, -1e30, 0, np.inf, -np.inf, 88, -104, 1e-8, np.nan]
    a, b = (x.reshape(-1).copy() for x in np.meshgrid(*[np.array(numbers, np.float32)] * 2))
    (made,) = run(["logaddexp(@0,@1)"], [a, b])
    want = torch.logaddexp(torch.from_numpy(a), torch.from_numpy(b)).numpy()
    np.testing.assert_allclose(made, want, rtol=1e-6)


def test_quotients_just_below_a_whole_number_are_rounded_down() -> None:
    a = np.array([1.0, -1.0, 0.6, 6, 1e-20, -1e-20, 5, -5, 0, np.inf], np.float32)
    b = np.array([0.1, 0.1, 0.2, 0.1, 1, 1, 0, 0, 0, 2], np.float32)
    (made,) = run(["floor_divide(@0,@1)"], [a, b])
    np.testing.assert_array_equal(made, (torch.from_numpy(a) // torch.from_numpy(b)).numpy())
    assert made[0] == 9


def groups_of(module: Module) -> list[tri.Group]:
    return [op for op in ops(module.operation) if isinstance(op, tri.Group)]


LONG = "sub(add(mul(sqrt(abs(@0)),@1),log1p(exp(@0))),div(@0,add(mul(@1,@1),0.5)))"
GELU_BY_TANH = "mul(mul(@0,0.5),add(tanh(mul(add(@0,mul(pow(@0,3),0.044715)),0.7978845608)),1))"
DIVIDED = "add(floor_divide(@0,@1),atan2(@1,logaddexp(@0,2.5)))"


@pytest.mark.parametrize("text", [LONG, DIVIDED, "pow(@0,@1)", "remainder(@0,0.3)"])
def test_an_expression_is_one_kernel(text: str) -> None:
    module = module_of([text], [Tensor((3, 40), "f32")] * 2)
    pipeline_for("cpu", 2).run(module)
    assert len(groups_of(module)) == 1


@pytest.mark.parametrize("shape", [(40,), (3, 1), (1, 1, 1), ()])
def test_operands_broadcast_inside_of_a_kernel(shape: tuple[int, ...]) -> None:
    text = "sub(add(mul(sqrt(abs(@0)),@1),log1p(exp(@0))),div(@0,@1))"
    module = module_of([text], [Tensor((2, 3, 40), "f32"), Tensor(shape, "f32")])
    pipeline_for("cpu", 2).run(module)
    assert len(groups_of(module)) == 1


def test_a_part_of_fewer_elements_is_a_kernel_of_its_own() -> None:
    module = module_of(["mul(@0,exp(@1))"], [Tensor((3, 40), "f32"), Tensor((40,), "f32")])
    pipeline_for("cpu", 2).run(module)
    assert len(groups_of(module)) == 2


@pytest.mark.parametrize(
    ("text", "recognised"),
    [
        ("mul(mul(@0,0.5),add(erf(div(@0,1.4142135381698608)),1))", "tri.gelu"),
        (
            "mul(mul(@0,0.5),add(tanh(mul(add(@0,mul(pow(@0,3),0.044715)),0.7978845608)),1))",
            "tri.gelu",
        ),
        ("mul(@0,div(1,add(exp(neg(@0)),1)))", None),
        ("mul(mul(@0,0.5),add(erf(div(@0,1.41)),1))", None),
    ],
)
def test_parts_of_networks_are_recognised_in_expressions(text: str, recognised: str | None) -> None:
    module = module_of([text], [Tensor((3, 40), "f32")])
    pipeline_for("cpu", 2).run(module)
    names = [op.op_name for op in ops(module.operation)]
    found = {"tri.gelu", "tri.silu", "tri.hardswish"} & set(names)
    assert found == ({recognised} if recognised else set())
    assert "tri.expression" not in names


@pytest.mark.parametrize("opt_level", [0, 1, 2])
def test_levels_agree(opt_level: int) -> None:
    x, y = (np.random.default_rng(i).random((5, 17), np.float32) + 0.5 for i in range(2))
    (made,) = run([LONG], [x, y], opt_level)
    want = expression.array_of(expression.parse(LONG), [x.astype(np.float64), y.astype(np.float64)])
    np.testing.assert_allclose(made, want, rtol=1e-5)


def alternating(levels: int) -> str:
    text = "@0"
    for level in range(levels):
        text = f"add({text},1)" if level % 2 else f"mul(0.5,{text})"
    return text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(alternating(1000), id="alternating"),
        pytest.param("mul(@0," * 1000 + "1.5" + ")" * 1000, id="product"),
        pytest.param("sub(" * 1000 + "@0" + ",@0)" * 1000, id="difference"),
    ],
)
def test_a_thousand_levels_are_one_kernel(text: str) -> None:
    x = np.random.default_rng(1).uniform(0.99, 1.01, (3, 33)).astype(np.float32)
    module = module_of([text], [Tensor.of(x)])
    pipeline_for("cpu", 2).run(module)
    assert len(groups_of(module)) == 1
    (made,) = run([text], [x])
    want = expression.array_of(expression.parse(text), [x.astype(np.float64)])
    np.testing.assert_allclose(made, want, rtol=1e-4)


def test_powers_that_overflow_are_no_fragment() -> None:
    x = np.array([1, 2, 1e-30], np.float32)
    (made,) = run(["mul(pow(mul(@0,1e30),30),@0)"], [x])
    np.testing.assert_array_equal(made, np.array([np.inf, np.inf, 1e-30], np.float32))
