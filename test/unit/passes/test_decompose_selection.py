"""Selections whose sizes are symbols, taken apart, find what their references find."""

import numpy as np
import pytest
from examples import examples
from examples_selection import SELECTION
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_graphs import names
from trivium.dialects import tri
from trivium.dialects.core.attributes import type_of
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, add_main
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import set_symbols, symbol_table
from trivium.dialects.core.tensor import Tensor
from trivium.passes.decompose import Decompose

FOUND = (tri.NonZero, tri.Compress, tri.NonMaxSuppression)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in FOUND])
@settings(derandomize=True, deadline=None, max_examples=15, database=None)
@given(data=st.data())
def test_what_is_found_is_what_the_reference_finds(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(SELECTION[op]))
    arrays = [x for x in example.operands if x is not None]
    with new_context() as context, ir.Location.unknown():
        module = Module(ir.Module.create())
        count = symbol_table(context).declare("u0", Range(0))
        block = add_main(module, [])
        set_symbols(module.main, {"u0": Range(0)})
        values = [block.add_argument(type_of(Tensor.of(x)), ir.Location.unknown()) for x in arrays]
        rest = iter(values)
        operands = [None if x is None else next(rest) for x in example.operands]
        with ir.InsertionPoint(block):
            made = op.build(*operands, **(example.attributes | {"count": count}))
            ir.Operation.create("func.return", [], list(made.results))
        types = [v.type for v in values], [v.type for v in made.results]
        module.main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))
        expected = run(module, arrays)
        Decompose((op.op_name.partition(".")[2],)).run(module)
        module.verify()
        assert op.op_name not in names(module)
        for have, want in zip(run(module, arrays), expected, strict=True):
            np.testing.assert_array_equal(have, want, strict=True)
