"""A module of one op, from an example of the tests of dialects."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from examples import Example
from trivium.dialects import tri
from trivium.dialects.core.attributes import type_of
from trivium.dialects.core.interpret import run
from trivium.dialects.core.location import node_location
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.tri import build_constant


def single(op: type[Op], example: Example, constant: Sequence[bool] = ()) -> Module:
    """Make `main` with one op; operands are its inputs, or constants where that is asked for."""
    module = Module(ir.Module.create())
    flat = arrays(example)
    fixed = [*constant, *[False] * len(flat)][: len(flat)]
    inputs = [a for a, is_fixed in zip(flat, fixed, strict=True) if not is_fixed]
    types = [type_of(Tensor.of(a)) for a in inputs]
    with ir.InsertionPoint(module.ir.body):
        function = ir.Operation.create(
            "func.func",
            [],
            [],
            {
                "sym_name": ir.StringAttr.get("main"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            },
            regions=1,
        )
    block = ir.Block.create_at_start(function.regions[0], [])
    for number, type_ in enumerate(types):
        block.add_argument(type_, node_location(f"x{number}", [f"x{number}"]))
    with ir.InsertionPoint(block):
        given = iter(list(block.arguments))
        values = [
            build_constant(module, a, f"c{i}").y if is_fixed else next(given)
            for i, (a, is_fixed) in enumerate(zip(flat, fixed, strict=True))
        ]
        built = op.build(*_grouped(example, values), **example.attributes)
        ir.Operation.create("func.return", [], list(built.results))
    signature = ir.FunctionType.get(types, [v.type for v in built.results])
    function.attributes["function_type"] = ir.TypeAttr.get(signature)
    module.verify()
    return module


def arrays(example: Example) -> list[Array]:
    flat: list[Array] = []
    for operand in example.operands:
        flat += operand if isinstance(operand, list) else [] if operand is None else [operand]
    return flat


def _grouped(example: Example, values: Sequence[Any]) -> list[Any]:
    """Give values the places that the arrays of an example have."""
    left = iter(values)
    return [
        None if o is None else [next(left) for _ in o] if isinstance(o, list) else next(left)
        for o in example.operands
    ]


def variable(example: Example, constant: Sequence[bool]) -> list[Array]:
    """Return the arrays that are inputs of `single`."""
    flat = arrays(example)
    fixed = [*constant, *[False] * len(flat)]
    return [a for a, is_fixed in zip(flat, fixed, strict=False) if not is_fixed]


def computed(module: Module, inputs: Sequence[Array]) -> list[Array]:
    """Run a module by the meaning of its ops."""
    with np.errstate(all="ignore"):
        return list(run(module, inputs))


def assert_same(got: Sequence[Array], expected: Sequence[Array], ulps: int = 0) -> None:
    """Compare types, shapes and elements; floats may be so many units in the last place apart."""
    for one, other in zip(got, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind in "biu" or not ulps:
            np.testing.assert_array_equal(*(_wide(a) for a in (one, other)))
            continue
        epsilon = float(np.finfo(one.dtype).eps) if one.dtype.kind == "f" else 2.0**-7
        np.testing.assert_allclose(*(_wide(a) for a in (one, other)), rtol=ulps * epsilon)


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind not in "biu" else array


def tamed(example: Example) -> Example:
    """Make all floats f32, and infinities and NaN numbers."""

    def tame(operand: Any) -> Any:
        if isinstance(operand, list):
            return [tame(each) for each in operand]
        if operand is None or operand.dtype.kind in "biu":
            return operand
        return np.asarray(np.nan_to_num(operand.astype(np.float32), nan=0.5, posinf=3, neginf=-3))

    return dataclasses.replace(example, operands=tuple(map(tame, example.operands)))


def usual(array: Array) -> bool:
    """Say whether another library can be asked: no empty tensors, infinities, or rare types."""
    common = array.dtype.name in ("float32", "int64", "bool")
    return bool(common and array.size and np.isfinite(array).all())


def peers_agree(op: type[Op], example: Example) -> bool:
    """Return whether other libraries compute an example by the definition of the op.

    torch normalises a channel of equal elements to noise, not to the bias; ONNX Runtime copies an
    image that is resized by scales of 1, without cropping it.
    """
    if op is tri.InstanceNorm:
        x = example.operands[0]
        return bool(np.ptp(x.reshape(*x.shape[:2], -1), axis=-1).all())
    if op is tri.Resize and example.attributes["coordinate_transform"] == "tf_crop_and_resize":
        return any(scale != 1 for scale in example.attributes["scales"])
    return True
