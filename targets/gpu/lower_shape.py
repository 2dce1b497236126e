"""Lowerings of ops that only move elements."""

from collections.abc import Callable, Sequence

from ...dialects import tri
from .buffer import Buffer
from .number import Number
from .target import indexed

Reader = Callable[[Sequence[Number]], Number]


@indexed(tri.Transpose)
def lower_transpose(op: tri.Transpose, x: Buffer) -> Reader:
    return x.transpose(op.permutation).load
