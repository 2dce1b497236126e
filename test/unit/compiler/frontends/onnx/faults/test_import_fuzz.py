"""Mutated ONNX files: a clear error or a valid module, never anything else."""

import functools
import operator
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from trivium.compiler.frontends.onnx import import_onnx  # noqa: E402


def model() -> bytes:
    rng = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Reshape", ["r", "flat"], ["f"]),
        helper.make_node("Gemm", ["f", "g"], ["l"], transB=1),
        helper.make_node("Softmax", ["l"], ["s"], axis=-1),
        helper.make_node("Concat", ["s", "s"], ["d"], axis=1),
        helper.make_node("Slice", ["d", "from", "to"], ["y"]),
    ]
    constants = [
        weight("w", 2, 3, 3, 3),
        weight("b", 2),
        weight("g", 3, 2 * 4 * 4),
        numpy_helper.from_array(np.array([0, -1]), "flat"),
        numpy_helper.from_array(np.array([0, 0]), "from"),
        numpy_helper.from_array(np.array([1, 5]), "to"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 4, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def mutations(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Flip, cut, insert and replace bytes, a few at a time."""
    rng = random.Random(seed)
    for _ in range(count):
        mutant = bytearray(data)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            at = rng.randrange(len(mutant))
            size = rng.choice([1, 2, 8])
            match rng.randrange(5):
                case 0:
                    mutant[at] ^= 1 << rng.randrange(8)
                case 1:
                    mutant[at] = rng.randrange(256)
                case 2:
                    del mutant[at : at + size]
                case 3:
                    mutant[at:at] = rng.randbytes(size)
                case _:
                    mutant = mutant[: max(1, at)] if rng.random() < 0.2 else mutant
        yield bytes(mutant)


NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    64,
    65536,
    2**31 - 1,
    -(2**31),
    2**32,
    2**53,
    2**62,
    2**63 - 1,
    -(2**63),
)
TEXTS = ("", "x", "w", "a\nb", "com.microsoft", "linear", "reflect")
OPERATORS = sorted({schema.name for schema in onnx.defs.get_all_schemas()})


def field_mutations(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Change fields of the messages that a model is made of: such files still decode."""
    rng = random.Random(seed)
    for _ in range(count):
        model = onnx.ModelProto.FromString(data)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            change_field(rng, rng.choice(list(messages(model))))
        yield model.SerializeToString()


def messages(message: Any) -> Iterator[Any]:
    """Yield a message and all messages in it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if field.is_repeated else [value]:
                yield from messages(each)


def change_field(rng: random.Random, message: Any) -> None:
    fields = message.ListFields() or [(f, None) for f in message.DESCRIPTOR.fields]
    field, value = rng.choice(fields)
    if rng.random() < 0.2 or field.message_type is not None:
        if field.is_repeated and value and rng.random() < 0.5:
            del value[rng.randrange(len(value))]
        else:
            message.ClearField(field.name)
    elif field.is_repeated:
        setter(getattr(message, field.name), rng)(other_value(rng, field))
    else:
        setattr(message, field.name, other_value(rng, field))


def setter(values: Any, rng: random.Random) -> Callable[[Any], None]:
    """Return what puts a value in the place of another one, or behind all of them."""
    if not values or rng.random() < 0.3:
        return values.append
    return functools.partial(operator.setitem, values, rng.randrange(len(values)))


def other_value(rng: random.Random, field: Any) -> Any:
    """Return a value of the type of a field."""
    if field.type == field.TYPE_BYTES:
        return rng.choice([b"", b"\xff", b"linear", rng.randbytes(8)])
    if field.cpp_type == field.CPPTYPE_STRING:
        return rng.choice([*TEXTS, *rng.sample(OPERATORS, 3)])
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rng.choice([0.0, -1.0, 0.5, 1e30, float("nan"), float("inf")])
    if field.enum_type is not None:
        return rng.choice(field.enum_type.values).number
    bits = 31 if field.cpp_type == field.CPPTYPE_INT32 else 63
    least = 0 if field.cpp_type == field.CPPTYPE_UINT64 else -(2**bits)
    return rng.choice([n for n in (*NUMBERS, *range(30)) if least <= n < 2**bits])


def test_the_model_itself_imports() -> None:
    with new_context():
        import_onnx(model(), shapes={"N": 1})


@pytest.mark.parametrize("change", [mutations, field_mutations])
@pytest.mark.parametrize("seed", range(4))
def test_mutated_models_import_or_are_refused(
    seed: int, change: Callable[[bytes, int, int], Iterator[bytes]]
) -> None:
    refused: list[CompileError] = []
    imported = 0
    for mutant in change(model(), seed, 600):
        try:
            with new_context():
                import_onnx(mutant, shapes={"N": 1}).verify()
            imported += 1
        except CompileError as error:
            refused.append(error)
    assert imported > 30
    assert len(refused) > 30
    assert not [d for error in refused for d in error.diagnostics if "\n" in d.message]
