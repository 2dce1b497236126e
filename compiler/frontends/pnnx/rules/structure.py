"""PNNX rules for what holds operands together: tuples, lists, and indices of slices."""

from typing import Any

from .....dialects.core.errors import Invalid
from ...torch.registry import torch_op

Known = list[Any]
"""A list of operands, as one operand."""


@torch_op("prim::TupleConstruct", "prim::ListConstruct")
def construct(*operands: Any) -> Known:
    return list(operands)


@torch_op("prim::TupleUnpack", "prim::ListUnpack")
def unpack(operands: list[Any]) -> tuple[Any, ...]:
    return tuple(operands)


@torch_op("prim::Constant")
def constant(*, value: Any = None) -> tuple[Any]:
    return (value,)


@torch_op("pnnx.SliceIndexes")
def slice_indexes(*operands: Any, indexes: tuple[str, ...] | tuple[int, ...]) -> Known:
    """List numbers, and operands where the file has `@` and their number."""
    return [_index(word, operands) for word in indexes]


def _index(word: str | int, operands: tuple[Any, ...]) -> Any:
    if isinstance(word, int):
        return word
    try:
        return operands[int(word[1:])] if word.startswith("@") else int(word)
    except (ValueError, IndexError):
        message = f"has index '{word}', must be a number or @ and one below {len(operands)}"
        raise Invalid(message) from None
