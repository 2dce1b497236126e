"""Nodes of random operands and attributes: an import or a clear refusal, never anything else."""

import random
from contextlib import suppress
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import defs, helper, numpy_helper
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.frontends.onnx.registry import RULES
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context

OPSETS = (7, 11, 13, 18, defs.onnx_opset_version())
DTYPES = ("float32", "float32", "float32", "int64", "int64", "bool", "float16", "uint8")
SHAPES = ((), (1,), (2,), (3,), (2, 3), (1, 3), (0, 2), (2, 1, 3), (1, 2, 4, 4), (2, 2, 3, 3, 1))
INTS = (0, 1, 2, 3, -1, -2, 4, 7, -9, 1 << 40, -(1 << 63), (1 << 63) - 1)
FLOATS = (0.0, 1.0, 0.5, -2.0, float("inf"), float("nan"))


def operand(rng: random.Random) -> np.ndarray:
    shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
    if dtype.startswith("float"):
        values: list[Any] = [rng.choice(FLOATS) for _ in range(int(np.prod(shape)))]
    else:
        values = [rng.choice(INTS[:9]) for _ in range(int(np.prod(shape)))]
    return np.array(values).reshape(shape).astype(dtype)


def attribute(rng: random.Random, schema: defs.OpSchema.Attribute) -> Any:
    kind = defs.OpSchema.AttrType
    texts = ("", "linear", "nearest", "constant", "edge", "DCR", "add", "SAME_UPPER", "ij,jk->ik")
    makers = {
        kind.INT: lambda: rng.choice(INTS),
        kind.INTS: lambda: [rng.choice(INTS) for _ in range(rng.randrange(5))],
        kind.FLOAT: lambda: rng.choice(FLOATS),
        kind.FLOATS: lambda: [rng.choice(FLOATS) for _ in range(rng.randrange(3))],
        kind.STRING: lambda: rng.choice(texts),
        kind.STRINGS: lambda: [rng.choice(texts) for _ in range(rng.randrange(3))],
        kind.TENSOR: lambda: numpy_helper.from_array(operand(rng)),
    }
    return makers[schema.type]() if schema.type in makers else None


def random_node(rng: random.Random, schema: defs.OpSchema) -> onnx.ModelProto:
    """Make a model of one node; each operand is an input of the model or an initializer."""
    most = max(min(schema.max_input, 8), schema.min_input)
    operands = [operand(rng) for _ in range(rng.randint(schema.min_input, most))]
    if rng.random() < 0.6 and operands:  # one element type, and sizes that often fit
        operands = [x if rng.random() < 0.3 else operands[0] for x in operands]
    given = [
        helper.make_attribute(name, value, attr_type=int(a.type))
        for name, a in schema.attributes.items()
        if (a.required or rng.random() < 0.3) and (value := attribute(rng, a)) is not None
    ]
    names = [f"x{i}" for i in range(len(operands))]
    outputs = [f"y{i}" for i in range(max(schema.min_output, 1))]
    node = helper.make_node(schema.name, names, outputs, "it")
    node.attribute.extend(given)
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in zip(names, operands, strict=True)
    ]
    known = [
        numpy_helper.from_array(x, n)
        for n, x in zip(names, operands, strict=True)
        if rng.random() < 0.5
    ]
    results = [helper.make_tensor_value_info(n, 1, []) for n in outputs]
    graph = helper.make_graph([node], "g", inputs, results, known)
    opset = helper.make_opsetid("", schema.since_version)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8)


TRUSTING = {"MelWeightMatrix"}
"""Operators whose rules do not look at their operands before they use them."""

OPERATORS = [
    pytest.param(
        op_type, marks=pytest.mark.xfail(op_type in TRUSTING, reason="trusts its operands")
    )
    for op_type in sorted(name for domain, name in RULES if domain == "" and defs.has(name))
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op_type", OPERATORS)
def test_node_imports_or_is_refused(op_type: str) -> None:
    rng = random.Random(op_type)
    schemas = [defs.get_schema(op_type, opset) for opset in OPSETS if defs.has(op_type, opset)]
    for _ in range(60):
        made = random_node(rng, rng.choice([s for s in schemas if not s.deprecated] or schemas))
        with new_context(), suppress(CompileError):
            import_onnx(made)
