"""Read attributes of MLIR's ops, whose classes the bindings do not declare."""

from typing import Any

from ....dialects.core.mlir import ir

_IR: Any = ir


def attribute(op: ir.Operation, name: str) -> Any:
    """Return an attribute of an op."""
    return op.attributes[name]


def whole_numbers(op: ir.Operation, name: str) -> list[int]:
    """Return the numbers of an array of integers."""
    return [int(number) for number in _IR.DenseI64ArrayAttr(op.attributes[name])]


def splat_of(value: Any) -> Any | None:
    """Return the number that all elements of a dense attribute are, or None."""
    dense = _IR.DenseElementsAttr(value)
    return dense.get_splat_value().value if dense.is_splat else None


def elements_of(value: Any, count: int) -> list[Any]:
    """Return the numbers of a dense attribute in their order."""
    splat = splat_of(value)
    if splat is not None:
        return [splat] * count
    is_float = str(value.type.element_type).startswith(("f", "bf"))
    typed = (_IR.DenseFPElementsAttr if is_float else _IR.DenseIntElementsAttr)(value)
    return [typed[number] for number in range(count)]


def defining_op(value: ir.Value) -> ir.Operation | None:
    """Return the operation whose result a value is; None for an argument of a block."""
    owner: Any = value.owner
    return None if isinstance(owner, ir.Block) else getattr(owner, "operation", owner)


def has_flag(op: ir.Operation, flag: str) -> bool:
    """Return whether an op of floats has a flag of fast math."""
    return "fastmath" in op.attributes and flag in str(op.attributes["fastmath"])


def extreme_of(op: ir.Operation, name: str) -> str:
    """Return the helper for `maximumf` or `minimumf`: without `nsz`, -0 is less than +0."""
    return name if has_flag(op, "nsz") else name.removesuffix("f")
