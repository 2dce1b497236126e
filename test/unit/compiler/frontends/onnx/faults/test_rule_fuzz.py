"""Nodes with wrong shapes, values and attributes: a clear error or a result, never a crash."""

import random
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import _normalize_tensor
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.registry import RULES
from trivium.dialects.core import interpret
from trivium.dialects.core.errors import CompileError, Invalid
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.states.carried import state_of
from trivium.dialects.core.tensor import Array

MUTANTS = 8
SIZES = (0, 1, 1, 2, 3, 5, 7)
INTEGERS = (-3, -1, 0, 1, 2, 3, 17)
FLOATS = (-1.0, 0.0, 1.0, float("inf"), float("nan"))
STRINGS = (b"", b"x", b"SAME_UPPER", b"linear")
DTYPES = ("float32", "float16", "int64", "int32", "bool")


def cases_by_operator() -> dict[str, list[Any]]:
    """Group ONNX's test cases of one node on tensors by the operator of the node."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    grouped: dict[str, list[Any]] = defaultdict(list)
    for case in cases:
        nodes = case.model.graph.node
        kinds = {value.type.WhichOneof("value") for value in case.model.graph.input}
        if len(nodes) == 1 and ("", nodes[0].op_type) in RULES and kinds <= {"tensor_type"}:
            grouped[nodes[0].op_type].append(case)
    return grouped


CASES = cases_by_operator()


def reshaped(rng: random.Random, x: Array) -> Array:
    """Change the size of an axis, add or drop one, or take another shape altogether."""
    shape = list(x.shape)
    at = rng.randrange(len(shape)) if shape else 0
    match rng.randrange(4):
        case 0 if shape:
            shape[at] = rng.choice(SIZES)
        case 1:
            shape.insert(at, rng.choice(SIZES))
        case 2 if shape:
            shape.pop(at)
        case _:
            shape = [rng.choice(SIZES) for _ in range(rng.randrange(5))]
    return np.resize(x if x.size else np.zeros(1, x.dtype), shape)


def revalued(rng: random.Random, x: Array) -> Array:
    """Change one element."""
    changed = np.array(x)
    if changed.size and changed.dtype.kind in "iuf":
        values = [v for v in (*INTEGERS, 100) if v >= 0 or changed.dtype.kind != "u"]
        changed.reshape(-1)[rng.randrange(changed.size)] = rng.choice(values)
    return changed


def change_attribute(rng: random.Random, node: onnx.NodeProto) -> None:
    """Drop an attribute, or change its value; lists also become shorter or longer."""
    if not node.attribute:
        return
    index = rng.randrange(len(node.attribute))
    attribute = node.attribute[index]
    items: Any = {AttributeProto.INTS: attribute.ints, AttributeProto.FLOATS: attribute.floats}
    match rng.randrange(3), attribute.type:
        case 0, _:
            del node.attribute[index]
        case _, AttributeProto.INT:
            attribute.i = rng.choice(INTEGERS)
        case _, AttributeProto.FLOAT:
            attribute.f = rng.choice(FLOATS)
        case _, AttributeProto.STRING:
            attribute.s = rng.choice(STRINGS)
        case 1, AttributeProto.INTS if attribute.ints:
            attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(INTEGERS)
        case 1, kind if kind in items:
            items[kind].append(1)
        case 2, kind if items.get(kind):
            items[kind].pop()


def mutant(rng: random.Random, op_type: str) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Take a case of an operator and break it in one place or two."""
    case = rng.choice(CASES[op_type])
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    values = [np.asarray(_normalize_tensor(v)) for v in case.data_sets[0][0]]
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(values)) if values else 0
        match rng.randrange(5) if values else 0:
            case 0:
                change_attribute(rng, model.graph.node[0])
            case 1:
                values[at] = revalued(rng, values[at])
            case 2 if values[at].dtype.kind in "iufb":
                values[at] = values[at].astype(rng.choice(DTYPES))
            case _:
                values[at] = reshaped(rng, values[at])
    for value, array in zip(model.graph.input, values, strict=True):
        dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, dtype, array.shape))
    return model, {i.name: v for i, v in zip(model.graph.input, values, strict=True)}


@pytest.mark.parametrize("op_type", sorted(CASES))
@pytest.mark.filterwarnings("ignore")
def test_broken_nodes_are_refused_or_computed(op_type: str) -> None:
    for seed in range(MUTANTS):
        rng = random.Random(f"{op_type} {seed}")
        model, values = mutant(rng, op_type)
        free = list(values)[: rng.randrange(2)]
        constants = {name: value for name, value in values.items() if name not in free}
        try:
            with new_context():
                module = import_onnx(model, constants=constants)
                state = [np.zeros((), np.int64) for _ in state_of(module.main)]
                interpret.run(module, [*(values[name] for name in free), *state])
        except (CompileError, Invalid):
            continue
