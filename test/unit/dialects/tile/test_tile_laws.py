"""The laws of ops on tiles: what `infer` says is what `reference` does, and text keeps all."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from examples import Pick, examples
from examples_tile import ELSEWHERE, OTHERS, VALUES
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from trivium.dialects import tile
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.tile.types import Tile, mlir_type, plain_type

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=30, database=None, phases=PHASES)


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


def test_every_op_has_an_example() -> None:
    assert {*VALUES, *OTHERS, *ELSEWHERE} == set(tile.TILE.ops.values())


def identity(op: type[Op]) -> str:
    return op.op_name


@pytest.mark.parametrize("op", VALUES, ids=identity)
@LAW
@given(data=st.data())
def test_infer_returns_the_type_of_the_reference(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(VALUES[op]))
    before = [x.tobytes() for x in example.operands]
    with np.errstate(all="ignore"):
        computed = np.asarray(op(**example.attributes).reference(*example.operands))
    assert op(**example.attributes).infer(*map(tile_of, example.operands)) == tile_of(computed)
    assert [x.tobytes() for x in example.operands] == before


@pytest.mark.parametrize("op", [*VALUES, *OTHERS], ids=identity)
@LAW
@given(data=st.data())
def test_text_keeps_operands_and_attributes(op: type[Op], data: st.DataObject) -> None:
    if op in VALUES:
        example = data.draw(examples(VALUES[op]))
        types, attributes = [tile_of(x) for x in example.operands], example.attributes
    else:
        drawn = st.composite(lambda draw: OTHERS[op](Pick(draw)))()
        types, attributes = data.draw(drawn)
    module = built(op, types, attributes)
    module.verify()
    text = str(module)
    parsed = Module.parse(text)
    assert str(parsed) == text
    (after,) = ops(parsed.operation)
    assert {name: frozen(after.attributes[name]) for name in attributes} == {
        name: frozen(value) for name, value in attributes.items()
    }
    assert [plain(group) for group in after.operand_groups()] == types
    inferred = op(**after.attributes).infer(*types)
    want = inferred if isinstance(inferred, tuple) else (inferred,)
    assert tuple(plain_type(value.type) for value in after.results) == want


def tile_of(x: Array) -> Tile:
    tensor = Tensor.of(x)
    return Tile(tensor.shape, tensor.dtype)


def frozen(value: Any) -> Any:
    return (value.dtype.name, value.tobytes()) if isinstance(value, np.ndarray) else value


def plain(group: Any) -> Any:
    return [plain(v) for v in group] if isinstance(group, list) else plain_type(group.type)


def built(op: type[Op], types: list[Any], attributes: dict[str, Any]) -> Module:
    """Build the op in a function of its operands."""
    module = Module(ir.Module.create())
    flat = [t for group in types for t in (group if isinstance(group, list) else [group])]
    inputs = [mlir_type(t) for t in flat]
    with ir.InsertionPoint(module.ir.body):
        signature = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
        named = {"sym_name": ir.StringAttr.get("main"), "function_type": signature}
        function = ir.Operation.create("func.func", [], [], named, regions=1)
    block = ir.Block.create_at_start(
        function.regions[0], inputs, [ir.Location.unknown()] * len(inputs)
    )
    with ir.InsertionPoint(block):
        left = iter(block.arguments)
        groups = [
            [next(left) for _ in group] if isinstance(group, list) else next(left)
            for group in types
        ]
        op.build(*groups, **attributes)
        ir.Operation.create("func.return")
    return module
