"""The laws that every op obeys: what `infer` says is what `reference` does, and text keeps all."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from built_ops import built, completed
from examples import examples
from examples_cpu import CPU
from examples_dla import DLA
from examples_math import MATH
from examples_moves import MOVES
from examples_networks import NETWORKS
from examples_nn import NN
from examples_selection import SELECTION
from examples_text import TEXT
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from trivium.dialects import cpu, dla, tri
from trivium.dialects.core.attributes import tensor_of
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Tensor

EXAMPLES = MATH | MOVES | NETWORKS | NN | SELECTION | TEXT | CPU | DLA
OTHERS = {
    tri.Weight: "has its value beside the IR, not in `reference`",
    tri.Group: "means what its body means",
    tri.Part: "means what its body means",
    tri.If: "means what its bodies mean",
    tri.Fail: "computes nothing",
    tri.Loop: "means what its body means",
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
    module = built(op, example.types, example.attributes)
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
    module = built(op, example.types, example.attributes)
    (made,) = ops(module.operation)
    for field in op.fields.attributes:
        if not field.required and made.attributes[field.name] == field.default:
            del made.operation.attributes[field.name]
    again = Module.parse(str(module))  # stays alive as long as its ops are looked at
    (parsed,) = ops(again.operation)
    assert frozen(parsed.attributes) == frozen(completed(op, example.attributes))


def frozen(value: Any) -> Any:
    """Turn arrays inside into something that compares bit by bit."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.name, value.tobytes()
    if isinstance(value, dict):
        return {name: frozen(v) for name, v in value.items()}
    return [frozen(v) for v in value] if isinstance(value, list | tuple) else value


def types(group: Any) -> Any:
    if group is None:
        return None
    return [types(value) for value in group] if isinstance(group, list) else tensor_of(group.type)
