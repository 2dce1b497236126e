"""The laws that every op obeys: what `infer` says is what `reference` does, and text keeps all."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from examples import Example, examples
from examples_cpu import CPU
from examples_dla import DLA
from examples_math import MATH
from examples_moves import MOVES
from examples_networks import NETWORKS
from examples_nn import NN
from examples_selection import SELECTION
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from trivium.dialects import cpu, dla, tri
from trivium.dialects.core.attributes import tensor_of, type_of
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Tensor

EXAMPLES = MATH | MOVES | NETWORKS | NN | SELECTION | CPU | DLA
OTHERS = {
    tri.Weight: "has its value beside the IR, not in `reference`",
    tri.Group: "means what its body means",
    tri.Part: "means what its body means",
    tri.Yield: "computes nothing",
    tri.Quantize: "makes quantised numbers, of which arrays do not tell the type",
    tri.Dequantize: "takes such",
    tri.StorageCast: "takes or makes such",
    dla.Program: "means what its body does to buffers",
    dla.End: "computes nothing",
    dla.Run: "means what the program means that it names",
    dla.Alloc: "makes memory, not a value",
}
OTHERS |= {op: "works on memory" for op in dla.DLA.ops.values() if issubclass(op, dla.BufferOp)}
OPS = [pytest.param(op, id=op.op_name) for op in EXAMPLES]
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=30, database=None, phases=PHASES)
ROUND_TRIP = settings(LAW, max_examples=6)


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


def test_every_op_has_an_example() -> None:
    assert {*EXAMPLES, *OTHERS} == {
        *tri.TRI.ops.values(),
        *cpu.CPU.ops.values(),
        *dla.DLA.ops.values(),
    }
    assert not set(EXAMPLES) & set(OTHERS)


@pytest.mark.parametrize("op", OPS)
@LAW
@given(data=st.data())
def test_infer_returns_the_types_of_the_reference(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(EXAMPLES[op]))
    attributes = completed(op, example.attributes)
    before = frozen(example.operands)
    with np.errstate(all="ignore"):
        computed = op(**attributes).reference(*example.operands)
    results = computed if isinstance(computed, tuple) else (computed,)
    inferred = op(**attributes).infer(*example.types)
    expected = inferred if isinstance(inferred, tuple) else (inferred,)
    assert tuple(Tensor.of(np.asarray(r)) for r in results) == expected
    assert frozen(example.operands) == before


@pytest.mark.parametrize("op", OPS)
@ROUND_TRIP
@given(data=st.data())
def test_text_keeps_operands_and_attributes(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(EXAMPLES[op]))
    module = built(op, example)
    module.verify()
    text = str(module)
    parsed = Module.parse(text)
    assert str(parsed) == text
    (before,), (after,) = ops(module.operation), ops(parsed.operation)
    assert frozen(after.attributes) == frozen(completed(op, example.attributes))
    assert types(after.operand_groups()) == types(before.operand_groups()) == example.types


@pytest.mark.parametrize("op", OPS)
@ROUND_TRIP
@given(data=st.data())
def test_defaults_may_be_left_out_of_the_text(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(EXAMPLES[op]))
    module = built(op, example)
    (made,) = ops(module.operation)
    for field in op.fields.attributes:
        if not field.required and made.attributes[field.name] == field.default:
            del made.operation.attributes[field.name]
    again = Module.parse(str(module))  # stays alive as long as its ops are looked at
    (parsed,) = ops(again.operation)
    assert frozen(parsed.attributes) == frozen(completed(op, example.attributes))


def completed(op: type[Op], given: dict[str, Any]) -> dict[str, Any]:
    return {f.name: f.default for f in op.fields.attributes if not f.required} | given


def frozen(value: Any) -> Any:
    """Turn arrays inside into something that compares bit by bit."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.name, value.tobytes()
    if isinstance(value, dict):
        return {name: frozen(v) for name, v in value.items()}
    return [frozen(v) for v in value] if isinstance(value, list | tuple) else value


def built(op: type[Op], example: Example) -> Module:
    """Build the op in a function of its operands."""
    module = Module(ir.Module.create())
    flat = [t for group in example.types for t in (group if isinstance(group, list) else [group])]
    inputs = [type_of(t) for t in flat if t is not None]
    with ir.InsertionPoint(module.ir.body):
        signature = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
        attributes = {"sym_name": ir.StringAttr.get("main"), "function_type": signature}
        function = ir.Operation.create("func.func", [], [], attributes, regions=1)
        block = ir.Block.create_at_start(function.regions[0], [])
        arguments = iter([block.add_argument(t, ir.Location.unknown()) for t in inputs])
        with ir.InsertionPoint(block):
            groups = [taken(arguments, group) for group in example.types]
            op.build(*groups, **example.attributes)
            ir.Operation.create("func.return")
    return module


def taken(arguments: Iterator[ir.Value], group: Any) -> Any:
    """Take as many arguments as an operand field has values."""
    if group is None:
        return None
    return [next(arguments) for _ in group] if isinstance(group, list) else next(arguments)


def types(group: Any) -> Any:
    if group is None:
        return None
    return [types(value) for value in group] if isinstance(group, list) else tensor_of(group.type)
