"""Each decomposition computes what the op's reference computes, on random examples of the op."""

from collections.abc import Iterator

import numpy as np
import pytest
from examples import Example, examples
from examples_math import MATH
from examples_moves import MOVES
from examples_networks import NETWORKS
from examples_nn import NN
from examples_selection import SELECTION
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from ir_graphs import names
from trivium.dialects import tri
from trivium.dialects.core.attributes import type_of
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.passes.decompose import Decompose, decomposition_rules

EXAMPLES = MATH | MOVES | NETWORKS | NN | SELECTION
ELSEWHERE = {tri.Quantize, tri.Dequantize}
"""Ops whose types no array tells: dialects/test_quantized.py decomposes them."""
RULES = [pytest.param(op, id=op.op_name) for op in decomposition_rules() if op not in ELSEWHERE]
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=15, database=None, phases=PHASES)
TOLERANCE = {"f64": 1e-9, "f32": 1e-4, "f16": 1e-2, "bf16": 6e-2}


@pytest.mark.parametrize("op", RULES)
@LAW
@given(data=st.data())
def test_decomposition_equals_reference(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(EXAMPLES[op]))
    with new_context(), ir.Location.unknown():
        module, inputs = _module(op, example)
        with np.errstate(all="ignore"):
            expected = run(module, inputs)
            Decompose((op.op_name.partition(".")[2],)).run(module)
            module.verify()
            computed = run(module, inputs)
        for want, have in zip(expected, computed, strict=True):
            _compare(want, have)


def _compare(want: Array, have: Array) -> None:
    assert want.dtype == have.dtype
    tolerance = TOLERANCE.get(tensor_dtype(want), 0)
    wide, narrow = (x.astype(np.float64) for x in (want, have))
    finite = np.isfinite(wide) & (np.abs(wide) < 1e4)  # larger ones overflow on the way
    np.testing.assert_allclose(narrow[finite], wide[finite], rtol=tolerance, atol=tolerance)


def tensor_dtype(array: Array) -> str:
    return {"float64": "f64", "float32": "f32", "float16": "f16"}.get(array.dtype.name, "bf16")


def _module(op: type[Op], example: Example) -> tuple[Module, list[Array]]:
    """Make a module of one op, whose operands are the function's arguments."""
    module = Module(ir.Module.create())
    groups = [g if isinstance(g, list) else [] if g is None else [g] for g in example.operands]
    inputs = [array for group in groups for array in group]
    types = [type_of(tensor) for tensor in map(Tensor.of, inputs)]
    with ir.InsertionPoint(module.ir.body):
        attributes = {"sym_name": ir.StringAttr.get("main")}
        function = ir.Operation.create("func.func", [], [], attributes, regions=1)
    block = ir.Block.create_at_start(
        function.regions[0], types, [ir.Location.unknown()] * len(types)
    )
    arguments = iter(block.arguments)
    with ir.InsertionPoint(block):
        operands = [_operands(given, arguments) for given in example.operands]
        made = op.build(*operands, **example.attributes)
        ir.Operation.create("func.return", [], list(made.results))
    signature = ir.FunctionType.get(types, [value.type for value in made.results])
    function.attributes["function_type"] = ir.TypeAttr.get(signature)
    return module, inputs


def _operands(given: object, arguments: Iterator[ir.Value]) -> object:
    if given is None:
        return None
    if isinstance(given, list):
        return [next(arguments) for _ in given]
    return next(arguments)


def test_chosen_ops_only() -> None:
    with new_context(), ir.Location.unknown():
        text = """
        func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
          %a = "tri.silu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
          %b = "tri.relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
          return %b : tensor<2xf32>
        }"""
        module = Module.parse(text)
        Decompose(("silu",)).run(module)
        assert names(module) == ["sigmoid", "mul", "relu"]


def test_unknown_op_is_refused_by_name() -> None:
    with new_context():
        module = Module(ir.Module.parse(""))
        message = r"pass 'decompose' has no rule for op 'sillu', did you mean 'silu'"
        with pytest.raises(CompileError, match=message):
            Decompose(("sillu",)).run(module)
