"""Examples of ops with elements of one type after the other, and what a target says to each."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from drawn import Cases
from groups import Case, build_group, op_of, release
from trivium.dialects.core.errors import Invalid, Unsupported
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import COMPUTED, dtype_of, numpy_dtype

TYPES = (*COMPUTED, "f8E4M3FN", "i4")
"""What is tried: all types with arithmetic, a narrow float and a narrow integer."""


def typed(case: Case, dtype: str) -> Case:
    """Return a case with small numbers of a type where it has those of its first operand's."""
    main = case.inputs[0].dtype if case.inputs else None

    def convert(operand: Any) -> Any:
        if isinstance(operand, list):
            return [convert(each) for each in operand]
        if operand is None or operand.dtype != main:
            return operand
        numbers = np.nan_to_num(operand.astype(np.float32), posinf=2, neginf=1).clip(0, 2)
        return numbers.round().astype(numpy_dtype(dtype))

    return Case(dtype, case.cls, tuple(map(convert, case.operands)), case.attributes)


@cache
def judged(op: type[Op], cases: Cases) -> tuple[list[Case], dict[str, str]]:
    """Return the cases of an op that the target takes, and its refusals by type.

    Types that the op itself does not take are in neither.
    """
    (example,) = cases.of(op, 1)
    taken: list[Case] = []
    refused: dict[str, str] = {}
    for dtype in TYPES:
        case = typed(example, dtype)
        with new_context(), ir.Location.unknown():
            try:
                refusal = cases.target.refusal(op_of(build_group(case)))
            except (Invalid, Unsupported):
                continue
            finally:
                release()
        if refusal is None:
            taken.append(case)
        else:
            refused[dtype] = refusal
    return taken, refused


def fields(case: Case) -> Sequence[tuple[str, str]]:
    """List the operands of a case by name, with their element types."""
    pairs = zip(case.cls.fields.operands, case.operands, strict=True)
    flat = [(f.name, o if isinstance(o, list) else [o]) for f, o in pairs if o is not None]
    return [(name, dtype_of(each.dtype)) for name, group in flat for each in group]
